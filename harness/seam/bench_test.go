package seam_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	vcrcassette "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/dnaeon/go-vcr/v2/recorder"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// With 5000 episodes go-vcr takes seconds a request.
var vcrBig = flag.Bool("vcr5000", false, "measure go-vcr with 5000 episodes too")

var benchSizes = []int{10, 100, 1000, 5000}

// benchBody is a request of 21 KB: requests share system and tools and differ in
// the last message, as an agent's do.
func benchBody(i int) []byte { return []byte(fmt.Sprintf(benchFormat(), i)) }

var benchFormat = sync.OnceValue(func() string {
	var sb strings.Builder
	sb.WriteString(`{"model":"claude-x","max_tokens":4096,"stream":true,"system":[{"type":"text","text":"`)
	sb.WriteString(strings.Repeat("You are careful. Say \\\"done\\\" when it is done.\\n", 120))
	sb.WriteString(`"}],"tools":[`)
	for k := range 20 {
		fmt.Fprintf(&sb, `{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"id":{"type":"string","description":"the id"},"n":{"type":"integer"}},"required":["id"]}},`, k, strings.Repeat("does one thing and does it well, ", 10))
	}
	sb.WriteString(`{"name":"last","description":"x","input_schema":{"type":"object"}}],"messages":[`)
	for k := range 10 {
		fmt.Fprintf(&sb, `{"role":"user","content":[{"type":"text","text":"question %d %s"}]},`, k, strings.Repeat("with some words ", 15))
	}
	sb.WriteString(`{"role":"user","content":[{"type":"text","text":"the last question, number %d, is the one that differs"}]}]}`)
	return sb.String()
})

func benchStream() []string {
	var events []string
	for k := range 75 {
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words %d"}}`, k))
	}
	return append(events, `{"type":"message_stop"}`)
}

// benchFiles are recorded once a size and kept for the process: TestMain removes
// them.
var benchFiles = struct {
	sync.Mutex
	paths map[int]string
}{paths: map[int]string{}}

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	code := m.Run()
	for _, path := range benchFiles.paths {
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// benchDir is in memory where the system has such a folder: syncing a disk is not
// what is measured.
func benchDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "seam")
	if err != nil {
		dir, err = os.MkdirTemp("", "seam")
	}
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// benchCassette is recorded through the seam itself.
func benchCassette(b *testing.B, n int) seam.Options {
	b.Helper()
	benchFiles.Lock()
	defer benchFiles.Unlock()
	o := seam.Options{
		Mode: seam.Record, Cassette: benchFiles.paths[n], Name: "bench", Origin: cassette.Scripted,
		Clock: clock.NewFixed(clock.Epoch), Rules: seam.DefaultRules(), Transport: upstream.NewTransport(sse(benchStream()...)),
	}
	if o.Cassette != "" {
		return o
	}
	o.Cassette = filepath.Join(benchDir(b), "c.yaml")
	benchFiles.paths[n] = o.Cassette
	s := open(b, o)
	for i := range n {
		send(b, s.Transport(), benchBody(i))
	}
	closeSeam(b, s)
	return o
}

// send does what a client does: it sends the body and decodes the stream. It
// reports whether the answer was a recorded one.
func send(b *testing.B, rt http.RoundTripper, body []byte) bool {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, messagesURL, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "test")
	res, err := rt.RoundTrip(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		b.Fatal(err)
	}
	return res.StatusCode == http.StatusOK
}

// cases are the requests of one benchmark, in a cycle of n.
func cases(n int) map[string]func(i int) []byte {
	bodies, spaced := make([][]byte, n), make([][]byte, n)
	for i := range n {
		bodies[i] = benchBody(i)
		spaced[i] = bytes.ReplaceAll(bodies[i], []byte(`,"role"`), []byte(`, "role"`))
		spaced[i] = append([]byte(" "), spaced[i]...)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	return map[string]func(int) []byte{
		"1-ordered":   func(i int) []byte { return bodies[i%n] },
		"2-random":    func(i int) []byte { return bodies[order[i%n]] },
		"3-canonical": func(i int) []byte { return spaced[order[i%n]] },
		"4-missing":   func(i int) []byte { return benchBody(n + i) },
	}
}

var caseNames = []string{"1-ordered", "2-random", "3-canonical", "4-missing"}

// BenchmarkFloor is SHA-256 of one request, without which no request is found: the
// measure of how fast the machine is at the moment.
func BenchmarkFloor(b *testing.B) {
	body := benchBody(0)
	b.SetBytes(int64(len(body)))
	defer reportCPU(b)()
	for b.Loop() {
		sha256.Sum256(body)
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			s := replay(b, benchCassette(b, n))
			bodies := cases(n)
			for _, name := range caseNames {
				b.Run(name, func(b *testing.B) { benchReplay(b, s, n, bodies[name], name != "4-missing") })
			}
		})
	}
}

func benchReplay(b *testing.B, s *seam.Seam, n int, body func(int) []byte, wantHit bool) {
	s.Rewind()
	send(b, s.Transport(), benchBody(-1)) // builds the index of misses
	s.Rewind()
	b.ReportAllocs()
	defer reportCPU(b)()
	i := 0
	for b.Loop() {
		if i > 0 && i%n == 0 {
			s.Rewind()
		}
		if hit := send(b, s.Transport(), body(i)); hit != wantHit {
			b.Fatalf("request %d: hit %v: %v", i, hit, s.Err())
		}
		i++
	}
}

