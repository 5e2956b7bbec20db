package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// readPiece is the call that is measured: what a client does most.
const readPiece = `{"kind":"character","id":"ada"}`

// A peer is a raw client of a server that is served on pipes: it costs little, so that
// what is measured is the server.
type peer struct {
	tb   testing.TB
	in   *os.File
	out  *bufio.Reader
	next int
	end  func()
}

// serveOn serves on pipes of the system, as a client's child has them.
func serveOn(tb testing.TB, serve func(ctx context.Context, in, out *os.File) error) *peer {
	tb.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- serve(tb.Context(), inR, outW)
		_ = outW.Close()
	}()
	p := &peer{tb: tb, in: inW, out: bufio.NewReaderSize(outR, 64<<10)}
	p.end = func() {
		_ = inW.Close()
		if err := <-done; err != nil {
			tb.Error(err)
		}
		_ = outR.Close()
	}
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	p.hear(`"id":"hello"`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) say(line string) {
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.tb.Fatal(err)
	}
}

// hear reads one answer, which must hold a text.
func (p *peer) hear(want string) {
	line, err := p.out.ReadSlice('\n')
	if err != nil || !bytes.Contains(line, []byte(want)) {
		p.tb.Fatalf("want %s, got %.300s, %v", want, line, err)
	}
}

func (p *peer) ask() {
	p.next++
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"studio.read","arguments":%s}}`, p.next, readPiece))
}

// calls makes n calls, of which so many run at a time.
func (p *peer) calls(n, atOnce int) time.Duration {
	began := time.Now()
	for range min(n, atOnce) {
		p.ask()
	}
	for i := range n {
		p.hear("A mathematician")
		if i+atOnce < n {
			p.ask()
		}
	}
	return time.Since(began)
}

// bareTool is the handler of studio.read on a server of the SDK with nothing in between.
func bareTool(tb testing.TB, h *house) *sdk.Server {
	t, ok := h.registry.Get("studio.read")
	if !ok {
		tb.Fatal("there is no studio.read")
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: t.ID, InputSchema: json.RawMessage(t.Input())}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := t.Run(ctx, tool.Call{ID: "c", Session: "s", Skin: tool.MCP}, req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Text}}, StructuredContent: json.RawMessage(res.Structured)}, nil
	})
	return server
}

func bareServer(tb testing.TB, h *house) *peer {
	server := bareTool(tb, h)
	return serveOn(tb, func(ctx context.Context, in, out *os.File) error {
		return server.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	})
}

func ourOptions(h *house) mcp.Options {
	return mcp.Options{
		Registry: h.registry, Gate: h.gate(h.registry, "guarded"), Table: h.table, Clock: h.clock, Name: "soundstage", Version: "1",
		Elsewhere: elsewhere, Resources: h.resources(h.registry), Results: h.results,
	}
}

// ourServer is the program's server: gate, trace and all.
func ourServer(tb testing.TB, h *house) *peer {
	log := &lateLog{house: h, id: h.clock.ID("s"), opened: trace.SessionOpened{Skin: "mcp", Mode: "live", Gate: "guarded", Origin: "user"}}
	server := mcp.NewFactory(ourOptions(h)).Open(mcp.Session{ID: log.id, Recorder: log})
	return serveOn(tb, func(ctx context.Context, in, out *os.File) error {
		return firstOf(server.Serve(ctx, in, out), log.close())
	})
}

// readHouse is a studio with the piece that is read.
func readHouse(tb testing.TB) *house {
	w := newWorld(tb)
	w.write("ada.json", ada)
	w.must("", "init", ".")
	w.must("", "import", "ada.json")
	h, err := (&app{doors: Doors{Env: w.env, Dir: w.dir, Clock: w.clock}}).open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(h.close)
	return h
}

// inTurns lets two servers take turns of 100 calls, so that a busy machine is busy for
// both, and reports the median of each.
func inTurns(b *testing.B, atOnce int, bare, ours func(n, atOnce int) time.Duration) {
	const batch = 100
	sides := []func(n, atOnce int) time.Duration{bare, ours}
	took := [2][]time.Duration{}
	for _, calls := range sides {
		calls(batch, atOnce) // warm
	}
	for n := 0; b.Loop(); n++ {
		for i := range sides {
			side := (i + n) % 2
			took[side] = append(took[side], sides[side](batch, atOnce)/batch)
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	bareMedian, oursMedian := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(bareMedian.Nanoseconds())/1000, "bare-µs")
	b.ReportMetric(float64(oursMedian.Nanoseconds())/1000, "ours-µs")
	b.ReportMetric(float64(oursMedian)/float64(bareMedian), "ratio")
}

// BenchmarkRead is a read tool over the program's server beside the same handler on a
// bare server of the SDK.
//
//	go test ./cmd/soundstage/cli -run '^$' -bench '^BenchmarkRead$'
func BenchmarkRead(b *testing.B) {
	h := readHouse(b)
	for _, atOnce := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", atOnce), func(b *testing.B) {
			bare, ours := bareServer(b, h), ourServer(b, h)
			inTurns(b, atOnce, bare.calls, ours.calls)
			bare.end()
			ours.end()
		})
	}
}
