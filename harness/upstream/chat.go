package upstream

import "encoding/json"

var chatWire = wire{
	name: "Chat Completions", media: "text/event-stream; charset=utf-8", idName: "X-Request-Id",
	fail: failOpenAI,
}

func failOpenAI(f failure, _ int) []byte {
	e := openAIErrors[f.status]
	if f.kind != "" {
		e.Type = f.kind
	}
	if e.Type == "" {
		e.Type = "server_error"
		if f.status < 500 {
			e.Type = "invalid_request_error"
		}
	}
	e.Message = f.message
	return encode(struct {
		Error openAIError `json:"error"`
	}{e})
}

type openAIError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Param   json.RawMessage `json:"param"`
	Code    *string         `json:"code"`
}

var openAIErrors = map[int]openAIError{
	401: {Type: "invalid_request_error", Code: new("invalid_api_key")},
	404: {Type: "invalid_request_error", Code: new("model_not_found")},
	429: {Type: "requests", Code: new("rate_limit_exceeded")},
}
