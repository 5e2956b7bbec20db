package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The results of the tool commands.
type (
	toolRow struct {
		ID       string        `json:"id" jsonschema:"dotted id"`
		Name     string        `json:"name" jsonschema:"provider-safe name"`
		Class    trust.Class   `json:"class" jsonschema:"trust class"`
		Effect   tool.Effect   `json:"effect" jsonschema:"what it says that it does"`
		Exposure tool.Exposure `json:"exposure" jsonschema:"direct, deferred or hidden"`
		Summary  string        `json:"summary" jsonschema:"one sentence"`
	}
	toolList struct {
		Tools []toolRow `json:"tools" jsonschema:"in order of id"`
	}
	toolShow struct {
		toolRow
		Description string          `json:"description" jsonschema:"what a model reads"`
		Aliases     []string        `json:"aliases" jsonschema:"other words for it"`
		Input       json.RawMessage `json:"input" jsonschema:"JSON Schema of the input"`
		Output      json.RawMessage `json:"output,omitempty" jsonschema:"JSON Schema of the result"`
	}
	toolCalled struct {
		Tool   string          `json:"tool" jsonschema:"the dotted id that ran"`
		Text   string          `json:"text" jsonschema:"what a model would read"`
		Result json.RawMessage `json:"result,omitempty" jsonschema:"the structured result"`
		Handle string          `json:"handle,omitempty" jsonschema:"where the text was cut: the whole is behind it"`
		Show   *tool.Show      `json:"show,omitempty" jsonschema:"what a screen would show: art, a choice, the rail"`
	}
)

func (a *app) cmdTool() *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "List, show and call the tools of the studio",
		Example: `  soundstage tool ls
  soundstage tool show character.identity.update
  soundstage tool call studio.read '{"kind":"character","id":"ada"}'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdToolLs(), a.cmdToolShow(), a.cmdToolCall())
	return c
}

func (a *app) cmdToolLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List every tool with its trust class", Args: cobra.NoArgs,
		Example: "  soundstage tool ls",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := a.bare(c.Context())
			if err != nil {
				return err
			}
			out := toolList{Tools: []toolRow{}}
			for _, t := range h.registry.All() {
				out.Tools = append(out.Tools, h.row(t))
			}
			return a.print(out, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "TOOL\tCLASS\tEFFECT\tEXPOSURE\tSUMMARY")
				for _, r := range out.Tools {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Class, r.Effect, r.Exposure, r.Summary)
				}
				_ = t.Flush() // to a writer that was checked when it was opened
			})
		},
	}
}

func (h *house) row(t tool.Tool) toolRow {
	class, _ := h.table.Class(t.ID)
	return toolRow{ID: t.ID, Name: tool.Fold(t.ID), Class: class, Effect: t.Effect, Exposure: t.Exposure, Summary: t.Summary}
}

func (a *app) cmdToolShow() *cobra.Command {
	return &cobra.Command{
		Use: "show TOOL", Short: "Print a tool's description and schemas", Args: cobra.ExactArgs(1),
		Example: "  soundstage tool show character.identity.update",
		RunE: func(c *cobra.Command, args []string) error {
			h, err := a.bare(c.Context())
			if err != nil {
				return err
			}
			t, ok := h.registry.Get(args[0])
			if !ok {
				return fault.New(gate.CodeUnknownTool, "tool.show", "no tool %q", args[0]).WithHint("list tools: soundstage tool ls")
			}
			out := toolShow{toolRow: h.row(t), Description: t.Description, Aliases: append([]string{}, t.Aliases...), Input: t.Input(), Output: t.Output()}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s (%s, %s, %s)\n%s\n", t.ID, out.Class, t.Effect, t.Exposure, t.Description)
				if len(t.Aliases) > 0 {
					fmt.Fprintf(w, "also: %s\n", strings.Join(t.Aliases, ", "))
				}
				fmt.Fprintf(w, "input %s\n", indent(t.Input()))
			})
		},
	}
}

func (a *app) cmdToolCall() *cobra.Command {
	var mode string
	c := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Run one tool through the gate, as the person at the terminal",
		Long: `Call runs a tool as you: what the gate would ask, it asks here. A draft that an agent's
