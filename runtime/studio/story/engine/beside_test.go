package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/proposal"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

const market = `
app: { id: market }
world: { money: { type: int, default: 20 }, seen: "" }
intents: { leave: {} }
root: stall
off_path: { trigger: aside, persona: You know this market. }
agents: { guide: { system_prompt: Be brief. } }
proposals:
  purchase:
    schema: { items: list, cost: int }
    execute: { invoke: host.till, with: { cost: "{{ proposal.cost }}", of: "{{ world.money }}" }, on_success: gate, repeatable: true }
    policy: { auto_accept_if: "$proposal.cost < 5 && $world.money > 10" }
    views: { reviewing: "Buy for {{ $proposal.cost }}?", failed: "No: {{ $proposal.result.error }}" }
  order:
    schema: { what: string }
    execute: { invoke: host.courier, background: true, on_complete: [{ set: { seen: "{{ world.last_job_result.where }}" } }] }
    policy: { auto_accept_if: "true", require_confirm: true }
  idea: { schema: { text: string } }
states:
  stall: { view: Stall., on: { leave: { target: gate } }, agent_off_ramp: { agent: guide, banner: Aside } }
  gate: { view: "Gate.", agent_off_ramp: true, on_enter: [{ set: { seen: gate } }], on: { leave: { target: stall } } }
`

func TestProposal(t *testing.T) {
	till := stubs{"host.till": {Data: parse(t, `{"paid":true}`)}}
	s := session(t, market, till)
	o, err := s.Propose(t.Context(), "purchase", parse(t, `{"items":["rope"],"cost":9}`))
	if err != nil || o.View != "Buy for 9?" || o.State != "stall" {
		t.Fatalf("%+v, %v", o, err)
	}
	if p := proposal.From(s.World()); p.Status != proposal.Reviewing {
		t.Errorf("it is %s", p.Status)
	}
	// Nothing was done yet; a draft that does not fit changes nothing; feedback is kept.
	for draft, want := range map[string]string{
		`{"items":[]}`: "cost is missing", `{"items":"x","cost":1}`: "items is string, and not list", `{"items":[],"cost":1,"tip":2}`: "tip is no field", `3`: "no object",
	} {
		if _, err := s.Refine(t.Context(), parse(t, draft), "cheaper"); fault.CodeOf(err) != proposal.CodeDraft || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", draft, err, want)
		}
	}
	if _, err := s.Refine(t.Context(), parse(t, `{"items":["rope"],"cost":8}`), "cheaper"); err != nil {
		t.Fatal(err)
	}
	p := proposal.From(s.World())
	if len(p.History) != 2 || p.History[0].Feedback != "cheaper" || p.History[1].Number != 2 {
		t.Errorf("%+v", p.History)
	}
	o, err = s.Accept(t.Context())
	if err != nil || o.State != "gate" || o.View != "Gate." || get(s, "seen") != `"gate"` {
		t.Fatalf("%+v, %v", o, err)
	}
	calls := 0
	for _, e := range o.Events {
		if e.Kind == "harness.dispatched" {
			calls++
			if args, _ := e.Payload.Get("args"); args.JSON() != `{"cost":8,"of":20}` {
				t.Errorf("called with %s", args.JSON())
			}
		}
	}
	if p = proposal.From(s.World()); calls != 1 || p.Status != proposal.Done || p.Result.JSON() != `{"data":{"paid":true},"ok":true}` {
		t.Errorf("%d calls, %s, %s", calls, p.Status, p.Result.JSON())
	}
	if _, err = s.Accept(t.Context()); err != nil {
		t.Errorf("it is repeatable: %v", err)
	}
	// A call that fails is told of, and can be tried again.
	till["host.till"] = engine.Result{Error: "the till is empty"}
	if o, err = s.Propose(t.Context(), "purchase", parse(t, `{"items":[],"cost":2}`)); err != nil || o.View != "No: the till is empty" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = s.Drop(t.Context()); err != nil || proposal.From(s.World()).Status != proposal.Cancelled {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err = s.Drop(t.Context()); fault.CodeOf(err) != proposal.CodeStatus {
		t.Errorf("dropped twice: %v", err)
	}
}

