package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// runFlags are the flags of run.
type runFlags struct {
	seamFlags
	model, gate, session, limit, reasoning string
	maxCalls, maxRounds                    int
	agentWrites                            bool
}

// runResult is what run prints with --json.
type runResult struct {
	Session  string          `json:"session" jsonschema:"give it to --session to go on"`
	Turn     int             `json:"turn" jsonschema:"1 for the first of the session"`
	Label    string          `json:"label" jsonschema:"verified, stale, discarded, failed, cancelled, stopped or answered"`
	Stop     string          `json:"stop,omitempty" jsonschema:"STOP_… where the loop ended the turn"`
	Guidance string          `json:"guidance,omitempty" jsonschema:"the next step"`
	Text     string          `json:"text" jsonschema:"what the person is told"`
	Requests int             `json:"requests" jsonschema:"model requests"`
	Calls    int             `json:"calls" jsonschema:"tool calls"`
	Cost     int64           `json:"cost" jsonschema:"pico-dollars, paid or saved"`
	Saved    bool            `json:"saved" jsonschema:"the answers were a recording's, or scripted: nothing was paid"`
	Mode     string          `json:"mode" jsonschema:"live, replay or record"`
	Receipts []draft.Receipt `json:"receipts" jsonschema:"what was applied, or why not"`
	Open     []string        `json:"open" jsonschema:"drafts of this turn that are still open"`
	Servers  []wornServer    `json:"servers,omitempty" jsonschema:"MCP servers of other people that the turn had, or should have had"`
}

func (a *app) cmdRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run TEXT",
		Short: "Let the model work on one request, with the gate on this terminal",
		Long: `Run is one turn: the model reads, drafts and answers. Before anything is written the gate
shows what would change: y or Enter applies, n, d or Escape discards, Ctrl-C cancels the
turn. The end of input means that nobody is there; the draft then stays open.

The provider's key is read from the environment, as its own tools do (ANTHROPIC_API_KEY,
OPENAI_API_KEY, GEMINI_API_KEY, …). With --model agent-cli/claude your own Claude Code answers, by
its own account and with no tools but the studio's (docs/howto/use-your-agent-as-the-model.md).`,
		Example: `  soundstage run "rename Ada to Countess Ada"
  soundstage run --session s-… "now give her a second greeting"
  soundstage run --model ollama/qwen3 "list what is here"
  soundstage run --cassette content/rename "rename Ada to Countess Ada"
  soundstage run --upstream said.yaml "rename Ada to Countess Ada"`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), args[0], f) },
	}
	f.register(c.Flags())
	set := c.Flags()
	set.StringVar(&f.model, "model", "", "the model `ref` (default: the studio's)")
	set.StringVar(&f.gate, "gate", "", "the `gate`: guarded, autopilot or full (default: the studio's)")
	set.StringVar(&f.session, "session", "", "go on in this `session`")
	set.StringVar(&f.limit, "cap", "", "most `dollars` that the session may cost (default: the studio's)")
	set.StringVar(&f.reasoning, "reasoning", "", "the `level` of thinking: none, minimal, low, medium, high, xhigh or max")
	set.IntVar(&f.maxCalls, "max-calls", 0, "most tool calls of the turn (default 64)")
	set.IntVar(&f.maxRounds, "max-rounds", 0, "most model replies of the turn (default 24)")
	set.BoolVar(&f.agentWrites, "agent-writes", false, "with a model agent-cli/…: its tools may draft and ask; else they only read")
	return c
}

func (a *app) run(ctx context.Context, text string, f runFlags) error {
	if strings.TrimSpace(text) == "" {
		return fault.New(fault.Invalid, "run", "the request is empty").WithHint(`say what to do, like: soundstage run "rename Ada to Countess Ada"`)
	}
	if err := f.check(); err != nil {
		return err
	}
	return a.sitting(ctx, f, func(ctx context.Context, h *house, s *conversation, door *seam.Seam, cancel context.CancelFunc) error {
		if err := s.begin(ctx, h, door, f); err != nil {
			return err
		}
		worn, end, err := a.wear(ctx, h, door, s.turn, text)
		defer end()
		if err != nil {
			return s.abort(ctx, text, err)
		}
		a.tellServers(worn)
		loop, err := a.loop(ctx, h, door, s, f, cancel)
		if err != nil {
			return s.abort(ctx, text, err)
		}
		facts, err := h.facts(ctx, s.id)
		if err != nil {
			return s.abort(ctx, text, err)
		}
		out, err := loop.Turn(ctx, agent.Input{Turn: s.turn, Text: text, Facts: facts, History: s.history, Servers: traced(worn)})
		if err != nil {
			return err
		}
		return a.report(s, door, out, worn)
	})
}

