package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeAttach is of a server that cannot be spoken with.
const CodeAttach fault.Code = "MCP_ATTACH"

// attachRevision is what an Attached speaks. In it a server asks while a call runs.
const attachRevision = "2025-11-25"

// AttachOptions are the doors of an Attached.
type AttachOptions struct {
	Name, Version string
	// Ask puts a form with one choice to a person, and returns what they chose; "" is that
	// nobody answered. Nil: the client says that it cannot ask.
	Ask func(ctx context.Context, message string, choices []string) string
}

// An Attached is a plain client on a pair of streams, for looking at a server: it keeps
// what came as it came. It is written beside the SDK, so that a size or a schema is the
// server's and not the library's. It makes one call at a time.
type Attached struct {
	o   AttachOptions
	in  *bufio.Reader
	out io.Writer
	id  int
	// Server is what the server says of itself.
	Server ServerInfo
}

// ServerInfo is what a server says of itself.
type ServerInfo struct {
	Name, Version, Revision, Instructions string
}

// A Listed is a tool as a client gets it.
type Listed struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Bytes        int             `json:"-"` // of the whole
}

// A Part is one block of a result.
type Part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
}

// A Reply is how a call ended.
type Reply struct {
	IsError    bool            `json:"isError"`
	Content    []Part          `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
}

// A wireMessage is one of either side.
type wireMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Attach begins a session. The streams are the caller's to close; that is also how a call
// that hangs is ended.
func Attach(ctx context.Context, in io.Reader, out io.Writer, o AttachOptions) (*Attached, error) {
	c := &Attached{o: o, in: bufio.NewReaderSize(in, 64<<10), out: out}
	type implementation struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	type capabilities struct {
		Elicitation *struct{} `json:"elicitation,omitempty"`
	}
	hello := struct {
		Revision     string         `json:"protocolVersion"`
		Capabilities capabilities   `json:"capabilities"`
		Client       implementation `json:"clientInfo"`
	}{Revision: attachRevision, Client: implementation{o.Name, o.Version}}
	if o.Ask != nil {
		hello.Capabilities.Elicitation = &struct{}{}
	}
	var answer struct {
		Revision     string         `json:"protocolVersion"`
		Server       implementation `json:"serverInfo"`
		Instructions string         `json:"instructions"`
	}
	if err := c.request(ctx, "initialize", hello, &answer); err != nil {
		return nil, err
	}
	c.Server = ServerInfo{answer.Server.Name, answer.Server.Version, answer.Revision, answer.Instructions}
	return c, c.send(wireMessage{Method: "notifications/initialized"})
}

// maxPages bounds how often a list goes on.
const maxPages = 100

// Tools are all the tools that the server lists.
func (c *Attached) Tools(ctx context.Context) ([]Listed, error) {
	var all []Listed
	cursor := ""
	for range maxPages {
		var page struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if err := c.request(ctx, "tools/list", struct {
			Cursor string `json:"cursor,omitempty"`
		}{cursor}, &page); err != nil {
			return nil, err
		}
		for _, raw := range page.Tools {
			t := Listed{Bytes: len(raw)}
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, fault.Wrap(err, CodeAttach, "mcp.attach", "a tool of the list")
			}
			all = append(all, t)
		}
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
	return nil, fault.New(CodeAttach, "mcp.attach", "the list of tools has more than %d pages", maxPages)
}

// Call calls a tool. An error is of the connection or the protocol; how the call itself
// went is in the reply.
func (c *Attached) Call(ctx context.Context, tool string, input []byte) (Reply, error) {
	var r Reply
	err := c.request(ctx, "tools/call", struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"arguments"`
	}{tool, input}, &r)
	return r, err
}

// request sends one and answers the server until its reply is there.
func (c *Attached) request(ctx context.Context, method string, params, result any) error {
	const op = "mcp.attach"
	p, err := json.Marshal(params)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, op, "%s", method)
	}
	c.id++
	id := strconv.Itoa(c.id)
	if err := c.send(wireMessage{ID: json.RawMessage(id), Method: method, Params: p}); err != nil {
		return err
	}
	for {
		m, err := c.receive(ctx)
		switch {
		case err != nil:
			return err
		case m.Method != "":
			if err := c.serve(ctx, m); err != nil {
				return err
			}
		case string(m.ID) != id: // of a call that is over
		case m.Error != nil:
			err := fault.New(CodeAttach, op, "%s: %s (%d)", method, clip(m.Error.Message, maxValue), m.Error.Code)
			if method == "tools/call" { // what is wrong in a known tool's input is a result
				return err.WithHint("see the tools that there are: soundstage tool ls")
			}
			return err
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fault.Wrap(err, CodeAttach, op, "the answer to %s", method)
			}
			return nil
		}
	}
}

func (c *Attached) send(m wireMessage) error {
	m.JSONRPC = "2.0"
	b, err := json.Marshal(m)
	if err == nil {
		_, err = c.out.Write(append(b, '\n'))
	}
	if err != nil {
		return fault.Wrap(err, CodeAttach, "mcp.attach", "the server takes no more")
	}
	return nil
}

func (c *Attached) receive(ctx context.Context) (m wireMessage, err error) {
	const op = "mcp.attach"
	l := lines{in: c.in}
	for {
		line, long, err := l.next()
		line = bytes.TrimSpace(line)
		switch {
		case ctx.Err() != nil:
			return m, ctx.Err()
		case long:
			return m, fault.New(fault.TooLarge, op, "a line of the server has more than %d bytes", maxLine)
		case len(line) > 0:
			if err := json.Unmarshal(line, &m); err != nil {
				return m, fault.New(CodeAttach, op, "the server said %q, which is no message", clip(string(line), maxValue)).
					WithHint("a server on stdio may print nothing else on standard output")
			}
			return m, nil
		case errors.Is(err, io.EOF):
			return m, fault.New(CodeAttach, op, "the server ended before it answered").WithHint("see what it printed on standard error")
		case err != nil:
			return m, fault.Wrap(err, CodeAttach, op, "read from the server")
		}
	}
}

// serve answers what the server asks.
func (c *Attached) serve(ctx context.Context, m wireMessage) error {
	switch {
	case len(m.ID) == 0: // a notification
		return nil
	case m.Method == "ping":
		return c.send(wireMessage{ID: m.ID, Result: json.RawMessage("{}")})
	case m.Method == "elicitation/create" && c.o.Ask != nil:
		return c.send(wireMessage{ID: m.ID, Result: c.fill(ctx, m.Params)})
	}
	return c.send(wireMessage{ID: m.ID, Error: &wireError{-32601, fmt.Sprintf("%s is not for this client", m.Method)}})
}

// fill asks what a form asks, where it has one choice and nothing else.
func (c *Attached) fill(ctx context.Context, raw json.RawMessage) json.RawMessage {
	var form struct {
		Message string `json:"message"`
		Schema  struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"requestedSchema"`
	}
	if json.Unmarshal(raw, &form) != nil || len(form.Schema.Properties) != 1 {
		return json.RawMessage(`{"action":"cancel"}`)
	}
	for field, p := range form.Schema.Properties {
		if chosen := c.o.Ask(ctx, form.Message, p.Enum); chosen != "" {
			b, err := json.Marshal(struct {
				Action  string            `json:"action"`
				Content map[string]string `json:"content"`
			}{"accept", map[string]string{field: chosen}})
			if err == nil {
				return b
			}
		}
	}
	return json.RawMessage(`{"action":"cancel"}`)
}
