package endpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

func TestMain(m *testing.M) {
	denied := seam.DenyDefaultTransport()
	os.Exit(denied.Exit(m.Run(), os.Stderr))
}

// house is what the sessions of a test do.
type house struct {
	mu             sync.Mutex
	opened, closed []endpoint.Visitor
	began, ended   chan struct{} // a value for each call of "wait"
	release        chan struct{} // closed: "wait" answers
	broken         bool          // no session opens
}

func newHouse() *house {
	return &house{began: make(chan struct{}, 8), ended: make(chan struct{}, 8), release: make(chan struct{})}
}

func (h *house) open(_ context.Context, v endpoint.Visitor) (endpoint.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken {
		return endpoint.Session{}, errors.New("no room on the disk")
	}
	h.opened = append(h.opened, v)
	s := sdk.NewServer(&sdk.Implementation{Name: "house", Version: "v1"}, &sdk.ServerOptions{GetSessionID: func() string { return v.ID }})
	s.AddTool(&sdk.Tool{Name: "who", Description: "Says whose server it is.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "user " + v.User + " session " + v.ID}}}, nil
		})
	s.AddTool(&sdk.Tool{Name: "wait", Description: "Waits.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			h.began <- struct{}{}
			defer func() { h.ended <- struct{}{} }()
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-h.release:
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "waited"}}}, nil
			}
		})
	return endpoint.Session{Server: s, Close: func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closed = append(h.closed, v)
		return nil
	}}, nil
}

func (h *house) counts() (opened, closed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.opened), len(h.closed)
}

// A stand is an endpoint with its house, and its boundary.
type stand struct {
	*testing.T
	*house
	*endpoint.Endpoint
	clock   *clock.Fixed
	guarded http.Handler
}

func newStand(t *testing.T, o endpoint.Options, b boundary.Options) *stand {
	t.Helper()
	s := &stand{T: t, house: newHouse(), clock: clock.NewFixed(clock.Epoch)}
	o.Open, o.Clock = s.open, s.clock
	s.Endpoint = endpoint.New(t.Context(), o)
	b.Refuse, b.MaxBody = endpoint.Refuse, o.MaxBody
	var err error
	if s.guarded, err = boundary.Guard(b, s.Endpoint); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if opened, closed := s.counts(); opened != closed {
			t.Errorf("%d sessions were opened, and %d closed", opened, closed)
		}
	})
	return s
}

const (
	hello    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready    = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	who      = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{}}}`
	waiting  = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	whoAlone = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// request is one as a client in order sends it; header pairs come on top, and "" takes
// a header away.
func (s *stand) request(ctx context.Context, method, body string, header ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "/mcp", strings.NewReader(body))
	r.Host, r.RemoteAddr = "127.0.0.1:7801", "127.0.0.1:50000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		switch name, value := header[i], header[i+1]; {
		case name == "Host":
			r.Host = value
		case name == "From":
			r.RemoteAddr = value
		case name == "Path":
			r.URL.Path = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
		}
	}
	return r
}

func (s *stand) do(method, body string, header ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.guarded.ServeHTTP(w, s.request(s.Context(), method, body, header...))
	return w
}

// begin opens a session and gives its id.
func (s *stand) begin(header ...string) string {
	s.Helper()
	w := s.do("POST", hello, header...)
	id := w.Header().Get("Mcp-Session-Id")
	if w.Code != http.StatusOK || id == "" {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := s.do("POST", ready, append(header, "Mcp-Session-Id", id)...); w.Code != http.StatusAccepted {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
	return id
}

// codeOf is the code in a refusal, which is a whole JSON-RPC error.
func codeOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r struct {
		JSONRPC string `json:"jsonrpc"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    struct{ Code, Hint string }
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || r.JSONRPC != "2.0" || r.Error.Code >= 0 || r.Error.Message == "" {
		t.Fatalf("%d %q is no JSON-RPC error: %v", w.Code, w.Body, err)
	}
	return r.Error.Data.Code
}

func TestSessionsAreTwo(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	a, b := s.begin(), s.begin()
	if a == b || len(a) < 26 {
		t.Fatalf("ids %q and %q can be guessed", a, b)
	}
	for _, id := range []string{a, b} {
		if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "session "+id) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if w := s.do("DELETE", "", "Mcp-Session-Id", a); w.Code != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", w.Code, w.Body)
	}
	if w := s.do("POST", who, "Mcp-Session-Id", a); w.Code != http.StatusNotFound || codeOf(t, w) != "MCP_HTTP_SESSION" {
		t.Errorf("after DELETE: %d %s", w.Code, w.Body)
	}
}

