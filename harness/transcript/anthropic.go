package transcript

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

func anthropicRequest(t *Transcript, body *canon.Node) {
	t.ask(body)
	t.System = anthropicParts("/system", body.Field("system"))
	for i, m := range body.Field("messages").Items() {
		where := at("/messages", i)
		t.Messages = append(t.Messages, Message{
			Where: where, Role: m.Field("role").Text(), Parts: anthropicParts(at(where, "content"), m.Field("content")),
		})
	}
	for i, n := range body.Field("tools").Items() {
		t.Tools = append(t.Tools, Tool{
			Where: at("/tools", i), Name: n.Field("name").Text(), Description: n.Field("description").Text(),
			Schema: compact(n.Field("input_schema")), Extra: extra(n, "name", "description", "input_schema"),
		})
	}
	t.Settings = settings(body, "model", "system", "messages", "tools", "stream")
}

// ask reads what every format has.
func (t *Transcript) ask(body *canon.Node) {
	if m := body.Field("model").Text(); m != "" {
		t.Model = m
	}
	t.Stream = body.Field("stream").Raw() == "true"
}

func (t *Transcript) answered(model string) {
	if model != "" {
		t.Model = model
	}
}

func anthropicParts(where string, content *canon.Node) []Part {
	if content.Kind() == canon.String {
		return []Part{{Where: where, Kind: Text, Text: content.Text()}}
	}
	var out []Part
	for i, n := range content.Items() {
		p := anthropicPart(n)
		p.Where = at(where, i)
		out = append(out, p)
	}
	return out
}

func anthropicPart(n *canon.Node) Part {
	switch kind := n.Field("type").Text(); kind {
	case "text":
		return Part{Kind: Text, Text: n.Field("text").Text(), Extra: extra(n, "type", "text")}
	case "thinking":
		return Part{Kind: Thinking, Text: n.Field("thinking").Text(), Extra: extra(n, "type", "thinking")}
	case "tool_use", "server_tool_use":
		p := Part{
			Kind: Call, ID: n.Field("id").Text(), Name: n.Field("name").Text(), Input: compact(n.Field("input")),
			Extra: extra(n, "type", "id", "name", "input"),
		}
		if kind != "tool_use" {
			p.Extra = extra(n, "id", "name", "input")
		}
		return p
	case "tool_result":
		return Part{
			Kind: Result, ID: n.Field("tool_use_id").Text(), Text: anthropicResult(n.Field("content")),
			Error: n.Field("is_error").Raw() == "true", Extra: extra(n, "type", "tool_use_id", "content", "is_error"),
		}
	case "image", "document":
		source := n.Field("source")
		return Part{
			Kind: Media, Text: media(kind+" "+source.Field("media_type").Text(), source.Field("data").Text(), source.Field("url").Text()),
			Extra: extra(n, "type", "source"),
		}
	}
	return Part{Kind: Other, Extra: compact(n)}
}

// anthropicResult is the text of a tool's result; what is no text is named.
func anthropicResult(content *canon.Node) string {
	if content.Kind() == canon.String {
		return content.Text()
	}
	var texts []string
	for _, n := range content.Items() {
		switch p := anthropicPart(n); p.Kind {
		case Text:
			texts = append(texts, p.Text)
		case Media:
			texts = append(texts, "["+p.Text+"]")
		default:
			texts = append(texts, compact(n))
		}
	}
	if len(texts) == 0 && content.Kind() == canon.Object {
		return compact(content)
	}
	return strings.Join(texts, "\n")
}

func anthropicReply(t *Transcript, body *canon.Node) {
	t.answered(body.Field("model").Text())
	if content := body.Field("content"); content.Kind() != canon.Null {
		m := Message{Role: body.Field("role").Text(), Parts: anthropicParts("", content)}
		for i := range m.Parts {
			m.Parts[i].Where = ""
		}
		t.Reply = []Message{m}
	}
	t.Finish = body.Field("stop_reason").Text()
	u := body.Field("usage")
	if u.Kind() == canon.Null && body.Field("input_tokens").Kind() == canon.Number {
		u = body // the answer of count_tokens
	}
	t.anthropicUsage(u)
}

// anthropicUsage takes the counts that are there: a stream reports them in two events.
func (t *Transcript) anthropicUsage(u *canon.Node) {
	if u.Kind() != canon.Object {
		return
	}
	if t.Usage == nil {
		t.Usage = &Usage{}
	}
	for name, to := range map[string]*int64{
		"input_tokens": &t.Usage.Input, "output_tokens": &t.Usage.Output,
		"cache_read_input_tokens": &t.Usage.CacheRead, "cache_creation_input_tokens": &t.Usage.CacheWrite,
	} {
		if n := u.Field(name); n.Kind() == canon.Number {
			*to = number(n)
		}
	}
}

func anthropicStream(t *Transcript, events []event) {
	var b builder
	role := "assistant"
	for _, ev := range events {
		key := fmt.Sprint(ev.data.Field("index").Raw())
		switch ev.data.Field("type").Text() {
		case "message_start":
			m := ev.data.Field("message")
			t.answered(m.Field("model").Text())
			if r := m.Field("role").Text(); r != "" {
				role = r
			}
			t.anthropicUsage(m.Field("usage"))
		case "content_block_start":
			p := anthropicPart(ev.data.Field("content_block"))
			if p.Input == "{}" {
				p.Input = "" // the deltas bring it
			}
			b.part(key, p.Kind).Part = p
		case "content_block_delta":
			anthropicDelta(&b, key, ev.data.Field("delta"))
		case "message_delta":
			if s := ev.data.Field("delta").Field("stop_reason").Text(); s != "" {
				t.Finish = s
			}
			t.anthropicUsage(ev.data.Field("usage"))
		}
	}
	parts := b.done()
	for i := range parts {
		if parts[i].Kind == Call && parts[i].Input == "" {
			parts[i].Input = "{}"
		}
	}
	if len(events) > 0 {
		t.Reply = []Message{{Role: role, Parts: parts}}
	}
}

func anthropicDelta(b *builder, key string, d *canon.Node) {
	switch d.Field("type").Text() {
	case "text_delta":
		b.part(key, Text).text.WriteString(d.Field("text").Text())
	case "thinking_delta":
		b.part(key, Thinking).text.WriteString(d.Field("thinking").Text())
	case "input_json_delta":
		b.part(key, Call).input.WriteString(d.Field("partial_json").Text())
	default: // signatures and citations are kept as they stand
		p := b.part(key, Other)
		p.Extra = join(p.Extra, extra(d, "type"))
	}
}

// maxExtra is how many bytes of members are kept of the pieces of a stream.
const maxExtra = 4 << 10

// join puts two JSON texts side by side. A stream may bring thousands.
func join(a, b string) string {
	switch {
	case a == "" || b == "":
		return a + b
	case strings.HasSuffix(a, " …"):
		return a
	case len(a)+len(b) > maxExtra:
		return a + " …"
	}
	return a + " " + b
}
