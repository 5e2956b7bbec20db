package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

const corpus = "../../../shared/corpus/cassettes"

// walk calls f with each cassette of the corpus.
func walk(t *testing.T, f func(name string, episodes []cassette.Episode)) int {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the corpus is not beside this repository: ", err)
	}
	files := 0
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		episodes, err := importer.Load(path)
		if err != nil {
			t.Errorf("%s does not load: %v", path, err)
			return nil
		}
		name, err := filepath.Rel(corpus, path)
		f(filepath.ToSlash(name), episodes)
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
	return files
}

// speaker is the family that the recorded URL belongs to, and its model.
func speaker(t *testing.T, e cassette.Episode) (family, string) {
	t.Helper()
	u, err := url.Parse(e.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	id := gjson.GetBytes(e.Request.Body, "model").String()
	if _, after, ok := strings.Cut(u.Path, "/models/"); ok {
		id, _, _ = strings.Cut(after, ":")
	} else if _, after, ok := strings.Cut(u.Path, "/model/"); ok {
		id, _, _ = strings.Cut(after, "/")
	}
	switch {
	case strings.HasSuffix(u.Path, "/count_tokens"):
		return "", id
	case u.Host == "api.anthropic.com":
		return familyAnthropic, id
	case strings.HasPrefix(u.Host, "bedrock-runtime."):
		return familyBedrock, id
	case u.Host == "generativelanguage.googleapis.com":
		return familyGoogle, id
	case strings.HasSuffix(u.Host, "aiplatform.googleapis.com"):
		return familyVertex, id
	case u.Host == "openrouter.ai":
		return familyOpenRouter, id
	case u.Host == "ai-gateway.vercel.sh":
		return familyVercel, id
	case u.Host == "api.openai.com" && strings.HasSuffix(u.Path, "/responses"):
		return familyOpenAI, id
	case strings.HasSuffix(u.Host, ".openai.azure.com") && strings.HasSuffix(u.Path, "/responses"):
		return familyAzure, id
	}
	return familyCompat, id // chat, whoever speaks it
}

// A reading is what a response says.
type reading struct {
	Text    string
	Thought bool
	Calls   []string // name and canonical input
	Refused bool
	Usage   [3]int64 // all input, output, read from the cache
}

// parse feeds the recorded response to the adapter.
func parse(t *testing.T, e cassette.Episode, f family, id string) (reading, outcome) {
	t.Helper()
	cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
		resp := answer(r, e.Response.Status, "", string(e.Response.Body))
		resp.Header = e.Response.Header.Clone()
		if resp.Header == nil {
			resp.Header = http.Header{}
		}
		return resp, nil
	}))
	en := entry{provider: string(f), model: id, family: f, baseURL: map[bool]string{true: "http://compat.invalid/v1"}[f == familyCompat],
		info: port.Info{Ref: string(f) + "/" + id, MaxOutput: 4096}}
	acc := Access{Key: placeholder}
	lm, err := dial(t.Context(), en, acc, client(cfg.Client, en.dress(acc, cfg.Clock)))
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{info: en.info, family: f, lm: lm, whole: !streamed(e), clock: cfg.Clock}
	o := collect(t.Context(), p, hello())
	r := reading{Text: o.text, Thought: o.thought != ""}
	for _, c := range o.calls {
		r.Calls = append(r.Calls, c.Name+canonical(c.Input))
	}
	if o.reply != nil {
		u := o.reply.Usage
		r.Usage = [3]int64{u.Input + u.CacheRead + u.CacheWrite, u.Output, u.CacheRead}
		r.Refused = o.reply.Reason == port.Refusal
	}
	return r, o
}

func streamed(e cassette.Episode) bool {
	return strings.Contains(e.Response.Header.Get("Content-Type"), "stream") ||
		strings.HasPrefix(string(e.Response.Body), "data:") || strings.HasPrefix(string(e.Response.Body), "event:")
}

func canonical(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return s
	}
	out, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(out)
}

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
				r.Usage = [3]int64{u.Get("promptTokenCount").Int() + u.Get("toolUsePromptTokenCount").Int(),
					u.Get("candidatesTokenCount").Int() + u.Get("thoughtsTokenCount").Int(), u.Get("cachedContentTokenCount").Int()}
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

// notReplies are the episodes that are no reply of a model, with the reason.
var notReplies = map[string]string{
	"/v1/messages/count_tokens": "counts tokens: the answer is a number, not a reply",
}

// Each recorded response of the corpus parses, and says what its bytes say.
func TestCorpusParses(t *testing.T) {
	type row struct{ all, text, calls, thought, exact int }
	table := map[string]*row{}
	skipped := map[string]int{}
	files := walk(t, func(name string, episodes []cassette.Episode) {
		for i, e := range episodes {
			f, id := speaker(t, e)
			if f == "" {
				u, err := url.Parse(e.Request.URL)
				if err != nil || notReplies[u.Path] == "" {
					t.Errorf("%s, episode %d: %q is not in the table of what is no reply", name, i, e.Request.URL)
				}
				skipped[u.Path]++
				continue
			}
			got, o := parse(t, e, f, id)
			if o.err != nil {
				t.Errorf("%s, episode %d (%s): %v", name, i, f, o.err)
				continue
			}
			want := expected(e, f.dialect(string(f)+"/"+id))
			want.Refused = got.Refused
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, episode %d (%s):\ngot  %+v\nwant %+v", name, i, f, got, want)
			}
			if o.reply.Reason == port.Unknown || o.reply.Usage.State != port.Exact {
				t.Errorf("%s, episode %d (%s): reason %q, usage %+v", name, i, f, o.reply.Reason, o.reply.Usage)
			}
			how := "whole"
			if streamed(e) {
				how = "stream"
			}
			key := fmt.Sprintf("%-12s %-9s %s", f, f.dialect(string(f)+"/"+id), how)
			if table[key] == nil {
				table[key] = &row{}
			}
			w := table[key]
			w.all++
			for _, c := range []struct {
				on bool
				n  *int
			}{{got.Text != "", &w.text}, {len(got.Calls) > 0, &w.calls}, {got.Thought, &w.thought}, {o.reply.Usage.State == port.Exact, &w.exact}} {
				if c.on {
					*c.n++
				}
			}
		}
	})
	sum := 0
	t.Logf("%d files; replies parsed / with text / with calls / with reasoning / with exact usage", files)
	for _, key := range slices.Sorted(maps.Keys(table)) {
		w := table[key]
		sum += w.all
		t.Logf("%s %4d %4d %4d %4d %4d", key, w.all, w.text, w.calls, w.thought, w.exact)
	}
	for path, n := range skipped {
		t.Logf("%d of %s: %s", n, path, notReplies[path])
	}
	t.Logf("%d replies", sum)
}
