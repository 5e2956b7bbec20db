package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// maxNote bounds what a person says beside their no, in bytes.
const maxNote = 1_000

// The results of the ask commands.
type (
	askRow struct {
		ID      string         `json:"id" jsonschema:"what allow and deny are given"`
		State   question.State `json:"state" jsonschema:"open, answered, settled or expired"`
		Tool    string         `json:"tool" jsonschema:"what would run"`
		Class   trust.Class    `json:"class" jsonschema:"what it can do"`
		Title   string         `json:"title" jsonschema:"the question"`
		Session string         `json:"session" jsonschema:"who asks: the session"`
		Client  string         `json:"client" jsonschema:"who asks, as it calls itself"`
		At      time.Time      `json:"at" jsonschema:"when it was asked"`
		Expires time.Time      `json:"expires" jsonschema:"until when it can be answered"`
		Choice  gate.Choice    `json:"choice,omitempty" jsonschema:"once, session, no, timeout or absent"`
		By      gate.By        `json:"by,omitempty" jsonschema:"who answered: person, client or nobody"`
		Note    string         `json:"note,omitempty" jsonschema:"what was said beside it"`
	}
	askList struct {
		Questions []askRow `json:"questions" jsonschema:"the newest first"`
	}
	askShow struct {
		askRow
		Input       string        `json:"input" jsonschema:"what the tool would be given, as JSON"`
		MayRemember bool          `json:"may_remember" jsonschema:"whether a yes can hold for the whole session"`
		Review      *draft.Review `json:"review,omitempty" jsonschema:"target and rows, before and after"`
	}
)

func (a *app) cmdAsk() *cobra.Command {
	c := &cobra.Command{
		Use:   "ask",
		Short: "See and answer what agents ask, as the person at the terminal",
		Long: `Ask shows what the gate has asked on behalf of agents whose client cannot ask you itself, and
takes your answer. A yes runs nothing here: the agent makes its call again, and it runs then,
if what you saw is still what would happen. A question waits for an hour, and ends with its
session. Do not give an agent that has a shell the right to this command.`,
		Example: "  soundstage ask ls\n  soundstage ask show q-…\n  soundstage ask allow q-…",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdAskLs(), a.cmdAskShow(), a.cmdAskAllow(), a.cmdAskDeny())
	return c
}

// desk is where the studio's questions lie.
func (h *house) desk() *question.Desk { return question.NewDesk(h.store, h.clock) }

func (a *app) cmdAskLs() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "ls", Short: "List the questions that wait for a person", Args: cobra.NoArgs,
		Example: "  soundstage ask ls\n  soundstage ask ls --all --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				list, err := h.desk().List(ctx, all)
				if err != nil {
					return err
				}
				out := askList{Questions: []askRow{}}
				for _, q := range list {
					out.Questions = append(out.Questions, rowOfQuestion(q))
				}
				return a.print(out, func(w io.Writer) { writeQuestions(w, out) })
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "those too that wait no more")
	return c
}

func (a *app) cmdAskShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Print one question: target, before and after", Args: cobra.ExactArgs(1),
		Example: "  soundstage ask show q-…",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c.Context(), func(ctx context.Context, h *house) error {
				q, err := h.desk().Get(ctx, args[0])
				if err != nil {
					return err
				}
				return a.printQuestion(q)
			})
		},
	}
}

func (a *app) cmdAskAllow() *cobra.Command {
	var whole bool
	c := &cobra.Command{
		Use: "allow ID", Short: "Say yes to one call", Args: cobra.ExactArgs(1),
		Example: "  soundstage ask allow q-…\n  soundstage ask allow --session q-…",
		RunE: func(c *cobra.Command, args []string) error {
			answer := gate.Answer{Choice: gate.Once, By: gate.Person}
			if whole {
				answer.Choice = gate.ThisSession
			}
			return a.reply(c.Context(), args[0], answer)
		},
	}
	c.Flags().BoolVar(&whole, "session", false, "to this tool until the asking session ends")
	return c
}

func (a *app) cmdAskDeny() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "deny ID", Short: "Say no to one call", Args: cobra.ExactArgs(1),
		Example: "  soundstage ask deny q-…\n  soundstage ask deny q-… --note 'keep her name'",
		RunE: func(c *cobra.Command, args []string) error {
			if len(note) > maxNote {
				return fault.New(fault.Invalid, "ask.deny", "the note has %d bytes, and %d is the most", len(note), maxNote)
			}
			return a.reply(c.Context(), args[0], gate.Answer{Choice: gate.No, By: gate.Person, Note: note})
		},
	}
	c.Flags().StringVar(&note, "note", "", "a `text` that the agent is told")
	return c
}

func (a *app) reply(ctx context.Context, id string, answer gate.Answer) error {
	return a.withStore(ctx, func(ctx context.Context, h *house) error {
		q, err := h.desk().Reply(ctx, id, answer)
		if err != nil {
			return err
		}
		return a.printQuestion(q)
	})
}

func rowOfQuestion(q question.Question) askRow {
	r := askRow{
		ID: q.ID, State: q.State, Tool: q.Tool, Class: q.Class, Title: q.Title, Session: q.Session, Client: q.Client,
		At: q.At.UTC(), Expires: q.Expires.UTC(),
	}
	if q.Answer != nil {
		r.Choice, r.By, r.Note = q.Answer.Choice, q.Answer.By, q.Answer.Note
	}
	return r
}

func (a *app) printQuestion(q question.Question) error {
	out := askShow{askRow: rowOfQuestion(q), Input: q.Input, MayRemember: q.MayRemember, Review: q.Review}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s\n", out.ID, oneLine(out.Title))
		if out.Review != nil {
			writeReview(w, *out.Review)
		} else {
			fmt.Fprintf(w, "  %s %s\n", out.Tool, oneLine(out.Input))
		}
		fmt.Fprintf(w, "  asked by %s in session %s at %s\n", oneLine(orUnnamed(out.Client)), out.Session, out.At.Format(time.RFC3339))
		fmt.Fprintf(w, "  %s\n", standing(out.askRow))
	})
}

func orUnnamed(client string) string {
	if client == "" {
		return "a client without a name"
	}
	return client
}

// standing says where a question is on its way.
func standing(r askRow) string {
	switch {
	case r.State == question.Open:
		return "waits until " + r.Expires.Format(time.RFC3339)
	case r.State == question.Expired:
		return "nobody answered in time"
	case r.State == question.Answered:
		return fmt.Sprintf("%s, by %s; the agent has it when it makes its call again", r.Choice, r.By)
	}
	return fmt.Sprintf("%s, by %s", r.Choice, r.By)
}

func writeQuestions(w io.Writer, out askList) {
	if len(out.Questions) == 0 {
		fmt.Fprintln(w, "no questions wait")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTOOL\tASKED BY\tSESSION\tSTATE\tQUESTION")
	for _, r := range out.Questions {
		state := string(r.State)
		if r.By != "" {
			state = fmt.Sprintf("%s, by %s", r.Choice, r.By)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Tool, oneLine(r.Client), r.Session, state, oneLine(r.Title))
	}
	_ = t.Flush() // to a writer that is checked elsewhere
}
