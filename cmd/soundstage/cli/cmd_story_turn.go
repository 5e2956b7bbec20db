package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/interpreter"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// storyTurn is what the flags of story turn say.
type storyTurn struct {
	runFlags
	in                  story.TurnIn
	root                string
	slots, world, stubs string
	ask, exec           bool
}

func (a *app) cmdStoryTurn() *cobra.Command {
	var f storyTurn
	c := &cobra.Command{
		Use: "turn APP [INTENT]", Short: "Try one transition of a story",
		Long: `Turn takes one intent and shows what comes of it. Nothing is kept and nothing runs: calls are
answered by --stubs, and those that no stub answers are listed.

With --say it takes a text in place of the intent: the tiers of routing find what it means, and
how sure that is. What only a model could know is not taken: --json shows what it would be
asked. With --ask-model the studio's model is asked, and its answer is paid for as in soundstage
run; --cassette, --mode and --upstream say how it is met.

With --exec the calls that no stub answers run: commands and scripts in this folder, and files
are written below it. --exec is your consent. A cassette holds what the commands said.`,
		Example: `  soundstage story turn stories/door knock --slots '{"name":"Ada"}'
  soundstage story turn stories/shop buy --state counter --world '{"money":7}' --stubs '{"host.run":{"data":{"ok":true}}}'
  soundstage story turn stories/shop --say "two pears, please"
  soundstage story turn stories/shop --say "what a day" --ask-model --cassette story/shop`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				f.in.Intent = args[1]
			}
			f.in.Slots, f.in.World, f.in.Stubs = tool.Object(f.slots), tool.Object(f.world), tool.Object(f.stubs)
			return a.storyTurn(c.Context(), args[0], f)
		},
	}
	set := c.Flags()
	set.StringVar(&f.in.Text, "say", "", "a `text` that a person would type, in place of INTENT")
	set.BoolVar(&f.ask, "ask-model", false, "with --say: ask the studio's model where no other tier knows")
	set.BoolVar(&f.exec, "exec", false, "run the calls that no stub answers")
	set.StringVar(&f.model, "model", "", "with --ask-model: the model `ref` (default: the studio's)")
	set.StringVar(&f.in.State, "state", "", "the `state` that it begins in (default: where the story begins)")
	set.StringVar(&f.slots, "slots", "", "the intent's slots, as a `JSON` object")
	set.StringVar(&f.world, "world", "", "keys of the world that differ from how it begins, as a `JSON` object")
	set.StringVar(&f.stubs, "stubs", "", "what calls are answered, by handler, as a `JSON` object like host_handlers of a flow")
	set.BoolVar(&f.in.Staged, "staged", false, "stop where a person decides")
	f.register(set)
	rootFlag(c, &f.root)
	return c
}

func (a *app) storyTurn(ctx context.Context, name string, f storyTurn) error {
	d := story.TurnDeps{Files: a.filesOf(name, f.root), App: a.storyApp(name), Root: a.storyRoot(f.root)}
	if f.in.Text != "" { // a text may name days
		now := a.doors.Clock.Now().UTC()
		f.in.Now = &now
	}
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.exec:
		h, end, err := a.storyHost(ctx, d, mcpFlags{mode: f.mode, cassette: f.cassette, resume: f.resume})
		if err == nil {
			d.Calls = h
			err = a.takeTurn(ctx, d, f.in)
		}
		return firstOf(err, end())
	case f.ask:
		return a.withInterpreter(ctx, f.runFlags, func(ctx context.Context, m route.Model) error {
			d.Model = m
			return a.takeTurn(ctx, d, f.in)
		})
	}
	return a.takeTurn(ctx, d, f.in)
}

// check finds flags that say nothing together.
func (f storyTurn) check() error {
	const op = "story.turn"
	switch {
	case f.ask && f.in.Text == "":
		return fault.New(fault.Invalid, op, "--ask-model has no text to ask about").WithHint("give the text with --say")
	case f.ask && f.exec:
		return fault.New(fault.Invalid, op, "--ask-model and --exec are one seam each, and a turn has one").WithHint("ask first; then take the turn by its intent, with --exec")
	case f.exec && (f.upstream != "" || f.keepErrors):
		return fault.New(fault.Invalid, op, "--upstream and --keep-errors say how a model is met, and none is asked").WithHint("leave them out")
	case !f.ask && !f.exec && (f.cassette+f.mode+f.upstream != "" || f.resume || f.keepErrors):
		return fault.New(fault.Invalid, op, "--mode and --cassette say how calls run and models are asked, and none is").WithHint("add --exec or --ask-model")
	}
	return nil
}

