package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// overHTTP are Servers whose addresses are asked through t; none is a program.
func overHTTP(t *testing.T, s *seam.Seam, c clock.Clock, below http.RoundTripper) *mcp.Servers {
	t.Helper()
	m := mcp.NewServers(mcp.ServersOptions{
		Door: s.MCP, Clock: c, Name: "soundstage", Version: "1", OneByOne: true,
		HTTP: func(server.Entry) http.RoundTripper { return below },
		Start: func(context.Context, server.Entry, io.Writer) (io.ReadWriteCloser, error) {
			return nil, fault.New(fault.Invalid, "test", "no program is started for an address")
		},
	})
	t.Cleanup(func() { m.Close(context.WithoutCancel(t.Context())) })
	return m
}

func address(name, url string) server.Entry {
	return server.Entry{Name: name, URL: url, Headers: map[string]string{"X-Key": "sesame"}, Enabled: true, Timeout: time.Minute}
}

// gatehouse is a server on loopback that lets nobody in without the entry's header, and
// counts the revisions that it is asked in.
type gatehouse struct {
	mu        sync.Mutex
	revisions map[string]int
	refused   int
}

func (g *gatehouse) serve(t *testing.T, s *sdk.Server, stateless bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.revisions[r.Header.Get("Mcp-Protocol-Version")]++
		ok := r.Header.Get("X-Key") == "sesame"
		if !ok {
			g.refused++
		}
		g.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String() + "/mcp"
}

// A server over HTTP joins in either era of the protocol, gets its headers with each
// request, and what it says of a changed list counts at the next turn.
func TestServersOverHTTP(t *testing.T) {
	for era, stateless := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(era, func(t *testing.T) {
			g := &gatehouse{revisions: map[string]int{}}
			d := &deeds{}
			url := g.serve(t, newTheatre(d), stateless)
			m := overHTTP(t, live(t), clock.Real{}, &http.Transport{})
			sync := func() mcp.Joined {
				j, err := m.Sync(t.Context(), []server.Entry{address("theatre", url)})
				if err != nil || j.States[0].Err != nil {
					t.Fatal(err, j.States)
				}
				return j
			}
			j := sync()
			if got := strings.Join(ids(j), " "); got != "mcp.theatre.count mcp.theatre.grow mcp.theatre.stage" {
				t.Fatal(got)
			}
			if res, err := call(t, j, "mcp.theatre.count", `{"title":"Act 1"}`); err != nil || res.Text != "Act 1!" {
				t.Fatal(res.Text, err)
			}
			if _, err := call(t, j, "mcp.theatre.grow", `{"title":""}`); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(ids(j), "mcp.theatre.grown") {
				t.Error("a turn that has begun gets another tool")
			}
			for range 2000 { // the notice comes on a stream of its own, when it likes
				if j = sync(); slices.Contains(ids(j), "mcp.theatre.grown") {
					break
				}
				pause(t)
			}
			if _, err := call(t, j, "mcp.theatre.grown", `{"title":""}`); fault.CodeOf(err) != mcp.CodeServerTool {
				t.Error(err)
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.refused > 0 || g.revisions[era] < 4 {
				t.Errorf("refused %d, revisions %v", g.refused, g.revisions)
			}
		})
	}
}

