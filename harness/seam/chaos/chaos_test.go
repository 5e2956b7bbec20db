package chaos_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

// A world answers each request with the same chunks, and says what was read of it.
type world struct {
	chunks []string
	calls  int
	read   int
	closed bool
}

func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	w.calls++
	w.read = 0
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}, "Content-Length": {"12"}}, ContentLength: 12,
		Body: &stream{w, w.chunks}, Request: req,
	}, nil
}

type stream struct {
	w    *world
	left []string
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.left[0])
	s.left = s.left[1:]
	s.w.read += n
	return n, nil
}

func (s *stream) Close() error { s.w.closed = true; return nil }

// A bench is a world with faults over it.
type bench struct {
	*world
	plan  *chaos.Plan
	door  http.RoundTripper
	clock *clock.Fixed
}

func set(t *testing.T, faults ...string) *bench {
	t.Helper()
	b := &bench{world: &world{chunks: []string{"one;", "two;", "three;"}}, clock: clock.NewFixed(clock.Epoch)}
	var list []chaos.Fault
	for _, text := range faults {
		f, err := chaos.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	var err error
	if b.plan, err = chaos.NewPlan(list...); err != nil {
		t.Fatal(err)
	}
	b.door = b.plan.Over(b.world, b.clock)
	return b
}

// ask makes one request in a lane and reads the answer chunk by chunk.
func (b *bench) ask(t *testing.T, lane string) (resp *http.Response, chunks []string, err error) {
	t.Helper()
	ctx := seam.WithLane(t.Context(), lane)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example/v1/messages", strings.NewReader("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err = b.door.RoundTrip(req); err != nil {
		return nil, nil, err
	}
	buf := make([]byte, 100)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			chunks = append(chunks, string(buf[:n]))
		}
		if err == io.EOF {
			return resp, chunks, resp.Body.Close()
		}
		if err != nil {
			return resp, chunks, errors.Join(err, resp.Body.Close())
		}
	}
}

// What comes in place of an answer leaves the episode to the next attempt.
func TestInstead(t *testing.T) {
	b := set(t, "1 429 retry-after=1500ms", "2 timeout after=90s", "3 refused", "4 503")
	resp, chunks, err := b.ask(t, "")
	if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Retry-After-Ms") != "1500" ||
		!strings.Contains(chunks[0], `"rate_limit_error"`) || !strings.Contains(chunks[0], "a fault of the scenario") {
		t.Errorf("429: %+v %q %v", resp, chunks, err)
	}
	_, _, err = b.ask(t, "")
	if e, ok := errors.AsType[net.Error](err); !ok || !e.Timeout() || errors.Is(err, context.DeadlineExceeded) || b.clock.Now().Sub(clock.Epoch) != 90*time.Second {
		t.Errorf("timeout: %v at %s", err, b.clock.Now())
	}
	if _, _, err = b.ask(t, ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("refused: %v", err)
	}
	if resp, _, err = b.ask(t, ""); err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "" {
		t.Errorf("503: %+v %v", resp, err)
	}
	if b.calls != 0 {
		t.Errorf("%d calls got through", b.calls)
	}
	if _, chunks, err = b.ask(t, ""); err != nil || strings.Join(chunks, "|") != "one;|two;|three;" || b.calls != 1 {
		t.Errorf("no fault: %q, %v, %d calls", chunks, err, b.calls)
	}
	if err := b.plan.Done(); err != nil {
		t.Error(err)
	}
	if got := len(b.plan.Fired()); got != 4 {
		t.Errorf("%d faults fired", got)
	}
}

// A spoiled answer is still read whole below, for whoever records it.
func TestSpoiled(t *testing.T) {
	for _, tt := range []struct {
		fault  string
		chunks string // "…" is noise
		err    error
	}{
		{"1 reset chunk=0", "", syscall.ECONNRESET},
		{"1 reset chunk=2", "one;|two;", syscall.ECONNRESET},
		{"1 reset chunk=3", "one;|two;|three;", syscall.ECONNRESET},
		{"1 truncate bytes=0", "", nil},
		{"1 truncate bytes=5", "one;|t", nil},
		{"1 truncate bytes=8", "one;|two;", nil},
		{"1 truncate bytes=13", "one;|two;|three", nil},
		{"1 rechunk seed=7 max=1", "o|n|e|;|t|w|o|;|t|h|r|e|e|;", nil},
		{"1 slow 50ms", "one;|two;|three;", nil},
	} {
		b := set(t, tt.fault)
		resp, chunks, err := b.ask(t, "")
		if strings.Join(chunks, "|") != tt.chunks || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.fault, chunks, err)
		}
		if b.read != 14 || !b.closed || resp.ContentLength != -1 || resp.Header.Get("Content-Length") != "" {
			t.Errorf("%s: %d bytes were read below, closed %v, header %v", tt.fault, b.read, b.closed, resp.Header)
		}
		if err := b.plan.Done(); err != nil {
			t.Errorf("%s: %v", tt.fault, err)
		}
	}
}

func TestSlowMovesAClockThatStands(t *testing.T) {
	b := set(t, "1 slow 50ms")
	if _, _, err := b.ask(t, ""); err != nil || b.clock.Now().Sub(clock.Epoch) != 150*time.Millisecond {
		t.Errorf("three chunks took %s, %v", b.clock.Now().Sub(clock.Epoch), err)
	}
}

