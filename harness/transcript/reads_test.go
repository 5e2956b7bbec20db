package transcript_test

import (
	"github.com/soundstage-dev/soundstage/harness/transcript"
)

func text(where, s string) transcript.Part {
	return transcript.Part{Where: where, Kind: transcript.Text, Text: s}
}

// reads are bodies as their documentation has them, and what they say.
var reads = []struct {
	name, url, request, response string
	status                       int
	want                         transcript.Transcript
}{
	{
		name: "anthropic", url: "https://api.anthropic.com/v1/messages",
		request: `{"model":"claude-x","max_tokens":9,"system":"Be brief.","tools":[{"name":"add","description":"Adds.","input_schema":{"type":"object"}}],
			"messages":[{"role":"user","content":"2+3?"},
			{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"add","input":{"b":3,"a":2}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"5"}],"is_error":true}]}]}`,
		response: `{"model":"claude-x-1","role":"assistant","content":[{"type":"text","text":"5","citations":[1]}],"stop_reason":"end_turn",
			"usage":{"input_tokens":7,"output_tokens":1,"cache_read_input_tokens":4,"cache_creation_input_tokens":2}}`,
		want: transcript.Transcript{
			Format: transcript.Anthropic, Model: "claude-x-1",
			System: []transcript.Part{text("/system", "Be brief.")},
			Tools:  []transcript.Tool{{Where: "/tools/0", Name: "add", Description: "Adds.", Schema: `{"type":"object"}`}},
			Messages: []transcript.Message{
				{Where: "/messages/0", Role: "user", Parts: []transcript.Part{text("/messages/0/content", "2+3?")}},
				{Where: "/messages/1", Role: "assistant", Parts: []transcript.Part{{Where: "/messages/1/content/0", Kind: transcript.Call, ID: "t1", Name: "add", Input: `{"a":2,"b":3}`}}},
				{Where: "/messages/2", Role: "user", Parts: []transcript.Part{{Where: "/messages/2/content/0", Kind: transcript.Result, ID: "t1", Text: "5", Error: true}}},
			},
			Settings: []transcript.Setting{{Name: "max_tokens", Value: "9"}},
			Reply:    []transcript.Message{{Role: "assistant", Parts: []transcript.Part{{Kind: transcript.Text, Text: "5", Extra: `{"citations":[1]}`}}}},
			Finish:   "end_turn", Usage: &transcript.Usage{Input: 7, Output: 1, CacheRead: 4, CacheWrite: 2},
		},
	},
	{
		name: "anthropic stream, through a gateway that puts its own path before", url: "http://127.0.0.1:1/gw/v1/messages",
		request: `{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}`,
		response: "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\r\n\r\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"b\\\":1,\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"a\\\":2}\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n",
		want: transcript.Transcript{
			Format: transcript.Anthropic, Model: "m", Stream: true,
			Messages: []transcript.Message{{Where: "/messages/0", Role: "user", Parts: []transcript.Part{text("/messages/0/content", "go")}}},
			Reply: []transcript.Message{{Role: "assistant", Parts: []transcript.Part{
				{Kind: transcript.Thinking, Text: "hm"}, {Kind: transcript.Call, ID: "t", Name: "f", Input: `{"a":2,"b":1}`},
			}}},
			Finish: "tool_use", Usage: &transcript.Usage{Input: 3, Output: 5},
		},
	},
	{
		name: "chat", url: "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
		request: `{"model":"g","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"see","arguments":"not json"}}]},
			{"role":"tool","tool_call_id":"c1","content":"blue"}],"tools":[{"type":"function","function":{"name":"see","parameters":{}}}]}`,
		response: `{"model":"g-1","choices":[{"index":0,"message":{"role":"assistant","content":"Blue."},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":2}}}`,
		want: transcript.Transcript{
			Format: transcript.Chat, Model: "g-1",
			System: []transcript.Part{text("/messages/0/content", "Be brief.")},
			Messages: []transcript.Message{
				{Where: "/messages/1", Role: "user", Parts: []transcript.Part{
					text("/messages/1/content/0", "Look"), {Where: "/messages/1/content/1", Kind: transcript.Media, Text: "image, data:image/png;base64,AAAA"},
				}},
				{Where: "/messages/2", Role: "assistant", Parts: []transcript.Part{{Where: "/messages/2/tool_calls/0", Kind: transcript.Call, ID: "c1", Name: "see", Input: "not json"}}},
				{Where: "/messages/3", Role: "tool", Parts: []transcript.Part{{Where: "/messages/3/content", Kind: transcript.Result, ID: "c1", Text: "blue"}}},
			},
			Tools:  []transcript.Tool{{Where: "/tools/0", Name: "see", Schema: "{}"}},
			Reply:  []transcript.Message{{Role: "assistant", Parts: []transcript.Part{{Kind: transcript.Text, Text: "Blue."}}}},
			Finish: "stop", Usage: &transcript.Usage{Input: 4, Output: 4, CacheRead: 6, Reasoning: 2},
		},
	},
	{
		name: "chat stream with comments, calls side by side and usage last", url: "https://openrouter.ai/api/v1/chat/completions",
		request: `{"model":"g","messages":[{"role":"user","content":"go"}]}`,
		response: ": PROCESSING\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"O\",\"reasoning\":\"h\"}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"K\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}},{\"index\":0,\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n",
		want: transcript.Transcript{
			Format: transcript.Chat, Model: "g", Stream: true,
			Messages: []transcript.Message{{Where: "/messages/0", Role: "user", Parts: []transcript.Part{text("/messages/0/content", "go")}}},
			Reply: []transcript.Message{{Role: "assistant", Parts: []transcript.Part{
				{Kind: transcript.Thinking, Text: "h"},
				{Kind: transcript.Text, Text: "OK"},
				{Kind: transcript.Call, ID: "a", Name: "f", Input: "{}"},
				{Kind: transcript.Call, ID: "b", Name: "g", Input: "{}"},
			}}},
			Finish: "tool_calls", Usage: &transcript.Usage{Input: 2, Output: 3},
		},
	},
	{
		name: "responses", url: "https://api.openai.com/v1/responses",
		request: `{"model":"g","instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"2+3?"}]},
			{"type":"function_call","call_id":"c","name":"add","arguments":"{\"a\":2}"},{"type":"function_call_output","call_id":"c","output":"5"},{"type":"web_search_call","id":"w"}],
			"tools":[{"type":"function","name":"add","strict":true,"parameters":{"type":"object"}},{"type":"web_search"}]}`,
		response: `{"model":"g-1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"error":null,"output":[
			{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"Sum."}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"5"}]}],
			"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":1},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":1}}}`,
		want: transcript.Transcript{
			Format: transcript.Responses, Model: "g-1",
			System: []transcript.Part{text("/instructions", "Be brief.")},
			Messages: []transcript.Message{
				{Where: "/input/0", Role: "user", Parts: []transcript.Part{text("/input/0/content/0", "2+3?")}},
				{Where: "/input/1", Role: "assistant", Parts: []transcript.Part{{Where: "/input/1", Kind: transcript.Call, ID: "c", Name: "add", Input: `{"a":2}`}}},
				{Where: "/input/2", Role: "tool", Parts: []transcript.Part{{Where: "/input/2", Kind: transcript.Result, ID: "c", Text: "5"}}},
				{Where: "/input/3", Role: "assistant", Parts: []transcript.Part{{Where: "/input/3", Kind: transcript.Other, Extra: `{"id":"w","type":"web_search_call"}`}}},
			},
			Tools: []transcript.Tool{
				{Where: "/tools/0", Name: "add", Schema: `{"type":"object"}`, Extra: `{"strict":true}`},
				{Where: "/tools/1", Name: "web_search", Extra: `{"type":"web_search"}`},
			},
			Reply:  []transcript.Message{{Role: "assistant", Parts: []transcript.Part{{Kind: transcript.Thinking, Text: "Sum."}, {Kind: transcript.Text, Text: "5"}}}},
			Finish: "incomplete: max_output_tokens", Usage: &transcript.Usage{Input: 8, Output: 3, CacheRead: 1, Reasoning: 1},
		},
	},
	{
		name: "responses stream that was cut", url: "https://api.openai.com/v1/responses",
		request: `{"model":"g","input":"go","stream":true}`,
		response: "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
			"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"O\"}\n\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"K\"}\n\n" +
			"data: {\"type\":\"response.out",
		want: transcript.Transcript{
			Format: transcript.Responses, Model: "g", Stream: true,
			Messages: []transcript.Message{{Where: "/input", Role: "user", Parts: []transcript.Part{text("/input", "go")}}},
			Reply:    []transcript.Message{{Role: "assistant", Parts: []transcript.Part{{Kind: transcript.Text, Text: "OK"}}}},
			Problem:  "an event of the stream is not JSON",
		},
	},
	{
		name: "gemini as a list", url: "https://aiplatform.googleapis.com/v1/projects/p/publishers/google/models/m:streamGenerateContent",
		request: `{"system_instruction":{"parts":[{"text":"Be brief."}]},"contents":[{"parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"5"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}],
			"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]},{"googleSearch":{}}]}`,
		response: `[{"candidates":[{"content":{"parts":[{"text":"O","thoughtSignature":"x"}]}}],"modelVersion":"m-1"},
			{"candidates":[{"content":{"parts":[{"text":"K"},{"text":"so","thought":true}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"cachedContentTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":1}}]`,
		want: transcript.Transcript{
			Format: transcript.Gemini, Model: "m-1", Stream: true,
			System: []transcript.Part{text("/systemInstruction/parts/0", "Be brief.")},
			Messages: []transcript.Message{
				{Where: "/contents/0", Role: "user", Parts: []transcript.Part{text("/contents/0/parts/0", "go")}},
				{Where: "/contents/1", Role: "model", Parts: []transcript.Part{{Where: "/contents/1/parts/0", Kind: transcript.Call, Name: "f", Input: "{}"}}},
				{Where: "/contents/2", Role: "user", Parts: []transcript.Part{
					{Where: "/contents/2/parts/0", Kind: transcript.Result, Name: "f", Text: "5"},
					{Where: "/contents/2/parts/1", Kind: transcript.Media, Text: "image/png, 3 bytes"},
				}},
			},
			Tools: []transcript.Tool{
				{Where: "/tools/0/functionDeclarations/0", Name: "f", Schema: `{"type":"object"}`},
				{Where: "/tools/1", Name: "built-in", Extra: `{"googleSearch":{}}`},
			},
			Reply:  []transcript.Message{{Role: "model", Parts: []transcript.Part{{Kind: transcript.Text, Text: "OK", Extra: `{"thoughtSignature":"x"}`}, {Kind: transcript.Thinking, Text: "so"}}}},
			Finish: "STOP", Usage: &transcript.Usage{Input: 5, Output: 3, CacheRead: 3, Reasoning: 1},
		},
	},
	{
		name: "a provider's error", url: "https://api.openai.com/v1/chat/completions", status: 429,
		request: `{"messages":[]}`, response: `{"error":{"message":"too many","code":"rate"}}`,
		want: transcript.Transcript{Format: transcript.Chat, Failure: "too many"},
	},
	{
		name: "an error page", url: "https://api.openai.com/v1/chat/completions", status: 502,
		request: `[]`, response: `<html>`,
		want: transcript.Transcript{Format: transcript.Chat, Failure: "<html>", Problem: "the request is not a JSON object"},
	},
	{name: "no model call", url: "https://api.github.com/repos", request: `{"name":"x"}`, response: `{}`},
}
