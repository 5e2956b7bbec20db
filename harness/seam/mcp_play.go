package seam

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A transcript is the body of an MCP episode's response: a message a line, in the order
// in which they came. Ids, which both sides are free to choose, are written as aliases,
// and what the session gives is put in their place when it is played.
const (
	aliasCall   = `"{{call}}"`     // the client's call
	aliasToken  = `"{{progress}}"` // the token that the call gave for progress
	askPrefix   = "{{ask:"         // the first, second, … request of the server in this transcript
	subPrefix   = "{{subscription:"
	aliasSuffix = "}}"

	subscriptionPointer = "/_meta/io.modelcontextprotocol~1subscriptionId"
)

func alias(prefix string, n int) string { return prefix + strconv.Itoa(n) + aliasSuffix }

// A transcriptLine is one line and when it came, in ms after the one before.
type transcriptLine struct {
	text  []byte
	after int64
}

// transcript takes a body apart at the line feeds. Messages hold none.
func (d *MCPDoor) transcript(res *cassette.Response) []transcriptLine {
	body, edits := d.s.o.Redactor.Expand(res.Body)
	chunks := remapChunks(res.Chunks, edits, len(body))
	var out []transcriptLine
	last := int64(0)
	for line := range bytes.Lines(body) {
		l := transcriptLine{text: bytes.TrimSuffix(line, []byte("\n"))}
		if len(out) < len(chunks) {
			l.after, last = chunks[len(out)].AtMS-last, chunks[len(out)].AtMS
		}
		out = append(out, l)
	}
	return out
}

// An mcpScript is a transcript that is being played. The connection's lock guards it.
type mcpScript struct {
	id, token jsontext.Value // of the client's call; nil where there is none
	lines     []transcriptLine
	done      map[string]bool // aliases of answers that have come
	waits     string          // the alias that it waits for
	silence   error           // what the call ends with, where the recording has no answer
}

// play answers a call from a transcript. What belongs to the handshake is remembered.
func (c *mcpConn) play(m *message, b []byte, res *cassette.Response) error {
	if m.method() == "initialize" || m.method() == "server/discover" {
		c.shake(b)
	}
	s := &mcpScript{id: m.ID, token: m.get("/_meta/progressToken"), lines: c.door.transcript(res), done: map[string]bool{}}
	if c.door.givesUp && !c.door.Live() && !s.answers() {
		s.silence = errNoAnswer(c.door.server, m.method(), res.End)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scripts[string(m.ID)] = s
	return s.advance(c)
}

// answers reports whether the transcript holds the answer to the call.
func (s *mcpScript) answers() bool {
	for _, l := range s.lines {
		m := new(message)
		if json.Unmarshal(l.text, m) == nil && m.Method == nil && string(m.ID) == aliasCall {
			return true
		}
	}
	return false
}

// errNoAnswer says why a recorded call has no answer.
func errNoAnswer(server, method, end string) error {
	if end == "cut" {
		return fault.New(CodeLost, "seam.mcp", "MCP server %q ended before it answered %q, in the recording", server, method)
	}
	return fault.New(CodeNoAnswer, "seam.mcp", "MCP server %q did not answer %q, in the recording", server, method)
}

// shake keeps a message of the handshake for a server that is dialled later.
func (c *mcpConn) shake(b []byte) {
	if !c.door.Live() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handshake = append(c.handshake, bytes.Clone(b))
}

// advance plays lines up to one that waits for the client. The connection's lock is
// held.
func (s *mcpScript) advance(c *mcpConn) error {
	for len(s.lines) > 0 {
		line := s.lines[0]
		m := new(message)
		if err := json.Unmarshal(line.text, m); err != nil {
			err := fault.Wrap(err, cassette.CodeDamaged, "seam.mcp", "a transcript of MCP server %q holds a line that is no message", c.door.server)
			c.door.s.fail(err)
			return err
		}
		if m.Await != "" {
			if !s.done[m.Await] {
				s.waits = m.Await
				return nil
			}
			s.lines = s.lines[1:]
			continue
		}
		s.lines = s.lines[1:]
		if err := s.put(c, m, line.after); err != nil {
			return err
		}
	}
	if s.silence != nil && c.scripts[string(s.id)] == s {
		c.queue.pushText(errorReply(s.id, s.silence))
	}
	delete(c.scripts, string(s.id))
	return nil
}

// put gives one line to the client, with the session's ids.
func (s *mcpScript) put(c *mcpConn, m *message, after int64) error {
	switch {
	case m.Method == nil && string(m.ID) == aliasCall:
		if c.scripts[string(s.id)] != s {
			return nil // the client has taken its call back
		}
		m.ID = s.id
	case m.isCall():
		c.asks++
		a := &mcpAsk{alias: m.idText(), method: m.method(), script: s}
		m.ID = textID("seam-" + strconv.Itoa(c.asks))
		c.asked[string(m.ID)] = a
	case m.method() == progressMethod && string(m.get("/progressToken")) == aliasToken:
		if s.token == nil {
			return nil // nobody asked for progress
		}
		if err := m.set("/progressToken", s.token); err != nil {
			return err
		}
	case m.method() == cancelledMethod:
		if err := s.takeBack(c, m); err != nil {
			return err
		}
	}
	if n, ok := strings.CutPrefix(unquoted(m.get(subscriptionPointer)), subPrefix); ok {
		i, _ := strconv.Atoi(strings.TrimSuffix(n, aliasSuffix))
		if i > 0 && i <= len(c.listens) {
			if err := m.set(subscriptionPointer, jsontext.Value(c.listens[i-1])); err != nil {
				return err
			}
		}
	}
	return c.queue.push(m, c.door.s.pause(after))
}

// takeBack names the request that the server takes back as it was named to the client.
func (s *mcpScript) takeBack(c *mcpConn, m *message) error {
	which := unquoted(m.get("/requestId"))
	for id, a := range c.asked {
		if a.script == s && a.alias == which {
			return m.set("/requestId", jsontext.Value(id))
		}
	}
	return nil
}

func (m *message) idText() string { return unquoted(m.ID) }

func unquoted(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

// answered goes on after the client's answer to a request of the server.
func (s *mcpScript) answered(c *mcpConn, alias string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.done[alias] = true
	if s.waits != alias {
		return nil
	}
	s.waits = ""
	return s.advance(c)
}

// fail ends the call of a script whose request was answered in another way than
// recorded.
func (s *mcpScript) fail(c *mcpConn, err error) {
	if s == nil || s.id == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scripts[string(s.id)] != s {
		return
	}
	delete(c.scripts, string(s.id))
	s.lines = nil
	c.queue.pushText(errorReply(s.id, err))
}

// listen plays what the server sent on its own after the n-th message of a lane.
func (c *mcpConn) listen(lane string, n int) error {
	d := c.door
	for {
		q := d.s.question(WithLane(c.ctx, lane), kindMCP, mcpListen, d.url(""), listenBody(n))
		res, _, _, err := d.s.recall(q)
		if err == error(errNotRecorded) {
			return nil
		}
		if err != nil {
			d.s.fail(err)
			return err
		}
		s := &mcpScript{lines: d.transcript(&res), done: map[string]bool{}}
		c.mu.Lock()
		err = s.advance(c)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func listenBody(n int) []byte { return []byte(`{"after":` + strconv.Itoa(n) + `}`) }

// transcriptHeader is the header of every MCP answer.
func transcriptHeader() http.Header { return http.Header{"Content-Type": {"application/x-ndjson"}} }
