package seam_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

const messagesURL = "https://api.anthropic.com/v1/messages"

// sse answers with events, each a chunk.
func sse(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "session=1")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
		}
	}
}

func options(t testing.TB, mode seam.Mode, h http.HandlerFunc) seam.Options {
	t.Helper()
	o := seam.Options{
		Mode: mode, Cassette: filepath.Join(t.TempDir(), "a", "b.yaml"), Name: "a/b", Origin: cassette.Scripted, KeepErrors: true,
		KeepEmpty: true, // most tests replay what a provider need not have been asked for
		Clock:     clock.NewFixed(clock.Epoch),
	}
	if h != nil {
		o.Transport = upstream.NewTransport(h)
	}
	return o
}

func open(t testing.TB, o seam.Options) *seam.Seam {
	t.Helper()
	s, err := seam.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func replay(t testing.TB, o seam.Options) *seam.Seam {
	t.Helper()
	o.Mode, o.Transport = seam.Replay, nil
	return open(t, o)
}

func request(t testing.TB, ctx context.Context, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer abcdefghijklmnop1234")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	return req
}

// post sends a body and reads all of the answer.
func post(t testing.TB, s *seam.Seam, ctx context.Context, url, body string) (status int, text string) {
	t.Helper()
	res, err := s.Transport().RoundTrip(request(t, ctx, url, body))
	if err != nil {
		t.Fatalf("POST %s: %v", url, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read the answer of %s: %v", url, err)
	}
	return res.StatusCode, string(b)
}

func closeSeam(t testing.TB, s *seam.Seam) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("code %q, want %q: %v", fault.CodeOf(err), code, err)
	}
}

// echo answers with the last message.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sse(fmt.Sprintf(`{"n":%d}`, len(body)), `{"type":"message_stop"}`)(w, r)
}

func ask(text string) string {
	return fmt.Sprintf(`{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":%q}]}]}`, text)
}