// The newest revision is answered at the same address, by one server for all requests.
func TestWithoutSessions(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	id := s.begin()
	for range 3 {
		w := s.do("POST", whoAlone, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "who", "Mcp-Session-Id", id)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "session \"") && !strings.Contains(w.Body.String(), `user  session "`) || w.Header().Get("Mcp-Session-Id") != "" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if opened, _ := s.counts(); opened != 2 {
		t.Errorf("%d servers for one session and three requests", opened)
	}
	// A request that says its revision only in itself is told which header is missing.
	if w := s.do("POST", whoAlone); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "header") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Each rule refuses, with a code of its own, and opens nothing.
func TestRefusals(t *testing.T) {
	s := newStand(t, endpoint.Options{MaxBody: 4 << 10}, boundary.Options{Token: "0123456789abcdef"})
	key := "Bearer 0123456789abcdef"
	long := strings.Replace(hello, `"t"`, `"`+strings.Repeat("t", 5_000)+`"`, 1)
	for _, c := range []struct {
		name, method, body string
		status             int
		code               string
		header             []string
	}{
		{"rebound name", "POST", hello, 403, "BOUNDARY_HOST", []string{"Host", "evil.example", "Authorization", key}},
		{"foreign page", "POST", hello, 403, "BOUNDARY_ORIGIN", []string{"Origin", "https://evil.example", "Authorization", key}},
		{"sandboxed page", "POST", hello, 403, "BOUNDARY_ORIGIN", []string{"Origin", "null", "Authorization", key}},
		{"page of another port", "POST", hello, 403, "BOUNDARY_ORIGIN", []string{"Origin", "http://127.0.0.1:3000", "Authorization", key}},
		{"no token", "POST", hello, 401, "BOUNDARY_TOKEN", nil},
		{"wrong token", "POST", hello, 401, "BOUNDARY_TOKEN", []string{"Authorization", "Bearer 0123456789abcdeX"}},
		{"token in the address", "POST", hello, 401, "BOUNDARY_TOKEN", []string{"Path", "/mcp?token=0123456789abcdef"}},
		{"other path", "POST", hello, 404, "MCP_HTTP_PATH", []string{"Path", "/", "Authorization", key}},
		{"other method", "PUT", hello, 405, "MCP_HTTP_METHOD", []string{"Authorization", key}},
		{"preflight", "OPTIONS", "", 405, "MCP_HTTP_METHOD", []string{"Authorization", key}},
		{"GET without a session", "GET", "", 400, "MCP_HTTP_SESSION", []string{"Authorization", key}},
		{"DELETE without a session", "DELETE", "", 400, "MCP_HTTP_SESSION", []string{"Authorization", key}},
		{"GET of no session", "GET", "", 404, "MCP_HTTP_SESSION", []string{"Mcp-Session-Id", "guessed", "Authorization", key}},
		{"GET of what has no sessions", "GET", "", 405, "MCP_HTTP_METHOD", []string{"Mcp-Protocol-Version", "2026-07-28", "Authorization", key}},
		{"DELETE of what has no sessions", "DELETE", "", 405, "MCP_HTTP_METHOD", []string{"Mcp-Protocol-Version", "2026-07-28", "Authorization", key}},
		{"a user's server as a session", "POST", who, 404, "MCP_HTTP_SESSION", []string{"Mcp-Session-Id", "user ", "Authorization", key}},
		{"a call before initialize", "POST", who, 400, "MCP_HTTP_SESSION", []string{"Authorization", key}},
		{"no JSON", "POST", "{", 400, "MCP_HTTP_MESSAGE", []string{"Authorization", key}},
		{"nothing", "POST", "", 400, "MCP_HTTP_MESSAGE", []string{"Authorization", key}},
		{"a list of nothing", "POST", "[]", 400, "MCP_HTTP_SESSION", []string{"Authorization", key}},
		{"a text", "POST", `"initialize"`, 400, "MCP_HTTP_MESSAGE", []string{"Authorization", key}},
		{"deep", "POST", strings.Repeat("[", 2_000), 400, "MCP_HTTP_MESSAGE", []string{"Authorization", key}},
		{"too long", "POST", long, 413, "BOUNDARY_BODY", []string{"Authorization", key}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := s.do(c.method, c.body, c.header...)
			if got := codeOf(t, w); w.Code != c.status || got != c.code {
				t.Errorf("%d %s, want %d %s", w.Code, got, c.status, c.code)
			}
		})
	}
	// Without a length the body is read, and no further than the bound.
	r := s.request(t.Context(), "POST", "", "Authorization", key)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(long)), -1
	w := httptest.NewRecorder()
	if s.guarded.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge || codeOf(t, w) != "BOUNDARY_BODY" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if opened, _ := s.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
}

