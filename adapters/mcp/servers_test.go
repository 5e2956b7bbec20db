package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A puppet is somebody else's server on two pipes: it says what a test wants.
type puppet struct {
	mute   bool                               // it hears, and says nothing
	tools  string                             // of tools/list
	call   func(p *puppet, id, name string)   // nil: it answers with its name
	heard  func(method string, params []byte) // may be nil
	out    *io.PipeWriter                     // to the client
	in     *io.PipeReader
	closed chan struct{}
	once   *sync.Once
}

type ends struct {
	*io.PipeReader
	*io.PipeWriter
	p *puppet
}

func (e ends) Close() error {
	e.p.end()
	return nil
}

func (p *puppet) end() {
	p.once.Do(func() {
		p.out.Close()
		p.in.Close()
		close(p.closed)
	})
}

// start is a run of the puppet.
func (p puppet) start() (*puppet, io.ReadWriteCloser) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	run := &puppet{mute: p.mute, tools: p.tools, call: p.call, heard: p.heard, out: toClient, in: fromClient, closed: make(chan struct{}), once: new(sync.Once)}
	go run.serve()
	return run, ends{fromServer, toServer, run}
}

func (p *puppet) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

func (p *puppet) serve() {
	in := bufio.NewReader(p.in)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if p.heard != nil {
			p.heard(m.Method, append(m.Params, m.Result...))
		}
		id := string(m.ID)
		switch {
		case m.ID == nil || m.Method == "" || p.mute:
		case m.Method == "initialize":
			p.say("noise before the first message")
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"p","version":"1"}}}`, id)
		case m.Method == "tools/list":
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, id, p.tools)
		case m.Method == "tools/call" && p.call != nil:
			var c struct{ Name string }
			_ = json.Unmarshal(m.Params, &c)
			p.call(p, id, c.Name)
		case m.Method == "tools/call":
			p.text(id, "done")
		default:
			p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
		}
	}
}

func (p *puppet) text(id, text string) {
	b, _ := json.Marshal(text)
	p.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, id, b)
}

// A troupe is Servers whose commands are puppets.
type troupe struct {
	*mcp.Servers
	mu      sync.Mutex
	puppets map[string]puppet
	runs    []*puppet
	started atomic.Int32
}

func newTroupe(t *testing.T, s *seam.Seam, c clock.Clock, puppets map[string]puppet) *troupe {
	t.Helper()
	tr := &troupe{puppets: puppets}
	tr.Servers = mcp.NewServers(mcp.ServersOptions{
		Door: s.MCP, Clock: c, Name: "soundstage", Version: "1", OneByOne: true,
		HTTP: func(server.Entry) http.RoundTripper { return http.NewFileTransport(http.Dir(t.TempDir())) },
		Start: func(_ context.Context, e server.Entry, stderr io.Writer) (io.ReadWriteCloser, error) {
			tr.started.Add(1)
			tr.mu.Lock()
			defer tr.mu.Unlock()
			p, ok := tr.puppets[e.Command]
			if !ok {
				return nil, fault.New(fault.NotFound, "test", "no program %q", e.Command)
			}
			fmt.Fprint(stderr, strings.Repeat("noise ", 100_000))
			run, rwc := p.start()
			tr.runs = append(tr.runs, run)
			return rwc, nil
		},
	})
	t.Cleanup(func() { tr.Close(context.WithoutCancel(t.Context())) })
	return tr
}

func live(t *testing.T) *seam.Seam {
	t.Helper()
	s, err := seam.Open(seam.Options{Mode: seam.Live, Transport: http.NewFileTransport(http.Dir(t.TempDir()))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func entry(name string) server.Entry {
	return server.Entry{Name: name, Command: name, Enabled: true, Timeout: time.Minute}
}

func (tr *troupe) sync(t *testing.T, names ...string) mcp.Joined {
	t.Helper()
	var want []server.Entry
	for _, n := range names {
		want = append(want, entry(n))
	}
	j, err := tr.Sync(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func run(t *testing.T, j mcp.Joined, id string) (tool.Result, error) {
	t.Helper()
	for _, x := range j.Tools {
		if x.ID == id {
			return x.Run(t.Context(), tool.Call{}, []byte(`{}`))
		}
	}
	t.Fatalf("no tool %q in %v", id, ids(j))
	return tool.Result{}, nil
}

func ids(j mcp.Joined) (out []string) {
	for _, x := range j.Tools {
		out = append(out, x.ID)
	}
	return out
}

const oddSchema = `{"type" : "object","properties":{"<b>":true, "n":{"type":["integer","null"], "maximum":1e5}},"$defs":{}}`

// Tools join with their own schema, byte for byte, as egress, by exact name, for the loop
// alone; names that collide are counted.
func TestToolsJoin(t *testing.T) {
	tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{
		"a-b": {tools: `[{"name":"Get-It","description":"Gets it. And more.","inputSchema":` + oddSchema + `},{"name":"get_it","inputSchema":{"type":"object"}},{"name":"???","inputSchema":{}},{"name":"bad","inputSchema":[]},{"name":"` + strings.Repeat("long", 40) + `","inputSchema":{"type":"object"}}]`},
		"a_b": {tools: `[{"name":"get.it","inputSchema":{"type":"object"}}]`},
	})
	j := tr.sync(t, "a-b", "a_b", "none")
	if got := strings.Join(ids(j), " "); !strings.HasPrefix(got, "mcp.a_b.get_it mcp.a_b.longlong") || len(j.Tools) != 2 {
		t.Fatalf("tools %s", got)
	}
	table := trust.NewTable(trust.Rows()...).With(j.Rows...)
	for _, x := range j.Tools {
		class, ok := table.Class(x.ID)
		if !ok || class != trust.Egress || x.Effect != tool.Apply || !x.On(tool.Loop) || x.On(tool.MCP) || x.On(tool.CLI) || len(x.Name()) > 64 {
			t.Errorf("%s: class %q, %+v", x.ID, class, x.Spec)
		}
	}
	if string(j.Tools[0].Input()) != oddSchema || j.Tools[0].Summary != "Gets it." {
		t.Errorf("schema %s, summary %q", j.Tools[0].Input(), j.Tools[0].Summary)
	}
	if s := j.States; len(s[0].Dropped) != 3 || len(s[1].Dropped) != 1 || s[0].Tools != 2 || fault.CodeOf(s[2].Err) != mcp.CodeServerStart || s[2].Reached {
		t.Errorf("states %+v", s)
	}
}

// What a server may send, as a model gets it.
func TestResults(t *testing.T) {
	for content, want := range map[string]string{
		`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"aGk="}]}`:                   "a",
		`{"content":[],"structuredContent":{"n":1}}`:                                                                       `{"n":1}`,
		`{"content":[{"type":"audio","mimeType":"audio/wav","data":"aGk="}]}`:                                              `[sound of type "audio/wav", 2 bytes, was left out]`,
		`{"content":[{"type":"resource","resource":{"uri":"x://y","text":"inside"}}]}`:                                     "inside",
		`{"content":[{"type":"text","text":"no"}],"isError":true}`:                                                         "MCP_TOOL_FAILED",
		`{"content":[{"type":"text","text":"` + strings.Repeat("a", result.MaxBytes+1) + `"},{"type":"text","text":"b"}]}`: "[TOO_LARGE: a value of 1000001 bytes was left out, since results have at most 1000000. Ask for less at once.]\nb",
	} {
		tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{"p": {tools: one, call: func(p *puppet, id, _ string) {
			p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, content)
		}}})
		res, err := run(t, tr.sync(t, "p"), "mcp.p.it")
		got := res.Text
		if err != nil {
			got = string(fault.CodeOf(err))
		}
		if got != want {
			t.Errorf("%.60s: %.200q, want %.200q", content, got, want)
		}
		if strings.Contains(content, "image") && (len(res.Blocks) != 1 || string(res.Blocks[0].Data) != "hi") {
			t.Errorf("blocks %+v", res.Blocks)
		}
	}
}

const one = `[{"name":"it","inputSchema":{"type":"object"}}]`

// A recording that is replayed gives the same words for each mishap, without a program
// and without waiting.
func TestMishapsReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	said := map[seam.Mode][]string{}
	for _, mode := range []seam.Mode{seam.Record, seam.Replay} {
		s, err := seam.Open(seam.Options{Mode: mode, Cassette: file, Transport: http.NewFileTransport(http.Dir(t.TempDir())), Rules: seam.DefaultRules()})
		if err != nil {
			t.Fatal(err)
		}
		var c clock.Clock = clock.Real{}
		if mode == seam.Replay {
			c = nil
		}
		tr := newTroupe(t, s, c, map[string]puppet{
			"hangs": {tools: one, call: func(*puppet, string, string) {}},
			"dies":  {tools: one, call: func(p *puppet, _, _ string) { p.end() }},
			"noes": {tools: one, call: func(p *puppet, id, _ string) {
				p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"not like this"}}`, id)
			}},
		})
		want := []server.Entry{entry("dies"), entry("hangs"), entry("noes")}
		want[1].Timeout = time.Millisecond
		j, err := tr.Sync(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"hangs", "dies", "dies", "noes"} {
			_, err := run(t, j, "mcp."+name+".it")
			said[mode] = append(said[mode], fmt.Sprintf("%s %v", fault.CodeOf(err), err))
		}
		tr.Close(t.Context())
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if n := s.Unused(); len(n) > 0 || mode == seam.Replay && tr.started.Load() > 0 {
			t.Errorf("%s: unused %v, %d programs", mode, n, tr.started.Load())
		}
	}
	if got := strings.Join(said[seam.Replay], "\n"); got != strings.Join(said[seam.Record], "\n") ||
		!strings.HasPrefix(got, "MCP_SERVER_TIMEOUT ") || strings.Count(got, "MCP_SERVER_LOST ") != 2 || !strings.Contains(got, "MCP_SERVER_REFUSED ") {
		t.Errorf("recorded\n%s\nreplayed\n%s", strings.Join(said[seam.Record], "\n"), got)
	}
}

