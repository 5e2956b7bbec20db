package official_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func hearChat(c openai.ChatCompletion) heard {
	if len(c.Choices) != 1 {
		return heard{}
	}
	m := c.Choices[0].Message
	h := heard{
		Text: m.Content, Refusal: m.Refusal, Stop: c.Choices[0].FinishReason,
		In: int(c.Usage.PromptTokens), Cached: int(c.Usage.PromptTokensDetails.CachedTokens),
		Out: int(c.Usage.CompletionTokens), Thought: int(c.Usage.CompletionTokensDetails.ReasoningTokens),
	}
	for _, call := range m.ToolCalls {
		h.Calls = append(h.Calls, heardCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return h
}

func chatRequest(more ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
	tool := func(name string) openai.ChatCompletionToolUnionParam {
		return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: name})
	}
	return openai.ChatCompletionNewParams{
		Model:         "the-model",
		Messages:      append([]openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be kind"), openai.UserMessage("say hello")}, more...),
		Tools:         []openai.ChatCompletionToolUnionParam{tool("add"), tool("multiply")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
}

func TestChatSDK(t *testing.T) {
	hc, server := stage(t)
	c := openai.NewClient(option.WithHTTPClient(hc), option.WithAPIKey("test"), option.WithBaseURL("https://api.openai.com/v1/"), option.WithMaxRetries(0))
	stream := func(more ...openai.ChatCompletionMessageParamUnion) (heard, error) {
		var acc openai.ChatCompletionAccumulator
		st := c.Chat.Completions.NewStreaming(t.Context(), chatRequest(more...))
		defer st.Close()
		for st.Next() {
			if !acc.AddChunk(st.Current()) {
				t.Fatalf("chunk does not fit: %s", st.Current().RawJSON())
			}
		}
		return hearChat(acc.ChatCompletion), st.Err()
	}
	want := heard{
		Text: bothText, Stop: "tool_calls", In: 147, Cached: 40, Out: 60, Thought: 20,
		Calls: []heardCall{{"call_000000000000000000001001", "add", addArgs}, {"call_000000000000000000001002", "multiply", multArgs}},
	}
	m, err := c.Chat.Completions.New(t.Context(), chatRequest())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "whole", want, hearChat(*m))
	want.Calls[0].ID, want.Calls[1].ID = "call_000000000000000000002001", "call_000000000000000000002002"
	h, err := stream()
	same(t, "stream", want, h)
	if err != nil {
		t.Fatal(err)
	}
	h, err = stream(m.Choices[0].Message.ToParam(),
		openai.ToolMessage("five", "call_000000000000000000001001"), openai.ToolMessage("six", "call_000000000000000000001002"))
	if err != nil || h.Text != resultText || h.Stop != "stop" || h.In == 0 || h.Out == 0 {
		t.Errorf("after results: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Text != cutText || h.Stop != "length" {
		t.Errorf("length: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Refusal != refusal || h.Stop != "stop" {
		t.Errorf("refusal: %+v, %v", h, err)
	}
	if m, err = c.Chat.Completions.New(t.Context(), chatRequest()); err != nil || hearChat(*m).Refusal != refusal {
		t.Errorf("whole refusal: %v, %v", m, err)
	}
	_, err = stream()
	checkOpenAIError(t, err, 429, "requests", "rate_limit_exceeded", "slow down")
	if h, err = stream(); err == nil || h.Stop != "" {
		t.Errorf("cut: %+v, %v, want a broken stream", h, err)
	}
	_, err = stream()
	checkOpenAIError(t, err, http.StatusBadRequest, "invalid_request_error", "", "something else")
	if got := fault.CodeOf(server.Err()); got != upstream.CodeUnfit {
		t.Errorf("Err() = %v", server.Err())
	}
}

func checkOpenAIError(t *testing.T, err error, status int, kind, code, message string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Type != kind || e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("error is %v, want %d %s %s %q", err, status, kind, code, message)
	}
}

func hearResponse(r responses.Response) heard {
	h := heard{
		Stop: string(r.Status), In: int(r.Usage.InputTokens), Cached: int(r.Usage.InputTokensDetails.CachedTokens),
		Out: int(r.Usage.OutputTokens), Thought: int(r.Usage.OutputTokensDetails.ReasoningTokens),
	}
	if r.IncompleteDetails.Reason != "" {
		h.Stop = r.IncompleteDetails.Reason
	}
	for _, it := range r.Output {
		switch it := it.AsAny().(type) {
		case responses.ResponseReasoningItem:
			h.Reasoning, h.Proof = it.Summary[0].Text, it.EncryptedContent
		case responses.ResponseOutputMessage:
			h.Text, h.Refusal = it.Content[0].Text, it.Content[0].Refusal
		case responses.ResponseFunctionToolCall:
			h.Calls = append(h.Calls, heardCall{it.CallID, it.Name, it.Arguments})
		}
	}
	return h
}

func responsesRequest(more ...responses.ResponseInputItemUnionParam) responses.ResponseNewParams {
	tool := func(name string) responses.ToolUnionParam {
		return responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{Name: name}}
	}
	return responses.ResponseNewParams{
		Model: "the-model", Instructions: param.NewOpt("be kind"),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: append(
			[]responses.ResponseInputItemUnionParam{responses.ResponseInputItemParamOfMessage("say hello", "user")}, more...)},
		Tools: []responses.ToolUnionParam{tool("add"), tool("multiply")},
	}
}

func TestResponsesSDK(t *testing.T) {
	hc, server := stage(t)
	c := openai.NewClient(option.WithHTTPClient(hc), option.WithAPIKey("test"), option.WithBaseURL("https://api.openai.com/v1/"), option.WithMaxRetries(0))
	// stream also puts the deltas together, which must say what the end says.
	stream := func(more ...responses.ResponseInputItemUnionParam) (heard, error) {
		var text, thought, refused, args string
		var end responses.Response
		st := c.Responses.NewStreaming(t.Context(), responsesRequest(more...))
		defer st.Close()
		for n := int64(0); st.Next(); n++ {
			switch e := st.Current().AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				text += e.Delta
			case responses.ResponseReasoningSummaryTextDeltaEvent:
				thought += e.Delta
			case responses.ResponseRefusalDeltaEvent:
				refused += e.Delta
			case responses.ResponseFunctionCallArgumentsDeltaEvent:
				args += e.Delta
			case responses.ResponseCompletedEvent:
				end = e.Response
			case responses.ResponseIncompleteEvent:
				end = e.Response
			}
			if st.Current().SequenceNumber != n {
				t.Errorf("event %d has number %d", n, st.Current().SequenceNumber)
			}
		}
		h, whole := hearResponse(end), ""
		for _, call := range h.Calls {
			whole += call.Args
		}
		if end.ID != "" {
			same(t, "deltas", []string{h.Text, h.Reasoning, h.Refusal, whole}, []string{text, thought, refused, args})
		}
		return h, st.Err()
	}
	want := heard{
		Text: bothText, Reasoning: bothThink, Proof: "gAAAAABc2NyaXB0ZWQgcmVhc29uaW5nIG9mIHR1cm4gMDAwMQ==", Stop: "completed",
		In: 147, Cached: 40, Out: 60, Thought: 20,
		Calls: []heardCall{{"call_000000000000000000001001", "add", addArgs}, {"call_000000000000000000001002", "multiply", multArgs}},
	}
	m, err := c.Responses.New(t.Context(), responsesRequest())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "whole", want, hearResponse(*m))
	want.Proof = "gAAAAABc2NyaXB0ZWQgcmVhc29uaW5nIG9mIHR1cm4gMDAwMg=="
	want.Calls[0].ID, want.Calls[1].ID = "call_000000000000000000002001", "call_000000000000000000002002"
	h, err := stream()
	same(t, "stream", want, h)
	if err != nil {
		t.Fatal(err)
	}
	h, err = stream(
		responses.ResponseInputItemParamOfFunctionCall(addArgs, "call_000000000000000000001001", "add"),
		responses.ResponseInputItemParamOfFunctionCall(multArgs, "call_000000000000000000001002", "multiply"),
		responses.ResponseInputItemParamOfFunctionCallOutput("call_000000000000000000001001", "five"),
		responses.ResponseInputItemParamOfFunctionCallOutput("call_000000000000000000001002", "six"))
	if err != nil || h.Text != resultText || h.Stop != "completed" || h.In == 0 || h.Out == 0 {
		t.Errorf("after results: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Text != cutText || h.Stop != "max_output_tokens" {
		t.Errorf("length: %+v, %v", h, err)
	}
	if h, err = stream(); err != nil || h.Refusal != refusal {
		t.Errorf("refusal: %+v, %v", h, err)
	}
	if m, err = c.Responses.New(t.Context(), responsesRequest()); err != nil || hearResponse(*m).Refusal != refusal {
		t.Errorf("whole refusal: %v, %v", m, err)
	}
	_, err = stream()
	checkOpenAIError(t, err, 429, "requests", "rate_limit_exceeded", "slow down")
	if h, err = stream(); err == nil || h.Stop != "" {
		t.Errorf("cut: %+v, %v, want a broken stream", h, err)
	}
	_, err = stream()
	checkOpenAIError(t, err, http.StatusBadRequest, "invalid_request_error", "", "something else")
	if got := fault.CodeOf(server.Err()); got != upstream.CodeUnfit {
		t.Errorf("Err() = %v", server.Err())
	}
}
