package seam_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

// rpc is a message as these tests look at it.
type rpc struct {
	ID     any            `json:"id,omitempty"`
	Method string         `json:"method,omitempty"`
	Params map[string]any `json:"params,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	Error  *struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Data    map[string]string `json:"data"`
	} `json:"error,omitempty"`
}

// A server is the far end of a connection: it does what handle says with each message.
type server struct {
	handle func(s *server, m rpc)
	out    chan string
	once   sync.Once
	over   chan struct{}
	mu     sync.Mutex
	got    []string
}

func newServer(handle func(s *server, m rpc)) *server {
	return &server{handle: handle, out: make(chan string, 10_000), over: make(chan struct{})}
}

func (s *server) dial(context.Context) (seam.MCPConn, error) { return s, nil }
func (s *server) say(format string, args ...any)             { s.out <- fmt.Sprintf(format, args...) }

func (s *server) Read(ctx context.Context) ([]byte, error) {
	select {
	case m := <-s.out:
		return []byte(m), nil
	case <-s.over:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) Write(_ context.Context, b []byte) error {
	var m rpc
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	s.mu.Lock()
	s.got = append(s.got, string(b))
	s.mu.Unlock()
	s.handle(s, m)
	return nil
}

func (s *server) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *server) Close() error {
	s.once.Do(func() { close(s.over) })
	return nil
}

// A session is the client's end.
type session struct {
	t    *testing.T
	conn seam.MCPConn
}

func connect(t *testing.T, d *seam.MCPDoor, dial seam.Dial) session {
	t.Helper()
	conn, err := d.Connect(t.Context(), dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return session{t, conn}
}

func (c session) write(ctx context.Context, format string, args ...any) {
	c.t.Helper()
	if err := c.conn.Write(ctx, fmt.Appendf(nil, format, args...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c session) read() (string, rpc) {
	c.t.Helper()
	b, err := c.conn.Read(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	var m rpc
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Fatalf("%s: %v", b, err)
	}
	return string(b), m
}

func (c session) want(texts ...string) {
	c.t.Helper()
	for _, want := range texts {
		if got, _ := c.read(); got != want {
			c.t.Errorf("read\n%s\nwant\n%s", got, want)
		}
	}
}

const call = `{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":"%s","_meta":{"progressToken":%v}}}`

// chatty answers a call after progress and a question, and speaks on its own after it.
func chatty(s *server, m rpc) {
	token := func() any {
		meta, _ := m.Params["_meta"].(map[string]any)
		return meta["progressToken"]
	}
	switch {
	case m.Method == "tools/call":
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%v,"progress":1}}`, token())
		s.say(`{"jsonrpc":"2.0","id":"q%v","method":"elicitation/create","params":{"message":"?"}}`, m.ID)
		s.say(`{"jsonrpc":"2.0","id":"p%v","method":"ping"}`, m.ID)
	case m.Method == "" && strings.HasPrefix(fmt.Sprint(m.ID), "q"):
		id := strings.TrimPrefix(fmt.Sprint(m.ID), "q")
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"said":%q}}`, id, m.Result["say"])
		s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
}

// quiet is chatty without the last word: what a server says on its own is lost for a
// client that comes back to a recording after it was killed between the two.
func quiet(s *server, m rpc) {
	if m.Method != "" {
		chatty(s, m)
	} else if strings.HasPrefix(fmt.Sprint(m.ID), "q") {
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"said":%q}}`, strings.TrimPrefix(fmt.Sprint(m.ID), "q"), m.Result["say"])
	}
}

// chat is one chat with chatty: what the client reads.
func chat(c session, id, token int, answer string) []string {
	c.t.Helper()
	return chatUntil(c, id, token, answer, 4)
}

// chatUntil is a chat of so many messages. The fourth is what the server says on its
// own.
func chatUntil(c session, id, token int, answer string, messages int) []string {
	ctx := c.t.Context()
	c.write(ctx, call, id, "a", token)
	var seen []string
	for len(seen) < messages {
		_, m := c.read()
		switch m.Method {
		case "ping":
			c.write(ctx, `{"jsonrpc":"2.0","id":%q,"result":{}}`, m.ID)
			continue
		case "elicitation/create":
			c.write(ctx, `{"jsonrpc":"2.0","id":%q,"result":{"say":%q}}`, m.ID, answer)
			seen = append(seen, m.Method)
		case "notifications/progress":
			seen = append(seen, fmt.Sprint("progress ", m.Params["progressToken"]))
		case "":
			seen = append(seen, fmt.Sprint("answer ", m.ID, m.Result, m.Error))
			if m.Error != nil {
				return seen
			}
		default:
			seen = append(seen, m.Method)
		}
	}
	return seen
}

func mcpOptions(t *testing.T) seam.Options {
	o := options(t, seam.Record, echo)
	o.Rules = seam.MCPRules()
	return o
}

func recordChat(t *testing.T, o seam.Options) {
	t.Helper()
	s := open(t, o)
	c := connect(t, s.MCP("chatty"), newServer(chatty).dial)
	chat(c, 1, 7, "blue")
	_ = c.conn.Close()
	closeSeam(t, s)
}