func (a *app) takeTurn(ctx context.Context, d story.TurnDeps, in story.TurnIn) error {
	out, err := story.Take(ctx, d, in)
	if err != nil {
		return err
	}
	return a.print(out, func(w io.Writer) { writeTurn(w, out) })
}

// withInterpreter gives work the studio's model, behind the seam and in a session of its
// own, which begins when it is asked.
func (a *app) withInterpreter(ctx context.Context, f runFlags, work func(context.Context, route.Model) error) error {
	return a.sitting(ctx, f, func(ctx context.Context, h *house, s *conversation, door *seam.Seam, cancel context.CancelFunc) error {
		return work(ctx, routing(func(ctx context.Context, q route.Question) (route.Meaning, error) {
			if err := s.begin(ctx, h, door, f); err != nil {
				return route.Meaning{}, err
			}
			loop, err := a.loop(ctx, h, door, s, f, cancel)
			if err != nil {
				return route.Meaning{}, s.abort(ctx, q.Text, err)
			}
			return interpreter.New(loop, h.cfg.Model, s.turn).Mean(ctx, q)
		}))
	})
}

// routing is a model that is a function.
type routing func(context.Context, route.Question) (route.Meaning, error)

// Mean implements route.Model.
func (r routing) Mean(ctx context.Context, q route.Question) (route.Meaning, error) { return r(ctx, q) }

func writeTurn(w io.Writer, t story.TurnOut) {
	fmt.Fprintf(w, "%s: %s → %s\n", t.Mode, t.PrevState, t.NextState)
	if t.Routed != nil && t.Routed.By != "" {
		writeRouted(w, *t.Routed)
	}
	if t.Code != "" {
		fmt.Fprintf(w, "%s: %s\n", t.Code, oneLine(t.Message))
	}
	for _, line := range []struct{ word, text string }{{"hint", t.Hint}, {"needs", strings.Join(t.Needed, ", ")}, {"problem", t.Problem}} {
		if line.text != "" {
			fmt.Fprintf(w, "%s: %s\n", line.word, line.text)
		}
	}
	if t.WouldRoute != nil {
		fmt.Fprintf(w, "a model would choose: %s\n", strings.Join(t.WouldRoute.Intents, ", "))
	}
	if string(t.Changed) != "{}" && len(t.Changed) > 0 {
		fmt.Fprintf(w, "world: %s\n", t.Changed)
	}
	for _, c := range t.Calls {
		word := "called"
		if c.Ran {
			word = "ran"
		}
		fmt.Fprintf(w, "%s %s %s\n", word, c.Handler, c.Args)
		if c.Error != "" {
			fmt.Fprintf(w, "  failed: %s\n", c.Error)
		}
	}
	for _, c := range t.WouldCall {
		fmt.Fprintf(w, "would call %s %s\n", c.Handler, c.Args)
	}
	fmt.Fprintf(w, "allowed: %s\n", strings.Join(t.Allowed, ", "))
	if t.View != "" {
		fmt.Fprintf(w, "\n%s\n", t.View)
	}
}

// writeRouted says what a text means, and who says so.
func writeRouted(w io.Writer, r flow.Routed) {
	fmt.Fprintf(w, "routed by %s", r.By)
	if r.Match != "" {
		fmt.Fprintf(w, ", %s", oneLine(r.Match))
	}
	if r.Confidence > 0 {
		fmt.Fprintf(w, ", confidence %.2f", r.Confidence)
	}
	if r.Intent != "" {
		fmt.Fprint(w, ": "+strings.TrimSpace(r.Intent+" "+string(r.Slots)))
	}
	fmt.Fprintln(w)
	if len(r.Candidates) > 0 {
		fmt.Fprintf(w, "candidates: %s\n", strings.Join(r.Candidates, ", "))
	}
}
