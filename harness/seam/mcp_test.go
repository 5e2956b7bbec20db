package seam_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Ids and tokens are the session's own, also the server's: recorded ones do not matter.
func TestMCPAliases(t *testing.T) {
	o := mcpOptions(t)
	recordChat(t, o)
	for _, id := range []int{1, 40, 41} {
		s := replay(t, o)
		c := connect(t, s.MCP("chatty"), nil)
		got := strings.Join(chat(c, id, id+1, "blue"), "; ")
		want := fmt.Sprintf("progress %d; elicitation/create; answer %d map[said:blue] <nil>; notifications/tools/list_changed", id+1, id)
		if got != want {
			t.Errorf("replay gives %s\nwant %s", got, want)
		}
		closeSeam(t, s)
		if u := s.Unused(); len(u) > 0 {
			t.Errorf("unused %v", u)
		}
	}
	var urls []string
	for _, e := range episodes(t, o.Cassette) {
		urls = append(urls, e.Kind+" "+e.Request.Method+" "+e.Request.URL)
		key, raw, err := seam.KeyOf(o.Rules, e.Lane, e.Kind, e.Request)
		if err != nil || key != e.Key || raw != e.Raw {
			t.Errorf("%s: rekeyed to %s %s, %v", e.Request.URL, key, raw, err)
		}
		if bytes.Contains(e.Response.Body, []byte(`"q1"`)) || bytes.Contains(e.Response.Body, []byte(`:7`)) {
			t.Errorf("an id of the session is in\n%s", e.Response.Body)
		}
	}
	want := []string{"mcp POST mcp://chatty/tools/call", "mcp ANSWER mcp://chatty/elicitation/create", "mcp LISTEN mcp://chatty/"}
	if !slices.Equal(urls, want) {
		t.Errorf("episodes %q, want %q", urls, want)
	}
}