session left open can be applied or discarded this way; that hands it over to you.`,
		Example: `  soundstage tool call studio.list
  soundstage tool call change.apply '{"draft":"d-0001"}'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			input := "{}"
			if len(args) == 2 {
				input = args[1]
			}
			a.places.asked = true // a person names the tool: it says itself what it lacks
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				return a.callTool(ctx, h, trust.Mode(mode), args[0], input)
			})
		},
	}
	c.Flags().StringVar(&mode, "gate", string(trust.Guarded), "how careful the `gate` is: guarded, autopilot or full")
	return c
}

func (a *app) callTool(ctx context.Context, h *house, mode trust.Mode, name, input string) error {
	if !slices.Contains(gateModes, mode) {
		return fault.New(fault.Invalid, "tool.call", "gate is %q", mode).WithHint("use guarded, autopilot or full")
	}
	g := h.gate(h.registry, mode)
	req := gate.Request{Call: tool.Call{ID: h.clock.ID("call"), Skin: tool.CLI}, Tool: name, Input: []byte(input)}
	d := g.Decide(ctx, req)
	var res tool.Result
	var err error
	switch d.Outcome {
	case gate.Refused:
		return d.Err
	case gate.Asked:
		var no bool
		if res, no, err = a.askTool(ctx, h, g, d); no {
			return a.callTool(ctx, h, mode, "change.discard", discardOf(d.Request))
		}
	default:
		if err = h.handOver(ctx, d.Request); err == nil {
			res, err = g.Run(ctx, d)
		}
	}
	if err != nil {
		return err
	}
	if res.Receipt != nil {
		if err := unapplied("tool.call", *res.Receipt); err != nil {
			return err
		}
	}
	out := toolCalled{Tool: d.Request.Tool, Text: res.Text, Result: res.Structured, Handle: res.Handle, Show: res.Show}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", indent([]byte(res.Text)))
		if res.Show != nil {
			writeShow(w, *res.Show)
		}
	})
}

// askTool puts the question to the person at the terminal, and goes on with the
// answer. discard says that they were shown a draft and do not want it.
func (a *app) askTool(ctx context.Context, h *house, g *gate.Gate, d gate.Decision) (res tool.Result, discard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := *d.Question
	q.MayRemember = false // this gate is gone with the call
	answer := newTerminal(a.doors.Stdin, a.doors.Stderr, cancel).Ask(ctx, q)
	switch {
	case ctx.Err() != nil:
		return res, false, fault.New(fault.Cancelled, "tool.call", "%s was cancelled, and did not run", d.Request.Tool)
	case answer.By == gate.Person && answer.Choice != gate.No:
		if err := h.handOver(ctx, d.Request); err != nil {
			return res, false, err
		}
	}
	res, err = g.Resume(ctx, *d.Question, answer)
	return res, answer.By == gate.Person && answer.Choice == gate.No && q.Review != nil, err
}

// discardOf is the input that discards the draft of an apply.
func discardOf(apply gate.Request) string {
	var in studio.DiscardIn
	_ = json.Unmarshal(apply.Input, &in) // it was checked against the schema
	in.Reason = "a person said no"
	b, _ := json.Marshal(in) // two texts
	return string(b)
}

// handOver makes a draft the person's own, who decides on it at the terminal. An agent
// has no way to this.
func (h *house) handOver(ctx context.Context, r gate.Request) error {
	var in studio.DraftIn
	if r.Tool != "change.apply" && r.Tool != "change.discard" {
		return nil
	}
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return fault.Wrap(err, fault.Invalid, "tool.call", "input does not fit")
	}
	_, err := h.drafts.HandOver(ctx, in.Draft, "")
	return err
}
