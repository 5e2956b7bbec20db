package model

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// events are the JSON objects of a recorded body, found without the adapter.
func events(e cassette.Episode) []gjson.Result {
	body := string(e.Response.Body)
	if !streamed(e) {
		return []gjson.Result{gjson.Parse(body)}
	}
	var out []gjson.Result
	if strings.Contains(e.Response.Header.Get("Content-Type"), "amazon.eventstream") {
		for _, piece := range strings.Split(body, `{"bytes":"`)[1:] {
			coded, _, _ := strings.Cut(piece, `"`)
			if text, err := base64.StdEncoding.DecodeString(coded); err == nil {
				out = append(out, gjson.ParseBytes(text))
			}
		}
		return out
	}
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			out = append(out, gjson.Parse(data))
		}
	}
	return out
}

// expected reads a recorded body by the plain rules of its wire format.
func expected(e cassette.Episode, d dialect) reading {
	var r reading
	args := map[string]string{}
	var order []string
	arg := func(key, piece string) {
		if _, ok := args[key]; !ok {
			order = append(order, key)
			args[key] = ""
		}
		args[key] += piece
	}
	names := map[string]string{}
	for i, v := range events(e) {
		switch d {
		case dialectAnthropic:
			readAnthropic(&r, v, names, arg)
		case dialectResponses:
			readResponses(&r, v, names, arg)
		case dialectGoogle:
			for j, p := range v.Get("candidates.0.content.parts").Array() {
				if p.Get("text").Exists() && !p.Get("thought").Bool() {
					r.Text += p.Get("text").String()
				}
				r.Thought = r.Thought || p.Get("thought").Bool()
				if c := p.Get("functionCall"); c.Exists() {
					key := fmt.Sprint(i, "/", j)
					names[key] = c.Get("name").String()
					arg(key, c.Get("args").Raw)
				}
			}
			if u := v.Get("usageMetadata"); u.Get("totalTokenCount").Int() > 0 {
				r.Usage = [3]int64{
					u.Get("promptTokenCount").Int() + u.Get("toolUsePromptTokenCount").Int(),
					u.Get("candidatesTokenCount").Int() + u.Get("thoughtsTokenCount").Int(), u.Get("cachedContentTokenCount").Int(),
				}
			}
		default:
			readChat(&r, v, names, arg)
		}
	}
	for _, key := range order {
		in := args[key]
		if strings.TrimSpace(in) == "" {
			in = "{}"
		}
		r.Calls = append(r.Calls, names[key]+canonical(in))
	}
	return r
}

func readAnthropic(r *reading, v gjson.Result, names map[string]string, arg func(key, piece string)) {
	block := func(key string, b gjson.Result) {
		switch b.Get("type").String() {
		case "text":
			r.Text += b.Get("text").String()
		case "tool_use":
			names[key] = b.Get("name").String()
			arg(key, "")
			if raw := b.Get("input").Raw; raw != "{}" {
				arg(key, raw)
			}
		}
	}
	use := func(u gjson.Result) {
		if u.Get("input_tokens").Exists() {
			r.Usage[2] = u.Get("cache_read_input_tokens").Int()
			r.Usage[0] = u.Get("input_tokens").Int() + r.Usage[2] + u.Get("cache_creation_input_tokens").Int()
		}
		if u.Get("output_tokens").Exists() {
			r.Usage[1] = u.Get("output_tokens").Int()
		}
	}
	use(v.Get("message.usage"))
	use(v.Get("usage"))
	for i, b := range v.Get("content").Array() {
		block(fmt.Sprint(i), b)
		r.Thought = r.Thought || b.Get("thinking").String() != ""
	}
	key := v.Get("index").String()
	block(key, v.Get("content_block"))
	r.Text += v.Get("delta.text").String()
	r.Thought = r.Thought || v.Get("delta.thinking").String() != ""
	if p := v.Get("delta.partial_json"); p.Exists() && names[key] != "" {
		arg(key, p.String())
	}
}

func readResponses(r *reading, v gjson.Result, names map[string]string, arg func(key, piece string)) {
	item := func(key string, it gjson.Result, text bool) {
		switch it.Get("type").String() {
		case "function_call":
			names[key] = it.Get("name").String()
			arg(key, it.Get("arguments").String())
		case "message":
			for _, c := range it.Get("content").Array() {
				if text {
					r.Text += c.Get("text").String()
				}
			}
		case "reasoning":
			for _, s := range it.Get("summary").Array() {
				r.Thought = r.Thought || s.Get("text").String() != ""
			}
		}
	}
	use := func(u gjson.Result) {
		if u.IsObject() {
			r.Usage = [3]int64{u.Get("input_tokens").Int(), u.Get("output_tokens").Int(), u.Get("input_tokens_details.cached_tokens").Int()}
		}
	}
	use(v.Get("usage"))
	use(v.Get("response.usage"))
	for i, it := range v.Get("output").Array() {
		item(fmt.Sprint(i), it, true)
	}
	switch v.Get("type").String() {
	case "response.output_text.delta":
		r.Text += v.Get("delta").String()
	case "response.output_item.done":
		item(v.Get("output_index").String(), v.Get("item"), false)
	}
}

func readChat(r *reading, v gjson.Result, names map[string]string, arg func(key, piece string)) {
	c := v.Get("choices.0")
	for _, m := range []gjson.Result{c.Get("message"), c.Get("delta")} {
		r.Text += m.Get("content").String()
		for _, f := range []string{"reasoning", "reasoning_content"} {
			r.Thought = r.Thought || m.Get(f).String() != ""
		}
		for i, t := range m.Get("tool_calls").Array() {
			key := t.Get("index").String()
			if key == "" {
				key = fmt.Sprint(i)
			}
			if n := t.Get("function.name").String(); n != "" {
				names[key] = n
			}
			arg(key, t.Get("function.arguments").String())
		}
	}
	if u := v.Get("usage"); u.Get("prompt_tokens").Exists() {
		out, more := u.Get("completion_tokens").Int(), u.Get("completion_tokens_details.reasoning_tokens").Int()
		// The total tells who counts reasoning apart.
		if u.Get("total_tokens").Int() == u.Get("prompt_tokens").Int()+out+more {
			out += more
		}
		r.Usage = [3]int64{u.Get("prompt_tokens").Int(), out, u.Get("prompt_tokens_details.cached_tokens").Int()}
	}
}