// A call that is not recorded is answered with an error that says where it differs.
func TestMCPMiss(t *testing.T) {
	o := mcpOptions(t)
	recordChat(t, o)
	s := replay(t, o)
	c := connect(t, s.MCP("chatty"), nil)
	c.write(t.Context(), call, 5, "b", 6)
	_, m := c.read()
	if m.Error == nil || m.ID != 5.0 || m.Error.Code != -32050 || !strings.HasPrefix(m.Error.Message, "SEAM_MISS: ") ||
		!strings.Contains(m.Error.Message, `/name: recorded "a", sent "b"`) || m.Error.Data["code"] != "SEAM_MISS" {
		t.Errorf("the miss is %+v", m.Error)
	}
	wantCode(t, s.Err(), seam.CodeMiss)
	if miss := s.Misses(); len(miss) != 1 || miss[0].URL != "mcp://chatty/tools/call" {
		t.Errorf("misses %+v", miss)
	}
	// What only is asked too often is a miss as well.
	chat(c, 6, 6, "blue")
	c.write(t.Context(), call, 7, "a", 6)
	if _, m := c.read(); m.Error == nil || !strings.Contains(m.Error.Message, "exhausted 1/1") {
		t.Errorf("the miss is %+v", m)
	}
	// Nobody answers a notification, but the seam remembers that it is unknown.
	c.write(t.Context(), `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	if n := len(s.Misses()); n != 3 {
		t.Errorf("%d misses, want 3", n)
	}
	c.write(t.Context(), `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":9,"result":{}}`)
}

// A client that answers the server in another way than recorded gets no recorded
// result.
func TestMCPAnswerDiffers(t *testing.T) {
	o := mcpOptions(t)
	recordChat(t, o)
	s := replay(t, o)
	c := connect(t, s.MCP("chatty"), nil)
	got := chat(c, 1, 1, "red")
	if last := got[len(got)-1]; !strings.Contains(last, "SEAM_MISS") || !strings.Contains(last, `/result/say: recorded "blue", sent "red"`) {
		t.Errorf("the call ends with %s", last)
	}
	wantCode(t, s.Close(), seam.CodeMiss)
}

// Calls that are open at once get their own answers, in whatever order they come.
func TestMCPCallsSideBySide(t *testing.T) {
	o := mcpOptions(t)
	s := open(t, o)
	var held []rpc
	srv := newServer(func(s *server, m rpc) {
		if held = append(held, m); len(held) < 3 {
			return
		}
		for _, m := range []rpc{held[1], held[2], held[0]} {
			s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%v","progress":1}}`, m.Params["_meta"].(map[string]any)["progressToken"])
			s.say(`{"jsonrpc":"2.0","id":%v,"result":{"name":%q}}`, m.ID, m.Params["name"])
		}
	})
	c := connect(t, s.MCP("many"), srv.dial)
	names := []string{"a", "b", "c"}
	for i, n := range names {
		c.write(t.Context(), call, i+1, n, `"t`+n+`"`)
	}
	for range 6 {
		c.read()
	}
	closeSeam(t, s)
	s = replay(t, o)
	c = connect(t, s.MCP("many"), nil)
	for i := range names {
		n := names[2-i]
		c.write(t.Context(), call, `"x`+n+`"`, n, `"y`+n+`"`)
		c.want(
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"y`+n+`","progress":1}}`,
			`{"jsonrpc":"2.0","id":"x`+n+`","result":{"name":"`+n+`"}}`,
		)
	}
	closeSeam(t, s)
}

// What the client takes back while recording is taken back in replay, and what the
// server takes back keeps its place.
func TestMCPCancel(t *testing.T) {
	o := mcpOptions(t)
	s := open(t, o)
	srv := newServer(func(s *server, m rpc) {
		switch {
		case m.Method == "tools/call":
			s.say(`{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{}}`)
			s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
		case m.Method == "notifications/cancelled":
			s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"gave up"}}`)
		}
	})
	journey := func(c session, id int) []string {
		c.write(t.Context(), call, id, "slow", 0)
		var seen []string
		asked := any(nil)
		for range 2 {
			_, m := c.read()
			if m.Method == "notifications/cancelled" {
				seen = append(seen, fmt.Sprint("cancelled ", m.Params["requestId"] == asked))
				continue
			}
			asked = m.ID
			seen = append(seen, m.Method)
		}
		c.write(t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
		return seen
	}
	c := connect(t, s.MCP("slow"), srv.dial)
	recorded := journey(c, 1)
	c.read()
	closeSeam(t, s)
	if e := episodes(t, o.Cassette); e[0].Response.End != "cancelled" {
		t.Errorf("the call ends %q", e[0].Response.End)
	}
	s = replay(t, o)
	c = connect(t, s.MCP("slow"), nil)
	if again := journey(c, 2); !slices.Equal(again, recorded) || recorded[1] != "cancelled true" {
		t.Errorf("replay gives %q, and recording gave %q", again, recorded)
	}
	c.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"gave up"}}`)
	closeSeam(t, s)
}

// A recording that was killed goes on: what is in the journal is answered from it, the
// server is started for what is new, and knows the session.
func TestMCPResume(t *testing.T) {
	o := mcpOptions(t)
	start := func(c session) {
		c.write(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"version":"1"}}}`)
		c.want(`{"jsonrpc":"2.0","id":1,"result":{"v":1}}`)
		c.write(t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}`)
		c.write(t.Context(), call, 2, "a", 0)
		c.want(`{"jsonrpc":"2.0","id":2,"result":{"name":"a"}}`)
	}
	handle := func(s *server, m rpc) {
		switch m.Method {
		case "initialize":
			s.say(`{"jsonrpc":"2.0","id":%v,"result":{"v":1}}`, m.ID)
		case "notifications/initialized":
			s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}`)
		case "tools/call":
			s.say(`{"jsonrpc":"2.0","id":%v,"result":{"name":%q}}`, m.ID, m.Params["name"])
		}
	}
	s := open(t, o)
	start(connect(t, s.MCP("a"), newServer(handle).dial))
	post(t, s, t.Context(), messagesURL, ask("x"))
	journal, err := os.ReadFile(o.Cassette + ".part")
	if err != nil || bytes.Count(journal, []byte(`"x-key":`)) != 5 {
		t.Fatalf("the journal is not of 5 episodes: %v\n%s", err, journal)
	}
	closeSeam(t, s)
	// As after a kill: the journal is there and the cassette is not.
	if err := errors.Join(os.WriteFile(o.Cassette+".part", journal, 0o644), os.Remove(o.Cassette)); err != nil {
		t.Fatal(err)
	}
	o.Continue = true
	s = open(t, o)
	srv := newServer(handle)
	c := connect(t, s.MCP("a"), srv.dial)
	start(c)
	if got := srv.heard(); len(got) > 0 {
		t.Errorf("the server was asked what is in the journal: %q", got)
	}
	c.write(t.Context(), call, 3, "b", 0)
	// The server greets a second time, because for it the session begins here.
	c.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}`, `{"jsonrpc":"2.0","id":3,"result":{"name":"b"}}`)
	if got := srv.heard(); len(got) != 3 || !strings.Contains(got[0], "initialize") || !strings.Contains(got[1], "initialized") {
		t.Errorf("the server heard %q", got)
	}
	closeSeam(t, s)
	if n := len(episodes(t, o.Cassette)); n != 6 {
		t.Errorf("%d episodes, want 6", n)
	}
}

// Many lanes on one connection, 64 at a time, each with its own answers.
func TestMCPLanes(t *testing.T) {
	const lanes, calls = 64, 8
	o := mcpOptions(t)
	srv := newServer(func(s *server, m rpc) {
		s.say(`{"jsonrpc":"2.0","id":%q,"result":{"name":%q}}`, m.ID, m.Params["name"])
	})
	run := func(s *seam.Seam, dial seam.Dial, prefix string) {
		c := connect(t, s.MCP("lanes"), dial)
		var wg sync.WaitGroup
		for lane := range lanes {
			wg.Go(func() {
				ctx := seam.WithLane(t.Context(), fmt.Sprint("lane-", lane))
				for i := range calls {
					id := fmt.Sprintf("%s-%d-%d", prefix, lane, i)
					if err := c.conn.Write(ctx, fmt.Appendf(nil, call, `"`+id+`"`, fmt.Sprint("n", i), lane)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		got := map[string]string{}
		for range lanes * calls {
			_, m := c.read()
			got[fmt.Sprint(m.ID)] = fmt.Sprint(m.Result["name"], m.Error)
		}
		wg.Wait()
		for lane := range lanes {
			for i := range calls {
				if id := fmt.Sprintf("%s-%d-%d", prefix, lane, i); got[id] != fmt.Sprintf("n%d<nil>", i) {
					t.Errorf("%s: %q", id, got[id])
				}
			}
		}
		_ = c.conn.Close()
		closeSeam(t, s)
	}
	run(open(t, o), srv.dial, "live")
	s := replay(t, o)
	run(s, nil, "replay")
	if u := s.Unused(); len(u) > 0 || len(s.Misses()) > 0 {
		t.Errorf("unused %v, misses %v", u, s.Misses())
	}
}

// A fill answers from the cassette and starts the server for what is not in it.
func TestMCPFill(t *testing.T) {
	o := mcpOptions(t)
	echoes := func(s *server, m rpc) {
		s.say(`{"jsonrpc":"2.0","id":%v,"result":{"name":%q}}`, m.ID, m.Params["name"])
	}
	s := open(t, o)
	c := connect(t, s.MCP("a"), newServer(echoes).dial)
	c.write(t.Context(), call, 1, "old", 0)
	c.read()
	closeSeam(t, s)
	before, err := os.ReadFile(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	o.Mode = seam.Fill
	s = open(t, o)
	srv := newServer(echoes)
	c = connect(t, s.MCP("a"), srv.dial)
	for i, name := range []string{"old", "new"} {
		c.write(t.Context(), call, i+1, name, 0)
		c.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"name":%q}}`, i+1, name))
	}
	if got := srv.heard(); len(got) != 1 {
		t.Errorf("the server heard %q", got)
	}
	closeSeam(t, s)
	after, err := os.ReadFile(o.Cassette)
	if line := bytes.Split(before, []byte("\n"))[7]; err != nil || !bytes.Contains(after, line) || len(episodes(t, o.Cassette)) != 2 {
		t.Errorf("%v\n%s", err, after)
	}
}