// What is no initialize, though it says so, leaves no session behind.
func TestFailedInitialize(t *testing.T) {
	s := newStand(t, endpoint.Options{MaxSessions: 1}, boundary.Options{})
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`,
		`{"jsonrpc":"2.0","method":"initialize"}`,
		`{"jsonrpc":"1.0","id":1,"method":"initialize"}`,
	} {
		if w := s.do("POST", body); w.Header().Get("Mcp-Session-Id") != "" && w.Code == http.StatusOK && !strings.Contains(w.Body.String(), "error") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	s.begin() // there is room for one
}

// Parameters of another type are refused as the answer to their request, in a session and
// without one, and in our words.
func TestParamsOfAnotherType(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	session := s.begin()
	for name, header := range map[string][]string{
		"a session": {"Mcp-Session-Id", session},
		"none":      {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"},
		"hello":     nil,
	} {
		w := s.do("POST", `{"jsonrpc":"2.0","id":"x-7","method":"tools/call","params":{"name":5}}`, header...)
		for _, want := range []string{`"id":"x-7"`, `"code":-32602`, `"code":"MCP_PARAMS"`, "name of tools/call is a number"} {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d %s, want %s", name, w.Code, w.Body, want)
			}
		}
	}
}

// What the SDK refuses as a line of text has a code here, in a session and without one.
func TestPlainRefusalsHaveCodes(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	session := []string{"Mcp-Session-Id", s.begin(), "Mcp-Protocol-Version", "2025-06-18"}
	alone := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "ping"}
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, c := range map[string]struct {
		header []string
		body   string
		status int
		code   string
	}{
		"a media type":         {append([]string{"Content-Type", "", "Content-Type", "text/plain"}, session...), ping, 415, "MCP_HTTP_REQUEST"},
		"no stream is taken":   {append([]string{"Accept", "", "Accept", "application/json"}, session...), ping, 400, "MCP_HTTP_REQUEST"},
		"alone, no media type": {append([]string{"Content-Type", "", "Content-Type", "text/plain"}, alone...), ping, 415, "MCP_HTTP_REQUEST"},
		"no JSON":              {session, `{"jsonrpc"`, 400, "MCP_HTTP_MESSAGE"},
		"nothing":              {session, ``, 400, "MCP_HTTP_MESSAGE"},
		"a batch":              {session, `[` + ping + `]`, 400, "MCP_HTTP_REQUEST"},
		"another revision":     {[]string{"Mcp-Session-Id", session[1], "Mcp-Protocol-Version", "1999-01-01"}, ping, 400, "MCP_HTTP_REQUEST"},
	} {
		w := s.do("POST", c.body, c.header...)
		if got := codeOf(t, w); w.Code != c.status || got != c.code || !strings.Contains(w.Body.String(), `"hint":"`) {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, c.status, c.code)
		}
	}
}

func TestSessionBounds(t *testing.T) {
	s := newStand(t, endpoint.Options{MaxSessions: 2, Idle: 30 * time.Minute}, boundary.Options{})
	first := s.begin()
	s.clock.Advance(time.Second)
	second := s.begin()
	if w := s.do("POST", hello); w.Code != http.StatusServiceUnavailable || codeOf(t, w) != "MCP_TOO_MANY_SESSIONS" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// The one that was quiet the longest makes room.
	s.clock.Advance(2 * time.Minute)
	s.do("POST", who, "Mcp-Session-Id", first)
	third := s.begin()
	if w := s.do("POST", who, "Mcp-Session-Id", second); w.Code != http.StatusNotFound {
		t.Errorf("the oldest is there yet: %d", w.Code)
	}
	// And what is quiet for long is closed.
	s.clock.Advance(30 * time.Minute)
	for _, id := range []string{first, third} {
		if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusNotFound {
			t.Errorf("an idle session answers: %d", w.Code)
		}
	}
}

func TestRate(t *testing.T) {
	c := clock.NewFixed(clock.Epoch)
	s := newStand(t, endpoint.Options{}, boundary.Options{Rate: &boundary.Rate{PerSecond: 3, Clock: c}})
	id := s.begin() // two requests
	if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
	if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusTooManyRequests || codeOf(t, w) != "BOUNDARY_RATE" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.Advance(time.Second)
	if w := s.do("POST", who, "Mcp-Session-Id", id); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
}

// GET hears, and changes nothing: not even how long its session was quiet counts from
// a GET that is refused.
func TestGetHasNoSideEffect(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	id := s.begin()
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan int)
	go func() {
		w := httptest.NewRecorder()
		s.guarded.ServeHTTP(w, s.request(ctx, "GET", waiting, "Mcp-Session-Id", id))
		heard <- w.Code
	}()
	cancel()
	if code := <-heard; code != http.StatusOK {
		t.Errorf("%d", code)
	}
	select {
	case <-s.began:
		t.Error("a GET called a tool")
	default:
	}
	if opened, _ := s.counts(); opened != 1 {
		t.Errorf("%d sessions", opened)
	}
}

func TestSessionThatCannotOpen(t *testing.T) {
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	s.broken = true
	if w := s.do("POST", hello); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "no room") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