// A proposal that always wants a yes gets none from its policy, and is done by a job.
func TestProposalInTheBackground(t *testing.T) {
	s := session(t, market, stubs{"host.courier": {Data: parse(t, `{"where":"on its way"}`), Delay: time.Minute}})
	if _, err := s.Propose(t.Context(), "order", parse(t, `{"what":"lamp"}`)); err != nil || len(s.Jobs()) != 0 {
		t.Fatal(err, s.Jobs())
	}
	if _, err := s.Accept(t.Context()); err != nil || len(s.Jobs()) != 1 {
		t.Fatal(err, s.Jobs())
	}
	if _, err := s.Accept(t.Context()); fault.CodeOf(err) != proposal.CodeStatus {
		t.Errorf("accepted twice: %v", err)
	}
	if err := s.Advance(t.Context(), 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	if p := proposal.From(s.World()); p.Status != proposal.Done || get(s, "seen") != `"on its way"` {
		t.Errorf("%s, %s", p.Status, get(s, "seen"))
	}
	for name, err := range map[string]error{
		"no kind": func() error { _, err := s.Propose(t.Context(), "gift", value.NewMap(nil)); return err }(),
		"no execute": func() error {
			if _, err := s.Propose(t.Context(), "idea", parse(t, `{"text":"x"}`)); err != nil {
				return nil
			}
			_, err := s.Accept(t.Context())
			return err
		}(),
	} {
		if want := map[string]fault.Code{"no kind": engine.CodeNoProposal, "no execute": proposal.CodeStatus}[name]; fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := session(t, market, stubs{}).Accept(t.Context()); fault.CodeOf(err) != proposal.CodeStatus {
		t.Errorf("nothing is proposed: %v", err)
	}
}

// heard keeps what an agent was asked.
type heard struct {
	args string
	res  engine.Result
}

func (h *heard) Call(_ context.Context, c engine.Request) (engine.Result, error) {
	h.args = c.Handler + " " + c.Args.JSON()
	return h.res, nil
}

func TestOffRamp(t *testing.T) {
	story := loadtest.Story(t, market)
	h := &heard{res: engine.Result{Data: parse(t, `{"answer":"Ask the baker."}`)}}
	s := engine.New(engine.Options{Story: story, Handlers: h, ID: "s-1"})
	o, ok, err := s.OffRamp(t.Context(), "who bakes?", "UNKNOWN_INTENT", .4)
	if err != nil || !ok || o.Mode != engine.OffPath || o.State != "stall" || o.View != "Aside\n\nAsk the baker." {
		t.Fatalf("%+v, %v, %v", o, ok, err)
	}
	var kinds []string
	for _, e := range o.Events {
		kinds = append(kinds, e.Kind)
	}
	if got := strings.Join(kinds, " "); got != "machine.off_path_entered agent.off_path.question agent.off_path.answer" {
		t.Error(got)
	}
	if h.args != `host.agent.converse {"agent":"guide","question":"who bakes?"}` {
		t.Error(h.args)
	}
	turn(t, s, "leave")
	if _, ok, _ = s.OffRamp(t.Context(), "who?", "UNKNOWN_INTENT", 0); !ok || h.args != `host.agent.converse {"question":"who?","system_prompt":"You know this market."}` {
		t.Error(ok, h.args)
	}
	h.res = engine.Result{Error: "nobody answers"}
	if o, ok, err = s.OffRamp(t.Context(), "who?", "UNKNOWN_INTENT", 0); ok || err != nil || o.Problem != "nobody answers" || s.State() != "gate" {
		t.Errorf("%+v, %v, %v", o, ok, err)
	}
	if _, ok, _ = session(t, shop, stubs{}).OffRamp(t.Context(), "who?", "UNKNOWN_INTENT", 0); ok {
		t.Error("a state without an off-ramp has one")
	}
}