// What is no message ends nothing but itself; what is too long is refused by name.
func TestMCPRefuses(t *testing.T) {
	o := mcpOptions(t)
	s := open(t, o)
	srv := newServer(func(*server, rpc) {})
	c := connect(t, s.MCP("a"), srv.dial)
	for _, text := range []string{
		``, `x`, `[]`, `{}`, `{"jsonrpc":"1.0","id":1,"method":"a"}`, `{"jsonrpc":"2.0","id":{},"method":"a"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, `{"jsonrpc":"2.0","id":1,"method":"a","params":3}`, `{"jsonrpc":"2.0","await":"{{ask:1}}","method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"method":""}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `[{"jsonrpc":"2.0","id":1,"method":"a"}]`,
	} {
		wantCode(t, c.conn.Write(t.Context(), []byte(text)), seam.CodeMessage)
	}
	wantCode(t, c.conn.Write(t.Context(), make([]byte, seam.MaxMessage+1)), fault.TooLarge)
	if got := srv.heard(); len(got) > 0 {
		t.Errorf("the server heard %q", got)
	}
	for _, name := range []string{"", "A", "a/b", "a b", strings.Repeat("a", 200)} {
		if _, err := s.MCP(name).Connect(t.Context(), srv.dial); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("server %q: %v", name, err)
		}
	}
	c.write(t.Context(), call, 1, "a", 1) // dials
	srv.say("nonsense")
	_, err := c.conn.Read(t.Context())
	wantCode(t, err, seam.CodeMessage)
	closeSeam(t, s)
	if err := c.conn.Write(t.Context(), fmt.Appendf(nil, call, 1, "a", 1)); err == nil {
		t.Error("a closed seam takes messages")
	}
}

