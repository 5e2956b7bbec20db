package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A site is a server over HTTP in this process, and a client that keeps its connections.
type site struct {
	tb     testing.TB
	url    string
	client *http.Client
	end    func()
}

// siteOn serves on a port of this machine.
func siteOn(tb testing.TB, serve func(ctx context.Context, l net.Listener) error) *site {
	tb.Helper()
	requireLoopback(tb)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l) }()
	kept := &http.Transport{MaxIdleConnsPerHost: 64}
	return &site{tb: tb, url: "http://" + l.Addr().String() + endpoint.Path, client: &http.Client{Transport: kept}, end: func() {
		kept.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	}}
}

// send makes one request of a session and gives its answer and the session's id.
func (s *site) send(method, session, body string) (answer []byte, id string, err error) {
	req, err := http.NewRequestWithContext(s.tb.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %.300s", res.Status, answer)
	}
	return answer, res.Header.Get("Mcp-Session-Id"), err
}

// visit is a session from its first message to its last, with n calls in between.
func (s *site) visit(n int) error {
	_, id, err := s.send(http.MethodPost, "", `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	if err == nil {
		_, _, err = s.send(http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	for i := 0; i < n && err == nil; i++ {
		var b []byte
		b, _, err = s.send(http.MethodPost, id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"studio.read","arguments":%s}}`, i, readPiece))
		if err == nil && !bytes.Contains(b, []byte("A mathematician")) {
			err = fmt.Errorf("got %.300s", b)
		}
	}
	if err == nil {
		_, _, err = s.send(http.MethodDelete, id, "")
	}
	return err
}

// calls makes n calls in sessions, of which so many are open at a time, and is how long
// they took, sessions and all.
func (s *site) calls(n, atOnce int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			if err := s.visit(n / atOnce); err != nil {
				s.tb.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// bareSite is the bare server behind the SDK's own handler.
func bareSite(tb testing.TB, h *house) *site {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return bareTool(tb, h) }, nil)
	return siteOn(tb, func(ctx context.Context, l net.Listener) error {
		return boundary.Serve(ctx, l, handler, time.Second)
	})
}

// ourSite is what soundstage mcp --http serves: boundary, gate, traces and all.
func ourSite(tb testing.TB, h *house) *site {
	opened := trace.SessionOpened{Skin: "mcp", Mode: "live", Gate: "guarded", Origin: "user"}
	factory := mcp.NewFactory(ourOptions(h))
	e := endpoint.New(tb.Context(), endpoint.Options{
		Clock: h.clock,
		Open: factory.Over(func(endpoint.Visitor) (mcp.Session, func() error, error) {
			log := &lateLog{house: h, id: h.clock.ID("s"), opened: opened}
			return mcp.Session{ID: log.id, Recorder: log}, log.close, nil
		}),
	})
	return siteOn(tb, func(ctx context.Context, l net.Listener) error {
		return e.Serve(ctx, l, boundary.Options{Rate: &boundary.Rate{PerSecond: 1_000_000, Clock: clock.Real{}}}, time.Second)
	})
}

// BenchmarkHTTPRead is BenchmarkRead over HTTP: a turn is a session for each caller, with
// 100 calls in all.
//
//	go test ./cmd/soundstage/cli -run '^$' -bench HTTPRead
func BenchmarkHTTPRead(b *testing.B) {
	h := readHouse(b)
	for _, atOnce := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", atOnce), func(b *testing.B) {
			bare, ours := bareSite(b, h), ourSite(b, h)
			inTurns(b, atOnce, bare.calls, ours.calls)
			bare.end()
			ours.end()
		})
	}
}

// Sessions over HTTP leave nothing behind when they have ended.
//
//	go test ./cmd/soundstage/cli -run HTTPSoak -soak 10000
func TestHTTPSoak(t *testing.T) {
	h := readHouse(t)
	s := ourSite(t, h)
	soakCalls(t, func(n int) {
		for ; n > 0; n -= 200 { // eight sessions at a time, of 25 calls each
			s.calls(200, 8)
		}
		s.client.CloseIdleConnections()
	})
	s.end()
}