func TestGarbage(t *testing.T) {
	b := set(t, "1 garbage bytes=4", "2 garbage bytes=4", "3 garbage bytes=4 seed=2")
	var got []string
	for range 3 {
		_, chunks, err := b.ask(t, "")
		all := strings.Join(chunks, "")
		if err != nil || len(chunks) != 3 || len(all) != 14 || !strings.HasPrefix(all, "one;") || all == "one;two;three;" {
			t.Errorf("%q, %v", chunks, err)
		}
		got = append(got, all)
	}
	if got[0] != got[1] || got[0] == got[2] {
		t.Errorf("the seed decides, and nothing else: %q", got)
	}
}

// The same seed cuts the same way, chunks are put together too, and nothing is lost.
func TestRechunk(t *testing.T) {
	cuts := map[string]bool{}
	for _, f := range []string{"* rechunk seed=1 max=9", "* rechunk seed=2 max=9", "* rechunk seed=3 max=9"} {
		b := set(t, f)
		_, first, err := b.ask(t, "")
		_, second, err2 := b.ask(t, "")
		if err != nil || err2 != nil || strings.Join(first, "") != "one;two;three;" || strings.Join(first, "|") != strings.Join(second, "|") {
			t.Errorf("%q, %q, %v, %v", first, second, err, err2)
		}
		cuts[strings.Join(first, "|")] = true
	}
	if len(cuts) != 3 {
		t.Errorf("three seeds cut in %d ways", len(cuts))
	}
}

func TestFaultsGoTogether(t *testing.T) {
	b := set(t, "* rechunk seed=1 max=1", "* slow 1s", "1 reset chunk=1")
	_, chunks, err := b.ask(t, "")
	if strings.Join(chunks, "|") != "o|n|e|;" || !errors.Is(err, syscall.ECONNRESET) || b.clock.Now().Sub(clock.Epoch) != 4*time.Second {
		t.Errorf("%q, %v, %s", chunks, err, b.clock.Now())
	}
}

func TestWhere(t *testing.T) {
	b := set(t, "writer@2 500", "@1 501", "https://*/v1/*@4 502", "6 503")
	var got []int
	for _, lane := range []string{"writer", "", "writer", "writer", "", ""} {
		resp, _, err := b.ask(t, lane)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, resp.StatusCode)
	}
	for i, want := range []int{200, 501, 500, 502, 200, 503} {
		if got[i] != want {
			t.Errorf("call %d: %d, want %d", i+1, got[i], want)
		}
	}
	if err := b.plan.Done(); err != nil {
		t.Error(err)
	}
}

func TestAFaultThatNeverFires(t *testing.T) {
	for _, tt := range []struct{ fault, want string }{
		{"3 429", "2 such calls were made, 2 in all"},
		{"writer@1 429", "0 such calls were made, 2 in all"},
		{"https://other/*@* 429", "0 such calls"},
		{"1 truncate bytes=14", "the answer of call 1 has 14 bytes"},
		{"1 reset chunk=4", "the answer of call 1 has 3 chunks"},
		{"2 garbage bytes=14", "the answer of call 2 has 14 bytes"},
	} {
		b := set(t, tt.fault)
		for range 2 {
			if _, _, err := b.ask(t, ""); err != nil {
				t.Fatal(err)
			}
		}
		err := b.plan.Done()
		if fault.CodeOf(err) != chaos.CodeUnfired && !strings.Contains(errText(err), "never fired") || !strings.Contains(errText(err), tt.want) {
			t.Errorf("%s: %v, want %q", tt.fault, err, tt.want)
		}
	}
	b := set(t, "1 429", "1 reset chunk=0")
	if _, _, err := b.ask(t, ""); err != nil {
		t.Fatal(err)
	}
	if err := b.plan.Done(); !strings.Contains(errText(err), "another fault") {
		t.Error(err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAFaultThatComesTooLate(t *testing.T) {
	b := set(t)
	if _, _, err := b.ask(t, "writer"); err != nil {
		t.Fatal(err)
	}
	for text, late := range map[string]bool{"1 429": true, "2 429": false, "writer@1 429": true, "@1 429": false, "* 429": false} {
		f, err := chaos.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.plan.Add(f); (fault.CodeOf(err) == chaos.CodePast) != late || (err != nil) != late {
			t.Errorf("Add(%q): %v", text, err)
		}
	}
}

// A caller that has left gets its own reason, and no time passes for it.
func TestALeftCaller(t *testing.T) {
	b := set(t, "1 timeout", "2 500")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://x/", strings.NewReader("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.door.RoundTrip(req); !errors.Is(err, context.Canceled) || !b.clock.Now().Equal(clock.Epoch) {
			t.Errorf("%v at %s", err, b.clock.Now())
		}
	}
}

// Bytes are never lost, doubled or moved, however a stream comes and is cut.
func FuzzRechunk(f *testing.F) {
	f.Add([]byte("event: a\ndata: {}\n\nevent: b\ndata: {}\n\n"), uint64(7), 8, 3, 5)
	f.Add([]byte("data: [DONE]\r\n\r\n"), uint64(1), 1, 1, 64)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, most, piece, read int) {
		most, piece, read = 1+abs(most)%4096, 1+abs(piece)%4096, 1+abs(read)%4096
		var chunks []string
		for rest := string(data); rest != ""; {
			n := min(piece, len(rest))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		door, err := chaos.New([]chaos.Fault{{Kind: chaos.Rechunk, Seed: seed, Max: most}}, &world{chunks: chunks}, clock.NewFixed(clock.Epoch))
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://x/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := door.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		buf := make([]byte, read)
		for {
			n, err := resp.Body.Read(buf)
			if n > most {
				t.Fatalf("a chunk of %d bytes, and at most %d were asked for", n, most)
			}
			got.Write(buf[:n])
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%q became %q", data, got.Bytes())
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
