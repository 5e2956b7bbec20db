package transcript

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

func responsesRequest(t *Transcript, body *canon.Node) {
	t.ask(body)
	if s := body.Field("instructions").Text(); s != "" {
		t.System = append(t.System, Part{Where: "/instructions", Kind: Text, Text: s})
	}
	input := body.Field("input")
	if input.Kind() == canon.String {
		t.Messages = append(t.Messages, Message{Where: "/input", Role: "user", Parts: []Part{{Where: "/input", Kind: Text, Text: input.Text()}}})
	}
	for i, n := range input.Items() {
		m := responsesItem(at("/input", i), n)
		if isInstruction(m.Role) && len(t.Messages) == 0 {
			t.System = append(t.System, m.Parts...)
			continue
		}
		t.Messages = append(t.Messages, m)
	}
	for i, n := range body.Field("tools").Items() {
		f := n
		if n.Field("type").Text() != "function" {
			f = nil
		}
		t.Tools = append(t.Tools, functionTool(at("/tools", i), n, f))
	}
	t.Settings = settings(body, "model", "instructions", "input", "tools", "stream")
}

// responsesItem reads an item of a request's input or of an answer's output.
func responsesItem(where string, n *canon.Node) Message {
	m := Message{Where: where, Role: "assistant"}
	switch n.Field("type").Text() {
	case "", "message":
		m.Role = n.Field("role").Text()
		if c := n.Field("content"); c.Kind() == canon.String {
			m.Parts = []Part{{Where: at(where, "content"), Kind: Text, Text: c.Text()}}
			break
		}
		for i, p := range n.Field("content").Items() {
			part := chatPart(p)
			part.Where = at(at(where, "content"), i)
			m.Parts = append(m.Parts, part)
		}
	case "function_call":
		m.Parts = []Part{{
			Where: where, Kind: Call, ID: n.Field("call_id").Text(), Name: n.Field("name").Text(),
			Input: arguments(n.Field("arguments").Text()), Extra: extra(n, "type", "id", "call_id", "name", "arguments", "status"),
		}}
	case "function_call_output":
		m.Role = "tool"
		m.Parts = []Part{{
			Where: where, Kind: Result, ID: n.Field("call_id").Text(), Text: chatText(n.Field("output")),
			Extra: extra(n, "type", "id", "call_id", "output", "status"),
		}}
	case "reasoning":
		var texts []string
		for _, list := range []string{"summary", "content"} {
			for _, p := range n.Field(list).Items() {
				texts = append(texts, p.Field("text").Text())
			}
		}
		m.Parts = []Part{{
			Where: where, Kind: Thinking, Text: strings.Join(texts, "\n"), Extra: extra(n, "type", "id", "summary", "content", "status"),
		}}
	default:
		m.Parts = []Part{{Where: where, Kind: Other, Extra: compact(n)}}
	}
	return m
}

func responsesReply(t *Transcript, body *canon.Node) {
	t.answered(body.Field("model").Text())
	t.Finish = body.Field("status").Text()
	if why := body.Field("incomplete_details").Field("reason").Text(); why != "" {
		t.Finish += ": " + why
	}
	if text := body.Field("error").Field("message").Text(); text != "" {
		t.Failure = text
	}
	reply := Message{Role: "assistant"}
	for _, n := range body.Field("output").Items() {
		for _, p := range responsesItem("", n).Parts {
			p.Where = ""
			reply.Parts = append(reply.Parts, p)
		}
	}
	t.Reply = []Message{reply}
	t.chatUsage(body.Field("usage"))
}

// responsesStream takes the last event, which holds the whole answer. A stream that
// was cut before it is put together from what came.
func responsesStream(t *Transcript, events []event) {
	var b builder
	for _, ev := range events {
		switch kind := ev.data.Field("type").Text(); kind {
		case "response.completed", "response.incomplete", "response.failed":
			responsesReply(t, ev.data.Field("response"))
			return
		case "response.created":
			t.answered(ev.data.Field("response").Field("model").Text())
		case "response.output_item.added", "response.output_item.done":
			for i, p := range responsesItem("", ev.data.Field("item")).Parts {
				p.Where = ""
				b.part(responsesKey(ev.data, i), p.Kind).take(p)
			}
		case "response.output_text.delta":
			b.part(responsesKey(ev.data, 0), Text).text.WriteString(ev.data.Field("delta").Text())
		case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
			b.part(responsesKey(ev.data, 0), Thinking).text.WriteString(ev.data.Field("delta").Text())
		case "response.function_call_arguments.delta":
			b.part(responsesKey(ev.data, 0), Call).input.WriteString(ev.data.Field("delta").Text())
		}
	}
	if len(b.pieces) > 0 {
		t.Reply = []Message{{Role: "assistant", Parts: b.done()}}
	}
}

func responsesKey(ev *canon.Node, part int) string { return at(ev.Field("output_index").Raw(), part) }