// sitting opens what a model is asked in: the studio, the session that f names or a new
// one, and the way out. cancel ends what work does.
func (a *app) sitting(ctx context.Context, f runFlags, work func(context.Context, *house, *conversation, *seam.Seam, context.CancelFunc) error) (err error) {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.cfg.override(f); err != nil {
		return err
	}
	if err := h.settleLost(ctx); err != nil {
		return err
	}
	s, err := h.claim(ctx, f.session)
	if err != nil {
		return err
	}
	defer s.close()
	door, owned, err := a.openSeam(h, f.seamFlags)
	if err != nil {
		return err
	}
	defer func() {
		err = closeSeam(door, owned, err)
		a.warnEmpty(door)
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return work(ctx, h, s, door, cancel)
}

// reasoningLevels are what --reasoning takes; a model that lacks one has the next lower.
var reasoningLevels = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// check finds flags that no turn can be run with.
func (f runFlags) check() error {
	switch {
	case f.reasoning != "" && !slices.Contains(reasoningLevels, f.reasoning):
		return fault.New(fault.Invalid, "run", "reasoning is %q", f.reasoning).WithHint("use %s", strings.Join(reasoningLevels, ", "))
	case f.maxCalls < 0 || f.maxRounds < 0:
		return fault.New(fault.Invalid, "run", "a turn cannot have %d calls and %d replies at most", f.maxCalls, f.maxRounds).
			WithHint("leave --max-calls and --max-rounds out, or give what is more than 0")
	}
	return nil
}

// override puts the flags of a run over the studio's settings.
func (c *config) override(f runFlags) error {
	if f.model != "" {
		c.Model = f.model
	}
	if f.gate != "" {
		c.Gate = f.gate
	}
	if f.limit != "" {
		c.Caps.Session = f.limit
	}
	if c.Model == "" {
		return fault.New(codeBadConfig, "run", "no model is chosen").
			WithHint("set model in %s, or give --model, like %s", configName, defaultModel)
	}
	return c.check("the command line")
}

// report prints the outcome, and makes an error of one that is none of the good ones.
func (a *app) report(s *conversation, door *seam.Seam, out agent.Outcome, worn []wornServer) error {
	r := runResult{
		Session: s.id, Turn: s.turn, Label: out.Label, Stop: string(out.Stop), Guidance: out.Guidance, Text: out.Text,
		Requests: out.Rounds, Calls: out.Calls, Cost: out.Cost, Saved: unpaid(door), Mode: string(door.Mode()),
		Receipts: append([]draft.Receipt{}, out.Receipts...), Open: append([]string{}, out.Open...),
		Servers: worn,
	}
	if err := a.print(r, func(w io.Writer) { writeRun(w, r) }); err != nil {
		return err
	}
	switch {
	case door.Err() != nil:
		return door.Err()
	case out.Label == agent.Discarded:
		return nil
	case out.Err == nil:
		return unapplied("run", out.Receipts...)
	}
	hint := fault.HintOf(out.Err)
	if hint == "" {
		hint = out.Guidance
	}
	code := fault.CodeOf(out.Err)
	if out.Label != agent.Failed && out.Told { // just now, as the text
		return fault.New(code, "run", "the turn ended %s", out.Label).WithHint("%s", hint)
	}
	return fault.Wrap(out.Err, code, "run", "the turn ended %s", out.Label).WithHint("%s", hint)
}

// unapplied is the error of the first receipt that says that a draft could not be
// saved; nil where there is none.
func unapplied(op string, receipts ...draft.Receipt) error {
	for _, c := range receipts {
		switch c.Outcome {
		case draft.Stale:
			return fault.New(fault.Stale, op, "draft %s is stale: %s", c.Draft, c.Detail).WithHint("make the change again, over what is there now")
		case draft.Failed:
			return fault.New(fault.Internal, op, "draft %s failed: %s", c.Draft, c.Detail).WithHint("look at the piece: soundstage piece history %s", c.Target)
		}
	}
	return nil
}

func writeRun(w io.Writer, r runResult) {
	switch {
	case r.Label == agent.Failed: // why is said once, as the error
		for _, c := range r.Receipts {
			fmt.Fprintln(w, c)
		}
	case r.Text != "":
		fmt.Fprintln(w, strings.TrimRight(r.Text, "\n"))
	}
	if r.Label == agent.Answered && r.Guidance != "" { // the answer is not whole
		fmt.Fprintf(w, "  → %s\n", r.Guidance)
	}
	for _, id := range r.Open {
		fmt.Fprintf(w, "open: draft %s; to decide on it: soundstage tool call change.apply '{\"draft\":%q}'\n", id, id)
	}
	paid := "paid"
	if r.Saved {
		paid = "saved"
	}
	fmt.Fprintf(w, "[%s] %s, %s, %s %s, session %s\n", r.Label, count(r.Requests, "request"), count(r.Calls, "call"), ledger.Format(r.Cost), paid, r.Session)
}

// loop builds the agent of a session. cancel ends its turn.
func (a *app) loop(ctx context.Context, h *house, door *seam.Seam, s *conversation, f runFlags, cancel context.CancelFunc) (*agent.Agent, error) {
	provider, prices, err := a.provider(ctx, h, door, f.agentWrites)
	if err != nil {
		return nil, err
	}
	caps, err := h.caps(s.id)
	if err != nil {
		return nil, err
	}
	origin := string(door.Header().Origin)
	keeper := h.gate(h.registry, s.gate)
	for _, id := range s.remembered {
		keeper.Remember(s.id, id)
	}
	return agent.New(agent.Options{
		Provider: provider, Registry: h.registry, Gate: keeper, Recorder: s.log, Clock: h.clock,
		Ledger: ledger.New(ledger.Options{Rows: h.store, Clock: h.clock, Prices: prices, Saved: unpaid(door)}),
		Asker:  newTerminal(a.doors.Stdin, a.doors.Stderr, cancel), Output: newProgress(a.doors.Stderr, a.json),
		Limits:  agent.Limits{Calls: f.maxCalls, Rounds: f.maxRounds},
		Session: s.id, Billing: billing(provider.Info().Ref), Origin: origin, Caps: caps,
		System: []string{studio.Instructions}, Reasoning: f.reasoning,
	}), nil
}
