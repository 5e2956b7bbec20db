package scenario

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// A client speaks MCP to the program over two pipes, one JSON-RPC message a line. It
// is written by hand, so that the server is not tested by its own library.
type client struct {
	in     *io.PipeWriter
	out    *bufio.Reader
	stderr *script.Buffer
	done   chan int
	id     int
	told   []message      // notifications that no told has asked for yet
	meta   map[string]any // goes with each request, from the revision on that has no initialize
}

// The revisions of MCP that the client speaks where nothing else is said, and from which
// on it is not begun with initialize.
const (
	usualRevision = "2025-06-18"
	noInitialize  = "2026-07-28"
)

// maxLine bounds one message, in bytes.
const maxLine = 16 << 20

// A message is one JSON-RPC message of either side.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	} `json:"error,omitempty"`
}

func wordMCP(s *state, neg bool, args []string) {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	if verb != "start" && s.Bag.client == nil {
		s.Fatalf("mcp %s: no server runs; mcp start", verb)
	}
	switch verb {
	case "start":
		startMCP(s, args)
	case "list":
		listMCP(s)
	case "call":
		callMCP(s, neg, args)
	case "ask":
		askMCP(s, neg, args)
	case "told":
		toldMCP(s, neg, args)
	case "stop":
		stopMCP(s)
	default:
		s.Fatalf("usage: mcp start|list|call|ask|told|stop")
	}
}

func startMCP(s *state, args []string) {
	if s.Bag.client != nil {
		s.Fatalf("mcp start: a server runs already")
	}
	revision := usualRevision
	if len(args) > 1 && args[0] == "-revision" {
		revision, args = args[1], args[2:]
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{in: inW, out: bufio.NewReaderSize(outR, 64<<10), stderr: &script.Buffer{}, done: make(chan int, 1)}
	doors := s.Doors(append([]string{"mcp"}, args...), &script.Buffer{}, c.stderr)
	doors.Stdin, doors.Stdout = inR, outW
	go func() {
		code := s.Main(doors)
		_ = outW.Close()
		_ = inR.Close() // who still asks is told, and does not wait for a reader
		c.done <- code
	}()
	s.Bag.client = c
	capabilities := map[string]any{"elicitation": map[string]any{}}
	if len(s.Bag.answers) == 0 || s.Bag.answers[0] == "nobody" {
		capabilities = map[string]any{}
	}
	info := map[string]any{"name": "scenario", "version": "1"}
	if revision >= noInitialize {
		const of = "io.modelcontextprotocol/"
		c.meta = map[string]any{of + "protocolVersion": revision, of + "clientInfo": info, of + "clientCapabilities": capabilities}
		return
	}
	c.begin(s, revision, map[string]any{"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info})
}

// begin says hello. The server must speak the revision that it was asked for.
func (c *client) begin(s *state, revision string, hello map[string]any) {
	var welcome struct {
		Revision string `json:"protocolVersion"`
	}
	s.Check(json.Unmarshal(c.request(s, "initialize", hello), &welcome))
	if welcome.Revision != revision {
		s.Fatalf("mcp start: the server speaks %q, and was asked for %q", welcome.Revision, revision)
	}
	c.send(s, message{JSONRPC: "2.0", Method: "notifications/initialized"})
}

func listMCP(s *state) {
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	s.Check(json.Unmarshal(s.Bag.client.request(s, "tools/list", map[string]any{}), &list))
	var b strings.Builder
	for _, t := range list.Tools {
		fmt.Fprintln(&b, t.Name)
	}
	s.Output([]byte(b.String()), nil)
}

func callMCP(s *state, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		s.Fatalf("usage: mcp call TOOL [JSON]")
	}
	input := json.RawMessage("{}")
	if len(args) == 2 {
		input = json.RawMessage(args[1])
	}
	var res struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	raw, fail := s.Bag.client.call(s, map[string]any{"name": args[0], "arguments": input})
	if fail != "" {
		res.IsError = true
		s.Output([]byte(fail+"\n"), nil)
	} else {
		s.Check(json.Unmarshal(raw, &res))
		var b strings.Builder
		for _, c := range res.Content {
			fmt.Fprintln(&b, c.Text)
		}
		s.Output([]byte(b.String()), nil)
	}
	if res.IsError != neg {
		s.Fatalf("mcp call %s: error result: %v", args[0], res.IsError)
	}
}

func stopMCP(s *state) {
	c := s.Bag.client
	s.Bag.client = nil
	_ = c.in.Close()
	if _, err := io.Copy(io.Discard, c.out); err != nil {
		s.Fatalf("mcp stop: %v", err)
	}
	code := <-c.done
	s.Output(nil, c.stderr.Bytes())
	if code != 0 {
		s.Fatalf("mcp: exit status %d", code)
	}
}

// request is try for what must succeed.
func (c *client) request(s *state, method string, params map[string]any) json.RawMessage {
	raw, fail := c.try(s, method, params)
	if fail != "" {
		s.Fatalf("mcp %s: %s", method, fail)
	}
	return raw
}

// try sends a request and answers what the server asks until its reply comes; fail
// is the message of a JSON-RPC error.
func (c *client) try(s *state, method string, params map[string]any) (result json.RawMessage, fail string) {
	c.id++
	id := json.RawMessage(fmt.Sprint(c.id))
	if c.meta != nil {
		params["_meta"] = c.meta
	}
	p, err := json.Marshal(params)
	s.Check(err)
	c.send(s, message{JSONRPC: "2.0", ID: id, Method: method, Params: p})
	for {
		m := c.receive(s)
		switch {
		case m.Method == "elicitation/create":
			c.send(s, message{JSONRPC: "2.0", ID: m.ID, Result: elicited(s)})
		case m.Method != "": // a notification, or a ping
			if len(m.ID) > 0 {
				c.send(s, message{JSONRPC: "2.0", ID: m.ID, Result: json.RawMessage("{}")})
				break
			}
			c.told = append(c.told, m)
		case string(m.ID) != string(id):
			s.Fatalf("mcp %s: answer to %s, want %s", method, m.ID, id)
		case m.Error != nil:
			return m.Error.Data, m.Error.Message
		default:
			return m.Result, ""
		}
	}
}

// elicited is the person's next answer in the protocol's terms.
func elicited(s *state) json.RawMessage {
	next := "decline"
	if len(s.Bag.answers) > 0 {
		next, s.Bag.answers = s.Bag.answers[0], s.Bag.answers[1:]
	}
	switch next {
	case "apply":
		return json.RawMessage(`{"action":"accept","content":{"answer":"once"}}`)
	case "session":
		return json.RawMessage(`{"action":"accept","content":{"answer":"session"}}`)
	case "discard":
		return json.RawMessage(`{"action":"accept","content":{"answer":"no"}}`)
	case "cancel":
		return json.RawMessage(`{"action":"cancel"}`)
	default:
		return json.RawMessage(`{"action":"decline"}`)
	}
}

func (c *client) send(s *state, m message) {
	b, err := json.Marshal(m)
	s.Check(err)
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		s.Fatalf("mcp: the server is gone: %v\n%s", err, c.stderr.Bytes())
	}
}

func (c *client) receive(s *state) message {
	var m message
	line, err := c.out.ReadBytes('\n')
	if err != nil || len(line) > maxLine {
		s.Fatalf("mcp: read from the server: %v\n%s", err, c.stderr.Bytes())
	}
	s.Check(json.Unmarshal(line, &m))
	return m
}
