package cassette_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// bigEpisode is a call of the size that agents make: a request of 21 KB and a
// stream of 8 KB.
func bigEpisode(i int) cassette.Episode {
	e := episode(fmt.Sprint(i))
	e.Request.Body = []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("Ein Satz, \\\"zitiert\\\", mit Ümlaut.\\n", 530) + fmt.Sprint(i) + `"}]}`)
	frame := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words\"}}\n\n"
	e.Response.Body = bytes.Repeat([]byte(frame), 8000/len(frame))
	e.Response.Chunks = nil
	for k := range 8000 / len(frame) {
		e.Response.Chunks = append(e.Response.Chunks, cassette.Chunk{AtMS: int64(20 * k), Len: len(frame)})
	}
	return e
}

// benchFiles are written once a size and kept for the process: TestMain removes
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

func bigFile(b *testing.B, n int) string {
	b.Helper()
	benchFiles.Lock()
	defer benchFiles.Unlock()
	if path := benchFiles.paths[n]; path != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "cassette")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "c.yaml")
	w, err := cassette.Create(path, header())
	if err != nil {
		b.Fatal(err)
	}
	w.WithoutSync()
	for i := range n {
		if err := w.Append(bigEpisode(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	benchFiles.paths[n] = path
	return path
}

// reportCPU adds the processor time an operation took, garbage collection and all.
func reportCPU(b *testing.B) func() {
	from := cpuTime()
	return func() { b.ReportMetric(float64(cpuTime()-from)/float64(b.N), "cpu-ns/op") }
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := bigFile(b, n)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				if c, err := cassette.Open(path); err != nil || c.Len() != n {
					b.Fatal(c, err)
				}
			}
			b.ReportMetric(float64(info.Size())/1e6, "file-MB")
		})
	}
}

// BenchmarkReadFile is the floor under BenchmarkOpen: the bytes alone.
func BenchmarkReadFile(b *testing.B) {
	for _, n := range []int{10, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := bigFile(b, n)
			defer reportCPU(b)()
			for b.Loop() {
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHit(b *testing.B) {
	for _, n := range []int{10, 5000} {
		c := open(b, bigFile(b, n))
		keys := make([]string, 0, n)
		for _, k := range c.Keys() {
			keys = append(keys, k)
		}
		b.Run(fmt.Sprintf("response/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b)()
			i := 0
			for b.Loop() {
				i = (i + 7) % n
				if _, err := c.Response(c.ByKey(keys[i])[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("episode/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b)()
			i := 0
			for b.Loop() {
				i = (i + 7) % n
				if _, err := c.Episode(c.ByKey(keys[i])[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, synced := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%v", synced), func(b *testing.B) {
			w, err := cassette.Create(filepath.Join(b.TempDir(), "c.yaml"), header())
			if err != nil {
				b.Fatal(err)
			}
			defer w.Abandon()
			if !synced {
				w.WithoutSync()
			}
			e := bigEpisode(1)
			defer reportCPU(b)()
			for b.Loop() {
				if err := w.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