// A call and a greeting that hang end by the clock.
func TestHangsEndByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{
			"hangs": {tools: one, call: func(*puppet, string, string) {}},
			"mute":  {mute: true},
		})
		began := time.Now()
		j := tr.sync(t, "hangs", "mute")
		if fault.CodeOf(j.States[1].Err) != mcp.CodeServerStart || time.Since(began) > time.Minute {
			t.Errorf("%v after %s", j.States[1].Err, time.Since(began))
		}
		began = time.Now()
		if _, err := run(t, j, "mcp.hangs.it"); fault.CodeOf(err) != mcp.CodeServerTimeout || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// One process each, shared by turns; another recipe, an end, and a change of the list
// count at the next turn; what is not wanted is ended, and so is all at the end.
func TestServersAreKept(t *testing.T) {
	tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{"p": {tools: one}, "q": {tools: one}})
	tr.sync(t, "p", "q")
	j := tr.sync(t, "p", "q")
	if n := tr.started.Load(); n != 2 {
		t.Errorf("%d programs for two servers", n)
	}
	e := entry("p")
	e.Env = map[string]string{"NEW": "1"}
	if _, err := tr.Sync(t.Context(), []server.Entry{e}); err != nil {
		t.Fatal(err)
	}
	<-tr.runs[0].closed
	<-tr.runs[1].closed
	if n := tr.started.Load(); n != 3 {
		t.Errorf("%d programs after another recipe, want 3", n)
	}
	if _, err := run(t, j, "mcp.p.it"); fault.CodeOf(err) != mcp.CodeServerLost {
		t.Errorf("a tool of an ended server: %v", err)
	}
	tr.Close(t.Context())
	<-tr.runs[2].closed
	if _, err := tr.Sync(t.Context(), nil); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("after the end: %v", err)
	}
}

