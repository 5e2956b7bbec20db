package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// call runs a tool of the server. What goes wrong is in the same words live and in
// replay: a model reads them, and its next request is compared with the recorded one.
func (l *peer) call(ctx context.Context, name string, input []byte) (tool.Result, error) {
	l.mu.Lock()
	lost, session, timeout := l.lost, l.session, l.timeout
	l.mu.Unlock()
	if lost != nil {
		return tool.Result{}, l.errLost()
	}
	res, err := within(ctx, l.clock, timeout, l.errLate(name), func(ctx context.Context) (*sdk.CallToolResult, error) {
		return session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(input)})
	})
	switch {
	case err != nil:
		return tool.Result{}, l.failed(ctx, err, name)
	case len(res.InputRequests) > 0:
		return tool.Result{}, fault.New(CodeServerAsks, "mcp.servers", "server %q wants an answer before it runs %q, and nobody is asked for it", l.entry.Name, name).
			WithHint("Do without this tool, or give it all that it needs at once.")
	}
	out := received(res)
	if res.IsError {
		return tool.Result{}, fault.New(CodeServerTool, "mcp.servers", "tool %q of server %q failed: %s", name, l.entry.Name, clip(out.Text, maxError))
	}
	return out, nil
}

func (l *peer) errLate(name string) error {
	return fault.New(CodeServerTimeout, "mcp.servers", "server %q did not answer %q in time; what it did is not known", l.entry.Name, name).
		WithHint("Ask for less, or do without this tool.")
}

func (l *peer) errLost() error {
	return fault.New(CodeServerLost, "mcp.servers", "server %q has ended; what it did before is not known", l.entry.Name).
		WithHint("Do without its tools: it is started again with the next turn.")
}

// failed is the coded error of a call that the SDK gave an error for. A call that got no
// answer is lost, whatever happened to it: a recording knows no more.
func (l *peer) failed(ctx context.Context, err error, name string) error {
	var f *fault.Error
	var away unsent
	wire := new(jsonrpc.Error)
	switch {
	case ctx.Err() != nil && !errors.As(err, &f):
		return ctx.Err()
	case errors.As(err, &f) && (f.Code == CodeServerTimeout || strings.HasPrefix(string(f.Code), "SEAM_")):
		return err
	case errors.As(err, &away):
	case errors.As(err, &wire):
		return l.refused(wire, name)
	case !l.ended.Load():
		return fault.New(CodeServerRefused, "mcp.servers", "the answer of server %q to %q cannot be read", l.entry.Name, name)
	}
	l.mu.Lock()
	l.lost = err
	l.mu.Unlock()
	return l.errLost()
}

// refused is the server's own refusal, or what the seam says in its place.
func (l *peer) refused(e *jsonrpc.Error, name string) error {
	var data struct {
		Code fault.Code `json:"code"`
		Hint string     `json:"hint"`
	}
	_ = json.Unmarshal(e.Data, &data) // a server may send anything there
	if e.Code == seam.ReplyCode {
		switch data.Code {
		case seam.CodeNoAnswer:
			return l.errLate(name)
		case seam.CodeLost:
			l.mu.Lock()
			l.lost = e
			l.mu.Unlock()
			return l.errLost()
		case seam.CodeMiss:
			return fault.New(seam.CodeMiss, "mcp.servers", "%s", e.Message).WithHint("%s", data.Hint)
		}
	}
	return fault.New(CodeServerRefused, "mcp.servers", "server %q refused %q: %s (%d)", l.entry.Name, name, clip(e.Message, maxError), e.Code)
}

// received is a result as a model and the result store get it. What is no text or image
// is named and left out; so is a value over the store's bound, so that it takes nothing
// else with it.
func received(res *sdk.CallToolResult) tool.Result {
	var out tool.Result
	var texts []string
	say := func(s string) {
		if len(s) > result.MaxBytes {
			s = fmt.Sprintf("[%s: a value of %d bytes was left out, since results have at most %d. Ask for less at once.]", fault.TooLarge, len(s), result.MaxBytes)
		}
		texts = append(texts, s)
	}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			say(c.Text)
		case *sdk.ImageContent:
			if !strings.HasPrefix(c.MIMEType, "image/") {
				say(fmt.Sprintf("[an image of type %q was left out]", clip(c.MIMEType, 80)))
				continue
			}
			out.Blocks = append(out.Blocks, model.Blob{Data: c.Data, MediaType: c.MIMEType})
		case *sdk.AudioContent:
			say(fmt.Sprintf("[sound of type %q, %d bytes, was left out]", clip(c.MIMEType, 80), len(c.Data)))
		case *sdk.ResourceLink:
			say(fmt.Sprintf("[a link to %q]", clip(c.URI, maxError)))
		case *sdk.EmbeddedResource:
			say(embedded(c.Resource))
		}
	}
	if len(texts) == 0 && res.StructuredContent != nil {
		if b, err := json.Marshal(res.StructuredContent); err == nil {
			say(string(b))
		}
	}
	if len(texts) == 0 {
		texts = []string{"[it gave no text]"}
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

func embedded(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[an empty resource]"
	case len(r.Blob) > 0:
		return fmt.Sprintf("[the resource %q of type %q, %d bytes, was left out]", clip(r.URI, maxError), clip(r.MIMEType, 80), len(r.Blob))
	}
	return r.Text
}
