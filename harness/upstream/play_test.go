package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestLanes(t *testing.T) {
	const script = `
lanes:
  - {name: scout, system: You are the scout}
  - {name: writer, system: You are the writer}
turns:
  - say: {text: main one}
  - {lane: writer, say: {text: writer one}}
  - {lane: scout, let: {x: 'x=(\d)'}, say: {text: "scout ${x}"}}
  - say: {text: main two}
  - {lane: scout, say: {text: "scout again ${x}"}}
`
	s := New(parse(t, script))
	ask := func(system, header string) string {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages",
			strings.NewReader(`{"model":"m","system":[{"type":"text","text":"`+system+`"}],"messages":[{"role":"user","content":"x=7"}]}`))
		if header != "" {
			r.Header.Set(LaneHeader, header)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	for _, row := range []struct{ system, header, want string }{
		{"Hello. You are the scout.", "", "scout 7"},
		{"You are nobody", "", "main one"},
		{"You are nobody", "scout", "scout again 7"},
		{"You are the writer", "", "writer one"},
		{"", "", "main two"},
	} {
		if got := ask(row.system, row.header); !strings.Contains(got, `"text":"`+row.want+`"`) {
			t.Errorf("system %q, header %q: got %s, want %q", row.system, row.header, got, row.want)
		}
	}
	if err := s.Done(); err != nil {
		t.Fatal(err)
	}
	if got := ask("You are the scout", ""); !strings.Contains(got, `no turn left in lane \"scout\"`) {
		t.Errorf("after the last turn: %s", got)
	}
	if got := fault.CodeOf(s.Err()); got != CodeSpent {
		t.Errorf("Err() = %v", s.Err())
	}
}

// A lane's ids do not depend on who asks first, so that agents may run side by
// side.
func TestLanesSideBySide(t *testing.T) {
	script := parse(t, `
lanes: [{name: a, system: lane a}, {name: b, system: lane b}]
turns:
  - {lane: a, say: {text: one, calls: [{tool: t}]}}
  - {lane: b, say: {text: two, calls: [{tool: t}]}}
  - {lane: a, say: {text: three, calls: [{tool: t}]}}
  - {lane: b, say: {text: four, calls: [{tool: t}]}}
`)
	play := func(lanes ...string) map[string][]string {
		s, out := New(script), map[string][]string{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, l := range lanes {
			wg.Go(func() {
				for range 2 {
					body := post(t, s, "/v1/chat/completions", `{"messages":[{"role":"system","content":"lane `+l+`"}]}`).Body.String()
					mu.Lock()
					out[l] = append(out[l], body)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := s.Done(); err != nil {
			t.Error(err)
		}
		return out
	}
	if d := cmp.Diff(play("a", "b"), play("b", "a")); d != "" {
		t.Error(d)
	}
}

func TestValues(t *testing.T) {
	s := New(parse(t, `
turns:
  - let: {id: 'id ([a-z-]+)', n: '\d+', all: 'a\S+'}
    say: {text: "${id} $${id}", calls: [{tool: t, input: {s: "<${n}>", n: "${n|json}", raw: {list: ["${all}", ~, yes, 2026-01-02, 1.50]}}}]}
  - let: {n: 'none'}
    say: {text: never}
`))
	const body = `{"messages":[{"role":"user","content":"a-user id from-user"},
		{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"t"}}]},
		{"role":"tool","tool_call_id":"c1","content":"id from-result"},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"count 12"}]}]}`
	got := post(t, s, "/v1/chat/completions", body).Body.String()
	for _, want := range []string{
		`"content":"from-result ${id}"`,
		`"arguments":"{\"s\":\"<12>\",\"n\":12,\"raw\":{\"list\":[\"a-user\",null,\"yes\",\"2026-01-02\",1.50]}}"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\ndoes not contain %s", got, want)
		}
	}
	got = post(t, s, "/v1/chat/completions", body).Body.String()
	if !strings.Contains(got, `let n: \"none\" matches neither results [t: \"id from-result\"`) {
		t.Errorf("no match: %s", got)
	}
}

func TestSplicedValueMustBeJSON(t *testing.T) {
	s := New(parse(t, `turns: [{let: {x: 'v=(.*)'}, say: {calls: [{tool: t, input: {n: '${x|json}'}}]}}]`))
	got := post(t, s, "/v1/chat/completions", `{"messages":[{"role":"user","content":"v=}{"}]}`)
	if got.Code != 400 || !strings.Contains(got.Body.String(), "is not JSON") {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// Each format carries a conversation in its own way; all read as the same ask.
func TestConversationsReadAlike(t *testing.T) {
	want := ask{
		model: "m", system: "be kind", tools: []string{"add"}, user: "hello", rounds: 2,
		results: []outcome{{tool: "add", text: "five"}, {tool: "add", text: "no\nsum"}},
	}
	for _, row := range []struct {
		w          wire
		path, body string
		marked     bool
	}{
		{anthropicWire, "/v1/messages", `{"model":"m","system":"be kind","tools":[{"name":"add"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"earlier"}]},
			{"role":"user","content":[{"type":"text","text":"hello"}]},
			{"role":"assistant","content":"one"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"add"},{"type":"tool_use","id":"b","name":"add"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"five"},
				{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image"},{"type":"text","text":"sum"}]}]}]}`, true},
		{chatWire, "/v1/chat/completions", `{"model":"m","tools":[{"type":"function","function":{"name":"add"}}],"messages":[
			{"role":"system","content":"be kind"},{"role":"user","content":"earlier"},{"role":"user","content":[{"type":"text","text":"hello"}]},
			{"role":"assistant","content":"one"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"add"}},{"id":"b","function":{"name":"add"}}]},
			{"role":"tool","tool_call_id":"a","content":"five"},{"role":"tool","tool_call_id":"b","content":"no\nsum"}]}`, false},
		{responsesWire, "/v1/responses", `{"model":"m","tools":[{"type":"function","name":"add"}],"input":[
			{"role":"developer","content":"be kind"},{"role":"user","content":"earlier"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},
			{"type":"function_call","call_id":"z","name":"add"},{"type":"function_call_output","call_id":"z","output":"old"},
			{"type":"reasoning"},{"type":"function_call","call_id":"a","name":"add"},{"type":"function_call","call_id":"b","name":"add"},
			{"type":"function_call_output","call_id":"a","output":"five"},
			{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"no\nsum"}]}]}`, false},
		{geminiWire, "/v1beta/models/m:generateContent", `{"systemInstruction":{"parts":[{"text":"be kind"}]},
			"tools":[{"functionDeclarations":[{"name":"add"}]}],"contents":[
			{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"text":"one"}]},
			{"role":"model","parts":[{"functionCall":{"name":"add"}},{"functionCall":{"name":"add"}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"add","response":{"result":"five"}}},
				{"functionResponse":{"name":"add","response":{"error":"no\nsum"}}}]}]}`, true},
	} {
		got := ask{path: row.path}
		if err := row.w.read(&got, []byte(row.body)); err != nil {
			t.Fatal(err)
		}
		want := want
		want.path, want.objects = row.path, row.marked // neither of the two streams, so both need JSON
		want.results = []outcome{{"add", "five", false, row.marked}, {"add", "no\nsum", row.marked, row.marked}}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(ask{}, outcome{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", row.w.name, d)
		}
	}
}

// Codex sends MCP tools in namespaces and needs calls in the same shape.
func TestNamespace(t *testing.T) {
	s := New(parse(t, `
turns:
  - expect: {tools: [mcp__sound/echo, shell, web_search]}
    say: {calls: [{tool: mcp__sound/echo}]}
  - expect: {results: [{tool: mcp__sound/echo, contains: hi}]}
    say: {text: done}
`))
	const tools = `"tools":[{"type":"function","name":"shell"},{"type":"namespace","name":"mcp__sound","tools":[{"name":"echo"}]},{"type":"web_search"}]`
	got := post(t, s, "/v1/responses", `{"input":"x",`+tools+`}`).Body.String()
	if !strings.Contains(got, `"name":"echo","namespace":"mcp__sound"`) {
		t.Errorf("call is %s", got)
	}
	post(t, s, "/v1/responses", `{"input":[{"type":"function_call","call_id":"c","name":"echo","namespace":"mcp__sound"},{"type":"function_call_output","call_id":"c","output":"hi"}],`+tools+`}`)
	if err := s.Done(); err != nil {
		t.Error(err)
	}
}

func TestMisfits(t *testing.T) {
	yes, two := true, 2
	a := ask{model: "m", system: "sys", user: "hello", tools: []string{"add"}, rounds: 1, results: []outcome{{tool: "add", text: "five", marked: true}}}
	for _, row := range []struct {
		name string
		e    expect
		want string
	}{
		{"nothing", expect{anyResults: true}, ""},
		{"all fits", expect{model: "m", system: []string{"s", "y"}, user: []string{"ell"}, tools: []string{"add"}, absent: []string{"sub"}, results: []wanted{{tool: "add", contains: []string{"five"}}}}, ""},
		{"model", expect{model: "n", anyResults: true}, `model is "m", not "n"`},
		{"stream", expect{stream: &yes, anyResults: true}, `stream is false, not true`},
		{"system", expect{system: []string{"x"}, anyResults: true}, `system does not contain "x": it is "sys"`},
		{"user", expect{user: []string{"x"}, anyResults: true}, `user does not contain "x": the last user text is "hello"`},
		{"tools", expect{tools: []string{"sub"}, anyResults: true}, `tools has no "sub": there are ["add"]`},
		{"absent", expect{absent: []string{"add"}, anyResults: true}, `tools has "add"`},
		{"rounds", expect{rounds: &two, anyResults: true}, `rounds is 1, not 2`},
		{"no results", expect{}, `results has 1 of ["add"], not 0`},
		{"another tool", expect{results: []wanted{{tool: "sub"}}}, `results[0] is of "add", not "sub"`},
		{"text", expect{results: []wanted{{tool: "add", contains: []string{"six"}}}}, `results[0] of add does not contain "six": it is "five"`},
		{"error", expect{results: []wanted{{tool: "add", failed: &yes}}}, `results[0] of add has error false, not true: it is "five"`},
	} {
		if got := strings.Join(row.e.misfits(a), "; "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	script := parse(t, "turns: [{say: {calls: [{tool: t, raw: '{broken'}]}}]")
	for _, row := range []struct {
		name, method, path, body string
		status                   int
		code                     fault.Code
	}{
		{"another method", "GET", "/v1/messages", "", 404, CodeWire},
		{"another path", "POST", "/v1/models", "{}", 404, CodeWire},
		{"no JSON", "POST", "/v1/messages", "{", 400, CodeWire},
		{"another shape", "POST", "/v1/responses", `{"input":7}`, 400, CodeWire},
		{"raw in a whole reply", "POST", "/v1/messages", `{"messages":[]}`, 400, CodeUnfit},
		{"raw in gemini", "POST", "/v1beta/models/m:streamGenerateContent", `{}`, 400, CodeUnfit},
	} {
		s := New(script)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), row.method, row.path, strings.NewReader(row.body)))
		if w.Code != row.status || w.Header().Get("X-Should-Retry") != "false" || fault.CodeOf(s.Err()) != row.code {
			t.Errorf("%s: %d %s, %v", row.name, w.Code, w.Body, s.Err())
		}
		// The turn is still there for the request that it is meant for.
		if w := post(t, s, "/v1/messages", `{"stream":true,"messages":[]}`); w.Code != 200 || !strings.Contains(w.Body.String(), `"partial_json":"{bro"`) {
			t.Errorf("%s: then %d", row.name, w.Code)
		}
	}
}

func TestRequestBound(t *testing.T) {
	for _, n := range []int{MaxRequest - 1, MaxRequest, MaxRequest + 1} {
		s := New(parse(t, "turns: [{say: {text: a}}]"))
		w := post(t, s, "/v1/messages", "{}"+strings.Repeat(" ", n-2))
		if (w.Code != 200) != (n > MaxRequest) || (w.Code != 200 && (w.Code != 413 || fault.CodeOf(s.Err()) != fault.TooLarge)) {
			t.Errorf("%d bytes: %d %v", n, w.Code, s.Err())
		}
	}
}

// Each event is one chunk for the client, and a cut comes after just so many.
func TestChunksAndCuts(t *testing.T) {
	const script = "turns: [{say: {text: some words to be cut}}, {say: {text: some words to be cut, cut_after: 3}}, {say: {text: some words, cut_after: 1}}, {say: {text: some words, cut_after: 99}}]"
	s := New(parse(t, script))
	client := &http.Client{Transport: NewTransport(s)}
	send := func(stream string) ([]string, *http.Response, error) {
		res, err := client.Post("https://api.anthropic.com/v1/messages", "application/json", strings.NewReader(`{"stream":`+stream+`,"messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var chunks []string
		buf := make([]byte, 1<<16)
		for {
			n, err := res.Body.Read(buf)
			if n > 0 {
				chunks = append(chunks, string(buf[:n]))
			}
			if err != nil {
				return chunks, res, err
			}
		}
	}
	whole, _, err := send("true")
	if !errors.Is(err, io.EOF) || len(whole) < 7 {
		t.Fatalf("%d chunks, %v", len(whole), err)
	}
	for _, c := range whole {
		if strings.Count(c, "event: ") != 1 || !strings.HasSuffix(c, "\n\n") {
			t.Errorf("chunk %q is not one event", c)
		}
	}
	cut, _, err := send("true")
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(cut) != 3 {
		t.Errorf("cut stream: %d chunks, %v", len(cut), err)
	}
	half, res, err := send("false")
	if got := len(strings.Join(half, "")); !errors.Is(err, io.ErrUnexpectedEOF) || got != int(res.ContentLength)/2 {
		t.Errorf("cut body: %d of %d bytes, %v", got, res.ContentLength, err)
	}
	if _, res, _ := send("true"); res.StatusCode != 400 || !strings.Contains(s.Err().Error(), "is cut after event 99, but has only") {
		t.Errorf("cut past the end: %d, %v", res.StatusCode, s.Err())
	}
}

func TestSplit(t *testing.T) {
	for _, s := range []string{"", "a", "ab", "é", "日本", strings.Repeat("word and ", 40), strings.Repeat("😀é", 99)} {
		parts := split(s)
		if strings.Join(parts, "") != s {
			t.Errorf("split(%q) = %q", s, parts)
		}
		if utf8.RuneCountInString(s) > 1 && len(parts) < 2 {
			t.Errorf("split(%q) has one part", s)
		}
		for _, p := range parts {
			if !utf8.ValidString(p) || len(p) == 0 || len(p) > 24 {
				t.Errorf("split(%q) has part %q", s, p)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	s := New(parse(t, `
turns:
  - fail: {status: 529, message: overloaded, retry_after: 500ms}
  - fail: {status: 400, type: invalid_prompt, message: no}
  - fail: {status: 500, message: broken, final: true}
  - fail: {status: 401, message: who}
`))
	for _, row := range []struct {
		path, body string
		status     int
		header     map[string]string
	}{
		{"/v1/messages", `{"type":"error","error":{"type":"overloaded_error","message":"overloaded"},"request_id":"req_000000000000000000001000"}`, 529, map[string]string{"Retry-After": "1", "Retry-After-Ms": "500", "X-Should-Retry": ""}},
		{"/v1/chat/completions", `{"error":{"message":"no","type":"invalid_prompt","param":null,"code":null}}`, 400, nil},
		{"/v1/responses", `{"error":{"message":"broken","type":"server_error","param":null,"code":null}}`, 500, map[string]string{"X-Should-Retry": "false", "Retry-After": ""}},
		{"/v1beta/models/m:generateContent", `{"error":{"code":401,"message":"who","status":"UNAUTHENTICATED"}}`, 401, nil},
	} {
		w := post(t, s, row.path, "{}")
		if w.Code != row.status || w.Body.String() != row.body {
			t.Errorf("%s: %d %s, want %d %s", row.path, w.Code, w.Body, row.status, row.body)
		}
		for k, v := range row.header {
			if got := w.Header().Get(k); got != v {
				t.Errorf("%s: header %s is %q, want %q", row.path, k, got, v)
			}
		}
	}
	if err := s.Done(); err != nil {
		t.Errorf("a failure that the script wants is none: %v", err)
	}
}

func TestSameBytesTwice(t *testing.T) {
	script := parse(t, "turns: [{say: {reasoning: hm, text: words, calls: [{tool: t, input: {a: 1}}]}}, {say: {text: b}}]")
	play := func() []byte {
		s, out := New(script), bytes.Buffer{}
		for range script.Len() {
			w := post(t, s, "/v1/responses", `{"stream":true,"input":"hi"}`)
			_ = w.Header().Write(&out)
			out.Write(w.Body.Bytes())
		}
		return out.Bytes()
	}
	if a, b := play(), play(); !bytes.Equal(a, b) || len(a) < 1000 {
		t.Errorf("two plays differ: %s", cmp.Diff(string(a), string(b)))
	}
}

// The server listens where the caller says; a cut breaks a real connection.
func TestOnLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("there is no loopback here: %v", err)
	}
	s := New(parse(t, "turns: [{say: {text: some words}}, {say: {text: some words, cut_after: 2}}]"))
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{}}
	for _, want := range []error{nil, io.ErrUnexpectedEOF} {
		res, err := client.Post("http://"+l.Addr().String()+"/v1/messages", "application/json", strings.NewReader(`{"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !errors.Is(err, want) || len(body) == 0 {
			t.Errorf("%d bytes, %v, want %v", len(body), err, want)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if err := s.Done(); err != nil {
		t.Error(err)
	}
}