// A server that asks its client is told no, and promised nothing.
func TestNothingIsPromised(t *testing.T) {
	var mu sync.Mutex
	var heard bytes.Buffer
	answered := make(chan struct{}, 3)
	tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{"p": {
		tools: one,
		heard: func(method string, params []byte) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(&heard, "%s %s\n", method, params)
			if method == "" {
				answered <- struct{}{}
			}
		},
		call: func(p *puppet, id, _ string) {
			p.say(`{"jsonrpc":"2.0","id":91,"method":"elicitation/create","params":{"message":"your key?","requestedSchema":{"type":"object","properties":{}}}}`)
			p.say(`{"jsonrpc":"2.0","id":92,"method":"roots/list"}`)
			p.say(`{"jsonrpc":"2.0","id":93,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
			go func() {
				for range 3 {
					<-answered
				}
				p.text(id, "well")
			}()
		},
	}})
	if res, err := run(t, tr.sync(t, "p"), "mcp.p.it"); err != nil || res.Text != "well" {
		t.Fatal(res.Text, err)
	}
	mu.Lock()
	defer mu.Unlock()
	got := heard.String()
	if !strings.Contains(got, `"action":"decline"`) || strings.Contains(got, "file://") || strings.Contains(got, `"sampling"`) || strings.Contains(got, `"elicitation"`) {
		t.Error(got)
	}
}

// More than the belt holds is found by capability.find, all of it.
func TestManyToolsAreDeferred(t *testing.T) {
	var list []string
	for i := range 30 {
		list = append(list, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	tr := newTroupe(t, live(t), clock.Real{}, map[string]puppet{"p": {tools: "[" + strings.Join(list, ",") + "]"}, "q": {tools: one}})
	for _, x := range tr.sync(t, "p", "q").Tools {
		if x.Exposure != tool.Deferred {
			t.Errorf("%s is %s", x.ID, x.Exposure)
		}
	}
}
