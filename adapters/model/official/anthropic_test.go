package official_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func hearAnthropic(m *anthropic.Message) heard {
	h := heard{
		Stop: string(m.StopReason), In: int(m.Usage.InputTokens), Cached: int(m.Usage.CacheReadInputTokens),
		Written: int(m.Usage.CacheCreationInputTokens), Out: int(m.Usage.OutputTokens),
	}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			h.Text += b.Text
		case anthropic.ThinkingBlock:
			h.Reasoning, h.Proof = b.Thinking, b.Signature
		case anthropic.ToolUseBlock:
			h.Calls = append(h.Calls, heardCall{b.ID, b.Name, string(b.Input)})
		}
	}
	return h
}

func anthropicRequest(more ...anthropic.MessageParam) anthropic.MessageNewParams {
	tool := func(name string) anthropic.ToolUnionParam {
		return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: name}}
	}
	return anthropic.MessageNewParams{
		Model: "the-model", MaxTokens: 100, System: []anthropic.TextBlockParam{{Text: "be kind"}},
		Messages: append([]anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("say hello"))}, more...),
		Tools:    []anthropic.ToolUnionParam{tool("add"), tool("multiply")},
	}
}

func TestAnthropicSDK(t *testing.T) {
	hc, server := stage(t)
	c := anthropic.NewClient(option.WithHTTPClient(hc), option.WithAPIKey("test"), option.WithBaseURL("https://api.anthropic.com"), option.WithMaxRetries(0))
	stream := func(more ...anthropic.MessageParam) (anthropic.Message, error) {
		var m anthropic.Message
		st := c.Messages.NewStreaming(t.Context(), anthropicRequest(more...))
		defer st.Close()
		for st.Next() {
			if err := m.Accumulate(st.Current()); err != nil {
				t.Fatal(err)
			}
		}
		return m, st.Err()
	}
	want := heard{
		Text: bothText, Reasoning: bothThink, Proof: "c2NyaXB0ZWQgcmVhc29uaW5nIG9mIHR1cm4gMDAwMQ==", Stop: "tool_use",
		Calls: []heardCall{{"toolu_010000000000000000001001", "add", addArgs}, {"toolu_010000000000000000001002", "multiply", multArgs}},
		In:    100, Cached: 40, Written: 7, Out: 60,
	}
	m, err := c.Messages.New(t.Context(), anthropicRequest())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "whole", want, hearAnthropic(m))
	s, err := stream()
	if err != nil {
		t.Fatal(err)
	}
	want.Proof = "c2NyaXB0ZWQgcmVhc29uaW5nIG9mIHR1cm4gMDAwMg=="
	want.Calls[0].ID, want.Calls[1].ID = "toolu_010000000000000000002001", "toolu_010000000000000000002002"
	same(t, "stream", want, hearAnthropic(&s))

	s, err = stream(m.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock("toolu_010000000000000000001001", "five", false),
		anthropic.NewToolResultBlock("toolu_010000000000000000001002", "six", true)))
	if got := hearAnthropic(&s); err != nil || got.Text != resultText || got.Stop != "end_turn" || got.In == 0 || got.Out == 0 {
		t.Errorf("after results: %+v, %v", got, err)
	}
	s, err = stream()
	if got := hearAnthropic(&s); err != nil || got.Text != cutText || got.Stop != "max_tokens" {
		t.Errorf("length: %+v, %v", got, err)
	}
	for range 2 {
		s, err = stream()
		if got := hearAnthropic(&s); err != nil || got.Text != refusal || got.Stop != "refusal" {
			t.Errorf("refusal: %+v, %v", got, err)
		}
	}
	_, err = stream()
	var e *anthropic.Error
	if !errors.As(err, &e) || e.StatusCode != 429 || e.Type() != "rate_limit_error" || e.Response.Header.Get("Retry-After") != "2" || e.RequestID == "" {
		t.Errorf("failure: %v", err)
	}
	if s, err = stream(); err == nil || s.StopReason != "" {
		t.Errorf("cut: %+v, %v, want a broken stream", s, err)
	}
	_, err = stream()
	if !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest || e.Type() != "invalid_request_error" || !strings.Contains(e.Error(), "something else") {
		t.Errorf("misfit: %v", err)
	}
	if got := fault.CodeOf(server.Err()); got != upstream.CodeUnfit {
		t.Errorf("Err() = %v", server.Err())
	}
	if !json.Valid([]byte(e.RawJSON())) {
		t.Errorf("error body is no JSON: %s", e.RawJSON())
	}
}
