package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// maxArgs bounds the input of a call that is read from a file, in bytes.
const maxArgs = 8 << 20

// An mcpCalled is what a client gets for a call.
type mcpCalled struct {
	Tool   string          `json:"tool" jsonschema:"the name that was called"`
	Text   string          `json:"text" jsonschema:"the text blocks, one after the other"`
	Result json.RawMessage `json:"result,omitempty" jsonschema:"the structured content"`
	Other  []mcpPart       `json:"other,omitempty" jsonschema:"blocks that are no text"`
}

type mcpPart struct {
	Type     string `json:"type" jsonschema:"image, audio, resource_link or resource"`
	MimeType string `json:"mime_type,omitempty" jsonschema:"of the data"`
	Bytes    int    `json:"bytes,omitempty" jsonschema:"of the data, as base64"`
	URI      string `json:"uri,omitempty" jsonschema:"of a link"`
}

func (a *app) cmdMCPCall() *cobra.Command {
	var f mcpFlags
	var input string
	c := &cobra.Command{
		Use:   "call TOOL [-- MCP-FLAG...]",
		Short: "Call a tool as an MCP client does, and print what it gets",
		Long: `Call starts the server within this program, with the flags of mcp that are given, speaks MCP
with it as a client does, and calls one tool. What the gate asks is asked here, as a form that
a client shows. The call is in a trace as any client's is.

An error result is an error here: its code decides the exit status.`,
		Example: `  soundstage mcp call studio.list
  soundstage mcp call studio.read --args '{"kind":"character","id":"ada"}'
  soundstage mcp call capability.call --args @call.json --read-only
  echo '{"text":"Ada"}' | soundstage mcp call studio.search --args -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			flags, err := a.passed(c.Flags(), args[1:])
			if err != nil {
				return err
			}
			in, err := a.callInput(input)
			if err != nil {
				return err
			}
			return a.callMCP(c.Context(), flags, args[0], in)
		},
	}
	c.Flags().StringVar(&input, "args", "{}", "the input as `JSON`, @FILE, or - for standard input")
	f.passOn(c.Flags())
	return c
}

// callInput is the input that --args names.
func (a *app) callInput(named string) ([]byte, error) {
	const op = "mcp.call"
	b, from := []byte(named), "--args"
	if named == "-" || strings.HasPrefix(named, "@") {
		in := a.doors.Stdin
		if from = "standard input"; named != "-" {
			from = named[1:]
			f, err := os.Open(a.path(from))
			if err != nil {
				return nil, fault.New(fault.NotFound, op, "cannot read %q: %v", from, reasonOf(err))
			}
			defer f.Close() //nolint:errcheck // only read
			in = f
		}
		var err error
		if b, err = io.ReadAll(io.LimitReader(in, maxArgs+1)); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, op, "read %s", from)
		}
	}
	if len(b) > maxArgs {
		return nil, fault.New(fault.TooLarge, op, "%s has more than %d bytes", from, maxArgs)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil || object == nil {
		return nil, fault.New(fault.Invalid, op, "%s is %q, which is no JSON object", from, plain.Clip(string(b), 80)).
			WithHint(`write it like '{"id":"ada"}'; @file and - read it from elsewhere`)
	}
	return b, nil
}

func (a *app) callMCP(ctx context.Context, flags []string, tool string, input []byte) error {
	var reply mcp.Reply
	err := a.attached(ctx, flags, func(c *mcp.Attached) (err error) {
		reply, err = c.Call(ctx, tool, input)
		return err
	})
	if err != nil {
		return err
	}
	out := mcpCalled{Tool: tool, Result: reply.Structured}
	var text []string
	for _, p := range reply.Content {
		if p.Type == "text" {
			text = append(text, p.Text)
		} else {
			out.Other = append(out.Other, mcpPart{p.Type, p.MimeType, len(p.Data), p.URI})
		}
	}
	out.Text = strings.Join(text, "\n")
	if reply.IsError {
		return calledError(tool, out.Text)
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", indent([]byte(out.Text)))
		for _, p := range out.Other {
			fmt.Fprintf(w, "[%s %s %s]\n", p.Type, p.MimeType+p.URI, count(p.Bytes, "byte"))
		}
	})
}

// calledError is the error that an error result tells of.
func calledError(tool, text string) error {
	var told complaint
	if json.Unmarshal([]byte(text), &told) != nil || told.Code == "" {
		return fault.New(mcp.CodeAttach, "mcp.call", "%s: %s", tool, text)
	}
	e := fault.New(fault.Code(told.Code), "mcp.call", "%s", told.Message)
	if told.Hint != "" {
		return e.WithHint("%s", told.Hint)
	}
	return e
}

// attached runs the server of mcp with these flags within the program, and do as its
// client. The server has ended when attached returns.
func (a *app) attached(ctx context.Context, flags []string, do func(c *mcp.Attached) error) error {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	doors := a.doors
	doors.Stdin, doors.Stdout, doors.Args = fromClient, toClient, slices.Concat([]string{"mcp"}, flags)
	server := &app{doors: doors, studio: a.studio, models: a.models, help: &witness{w: a.doors.Stderr}}
	root := server.root()
	if a.studio != "" {
		doors.Args = append(doors.Args, "--", a.studio)
	}
	root.SetArgs(doors.Args)
	done := make(chan error, 1)
	go func() {
		err := root.ExecuteContext(ctx)
		_ = toClient.CloseWithError(io.EOF)
		_ = fromClient.CloseWithError(io.ErrClosedPipe)
		done <- err
	}()
	c, err := mcp.Attach(ctx, fromServer, toServer, mcp.AttachOptions{Name: "soundstage-call", Version: Version(), Ask: a.fillForm})
	if err == nil {
		err = do(c)
	}
	_ = toServer.Close()
	_, _ = io.Copy(io.Discard, fromServer) // its last words
	switch served := <-done; {
	case ctx.Err() != nil:
		return fault.New(fault.Cancelled, "mcp.call", "interrupted; what was saved before is kept")
	case served != nil:
		return served // why it did not answer
	}
	return err
}

// fillForm asks the person at the terminal what a client's form would.
func (a *app) fillForm(ctx context.Context, message string, choices []string) string {
	if !slices.Contains(choices, string(gate.Once)) {
		return ""
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := newTerminal(a.doors.Stdin, a.doors.Stderr, cancel)
	q := gate.Question{MayRemember: slices.Contains(choices, string(gate.ThisSession))}
	fmt.Fprintf(t.out, "\n%s\n%s", plain.Text(message), prompt(q))
	for {
		key, ok := t.key(ctx)
		if !ok {
			return ""
		}
		answer, ok := t.answer(key, q)
		switch {
		case !ok:
			fmt.Fprintf(t.out, "%q is no answer\n%s", plain.Clip(strings.TrimSpace(key), 20), prompt(q))
		case answer.By == gate.Person:
			return string(answer.Choice)
		default:
			return ""
		}
	}
}
