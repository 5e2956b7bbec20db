package seam_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

func TestAMissExplainsItself(t *testing.T) {
	turn := func(texts ...string) string {
		var sb strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&sb, `,{"role":%q,"content":[{"type":"text","text":%q}]}`, []string{"user", "assistant"}[i%2], text)
		}
		return `{"model":"m","system":"be kind","tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"}}],"messages":[` + sb.String()[1:] + `]}`
	}
	long := strings.Repeat("a long beginning, é. ", 50)
	o := options(t, seam.Record, echo)
	o.RecordCommand = "soundstage record a/b"
	o.Rules = seam.DefaultRules()
	s := open(t, o)
	for _, body := range []string{turn("one"), turn("one", "yes", "two"), turn("other"), turn(long + "end")} {
		post(t, s, t.Context(), messagesURL, body)
	}
	post(t, s, seam.WithLane(t.Context(), "critic"), messagesURL, turn("criticise"))
	post(t, s, t.Context(), "https://h/form", "a=1&b=2")
	closeSeam(t, s)

	tests := []struct {
		name, url, body, lane string
		nearest               int
		want                  []string
	}{
		{
			name: "a changed text", body: turn("one", "yes", "three"), nearest: 1,
			want: []string{`/messages/2/content/0/text: recorded "two", sent "three"`},
		},
		{
			name: "a message more", body: turn("one", "yes", "two", "ok"), nearest: 1,
			want: []string{`/messages/3: recorded nothing, sent {"content":[{"text":"ok","type":"text"}],"role":"assistant"}`},
		},
		{
			name: "a changed schema", body: strings.Replace(turn("one"), `"b","input_schema":{"type":"object"}`, `"b","input_schema":{"type":"array"}`, 1), nearest: 0,
			want: []string{`/tools/1/input_schema/type: recorded "object", sent "array"`},
		},
		{
			name: "a tool less", body: strings.Replace(turn("one"), `{"name":"a","input_schema":{"type":"object"}},`, "", 1), nearest: 0,
			want: []string{`/tools/0: recorded {"input_schema":{"type":"object"},"name":"a"}, sent nothing`},
		},
		{
			name: "a field more and one less", body: strings.Replace(turn("other"), `"system":"be kind"`, `"top_k":5`, 1), nearest: 2,
			want: []string{`/system: recorded "be kind", sent nothing`, `/top_k: recorded nothing, sent 5`},
		},
		{name: "the end of a long text", body: turn(long + "END"), nearest: 3, want: []string{`end"`, `END"`, "…"}},
		{name: "its own lane first", body: turn("critic"), lane: "critic", nearest: 4, want: []string{`recorded "criticise", sent "critic"`}},
		{
			name: "another url", url: "https://api.anthropic.com/v1/messages?beta=true", body: turn("one"), nearest: 0,
			want: []string{`url: recorded "https://api.anthropic.com/v1/messages", sent "https://api.anthropic.com/v1/messages?beta=true"`},
		},
		{name: "not JSON", url: "https://h/form", body: "a=1&b=3", nearest: 5, want: []string{`body: recorded a=1&b=2, sent a=1&b=3`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := replay(t, o)
			url := messagesURL
			if tt.url != "" {
				url = tt.url
			}
			status, text := post(t, r, seam.WithLane(t.Context(), tt.lane), url, tt.body)
			m := r.Misses()
			if status != 400 || len(m) != 1 || m[0].Nearest != tt.nearest || m[0].Exhausted() {
				t.Fatalf("status %d, misses %+v", status, m)
			}
			want := append(tt.want, `cassette "a/b"`, "no match", "to record it: soundstage record a/b")
			for _, w := range want {
				if !strings.Contains(m[0].Error(), w) {
					t.Errorf("no %q in\n%s", w, m[0].Error())
				}
			}
			if len(tt.want) > 0 && len(m[0].Differences) != len(tt.want) && tt.name != "the end of a long text" {
				t.Errorf("%d differences, want %d:\n%s", len(m[0].Differences), len(tt.want), m[0].Error())
			}
			for _, d := range m[0].Differences {
				for _, v := range []string{d.Recorded, d.Sent} {
					if utf8.RuneCountInString(v) > 82 || !utf8.ValidString(v) {
						t.Errorf("value of %d characters: %q", utf8.RuneCountInString(v), v)
					}
				}
			}
			var shape struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(text), &shape); tt.url == "" && (err != nil || shape.Error.Message != m[0].Error()) {
				t.Errorf("answer %s, %v", text, err)
			}
			if fault.CodeOf(r.Err()) != seam.CodeMiss || !strings.Contains(fault.HintOf(r.Err()), "soundstage record a/b") {
				t.Errorf("Err() = %v, hint %q", r.Err(), fault.HintOf(r.Err()))
			}
		})
	}
}

func TestAMissIsShort(t *testing.T) {
	o := options(t, seam.Record, echo)
	var a, b []string
	for i := range 40 {
		a = append(a, fmt.Sprintf(`"k%d":1`, i))
		b = append(b, fmt.Sprintf(`"k%d":2`, i))
	}
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, "{"+strings.Join(a, ",")+"}")
	closeSeam(t, s)
	r := replay(t, o)
	post(t, r, t.Context(), messagesURL, "{"+strings.Join(b, ",")+"}")
	if m := r.Misses()[0]; len(m.Differences) != 10 || m.More != 30 || !strings.Contains(m.Error(), "and 30 more") {
		t.Errorf("%+v", m)
	}
}

