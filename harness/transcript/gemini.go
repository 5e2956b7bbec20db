package transcript

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
)

func geminiRequest(t *Transcript, body *canon.Node) {
	system := first(body, "systemInstruction", "system_instruction")
	t.System = geminiParts("/systemInstruction/parts", system.Field("parts"))
	for i, c := range body.Field("contents").Items() {
		where := at("/contents", i)
		role := c.Field("role").Text()
		if role == "" {
			role = "user"
		}
		t.Messages = append(t.Messages, Message{Where: where, Role: role, Parts: geminiParts(at(where, "parts"), c.Field("parts"))})
	}
	for i, n := range body.Field("tools").Items() {
		where := at("/tools", i)
		list := first(n, "functionDeclarations", "function_declarations")
		for j, f := range list.Items() {
			t.Tools = append(t.Tools, functionTool(at(at(where, "functionDeclarations"), j), f, f))
		}
		if rest := extra(n, "functionDeclarations", "function_declarations"); rest != "" {
			t.Tools = append(t.Tools, Tool{Where: where, Name: "built-in", Extra: rest})
		}
	}
	t.Settings = settings(body, "systemInstruction", "system_instruction", "contents", "tools", "model")
}

func geminiParts(where string, list *canon.Node) []Part {
	var out []Part
	for i, n := range list.Items() {
		p := geminiPart(n)
		p.Where = at(where, i)
		out = append(out, p)
	}
	return out
}

func geminiPart(n *canon.Node) Part {
	switch {
	case n.Field("functionCall").Kind() == canon.Object:
		f := n.Field("functionCall")
		input := "{}"
		if args := f.Field("args"); args.Kind() != canon.Null {
			input = compact(args)
		}
		return Part{
			Kind: Call, ID: f.Field("id").Text(), Name: f.Field("name").Text(), Input: input,
			Extra: join(extra(n, "functionCall"), extra(f, "id", "name", "args")),
		}
	case n.Field("functionResponse").Kind() == canon.Object:
		f := n.Field("functionResponse")
		return Part{
			Kind: Result, ID: f.Field("id").Text(), Name: f.Field("name").Text(), Text: geminiResult(f.Field("response")),
			Error: f.Field("response").Field("error").Kind() != canon.Null,
			Extra: join(extra(n, "functionResponse"), extra(f, "id", "name", "response")),
		}
	case n.Field("inlineData").Kind() == canon.Object:
		d := n.Field("inlineData")
		return Part{Kind: Media, Text: media(d.Field("mimeType").Text(), d.Field("data").Text(), ""), Extra: extra(n, "inlineData")}
	case n.Field("fileData").Kind() == canon.Object:
		d := n.Field("fileData")
		return Part{Kind: Media, Text: media(d.Field("mimeType").Text(), "", d.Field("fileUri").Text()), Extra: extra(n, "fileData")}
	case n.Field("text").Kind() == canon.String && n.Field("thought").Raw() == "true":
		return Part{Kind: Thinking, Text: n.Field("text").Text(), Extra: extra(n, "text", "thought")}
	case n.Field("text").Kind() == canon.String:
		return Part{Kind: Text, Text: n.Field("text").Text(), Extra: extra(n, "text", "thought")}
	}
	return Part{Kind: Other, Extra: compact(n)}
}

// geminiResult is the text of a result that has nothing else.
func geminiResult(n *canon.Node) string {
	if r := first(n, "result", "output", "error"); n.Len() == 1 && r.Kind() == canon.String {
		return r.Text()
	}
	return compact(n)
}

func geminiReply(t *Transcript, body *canon.Node) { geminiStream(t, []event{{data: body}}) }

func geminiStream(t *Transcript, events []event) {
	replies := map[string]*builder{}
	var order []string
	for _, ev := range events {
		t.answered(ev.data.Field("modelVersion").Text())
		t.geminiUsage(ev.data)
		if why := ev.data.Field("promptFeedback").Field("blockReason").Text(); why != "" {
			t.Finish = "blocked: " + why
		}
		for _, c := range ev.data.Field("candidates").Items() {
			index := c.Field("index").Raw()
			if index == "" {
				index = "0"
			}
			m := replies[index]
			if m == nil {
				m = &builder{}
				replies[index], order = m, append(order, index)
			}
			for _, n := range c.Field("content").Field("parts").Items() {
				m.grow(geminiPart(n))
			}
			if f := c.Field("finishReason").Text(); f != "" {
				t.Finish = f
			}
		}
	}
	for _, index := range order {
		t.Reply = append(t.Reply, Message{Role: "model", Parts: replies[index].done()})
	}
}

// grow appends a part to the message that b makes; text that goes on where the last part
// ended is one with it.
func (b *builder) grow(p Part) {
	n := len(b.pieces)
	if n > 0 && (p.Kind == Text || p.Kind == Thinking) && b.pieces[n-1].Kind == p.Kind {
		last := b.pieces[n-1]
		last.text.WriteString(p.Text)
		last.Extra = join(last.Extra, p.Extra)
		return
	}
	b.part(at("", n), p.Kind).Part = p
}

// geminiUsage takes the last report: each holds the sums so far.
func (t *Transcript) geminiUsage(body *canon.Node) {
	u := body.Field("usageMetadata")
	if u.Kind() != canon.Object {
		if n := body.Field("totalTokens"); n.Kind() == canon.Number {
			t.Usage = &Usage{Input: number(n)} // the answer of countTokens
		}
		return
	}
	cached, thoughts := number(u.Field("cachedContentTokenCount")), number(u.Field("thoughtsTokenCount"))
	t.Usage = &Usage{
		Input:     max(0, number(u.Field("promptTokenCount"))+number(u.Field("toolUsePromptTokenCount"))-cached),
		Output:    number(u.Field("candidatesTokenCount")) + thoughts,
		CacheRead: cached, Reasoning: thoughts,
	}
}