// reportCPU adds the processor time an operation took, garbage collection and all.
func reportCPU(b *testing.B) func() {
	from := cpuTime()
	return func() { b.ReportMetric(float64(cpuTime()-from)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkReplayKnown is a replay where the environment has credentials and folders
// that each request is searched for, as a command's has.
func BenchmarkReplayKnown(b *testing.B) {
	o := benchCassette(b, 100)
	o.Redactor = redact.New(redact.Options{
		Home: "/srv/somebody", Work: "/srv/somebody/studio",
		Env: map[string]string{
			"ANTHROPIC_API_KEY": "sk-ant-api03-0123456789abcdefghij-ABCDEFGHIJ", "OPENAI_API_KEY": "sk-proj-9876543210zyxwvutsrqp",
			"GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345", "DATABASE_URL": "postgres://me:correct-horse@db/main",
		},
	})
	s := replay(b, o)
	bodies := cases(100)
	for _, name := range caseNames {
		b.Run(name, func(b *testing.B) { benchReplay(b, s, 100, bodies[name], name != "4-missing") })
	}
}

// BenchmarkFirstMiss is the first miss of a cassette, which indexes it.
func BenchmarkFirstMiss(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			s := replay(b, benchCassette(b, n))
			defer reportCPU(b)()
			i := 0
			for b.Loop() {
				s.Forget()
				send(b, s.Transport(), benchBody(n+i))
				i++
			}
		})
	}
}

// BenchmarkRecord is what recording adds to a request that is answered in this
// process.
func BenchmarkRecord(b *testing.B) {
	below := upstream.NewTransport(sse(benchStream()...))
	b.Run("without", func(b *testing.B) {
		defer reportCPU(b)()
		i := 0
		for b.Loop() {
			send(b, below, benchBody(i))
			i++
		}
	})
	b.Run("with", func(b *testing.B) {
		dir := benchDir(b)
		defer os.RemoveAll(dir)
		defer reportCPU(b)()
		s := open(b, seam.Options{
			Mode: seam.Record, Cassette: filepath.Join(dir, "c.yaml"), Origin: cassette.Scripted, Clock: clock.NewFixed(clock.Epoch),
			Rules: seam.DefaultRules(), Transport: below,
		})
		i := 0
		for b.Loop() {
			send(b, s.Transport(), benchBody(i))
			i++
		}
		closeSeam(b, s)
	})
}

// BenchmarkGoVCR is go-vcr v2 on the same file, with the cheapest matcher that
// looks at the body as JSON: equal bytes first, then equal values.
func BenchmarkGoVCR(b *testing.B) {
	for _, n := range benchSizes {
		if n == 5000 && !*vcrBig {
			continue
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			o := benchCassette(b, n)
			bodies := cases(n)
			for _, name := range caseNames {
				benchVCR(b, o.Cassette, n, name, bodies[name])
			}
		})
	}
}

// benchVCR measures a fixed number of requests, once: a recorder cannot be rewound,
// and opening it again takes as long as hundreds of requests in recorded order.
func benchVCR(b *testing.B, path string, n int, name string, body func(int) []byte) {
	requests := max(5, 1000/n)
	if name == "1-ordered" {
		requests = 500
	}
	var cpu, wall time.Duration
	b.Run(name, func(b *testing.B) {
		if b.N == 1 {
			cpu = 0
			var rec *recorder.Recorder
			for i := range requests {
				b.StopTimer()
				if i%n == 0 && (i == 0 || name != "4-missing") { // used up
					rec = openVCR(b, path)
				}
				b.StartTimer()
				from := cpuTime()
				if hit := send(b, rec, body(i)); hit == (name == "4-missing") {
					b.Fatalf("request %d: hit %v", i, hit)
				}
				cpu += cpuTime() - from
			}
			wall = b.Elapsed()
		}
		b.ReportMetric(float64(wall)/float64(requests), "ns/op")
		b.ReportMetric(float64(cpu)/float64(requests), "cpu-ns/op")
	})
}

func openVCR(b *testing.B, path string) *recorder.Recorder {
	b.Helper()
	rec, err := recorder.NewAsMode(strings.TrimSuffix(path, ".yaml"), recorder.ModeReplaying, nil)
	if err != nil {
		b.Fatal(err)
	}
	rec.SetMatcher(func(r *http.Request, i vcrcassette.Request) bool {
		if r.Method != i.Method || r.URL.String() != i.URL {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if string(body) == i.Body {
			return true
		}
		var x, y any
		return json.Unmarshal(body, &x) == nil && json.Unmarshal([]byte(i.Body), &y) == nil && reflect.DeepEqual(x, y)
	})
	return rec
}

// BenchmarkMCP measures one replayed call of a tool, from the client's message to the
// server's.
func BenchmarkMCP(b *testing.B) {
	o := options(b, seam.Record, echo)
	o.Rules = seam.MCPRules()
	s := open(b, o)
	srv := newServer(func(s *server, m rpc) {
		s.say(`{"jsonrpc":"2.0","id":%v,"result":{"text":%q}}`, m.ID, strings.Repeat("x", 2000))
	})
	connectTo := func(s *seam.Seam, dial seam.Dial) seam.MCPConn {
		c, err := s.MCP("a").Connect(b.Context(), dial)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	one := func(c seam.MCPConn) {
		if err := c.Write(b.Context(), fmt.Appendf(nil, call, 1, "a", 1)); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	c := connectTo(s, srv.dial)
	one(c)
	closeSeam(b, s)
	s = replay(b, o)
	c = connectTo(s, nil)
	for b.Loop() {
		one(c)
		s.Rewind()
	}
}