// A secret that a server gives is in no file: it is masked, or the recording ends.
func TestMCPSecret(t *testing.T) {
	o := mcpOptions(t)
	s := open(t, o)
	c := connect(t, s.MCP("a"), newServer(func(s *server, m rpc) {
		s.say(`{"jsonrpc":"2.0","id":%v,"result":{"key":"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}}`, m.ID)
	}).dial)
	c.write(t.Context(), call, 1, "a", 1)
	if text, _ := c.read(); !strings.Contains(text, "sk-ant-api03") {
		t.Errorf("the caller gets %s", text)
	}
	_ = s.Close()
	for _, name := range []string{o.Cassette, o.Cassette + ".part"} {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte("sk-ant-api03")) {
			t.Errorf("%s holds a key:\n%s", name, b)
		}
	}
}

// At a pace, messages come as far apart as they were recorded.
func TestMCPPace(t *testing.T) {
	o := mcpOptions(t)
	o.Clock = clock.NewFixed(clock.Epoch)
	s := open(t, o)
	c := connect(t, s.MCP("a"), newServer(func(s *server, m rpc) {
		if m.Method == "tools/call" {
			s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
		} else {
			s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
	}).dial)
	journey := func(c session, later func()) {
		c.write(t.Context(), call, 1, "a", 1)
		c.read()
		later()
		c.write(t.Context(), `{"jsonrpc":"2.0","method":"notifications/go-on"}`)
		c.read()
	}
	journey(c, func() { o.Clock.(*clock.Fixed).Advance(3 * time.Second) })
	closeSeam(t, s)
	for pace, want := range map[float64]time.Duration{0: 0, 1: 3 * time.Second, 3: time.Second} {
		now := clock.NewFixed(clock.Epoch)
		o.Clock, o.Pace = now, pace
		s = replay(t, o)
		journey(connect(t, s.MCP("a"), nil), func() {})
		closeSeam(t, s)
		if took := now.Slept(); took != want {
			t.Errorf("at pace %v it took %v, want %v", pace, took, want)
		}
	}
}
