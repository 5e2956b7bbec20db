package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// benchEvents is how many events the recorded stream has: 8 KB in all, as a turn of an
// agent that says a few sentences.
const benchEvents = 76

// benchBody is a request of 21 KB; requests differ in the last message.
func benchBody(i int) []byte {
	return fmt.Appendf(nil, `{"model":"claude-x","stream":true,"system":%q,"messages":[{"role":"user","content":"number %d"}]}`,
		strings.Repeat("You are careful, and say done when it is done. ", 450), i)
}

// BenchmarkReplay compares a hit in process with the same hit through the proxy, across
// a socket of this machine.
//
//	go test ./proxy -run '^$' -bench Replay
func BenchmarkReplay(b *testing.B) {
	const n = 200
	o := options(b, upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range benchEvents {
			fmt.Fprintf(w, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words %d\"}}\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
	})))
	rec := open(b, o)
	bodies := make([][]byte, n)
	for i := range n {
		bodies[i] = benchBody(i)
		send(b, rec.Transport(), "https://api.anthropic.com/v1/messages", bodies[i])
	}
	if err := rec.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("1-in-process", func(b *testing.B) {
		benchReplay(b, o, bodies, func(s *seam.Seam) (http.RoundTripper, string) { return s.Transport(), "https://api.anthropic.com" })
	})
	b.Run("2-handler", func(b *testing.B) {
		benchReplay(b, o, bodies, func(s *seam.Seam) (http.RoundTripper, string) { return through(s), address })
	})
	b.Run("3-socket", func(b *testing.B) {
		benchReplay(b, o, bodies, func(s *seam.Seam) (http.RoundTripper, string) {
			return &http.Transport{DisableCompression: true}, serve(b, s)
		})
	})
	b.Run("4-bare-socket", func(b *testing.B) { benchBare(b, bodies) })
}

func benchReplay(b *testing.B, o seam.Options, bodies [][]byte, way func(*seam.Seam) (http.RoundTripper, string)) {
	var rt http.RoundTripper
	var at string
	defer reportCPU(b)()
	i := 0
	for b.Loop() {
		if i%len(bodies) == 0 { // all are used
			b.StopTimer()
			rt, at = way(replay(b, o))
			b.StartTimer()
		}
		send(b, rt, at+"/v1/messages", bodies[i%len(bodies)])
		i++
	}
}

// benchBare is the same bytes in the same chunks from a server that does nothing else:
// what HTTP across a socket costs by itself.
func benchBare(b *testing.B, bodies [][]byte) {
	l, err := boundary.Listen(b.Context(), "127.0.0.1:0", "")
	if err != nil {
		b.Skip(err)
	}
	events := make([][]byte, benchEvents)
	for i := range events {
		events[i] = fmt.Appendf(nil, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words %d\"}}\n\n", i)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = w.Write(e)
			_ = http.NewResponseController(w).Flush()
		}
	})}
	go srv.Serve(l)   //nolint:errcheck // it ends with Close
	defer srv.Close() //nolint:errcheck // a benchmark
	rt := &http.Transport{DisableCompression: true}
	defer reportCPU(b)()
	i := 0
	for b.Loop() {
		send(b, rt, "http://"+l.Addr().String()+"/v1/messages", bodies[i%len(bodies)])
		i++
	}
}

func send(b *testing.B, rt http.RoundTripper, to string, body []byte) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "test")
	res, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n == 0 || res.StatusCode != http.StatusOK {
		b.Fatalf("%d, %d bytes, %v", res.StatusCode, n, err)
	}
}

// reportCPU adds the processor time an operation took, on both sides of the socket.
func reportCPU(b *testing.B) func() {
	from := cpuTime()
	return func() { b.ReportMetric(float64(cpuTime()-from)/float64(b.N), "cpu-ns/op") }
}
