package model

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"mime"

	"github.com/tidwall/gjson"
)

// A scanner cuts a response body into its JSON events, as it arrives, and keeps
// what counts: usage, whether the end event came, and an error in mid-stream.
type scanner struct {
	dialect dialect
	cut     func(*scanner)
	buf     []byte
	lost    bool // an event was over the bound: the rest is not looked at

	usage tally
	ended bool   // the event that ends a reply was seen
	fault string // an error object that came in the stream, as JSON

	refused bool   // the model or a filter declined
	refusal string // in these words; the library drops them
}

func newScanner(d dialect, contentType string) scanner {
	kind, _, _ := mime.ParseMediaType(contentType)
	s := scanner{dialect: d, cut: (*scanner).lines}
	switch kind {
	case "application/vnd.amazon.eventstream":
		s.cut = (*scanner).frames
	case "application/json":
		s.cut = func(*scanner) {} // one document: see close
	}
	return s
}

func (s *scanner) write(b []byte) {
	if s.lost || s.cut == nil {
		return
	}
	if len(s.buf)+len(b) > maxEvent {
		s.lost, s.buf = true, nil
		return
	}
	s.buf = append(s.buf, b...)
	s.cut(s)
}

// close looks at what is left: a whole document, or a line without its end.
func (s *scanner) close() {
	rest := bytes.TrimSpace(s.buf)
	s.buf = nil
	if data, ok := bytes.CutPrefix(rest, []byte("data:")); ok {
		rest = data
	}
	if gjson.ValidBytes(rest) {
		s.event(rest)
	}
}

// lines reads server-sent events. Each of the providers puts an event's JSON on
// one data line.
func (s *scanner) lines() {
	for {
		i := bytes.IndexByte(s.buf, '\n')
		if i < 0 {
			return
		}
		line := bytes.TrimSpace(s.buf[:i])
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			s.event(bytes.TrimSpace(data))
		} else if len(line) > 0 && line[0] == '{' && gjson.ValidBytes(line) {
			s.event(line)
		}
		s.buf = s.buf[i+1:]
	}
}

// frames reads the binary frames of AWS: total length, length of the headers, a
// checksum, headers, payload, a checksum. A payload holds an event in base64.
func (s *scanner) frames() {
	const prelude, tail = 12, 4
	for len(s.buf) >= prelude {
		total, head := binary.BigEndian.Uint32(s.buf), binary.BigEndian.Uint32(s.buf[4:])
		if total < prelude+tail || total > maxEvent || head > total-prelude-tail {
			s.lost, s.buf = true, nil
			return
		}
		if uint32(len(s.buf)) < total {
			return
		}
		payload := s.buf[prelude+head : total-tail]
		if inner := gjson.GetBytes(payload, "bytes"); inner.Exists() {
			if event, err := base64.StdEncoding.DecodeString(inner.String()); err == nil {
				s.event(event)
			}
		} else if m := gjson.GetBytes(payload, "message"); m.Exists() {
			s.fault = string(payload)
		}
		s.buf = s.buf[total:]
	}
}

// event looks at one JSON object of the stream, or at a whole reply.
func (s *scanner) event(data []byte) {
	if string(data) == "[DONE]" {
		s.ended = s.ended || s.dialect == dialectChat
		return
	}
	if !gjson.ValidBytes(data) {
		return
	}
	e := gjson.ParseBytes(data)
	if f := e.Get("error"); f.IsObject() || (f.Type == gjson.String && f.String() != "") {
		s.fault = e.Raw
	}
	switch s.dialect {
	case dialectAnthropic:
		s.anthropic(e)
	case dialectResponses:
		s.responses(e)
	case dialectGoogle:
		s.usage.google(e.Get("usageMetadata"))
		blocked := e.Get("promptFeedback.blockReason").Exists()
		s.refused = s.refused || blocked
		s.ended = s.ended || blocked || e.Get("candidates.0.finishReason").String() != ""
	default:
		s.chat(e)
	}
}

func (s *scanner) anthropic(e gjson.Result) {
	switch e.Get("type").String() {
	case "message_start":
		s.usage.anthropic(e.Get("message.usage"), false)
	case "message_delta":
		s.usage.anthropic(e.Get("usage"), true)
	case "message_stop":
		s.ended = true
	case "message": // not streamed
		s.usage.anthropic(e.Get("usage"), true)
		s.ended = true
	}
}

func (s *scanner) chat(e gjson.Result) {
	s.usage.chat(e.Get("usage"))
	c := e.Get("choices.0")
	s.decline(c.Get("delta.refusal"))
	s.decline(c.Get("message.refusal"))
	s.ended = s.ended || c.Get("finish_reason").String() != ""
}

// decline adds words of a refusal.
func (s *scanner) decline(v gjson.Result) {
	if v.Type == gjson.String && v.String() != "" {
		s.refused = true
		s.refusal += v.String()
	}
}

func (s *scanner) responses(e gjson.Result) {
	switch e.Get("type").String() {
	case "response.completed", "response.incomplete":
		s.usage.responses(e.Get("response.usage"))
		s.ended = true
	case "response.failed":
		s.usage.responses(e.Get("response.usage"))
		s.fault = e.Get("response").Raw
	case "response.refusal.delta":
		s.decline(e.Get("delta"))
	case "error":
		s.fault = e.Raw
	}
	if e.Get("object").String() == "response" { // not streamed
		s.usage.responses(e.Get("usage"))
		s.ended = true
		for _, v := range e.Get("output.#.content.#.refusal|@flatten").Array() {
			s.decline(v)
		}
	}
}