func TestAMissHasTheProvidersShape(t *testing.T) {
	o := options(t, seam.Record, echo)
	s := open(t, o)
	closeSeam(t, s)
	for url, keys := range map[string]string{
		"https://api.anthropic.com/v1/messages":                                                                            `{"error":{"message":0,"type":0},"type":"error"}`,
		"http://127.0.0.1:9/proxy/v1/messages":                                                                             `{"error":{"message":0,"type":0},"type":"error"}`,
		"https://api.openai.com/v1/chat/completions":                                                                       `{"error":{"code":0,"message":0,"param":0,"type":0},"message":0}`,
		"https://api.openai.com/v1/responses":                                                                              `{"error":{"code":0,"message":0,"param":0,"type":0},"message":0}`,
		"https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse":                          `{"error":{"code":0,"message":0,"status":0}}`,
		"https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse":                                                 `{"message":0}`,
		"https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": `{"error":{"message":0,"type":0},"type":"error"}`,
		"https://api.github.com/repos":                                                                                     `{"error":{"code":0,"message":0,"param":0,"type":0},"message":0}`,
	} {
		r := replay(t, o)
		res, err := r.Transport().RoundTrip(request(t, t.Context(), url, `{}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 400 || res.Header.Get("X-Should-Retry") != "false" || res.ContentLength != int64(len(body)) || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d, %v", url, res.StatusCode, res.Header)
		}
		if !bytes.Contains(body, []byte("the cassette is empty")) {
			t.Errorf("%s: %s", url, body)
		}
		var v, want any
		if json.Unmarshal(body, &v) != nil || json.Unmarshal([]byte(keys), &want) != nil || !sameKeys(v, want) {
			t.Errorf("%s: %s, want the keys of %s", url, body, keys)
		}
	}
}

func sameKeys(got, want any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return want == float64(0) || got == want
	}
	g, ok := got.(map[string]any)
	if !ok || len(g) != len(w) {
		return false
	}
	for k := range w {
		if _, ok := g[k]; !ok || !sameKeys(g[k], w[k]) {
			return false
		}
	}
	return true
}

// Sixty-four goroutines share one cassette: every episode is given out once.
func TestManyGoroutinesShareACassette(t *testing.T) {
	const workers, each = 64, 8
	o := options(t, seam.Record, echo)
	s := open(t, o)
	var wg sync.WaitGroup
	all := func(s *seam.Seam, check func(status int, text string)) {
		for w := range workers {
			wg.Go(func() {
				for i := range each {
					body := ask(fmt.Sprintf("same %d", i))
					if w%2 == 0 {
						body = ask(fmt.Sprintf("own %d %d", w, i))
					}
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, messagesURL, strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					res, err := s.Transport().RoundTrip(req)
					if err != nil {
						t.Error(err)
						return
					}
					text, err := io.ReadAll(res.Body)
					if err != nil {
						t.Error(err)
					}
					_ = res.Body.Close()
					check(res.StatusCode, string(text))
				}
			})
		}
		wg.Wait()
	}
	var mu sync.Mutex
	all(s, func(int, string) {})
	closeSeam(t, s)
	r := replay(t, o)
	hits := 0
	all(r, func(status int, text string) {
		mu.Lock()
		defer mu.Unlock()
		if status == 200 {
			hits++
		}
	})
	if hits != workers*each || len(r.Unused()) != 0 || len(r.Calls()) != workers*each || r.Err() != nil {
		t.Errorf("%d hits, unused %v, %d calls, %v", hits, r.Unused(), len(r.Calls()), r.Err())
	}
	lines := map[int]bool{}
	for _, c := range r.Calls() {
		lines[c.Line] = true
	}
	if len(lines) != workers*each {
		t.Errorf("%d episodes were given out, want %d", len(lines), workers*each)
	}
	all(r, func(status int, _ string) {
		if status != 400 {
			t.Errorf("status %d after all was used", status)
		}
	})
}

// FuzzCanonical holds that a body's form is stable: spaces, order of names and
// escapes do not change it, and a form is its own form.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		ask("x"), `{"messages":[{"content":[{"type":"tool_use","id":"a"},{"tool_use_id":"a"}]}],"metadata":{"user_id":"u"}}`,
		`{"input":[{"call_id":"a","id":"b"},[],{}],"prompt_cache_key":1,"user":null}`, `{"messages":{"*":[]},"contents":[{"parts":[{"functionCall":{"id":"x"}}]}]}`,
		`{"user":1}`, `{"a":1,"user":2,"z":3}`, `[]`, `"x`, `{"metadata":{"user_id":1}}`,
	} {
		f.Add([]byte(s))
	}
	o := options(f, seam.Record, echo)
	o.Rules = seam.DefaultRules()
	s := open(f, o)
	closeSeam(f, s)
	r := replay(f, o)
	f.Fuzz(func(t *testing.T, body []byte) {
		seam.Walk(body)
		before := bytes.Clone(body)
		form, isJSON := r.Canonical(body)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if !isJSON {
			return
		}
		again, err := canon.JSON(form)
		if err != nil || !bytes.Equal(again, form) {
			t.Fatalf("form %q of %q is not canonical: %q, %v", form, body, again, err)
		}
		if same, err := seam.Apply(seam.DefaultRules(), form); err != nil || !bytes.Equal(same, form) {
			t.Fatalf("rules on %q give %q, %v", form, same, err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, body, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if other, _ := r.Canonical(indented.Bytes()); !bytes.Equal(other, form) {
			t.Fatalf("with spaces %q, without %q", other, form)
		}
	})
}
