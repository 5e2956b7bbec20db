package endpoint_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
)

// call begins a request and gives its answer when there is one.
func (s *stand) call(ctx context.Context, body string, header ...string) <-chan *httptest.ResponseRecorder {
	answer := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		s.guarded.ServeHTTP(w, s.request(ctx, "POST", body, header...))
		answer <- w
	}()
	return answer
}

// A client that vanishes in the middle of a call: the call goes on, its session stays
// and the answer is there for who comes back.
func TestVanishedClient(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	id := s.begin()
	ctx, cancel := context.WithCancel(t.Context())
	answer := s.call(ctx, waiting, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25")
	<-s.began
	cancel()
	w := <-answer
	_, after, ok := strings.Cut(w.Body.String(), "id: ")
	if !ok {
		t.Fatalf("there is nothing to come back with: %q", w.Body)
	}
	last, _, _ := strings.Cut(after, "\n")
	close(s.release)
	<-s.ended
	back := s.do("GET", "", "Mcp-Session-Id", id, "Last-Event-Id", last, "Mcp-Protocol-Version", "2025-11-25")
	if back.Code != http.StatusOK || !strings.Contains(back.Body.String(), "waited") {
		t.Errorf("%d %q", back.Code, back.Body)
	}
}

// Where there are no sessions nobody can come back: the call is cancelled.
func TestVanishedClientWithoutSession(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	answer := s.call(ctx, strings.Replace(whoAlone, `"name":"who"`, `"name":"wait"`, 1),
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "wait")
	<-s.began
	cancel()
	<-s.ended
	<-answer
}

// A server that is told to end refuses what is new, lets go of who only listens, and
// waits for the call that runs.
func TestDrain(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	id := s.begin()
	listening := make(chan struct{})
	go func() {
		s.do("GET", "", "Mcp-Session-Id", id)
		close(listening)
	}()
	answer := s.call(t.Context(), waiting, "Mcp-Session-Id", id)
	<-s.began
	s.Drain()
	<-listening
	if w := s.do("POST", hello); w.Code != http.StatusServiceUnavailable || codeOf(t, w) != "MCP_CLOSING" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(s.release)
	if w := <-answer; !strings.Contains(w.Body.String(), "waited") {
		t.Errorf("the call was lost: %q", w.Body)
	}
}

// A call that does not end is broken off when the time is up.
func TestCloseBreaksOff(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	id := s.begin()
	answer := s.call(t.Context(), waiting, "Mcp-Session-Id", id)
	<-s.began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(over); err != nil {
		t.Error(err)
	}
	<-s.ended
	<-answer
}

func TestTooManyCalls(t *testing.T) {
	s := newStand(t, endpoint.Options{MaxCalls: 1}, boundary.Options{})
	id := s.begin()
	answer := s.call(t.Context(), waiting, "Mcp-Session-Id", id)
	<-s.began
	if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusServiceUnavailable || codeOf(t, w) != "MCP_TOO_MANY_CALLS" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(s.release)
	<-answer
}

// Serve over loopback: nothing listens and nothing runs when it returned.
func TestServe(t *testing.T) {
	var b boundary.Options
	l, err := b.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	h := newHouse()
	e := endpoint.New(t.Context(), endpoint.Options{Open: h.open, Clock: clock.NewFixed(clock.Epoch)})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l, b, time.Minute) }()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+l.Addr().String()+endpoint.Path, strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s", res.Status)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if sessions, requests := e.Served(); sessions != 1 || requests != 1 {
		t.Errorf("%d sessions, %d requests", sessions, requests)
	}
	if opened, closed := h.counts(); opened != 1 || closed != 1 {
		t.Errorf("%d sessions were opened, and %d closed", opened, closed)
	}
}
