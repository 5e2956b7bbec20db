package upstream

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func post(t *testing.T, s *Server, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "https://provider.example"+path, strings.NewReader(body)))
	return w
}

func parse(t *testing.T, script string) *Script {
	t.Helper()
	s, err := Parse("test.upstream.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJourney(t *testing.T) {
	s := New(parse(t, `
turns:
  - expect: {user: rename Ada, tools: [capability_find], absent: [studio_delete], results: [], rounds: 0}
    say: {text: Looking., calls: [{tool: capability_find, input: {query: rename}}]}
  - expect: {results: [{tool: capability_find, contains: identity, error: false}], rounds: 1}
    let: {draft: 'draft-[0-9]+'}
    say: {calls: [{tool: change_apply, input: {id: "${draft}", n: 1.50}}]}
`))
	w := post(t, s, "/v1/messages", `{"model":"claude","tools":[{"name":"capability_find"}],"messages":[{"role":"user","content":"please rename Ada"}]}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"input":{"query":"rename"}`) {
		t.Fatalf("turn 1: %d %s", w.Code, w.Body)
	}
	w = post(t, s, "/v1/messages", `{"model":"claude","stream":true,"messages":[{"role":"user","content":"please rename Ada"},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"capability_find","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"identity: draft-17 is open"}]}]}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `event: message_stop`) {
		t.Fatalf("turn 2: %d %s", w.Code, w.Body)
	}
	if err := s.Done(); err != nil {
		t.Fatal(err)
	}
}

func TestMisfitIsRefusedAndRemembered(t *testing.T) {
	s := New(parse(t, "turns:\n  - expect: {user: Ada}\n    say: {text: hi}\n"))
	w := post(t, s, "/v1/messages", `{"model":"claude","messages":[{"role":"user","content":"Bob"}]}`)
	if w.Code != 400 || w.Header().Get("x-should-retry") != "false" {
		t.Errorf("answer is %d %v, want 400 that is final", w.Code, w.Header())
	}
	for _, want := range []string{"turn 1 (test.upstream.yaml:2)", `user does not contain \"Ada\"`, "Bob", `"type":"invalid_request_error"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("body %s does not contain %s", w.Body, want)
		}
	}
	if got := fault.CodeOf(s.Err()); got != CodeUnfit {
		t.Errorf("Err() = %v, code %s", s.Err(), got)
	}
	if err := s.Done(); err == nil || !strings.Contains(err.Error(), "1 of 1 turns") {
		t.Errorf("Done() = %v, want the unused turn", err)
	}
}
