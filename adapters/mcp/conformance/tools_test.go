package conformance_test

//lint:file-ignore SA1019 the suite asks for what the newest revision is about to drop, since older clients have it

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A fixture is one tool that the suite asks for.
type fixture struct {
	name, about string
	schema      string // "": no input
	do          sdk.ToolHandler
}

func (f fixture) input() string {
	if f.schema == "" {
		return `{"type":"object","properties":{}}`
	}
	return f.schema
}

func say(format string, args ...any) *sdk.CallToolResult {
	return with(&sdk.TextContent{Text: fmt.Sprintf(format, args...)})
}

func with(content ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: content} }

// always answers every call alike.
func always(content ...sdk.Content) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return with(content...), nil }
}

// pixel is a picture of one red point.
func pixel() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer takes everything
	return b.Bytes()
}

// silence is one sample of a WAV file.
func silence() []byte {
	b := []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 16000)
	return append(b, "\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"...)
}

func attached(uri string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "attached"}}
}

// contents are the tools that answer with each kind of content.
func contents() []fixture {
	text := &sdk.TextContent{Text: "a text"}
	picture := &sdk.ImageContent{Data: pixel(), MIMEType: "image/png"}
	return []fixture{
		{"test_simple_text", "Answers with a text.", "", always(text)},
		{"test_image_content", "Answers with a picture.", "", always(picture)},
		{"test_audio_content", "Answers with a sound.", "", always(&sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"})},
		{"test_embedded_resource", "Answers with a resource.", "", always(attached("test://attached"))},
		{"test_multiple_content_types", "Answers with three kinds.", "", always(text, picture, attached("test://third"))},
		{"test_streaming_elicitation", "Answers, and asks nothing on its stream.", "", always(text)},
		{"json_schema_2020_12_tool", "Has a schema with most keywords.", manyKeywords, always(text)},
		{"test_region", "Has an argument that is a header, too.", mirrored, always(text)},
		{"test_error_handling", "Fails.", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res := say("it failed, as it should")
			res.IsError = true
			return res, nil
		}},
		{"test_missing_capability", "Needs a client that samples.", "", needsSampling},
	}
}

// mirrored is a schema whose argument a client sends as a header.
const mirrored = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer"}}}`

// manyKeywords is the schema that the suite looks for, keyword by keyword.
const manyKeywords = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"enum":["phone","email"],"type":"string"},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}`

func needsSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return say("the client samples"), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
}

// beat is the pause between two signs of life, so that they arrive as two.
const beat = 30 * time.Millisecond

// pause is waited for, not slept through: the suite looks at what arrives before.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// talks are the tools that say something to the client before they answer.
func talks() []fixture {
	return []fixture{
		{"test_tool_with_logging", "Logs three times.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, line := range []string{"begun", "half way", "done"} {
				if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil {
					return nil, err
				}
				pause(ctx, beat)
			}
			return say("logged"), nil
		}},
		{"test_logging_tool", "Logs once, if the client wants it.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return say("logged"), req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "here"})
		}},
		{"test_tool_with_progress", "Tells how far it is.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, done := range []float64{0, 50, 100} {
				if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: 100}); err != nil {
					return nil, err
				}
				pause(ctx, beat)
			}
			return say("%v", req.Params.GetProgressToken()), nil
		}},
		{"test_reconnection", "Lets the stream go in the middle.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if req.Extra != nil && req.Extra.CloseSSEStream != nil {
				req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: beat})
			}
			pause(ctx, 4*beat)
			return say("the client came back"), nil
		}},
		{"test_sampling", "Lets the client's model answer.", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, sampling},
		{"test_elicitation", "Asks for a name.", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var in struct{ Message string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return elicit(ctx, req, in.Message, textForm("username"))
		}},
		{"test_elicitation_sep1034_defaults", "Asks with defaults.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return elicit(ctx, req, "Fill this in", json.RawMessage(formDefaults))
		}},
		{"test_elicitation_sep1330_enums", "Asks with choices.", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return elicit(ctx, req, "Choose", json.RawMessage(formChoices))
		}},
	}
}

// The forms whose fields the suite looks for.
const (
	formDefaults = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`
	formChoices = `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]}}}}`
)

func textForm(field string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: []string{field}, Properties: map[string]*jsonschema.Schema{field: {Type: "string"}}}
}

func elicit(ctx context.Context, req *sdk.CallToolRequest, message string, form any) (*sdk.CallToolResult, error) {
	res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: form})
	if err != nil {
		return nil, err
	}
	return say("%s: %v", res.Action, res.Content), nil
}

func sampling(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.CreateMessage(ctx, question(in.Prompt, 100))
	if err != nil {
		return nil, err
	}
	text, ok := res.Content.(*sdk.TextContent)
	if !ok {
		return nil, errors.New("the client's model answered with no text")
	}
	return say("the model said: %s", text.Text), nil
}

func question(text string, most int64) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: most, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}

// changes are the tools that change the lists of the server that they are on.
func changes(s *sdk.Server) []fixture {
	return []fixture{
		{"test_trigger_tool_change", "Adds a tool.", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.AddTool(&sdk.Tool{Name: "test_new_tool", Description: "Is new.", InputSchema: json.RawMessage(`{"type":"object"}`)}, always(&sdk.TextContent{Text: "new"}))
			return say("added"), nil
		}},
		{"test_trigger_prompt_change", "Adds a prompt.", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.AddPrompt(&sdk.Prompt{Name: "test_new_prompt", Description: "Is new."}, plainPrompt)
			return say("added"), nil
		}},
	}
}
