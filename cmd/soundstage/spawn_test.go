package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/sqlite"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// BenchmarkSpawn measures what an MCP client waits for: from the start of the
// process to the answer of tools/list, in studios of different sizes.
//
//	go test ./cmd/soundstage -run '^$' -bench Spawn
func BenchmarkSpawn(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "soundstage")
	// the flags of make build
	build := exec.CommandContext(b.Context(), "go", "build", "-tags", "grpcnotrace", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	for _, n := range []int{0, 100, 5000} {
		b.Run(fmt.Sprintf("pieces=%d", n), func(b *testing.B) {
			dir := studioOf(b, bin, n)
			var cpu time.Duration
			for b.Loop() {
				cpu += spawn(b, bin, dir)
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func studioOf(b *testing.B, bin string, n int) string {
	dir := b.TempDir()
	run := exec.CommandContext(b.Context(), bin, "init", dir)
	run.Env = []string{"HOME=" + dir}
	if out, err := run.CombinedOutput(); err != nil {
		b.Fatalf("init: %v\n%s", err, out)
	}
	if n == 0 {
		return dir
	}
	if err := os.MkdirAll(filepath.Join(dir, ".soundstage"), 0o755); err != nil {
		b.Fatal(err)
	}
	st, err := sqlite.Open(b.Context(), filepath.Join(dir, ".soundstage", "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		p := store.Piece{Ref: store.Ref{Kind: "character", ID: fmt.Sprintf("c%05d", i)}, Title: "C", Body: []byte(`{"identity":{"name":"C"}}`)}
		if _, err := st.Create(b.Context(), p, store.Stamp{At: clock.Epoch, Cause: "import"}); err != nil {
			b.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// spawn starts a server, waits for its list, ends it off the clock, and is the processor
// time of its whole life: unlike the time on the wall it says the same on a busy machine.
func spawn(b *testing.B, bin, dir string) time.Duration {
	cmd := exec.CommandContext(b.Context(), bin, "mcp", dir)
	cmd.Env = []string{"HOME=" + dir}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_, err = fmt.Fprint(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	if err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			b.Fatalf("read: %v", err)
		}
		if bytes.Contains(line, []byte(`"id":2`)) && bytes.Contains(line, []byte("studio.list")) {
			break
		}
	}
	b.StopTimer() // the client has what it waited for
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatalf("exit: %v", err)
	}
	b.StartTimer()
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