// pause lets another goroutine of the system have the processor.
func pause(t *testing.T) {
	if err := (clock.Real{}).Sleep(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T, j mcp.Joined, id, input string) (tool.Result, error) {
	t.Helper()
	i := slices.Index(ids(j), id)
	if i < 0 {
		t.Fatalf("no tool %q in %v", id, ids(j))
	}
	return j.Tools[i].Run(t.Context(), tool.Call{}, []byte(input))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// faraway is a server without a network: do answers what is no greeting.
func faraway(do func(r *http.Request, body string) (*http.Response, error)) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		var body string
		if r.Body != nil {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = string(b)
		}
		switch {
		case strings.Contains(body, `"server/discover"`):
			return answer(r, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, idOf([]byte(body)))), nil
		case strings.Contains(body, `"initialize"`):
			return answer(r, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}`, idOf([]byte(body)))), nil
		case strings.Contains(body, `"tools/list"`):
			return answer(r, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, idOf([]byte(body)), one)), nil
		case strings.Contains(body, `"tools/call"`):
			return do(r, body)
		case r.Method == http.MethodGet:
			return answer(r, http.StatusMethodNotAllowed, ""), nil
		}
		return answer(r, http.StatusAccepted, ""), nil
	})
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// broken is a body that ends in the middle.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
func (broken) Close() error { return nil }

// What a server over HTTP does wrong in a call is an error with a code, and the same in a
// replay, which asks nobody.
func TestHTTPMishaps(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *http.Request, body string) (*http.Response, error)
		want fault.Code
	}{
		"server error": {func(r *http.Request, _ string) (*http.Response, error) {
			return answer(r, http.StatusInternalServerError, "oops"), nil
		}, mcp.CodeServerLost},
		"busy": {func(r *http.Request, _ string) (*http.Response, error) {
			return answer(r, http.StatusServiceUnavailable, "oops"), nil
		}, mcp.CodeServerLost},
		"says no, as HTTP does": {func(r *http.Request, body string) (*http.Response, error) {
			return answer(r, http.StatusBadRequest, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"not like this"}}`, idOf([]byte(body)))), nil
		}, mcp.CodeServerRefused},
		"gone": {func(r *http.Request, _ string) (*http.Response, error) {
			return answer(r, http.StatusNotFound, ""), nil
		}, mcp.CodeServerLost},
		"refused": {func(*http.Request, string) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}
		}, mcp.CodeServerLost},
		"key taken back": {func(r *http.Request, _ string) (*http.Response, error) {
			return answer(r, http.StatusUnauthorized, ""), nil
		}, mcp.CodeServerLost},
		"dies": {func(r *http.Request, _ string) (*http.Response, error) {
			res := answer(r, http.StatusOK, "")
			res.Body = broken{strings.NewReader(`{"jsonrpc":"2.0",`)}
			return res, nil
		}, mcp.CodeServerLost},
		"page": {func(r *http.Request, _ string) (*http.Response, error) {
			res := answer(r, http.StatusOK, "<html>")
			res.Header.Set("Content-Type", "text/html")
			return res, nil
		}, mcp.CodeServerLost},
		"stream cut": {func(r *http.Request, _ string) (*http.Response, error) {
			res := answer(r, http.StatusOK, "")
			res.Header.Set("Content-Type", "text/event-stream")
			res.Body = broken{strings.NewReader("data: {\"jsonrpc\"")}
			return res, nil
		}, mcp.CodeServerRefused},
		"oversized": {func(r *http.Request, body string) (*http.Response, error) {
			return answer(r, http.StatusOK, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`,
				idOf([]byte(body)), strings.Repeat("a", seam.MaxMessage))), nil
		}, mcp.CodeServerLost},
		"hangs": {func(r *http.Request, _ string) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, mcp.CodeServerTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, said := filepath.Join(t.TempDir(), "c.yaml"), ""
				for _, mode := range []seam.Mode{seam.Record, seam.Replay} {
					s := opened(t, mode, file)
					m := overHTTP(t, s, clock.Real{}, faraway(c.do))
					j := worn(t, m)
					_, err := call(t, j, "mcp.w.it", `{}`)
					if fault.CodeOf(err) != c.want || mode == seam.Replay && err.Error() != said {
						t.Errorf("%s: %v, want %s %s", mode, err, c.want, said)
					}
					said = err.Error()
					m.Close(t.Context())
					closed(t, s)
				}
			})
		})
	}
}

// opened is a seam to record servers with, or to replay them.
func opened(t *testing.T, mode seam.Mode, file string) *seam.Seam {
	t.Helper()
	s, err := seam.Open(seam.Options{Mode: mode, Cassette: file, Transport: http.NewFileTransport(http.Dir(t.TempDir())), Rules: seam.DefaultRules()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// worn is a turn with the server w.
func worn(t *testing.T, m *mcp.Servers) mcp.Joined {
	t.Helper()
	j, err := m.Sync(t.Context(), []server.Entry{address("w", "https://w.example/mcp")})
	if err != nil || j.States[0].Err != nil {
		t.Fatal(err, j.States)
	}
	return j
}

// A server over HTTP that cannot be had is a state with a code, and the next turn tries
// it again.
func TestHTTPThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		below http.RoundTripper
		want  fault.Code
		after time.Duration
	}{
		"hangs": {roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), mcp.CodeServerStart, 30 * time.Second},
		"is not there": {roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}
		}), mcp.CodeServerStart, 0},
		"is no MCP server": {roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, http.StatusNotFound, "nothing here"), nil
		}), mcp.CodeServerStart, 0},
		"wants to know who asks": {roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, http.StatusUnauthorized, ""), nil
		}), login.CodeLogin, 0},
		"is new, and wants to know who asks": {roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Mcp-Protocol-Version") == "" {
				return answer(r, http.StatusBadRequest, `{"jsonrpc":"2.0","id":2,"error":{"code":-32020,"message":"no header"}}`), nil
			}
			return answer(r, http.StatusUnauthorized, ""), nil
		}), login.CodeLogin, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "c.yaml")
				s := opened(t, seam.Record, file)
				began := time.Now()
				entries := []server.Entry{address("w", "https://w.example/mcp")}
				j, err := overHTTP(t, s, clock.Real{}, c.below).Sync(t.Context(), entries)
				if err != nil || fault.CodeOf(j.States[0].Err) != c.want || time.Since(began) != c.after || len(j.Tools) > 0 || !j.States[0].Reached {
					t.Errorf("%v, %+v after %s", err, j.States[0], time.Since(began))
				}
				closed(t, s)
				s = opened(t, seam.Replay, file)
				if j, err = overHTTP(t, s, clock.Real{}, nil).Sync(t.Context(), entries); err != nil || len(j.Tools) > 0 || j.States[0].Err == nil {
					t.Errorf("replay: %v, %+v", err, j.States[0])
				}
				closed(t, s)
			})
		})
	}
}
