package diff_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
)

const base = `{"model":"m","system":"You are kind. You answer in French. You are brief.",
	"tools":[{"name":"add","description":"Adds.","input_schema":{"type":"object","properties":{"a":{"type":"integer"}}}},{"name":"old"}],
	"messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"add","input":{"a":2,"deep":{"b":[1,2]}}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"5"}]}]}`

func call(request, answer string) cassette.Episode {
	h := sha256.Sum256([]byte(request))
	return cassette.Episode{
		Key: hex.EncodeToString(h[:]), Kind: "http", Origin: cassette.Scripted, Model: "m",
		Request:  cassette.Request{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Body: []byte(request)},
		Response: cassette.Response{Status: 200, Body: []byte(`{"role":"assistant","id":"` + h2(request) + `","content":[{"type":"text","text":"` + answer + `"}],"stop_reason":"end_turn"}`)},
	}
}

func h2(s string) string { return fmt.Sprintf("msg_%x", len(s)) }

func TestEpisodes(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string // replaced in base
		answer         string
		want           []string
	}{
		{"nothing", "", "", "yes", nil},
		{"the id of a call", `"t1"`, `"t9"`, "yes", nil},
		{
			"a sentence of the prompt", "answer in French", "answer in Latin", "yes",
			[]string{`system, text: "You are kind. You answer in French. You are brief." → "You are kind. You answer in Latin. You are brief."`},
		},
		{"a tool's schema", `"integer"`, `"number"`, "yes", []string{`tool "add", schema /properties/a/type: "integer" → "number"`}},
		{"a tool's description", "Adds.", "Adds two.", "yes", []string{`tool "add", description: "Adds." → "Adds two."`}},
		{"an argument", `[1,2]`, `[1,3]`, "yes", []string{`message 2 (assistant), call of add, argument /deep/b/1: 2 → 3`}},
		{"a result", `"content":"5"`, `"content":"6"`, "yes", []string{`message 3 (user), result: "5" → "6"`}},
		{"a message more", `"messages":[`, `"messages":[{"role":"user","content":"zero"},`, "yes", []string{`message 1 (user): added "zero"`}},
		{"a setting", `"model":"m"`, `"model":"m","max_tokens":9`, "yes", []string{`setting max_tokens: added 9`}},
		{"a tool that is another", `{"name":"old"}`, `{"name":"new","description":"New."}`, "yes", []string{`tool "new": added "New."`, `tool "old": removed "old"`}},
		{"the answer", "", "", "no", []string{`reply, text: "yes" → "no"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := call(base, "yes"), call(strings.ReplaceAll(base, tt.from, tt.to), tt.answer)
			if tt.from == "" {
				b = call(base, tt.answer)
			}
			var got []string
			for _, c := range diff.Episodes(&a, &b) {
				got = append(got, c.Text())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
			for _, c := range diff.Episodes(&b, &a) {
				if c.Subject == "" {
					t.Errorf("the other way round: %+v", c)
				}
			}
		})
	}
}

func TestLongTextsAreShownWhereTheyDiffer(t *testing.T) {
	long := strings.Repeat("All is as it was. ", 200)
	a := call(`{"system":"`+long+`Speak softly. `+long+`","messages":[]}`, "")
	b := call(`{"system":"`+long+`Speak loudly. `+long+`","messages":[]}`, "")
	got := diff.Episodes(&a, &b)
	if len(got) != 1 || !strings.HasPrefix(got[0].Old, `…"Speak softly.`) || !strings.HasPrefix(got[0].New, `…"Speak loudly.`) || len(got[0].Text()) > 400 {
		t.Errorf("%+v", got)
	}
}

func TestOtherCalls(t *testing.T) {
	a := cassette.Episode{Kind: "mcp", Request: cassette.Request{Method: "POST", URL: "mcp://s/tools/call", Body: []byte(`{"a":1,"b":2}`)}}
	b := a
	b.Request.Body = []byte(`{"b":2,"a":[]}`)
	got := diff.Episodes(&a, &b)
	if len(got) != 1 || got[0].Text() != "request, body /a: 1 → []" {
		t.Errorf("%+v", got)
	}
}

func write(t *testing.T, origin cassette.Origin, episodes ...cassette.Episode) *cassette.Cassette {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	w, err := cassette.Create(path, cassette.Header{})
	for _, e := range episodes {
		e.Origin = origin
		if err == nil {
			err = w.Append(e)
		}
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCassettes(t *testing.T) {
	one, two, three := call(base, "1"), call(strings.Replace(base, "one", "two", 1), "2"), call(strings.Replace(base, "one", "three", 1), "3")
	twoAgain := call(strings.Replace(base, "one", "second", 1), "2")
	a := write(t, cassette.Scripted, one, two)
	r, err := diff.Cassettes(a, write(t, cassette.Scripted, one, two))
	if err != nil || !r.Equal() || r.Same != 2 {
		t.Errorf("the same: %+v, %v", r, err)
	}
	r, err = diff.Cassettes(a, write(t, cassette.Live, one, twoAgain, three))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Header {
		got = append(got, c.Text())
	}
	for _, p := range r.Pairs {
		for _, c := range p.Changes {
			got = append(got, fmt.Sprint(p.Old, "/", p.New, " ", c.Text()))
		}
	}
	want := []string{
		`header, origin: "scripted" → "live"`,
		`1/1 message 1 (user), text: "two" → "second"`,
		`-1/2 episode: added POST https://api.anthropic.com/v1/messages, 3 messages, the last "5"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
