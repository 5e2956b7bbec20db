package official_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
	"google.golang.org/genai"
)

// hearGemini adds one response to what was heard before.
func hearGemini(h *heard, r *genai.GenerateContentResponse) {
	if u := r.UsageMetadata; u != nil {
		h.In, h.Cached = int(u.PromptTokenCount), int(u.CachedContentTokenCount)
		h.Out, h.Thought = int(u.CandidatesTokenCount), int(u.ThoughtsTokenCount)
	}
	for _, c := range r.Candidates {
		h.Stop = string(c.FinishReason)
		for _, p := range c.Content.Parts {
			switch {
			case p.FunctionCall != nil:
				args, _ := json.Marshal(p.FunctionCall.Args)
				h.Calls = append(h.Calls, heardCall{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
				h.Proof += string(p.ThoughtSignature)
			case p.Thought:
				h.Reasoning += p.Text
			default:
				h.Text += p.Text
			}
		}
	}
}

func TestGeminiSDK(t *testing.T) {
	hc, server := stage(t)
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "test", Backend: genai.BackendGeminiAPI, HTTPClient: hc,
		HTTPOptions: genai.HTTPOptions{BaseURL: "https://generativelanguage.googleapis.com/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("be kind", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "add"}, {Name: "multiply"}}}},
	}
	user := genai.NewContentFromText("say hello", genai.RoleUser)
	whole := func() (heard, error) {
		var h heard
		r, err := c.Models.GenerateContent(t.Context(), "the-model", []*genai.Content{user}, config)
		if err == nil {
			hearGemini(&h, r)
		}
		return h, err
	}
	stream := func(more ...*genai.Content) (heard, error) {
		var h heard
		for r, err := range c.Models.GenerateContentStream(t.Context(), "the-model", append([]*genai.Content{user}, more...), config) {
			if err != nil {
				return h, err
			}
			hearGemini(&h, r)
		}
		return h, nil
	}
	want := heard{
		Text: bothText, Reasoning: bothThink, Proof: "scripted reasoning of turn 0001", Stop: "STOP",
		In: 147, Cached: 40, Out: 40, Thought: 20,
		Calls: []heardCall{{"", "add", addArgs}, {"", "multiply", strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(multArgs)}},
	}
	h, err := whole()
	same(t, "whole", want, h)
	if err != nil {
		t.Fatal(err)
	}
	want.Proof = "scripted reasoning of turn 0002"
	h, err = stream()
	same(t, "stream", want, h)
	if err != nil {
		t.Fatal(err)
	}
	h, err = stream(
		genai.NewContentFromParts([]*genai.Part{genai.NewPartFromFunctionCall("add", nil), genai.NewPartFromFunctionCall("multiply", nil)}, genai.RoleModel),
		genai.NewContentFromParts([]*genai.Part{
			genai.NewPartFromFunctionResponse("add", map[string]any{"result": "five"}),
			genai.NewPartFromFunctionResponse("multiply", map[string]any{"error": "six"}),
		}, genai.RoleUser))
	if err != nil || h.Text != resultText || h.Stop != "STOP" || h.In == 0 || h.Out == 0 {
		t.Errorf("after results: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Text != cutText || h.Stop != "MAX_TOKENS" {
		t.Errorf("length: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Text != refusal || h.Stop != "SAFETY" {
		t.Errorf("refusal: %+v, %v", h, err)
	}
	if h, err = whole(); err != nil || h.Text != refusal || h.Stop != "SAFETY" {
		t.Errorf("whole refusal: %+v, %v", h, err)
	}
	_, err = stream()
	var e genai.APIError
	if !errors.As(err, &e) || e.Code != 429 || e.Status != "RESOURCE_EXHAUSTED" || e.Details[0]["retryDelay"] != "1.5s" {
		t.Errorf("failure: %v", err)
	}
	if h, err = stream(); err == nil || h.Stop != "" {
		t.Errorf("cut: %+v, %v, want a broken stream", h, err)
	}
	if _, err = stream(); !errors.As(err, &e) || e.Code != http.StatusBadRequest || e.Status != "INVALID_ARGUMENT" || !strings.Contains(e.Message, "something else") {
		t.Errorf("misfit: %v", err)
	}
	if got := fault.CodeOf(server.Err()); got != upstream.CodeUnfit {
		t.Errorf("Err() = %v", server.Err())
	}
}
