package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// stubs answer by handler.
type stubs map[string]engine.Result

func (s stubs) Call(_ context.Context, c engine.Request) (engine.Result, error) {
	if r, ok := s[c.Handler]; ok {
		return r, nil
	}
	return engine.Result{}, fault.New(engine.CodeHandler, "test", "no handler %q", c.Handler)
}

func session(t testing.TB, app string, s stubs) *engine.Session {
	t.Helper()
	story := loadtest.Story(t, app)
	return engine.New(engine.Options{Story: story, Handlers: s, ID: "s-1", Start: time.Unix(0, 0)})
}

const shop = `
app: { id: shop, version: 0.1.0 }
world: { price: { type: int, default: 0 }, paid: { type: bool, default: false }, note: "", rate: 0 }
intents: { ask: { title: Ask }, buy: { title: Buy }, pay: { title: Pay, hidden: true }, wait: { title: Wait }, sulk: { title: Sulk } }
root: door
states:
  door:
    on:
      ask: { target: counter }
      sulk: { target: bench }
  counter:
    on_enter:
      - { invoke: host.price, with: { what: lamp }, bind: { price: amount }, on_error: closed, id: first }
      - { invoke: host.rate, with: { of: "{{ world.price }}" }, bind: { rate: rate.now } }
      - { emit_intent: pay, when: "world.price > 0 && world.price < 10" }
    on:
      buy: { target: bench }
      pay: { target: done, effects: [{ set: { paid: "{{ true }}" } }] }
  bench:
    timeout: { after: 1h, target: closed }
    on_enter:
      - invoke: host.polish
        background: true
        on_complete: [{ set: { note: "{{ world.last_job_result.shine }}" } }, { target: done }]
    on: { wait: { target: . } }
  closed: { terminal: true }
  done: { terminal: true }
`

func parse(t *testing.T, raw string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func kinds(list []engine.Event) string {
	var names []string
	for _, e := range list {
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(e.Kind, "machine."), "harness."))
	}
	return strings.Join(names, " ")
}

func get(s *engine.Session, key string) string {
	v, _ := s.World().Get(key)
	return v.JSON()
}

// What calls bind decides what follows, and a call sees what those before it bound.
func TestCallsSettle(t *testing.T) {
	s := session(t, shop, stubs{"host.price": {Data: parse(t, `{"amount":7}`)}, "host.rate": {Data: parse(t, `{"rate":{"now":2}}`), Cost: 0.5}})
	o, err := s.Turn(t.Context(), "ask", value.Value{}, "how much?")
	if err != nil || o.State != "done" || o.Mode != engine.Completed {
		t.Fatalf("%+v, %v", o, err)
	}
	want := "turn.input turn.start intent_accepted transition called called state_exited state_entered dispatched world.update returned dispatched world.update returned " +
		"world.update world.update gate_decided transition world.update state_exited state_entered turn.end"
	if got := kinds(o.Events); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	if get(s, "price") != "7" || get(s, "paid") != "true" || get(s, "session_cost_usd") != "0.5" {
		t.Errorf("world %s", s.World().JSON())
	}
	for _, e := range o.Events {
		if args, ok := e.Payload.Path("args.of"); ok && e.Kind == "harness.dispatched" && args.JSON() != "7" {
			t.Errorf("the second call saw the price %s", args.JSON())
		}
	}
}

func TestOnError(t *testing.T) {
	s := session(t, shop, stubs{"host.price": {Error: "out of lamps", Data: parse(t, `{"exit_code":3}`)}})
	o, err := s.Turn(t.Context(), "ask", value.Value{}, "")
	if err != nil || o.State != "closed" {
		t.Fatalf("%+v, %v", o, err)
	}
	if get(s, "last_error") != `"out of lamps"` || get(s, "host_error") == "null" || strings.Contains(kinds(o.Events), "dispatched dispatched") {
		t.Errorf("world %s, events %s", s.World().JSON(), kinds(o.Events))
	}
}

func TestJobAndTimeout(t *testing.T) {
	s := session(t, shop, stubs{"host.polish": {Data: parse(t, `{"shine":"bright"}`), Delay: 10 * time.Minute}})
	if _, err := s.Turn(t.Context(), "sulk", value.Value{}, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(t.Context(), 9*time.Minute); err != nil || s.State() != "bench" {
		t.Fatalf("%s, %v", s.State(), err)
	}
	if err := s.Advance(t.Context(), time.Minute); err != nil || s.State() != "done" || get(s, "note") != `"bright"` {
		t.Fatalf("%s, note %s, %v", s.State(), get(s, "note"), err)
	}
	late := session(t, shop, stubs{"host.polish": {Delay: 3 * time.Hour}})
	if _, err := late.Turn(t.Context(), "sulk", value.Value{}, ""); err != nil {
		t.Fatal(err)
	}
	if err := late.Advance(t.Context(), 4*time.Hour); err != nil || late.State() != "closed" {
		t.Errorf("%s, %v", late.State(), err)
	}
	if got := late.Jobs()[0].Status; got != engine.Done {
		t.Errorf("the job is %s", got)
	}
}

func TestRejectionAndMissing(t *testing.T) {
	s := session(t, shop, stubs{})
	o, err := s.Turn(t.Context(), "buy", value.Value{}, "")
	if err != nil || o.Mode != engine.Rejected || kinds(o.Events) != "turn.input turn.start validation_failed turn.end" {
		t.Errorf("%+v, %v", o, err)
	}
}
