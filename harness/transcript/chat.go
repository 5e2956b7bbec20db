package transcript

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

func chatRequest(t *Transcript, body *canon.Node) {
	t.ask(body)
	for i, m := range body.Field("messages").Items() {
		where := at("/messages", i)
		role := m.Field("role").Text()
		parts := chatParts(where, m)
		if isInstruction(role) && len(t.Messages) == 0 {
			t.System = append(t.System, parts...)
			continue
		}
		t.Messages = append(t.Messages, Message{Where: where, Role: role, Parts: parts})
	}
	for i, n := range body.Field("tools").Items() {
		t.Tools = append(t.Tools, functionTool(at("/tools", i), n, n.Field("function")))
	}
	t.Settings = settings(body, "model", "messages", "tools", "stream")
}

func isInstruction(role string) bool { return role == "system" || role == "developer" }

// functionTool reads a tool whose function stands in f, which may be n itself.
func functionTool(where string, n, f *canon.Node) Tool {
	if f.Kind() != canon.Object {
		return Tool{Where: where, Name: n.Field("type").Text(), Extra: compact(n)}
	}
	tool := Tool{
		Where: where, Name: f.Field("name").Text(), Description: f.Field("description").Text(),
		Schema: compact(first(f, "parameters", "parametersJsonSchema")),
		Extra:  extra(f, "type", "name", "description", "parameters", "parametersJsonSchema"),
	}
	if f != n {
		tool.Extra = join(tool.Extra, extra(n, "type", "function"))
	}
	return tool
}

// chatParts are the parts of a message; a stream's delta has the same members.
func chatParts(where string, m *canon.Node) []Part {
	var out []Part
	if m.Field("role").Text() == "tool" {
		return []Part{{
			Where: at(where, "content"), Kind: Result, ID: m.Field("tool_call_id").Text(), Text: chatText(m.Field("content")),
			Extra: extra(m, "role", "tool_call_id", "content"),
		}}
	}
	if th := first(m, "reasoning_content", "reasoning"); th.Kind() == canon.String && th.Text() != "" {
		out = append(out, Part{Where: where, Kind: Thinking, Text: th.Text()})
	}
	content := m.Field("content")
	if content.Kind() == canon.String && content.Text() != "" {
		out = append(out, Part{Where: at(where, "content"), Kind: Text, Text: content.Text()})
	}
	for i, n := range content.Items() {
		p := chatPart(n)
		p.Where = at(at(where, "content"), i)
		out = append(out, p)
	}
	if r := m.Field("refusal").Text(); r != "" {
		out = append(out, Part{Where: at(where, "refusal"), Kind: Refusal, Text: r})
	}
	for i, c := range m.Field("tool_calls").Items() {
		f := c.Field("function")
		out = append(out, Part{
			Where: at(at(where, "tool_calls"), i), Kind: Call, ID: c.Field("id").Text(), Name: f.Field("name").Text(),
			Input: arguments(f.Field("arguments").Text()), Extra: extra(c, "id", "type", "function", "index"),
		})
	}
	if rest := extra(m, "role", "content", "refusal", "tool_calls", "reasoning_content", "reasoning"); rest != "" {
		out = append(out, Part{Where: where, Kind: Other, Extra: rest})
	}
	return out
}

func chatText(content *canon.Node) string {
	if content.Kind() == canon.String {
		return content.Text()
	}
	var texts []string
	for _, n := range content.Items() {
		if p := chatPart(n); p.Kind == Text {
			texts = append(texts, p.Text)
		} else {
			texts = append(texts, compact(n))
		}
	}
	return strings.Join(texts, "\n")
}

// chatPart reads a part of Chat Completions or of Responses: they differ in the
// names of their types.
func chatPart(n *canon.Node) Part {
	switch kind := n.Field("type").Text(); kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return Part{Kind: Text, Text: n.Field("text").Text(), Extra: extra(n, "type", "text")}
	case "refusal":
		return Part{Kind: Refusal, Text: n.Field("refusal").Text(), Extra: extra(n, "type", "refusal")}
	case "image_url", "input_image":
		u := n.Field("image_url")
		if u.Kind() == canon.Object {
			u = u.Field("url")
		}
		return Part{Kind: Media, Text: media("image", "", u.Text()), Extra: extra(n, "type", "image_url")}
	case "file", "input_file":
		f := n
		if kind == "file" {
			f = n.Field("file")
		}
		return Part{
			Kind: Media, Text: media("file "+f.Field("filename").Text(), "", first(f, "file_data", "file_id", "file_url").Text()),
			Extra: extra(n, "type", "file", "filename", "file_data", "file_id", "file_url"),
		}
	}
	return Part{Kind: Other, Extra: compact(n)}
}

func chatReply(t *Transcript, body *canon.Node) {
	t.answered(body.Field("model").Text())
	for _, c := range body.Field("choices").Items() {
		m := c.Field("message")
		parts := chatParts("", m)
		for i := range parts {
			parts[i].Where = ""
		}
		t.Reply = append(t.Reply, Message{Role: m.Field("role").Text(), Parts: parts})
		t.Finish = c.Field("finish_reason").Text()
	}
	t.chatUsage(body.Field("usage"))
}

// chatUsage takes the cached tokens out of the prompt's, in which they are counted.
func (t *Transcript) chatUsage(u *canon.Node) {
	if u.Kind() != canon.Object {
		return
	}
	cached := number(first(u, "prompt_tokens_details", "input_tokens_details").Field("cached_tokens"))
	t.Usage = &Usage{
		Input:     max(0, number(first(u, "prompt_tokens", "input_tokens"))-cached),
		Output:    number(first(u, "completion_tokens", "output_tokens")),
		CacheRead: cached,
		Reasoning: number(first(u, "completion_tokens_details", "output_tokens_details").Field("reasoning_tokens")),
	}
}

func chatStream(t *Transcript, events []event) {
	builders := map[string]*builder{}
	var order []string
	for _, ev := range events {
		t.answered(ev.data.Field("model").Text())
		t.chatUsage(ev.data.Field("usage"))
		for _, c := range ev.data.Field("choices").Items() {
			index := c.Field("index").Raw()
			b := builders[index]
			if b == nil {
				b = &builder{}
				builders[index], order = b, append(order, index)
			}
			chatDelta(b, c.Field("delta"))
			if f := c.Field("finish_reason").Text(); f != "" {
				t.Finish = f
			}
		}
	}
	for _, index := range order {
		t.Reply = append(t.Reply, Message{Role: "assistant", Parts: builders[index].done()})
	}
}

func chatDelta(b *builder, d *canon.Node) {
	for _, p := range chatParts("", d) {
		if p.Kind == Call || p.Kind == Result {
			continue
		}
		to := b.part(string(p.Kind), p.Kind)
		to.text.WriteString(p.Text)
		if !strings.Contains(to.Extra, p.Extra) {
			to.Extra = join(to.Extra, p.Extra)
		}
	}
	for i, c := range d.Field("tool_calls").Items() {
		index := c.Field("index").Raw()
		if index == "" {
			index = at("", i) // Gemini behind a gateway sends whole calls without one
		}
		p, f := b.part("call "+index, Call), c.Field("function")
		p.ID += c.Field("id").Text()
		p.Name += f.Field("name").Text()
		p.input.WriteString(f.Field("arguments").Text())
		if rest := extra(c, "id", "type", "function", "index"); !strings.Contains(p.Extra, rest) {
			p.Extra = join(p.Extra, rest)
		}
	}
}
