package seam_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

// throughAll sends one message by each door.
func throughAll(t *testing.T, s *seam.Seam, work string, srv *server, n int) []string {
	t.Helper()
	var seen []string
	status, text := post(t, s, t.Context(), messagesURL, ask(fmt.Sprint(n)))
	seen = append(seen, fmt.Sprint(status, text))
	dial, run := seam.Dial(nil), seam.Runner(nil)
	if srv != nil {
		dial = srv.dial
		run = runner(func(string, seam.Command) (seam.Outcome, error) {
			write(t, work, "out.txt", fmt.Sprint("file ", n))
			return seam.Outcome{Stdout: []byte("ran")}, nil
		})
	}
	c := connect(t, s.MCP("chatty"), dial)
	seen = append(seen, chatUntil(c, 1, n, "blue", 3)...)
	_ = c.conn.Close()
	out, err := execDoor(t, s, work, run).Run(t.Context(), seam.Command{Args: []string{"x", fmt.Sprint(n)}, Writes: []string{"out.txt"}})
	seen = append(seen, fmt.Sprintf("%s %v %v", out.Stdout, out.Files, err))
	r, err := seam.Call(t.Context(), s, "double", n, func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	return append(seen, fmt.Sprint(r, err))
}

// Every kind is in one file, in the order of asking, and go-vcr v2 reads it.
func TestDoorsInOneFile(t *testing.T) {
	o := mcpOptions(t)
	s := open(t, o)
	recorded := throughAll(t, s, t.TempDir(), newServer(quiet), 3)
	closeSeam(t, s)
	for range 2 {
		s = replay(t, o)
		if again := throughAll(t, s, t.TempDir(), nil, 3); !slices.Equal(again, recorded) {
			t.Errorf("replay gives\n%q\nand recording gave\n%q", again, recorded)
		}
		closeSeam(t, s)
		if u := s.Unused(); len(u) > 0 {
			t.Errorf("unused %v", u)
		}
	}
	read, err := govcr.Load(strings.TrimSuffix(o.Cassette, ".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i, e := range episodes(t, o.Cassette) {
		kinds = append(kinds, e.Kind)
		if v := read.Interactions[i]; v.URL != e.Request.URL || v.Method != e.Request.Method || v.Request.Body != string(e.Request.Body) || v.Response.Body != string(e.Response.Body) {
			t.Errorf("go-vcr reads %+v", v)
		}
	}
	if want := []string{"http", "mcp", "mcp", "exec", "call"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
}

// A recording that was killed at any episode goes on, whichever door it was at: nothing
// that is in the journal is done again.
func TestDoorsResume(t *testing.T) {
	o := mcpOptions(t)
	work := t.TempDir()
	s := open(t, o)
	recorded := throughAll(t, s, work, newServer(quiet), 3)
	journal, err := os.ReadFile(o.Cassette + ".part")
	if err != nil {
		t.Fatal(err)
	}
	closeSeam(t, s)
	whole := len(episodes(t, o.Cassette))
	lines := strings.SplitAfter(string(journal), "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "- ") })
	for kept := 1; kept <= whole; kept++ {
		part := strings.Join(lines[:head+kept], "")
		if kept < whole {
			part += lines[head+kept][:40] // torn
		}
		_ = os.Remove(o.Cassette)
		if err := os.WriteFile(o.Cassette+".part", []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
		o.Continue = true
		s := open(t, o)
		if again := throughAll(t, s, work, newServer(quiet), 3); !slices.Equal(again, recorded) {
			t.Errorf("after %d episodes it gives\n%q\nnot\n%q", kept, again, recorded)
		}
		closeSeam(t, s)
		if n := len(episodes(t, o.Cassette)); n != whole {
			t.Errorf("after %d episodes there are %d, want %d", kept, n, whole)
		}
	}
}

// 64 goroutines, each in its lane, use every door of one cassette.
func TestDoorsAtOnce(t *testing.T) {
	const lanes = 64
	o := mcpOptions(t)
	journey := func(s *seam.Seam, live bool) {
		run := seam.Runner(nil)
		if live {
			run = runner(func(_ string, c seam.Command) (seam.Outcome, error) {
				return seam.Outcome{Stdout: []byte(c.Args[1])}, nil
			})
		}
		door := execDoor(t, s, t.TempDir(), run)
		var wg sync.WaitGroup
		for lane := range lanes {
			wg.Go(func() {
				ctx := seam.WithLane(t.Context(), fmt.Sprint("lane-", lane))
				for range 3 {
					post(t, s, ctx, messagesURL, ask(fmt.Sprint(lane)))
					out, err := door.Run(ctx, seam.Command{Args: []string{"x", fmt.Sprint(lane)}})
					if err != nil || string(out.Stdout) != fmt.Sprint(lane) {
						t.Errorf("lane %d: %q %v", lane, out.Stdout, err)
					}
					r, err := seam.Call(ctx, s, "double", lane, func(_ context.Context, n int) (int, error) { return 2 * n, nil })
					if err != nil || r != 2*lane {
						t.Errorf("lane %d: %d %v", lane, r, err)
					}
				}
			})
		}
		wg.Wait()
		closeSeam(t, s)
	}
	journey(open(t, o), true)
	s := replay(t, o)
	journey(s, false)
	if u := s.Unused(); len(u) > 0 {
		t.Errorf("unused %v", u)
	}
}
