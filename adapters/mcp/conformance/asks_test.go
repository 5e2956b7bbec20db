package conformance_test

//lint:file-ignore SA1019 the suite asks for what the newest revision is about to drop, since older clients have it

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// A seal signs the state that a client carries from one call to the next.
type seal struct{ key []byte }

func newSeal() seal { return seal{[]byte(clock.Secret())} }

func (s seal) sum(text string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

func (s seal) close(text string) string { return text + "." + s.sum(text) }

// open gives the text of a state that nobody changed.
func (s seal) open(state string) (string, error) {
	i := strings.LastIndexByte(state, '.')
	if i < 0 || !hmac.Equal([]byte(s.sum(state[:i])), []byte(state[i+1:])) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state was changed"}
	}
	return state[:i], nil
}

// The questions of the suite.
func askName(message string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: textForm("name")}
}

func askConfirm() *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "Please confirm", RequestedSchema: &jsonschema.Schema{
		Type: "object", Required: []string{"ok"}, Properties: map[string]*jsonschema.Schema{"ok": {Type: "boolean"}},
	}}
}

// need asks for what is missing.
func need(state string, requests sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: requests, RequestState: state}
}

// filled is the field of a form that a person filled in.
func filled(given sdk.InputResponseMap, key, field string) (string, bool) {
	res, ok := given[key].(*sdk.ElicitResult)
	if !ok || res == nil || res.Action != "accept" || res.Content[field] == nil {
		return "", false
	}
	return fmt.Sprint(res.Content[field]), true
}

// sampled is what the client's model said.
func sampled(given sdk.InputResponseMap, key string) (string, bool) {
	res, ok := given[key].(*sdk.CreateMessageWithToolsResult)
	if !ok || res == nil {
		return "", false
	}
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String(), true
}

func roots(given sdk.InputResponseMap) ([]string, bool) {
	res, ok := given["client_roots"].(*sdk.ListRootsResult)
	if !ok || res == nil {
		return nil, false
	}
	var uris []string
	for _, r := range res.Roots {
		uris = append(uris, r.URI)
	}
	return uris, true
}

// asks are the tools that need an answer before they give one.
func asks(s seal) []fixture {
	return []fixture{
		{"test_input_required_result_elicitation", "Asks for a name.", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if name, ok := filled(req.Params.InputResponses, "user_name", "name"); ok {
				return say("Hello, %s!", name), nil
			}
			return need("", sdk.InputRequestMap{"user_name": askName("What is your name?")}), nil
		}},
		{"test_input_required_result_sampling", "Asks the client's model.", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if text, ok := sampled(req.Params.InputResponses, "capital_question"); ok {
				return say("the model said: %s", text), nil
			}
			return need("", sdk.InputRequestMap{"capital_question": question("What is the capital of France?", 100)}), nil
		}},
		{"test_input_required_result_list_roots", "Asks for the roots.", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if uris, ok := roots(req.Params.InputResponses); ok {
				return say("roots: %v", uris), nil
			}
			return need("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
		}},
		{"test_input_required_result_request_state", "Gets its state back.", "", s.confirm},
		{"test_input_required_result_tampered_state", "Sees when its state was changed.", "", s.confirm},
		{"test_input_required_result_multiple_inputs", "Asks three things at once.", "", s.three},
		{"test_input_required_result_multi_round", "Asks twice.", "", s.twice},
		{"test_input_required_result_capabilities", "Asks what the client can answer.", "", whatItCan},
	}
}

func (s seal) confirm(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if state := req.Params.RequestState; state != "" {
		if _, err := s.open(state); err != nil {
			return nil, err
		}
		if _, ok := filled(req.Params.InputResponses, "confirm", "ok"); ok {
			return say("state-ok"), nil
		}
	}
	return need(s.close("confirm"), sdk.InputRequestMap{"confirm": askConfirm()}), nil
}

func (s seal) three(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	given := req.Params.InputResponses
	name, named := filled(given, "user_name", "name")
	greeting, greeted := sampled(given, "greeting")
	uris, rooted := roots(given)
	if !named || !greeted || !rooted {
		return need(s.close("three"), sdk.InputRequestMap{
			"user_name": askName("What is your name?"), "greeting": question("Generate a greeting", 50), "client_roots": &sdk.ListRootsParams{},
		}), nil
	}
	_, err := s.open(req.Params.RequestState)
	return say("%s %s, with %v", greeting, name, uris), err
}

func (s seal) twice(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return need(s.close("first"), sdk.InputRequestMap{"step1": askName("Step 1: What is your name?")}), nil
	}
	state, err := s.open(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if state == "first" {
		name, _ := filled(req.Params.InputResponses, "step1", "name")
		return need(s.close("second "+name), sdk.InputRequestMap{
			"step2": &sdk.ElicitParams{Message: "Step 2: What is your favorite color?", RequestedSchema: textForm("color")},
		}), nil
	}
	color, _ := filled(req.Params.InputResponses, "step2", "color")
	return say("%s likes %s", strings.TrimPrefix(state, "second "), color), nil
}

func whatItCan(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	can, requests := req.ClientCapabilities(), sdk.InputRequestMap{}
	if can != nil && can.Elicitation != nil {
		requests["user_name"] = askName("What is your name?")
	}
	if can != nil && can.Sampling != nil {
		requests["greeting"] = question("Generate a greeting", 50)
	}
	if can != nil && can.RootsV2 != nil {
		requests["client_roots"] = &sdk.ListRootsParams{}
	}
	if len(req.Params.InputResponses) > 0 || len(requests) == 0 {
		return say("that will do"), nil
	}
	return need("", requests), nil
}
