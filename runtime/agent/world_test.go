package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A say is one scripted reply.
type say struct {
	text   string
	calls  []string // "tool_name {json}"
	err    error    // before anything, or after text where cut is set
	cut    bool     // the stream breaks after text and calls
	reason model.FinishReason
	before func() // runs when the request arrives
	usage  *model.Usage
}

// scripted is a provider that answers from a list.
type scripted struct {
	script []say
	price  *model.Price

	mu       sync.Mutex
	requests []model.Request
}

func (s *scripted) Info() model.Info {
	return model.Info{Ref: "fake/one", MaxOutput: 1_000, Price: s.price}
}

func (s *scripted) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		if n >= len(s.script) {
			yield(model.Event{}, fault.New(fault.Internal, "test", "request %d is not in the script", n+1))
			return
		}
		step := s.script[n]
		if step.before != nil {
			step.before()
		}
		if ctx.Err() != nil {
			yield(model.Event{}, fault.Wrap(ctx.Err(), fault.Cancelled, "test", "cancelled"))
			return
		}
		if step.err != nil && !step.cut {
			yield(model.Event{}, step.err)
			return
		}
		reply := model.Reply{Reason: step.reason, Usage: model.Usage{State: model.Exact, Input: 10, Output: 2}}
		if step.usage != nil {
			reply.Usage = *step.usage
		}
		if step.text != "" {
			reply.Parts = append(reply.Parts, model.Part{Kind: model.Text, Text: step.text})
			if !yield(model.Event{Kind: model.TextDelta, Delta: step.text}, nil) {
				return
			}
		}
		for i, c := range step.calls {
			name, input, _ := strings.Cut(c, " ")
			p := model.Part{Kind: model.CallPart, Call: &model.ToolCall{ID: req.CallIDs(i), Name: name, Input: input}}
			reply.Parts = append(reply.Parts, p)
			if !yield(model.Event{Kind: model.CallEvent, Part: &p}, nil) {
				return
			}
		}
		if step.cut {
			if step.err != nil {
				yield(model.Event{}, step.err)
			}
			return
		}
		if reply.Reason == "" {
			reply.Reason = model.Stop
			if len(step.calls) > 0 {
				reply.Reason = model.ToolCalls
			}
		}
		yield(model.Event{Kind: model.Finish, Reply: &reply}, nil)
	}
}

// notebook keeps the events.
type notebook struct {
	mu     sync.Mutex
	events []trace.Event
	said   []trace.Payload
	synced int
	full   int // refuse from this event on; 0 never
}

func (n *notebook) Record(ctx context.Context, turn int, p trace.Payload) (trace.Event, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil {
		return trace.Event{}, ctx.Err()
	}
	if n.full > 0 && len(n.events)+1 >= n.full {
		return trace.Event{}, fault.New(fault.Internal, "trace.record", "the disk is full")
	}
	data, err := json.Marshal(p)
	if err != nil {
		return trace.Event{}, err
	}
	e := trace.Event{V: trace.Version, Seq: int64(len(n.events) + 1), Turn: turn, Type: p.EventType(), Data: data}
	n.events, n.said = append(n.events, e), append(n.said, p)
	return e, nil
}

func (n *notebook) Sync() error { n.synced++; return nil }

// types is the run of event types, in short.
func (n *notebook) types() string {
	var all []string
	for _, e := range n.events {
		all = append(all, e.Type)
	}
	return strings.Join(all, " ")
}

// watcher notes what a skin sees.
type watcher struct {
	labels  []string
	partial string
	texts   []string
}

func (w *watcher) Label(l agent.Label)  { w.labels = append(w.labels, string(l.Phase)) }
func (w *watcher) Partial(delta string) { w.partial += delta }
func (w *watcher) Show(tool.Show)       {}
func (w *watcher) Withdraw()            { w.partial = "" }
func (w *watcher) Text(text string)     { w.texts = append(w.texts, text) }

// person answers from a list, and is absent after that.
type person struct {
	answers []gate.Answer
	asked   []gate.Question
	before  func()
}

func (p *person) Ask(_ context.Context, q gate.Question) gate.Answer {
	p.asked = append(p.asked, q)
	if p.before != nil {
		p.before()
	}
	if len(p.asked) > len(p.answers) {
		return gate.Answer{Choice: gate.Absent, By: gate.Nobody}
	}
	return p.answers[len(p.asked)-1]
}

// post is an inbox that a test fills.
type post struct{ notes []agent.Note }

func (p *post) Take() []agent.Note {
	n := p.notes
	p.notes = nil
	return n
}

// world is one turn with everything around it.
type world struct {
	t      *testing.T
	model  *scripted
	trace  *notebook
	skin   *watcher
	person *person
	inbox  *post
	clock  *clock.Fixed
	rows   *ledger.Memory
	opts   agent.Options

	mu    sync.Mutex
	ran   []string // "id input", in the order in which handlers began
	apply func(id string) (draft.Receipt, error)
	read  func() (string, error)
	slow  func(text string) // runs in test.slow
}

type (
	textIn struct {
		Text string `json:"text,omitempty" jsonschema:"what to say"`
	}
	draftIn struct {
		Draft  string `json:"draft" jsonschema:"the draft"`
		Reason string `json:"reason,omitempty" jsonschema:"why"`
	}
	callIn struct {
		ID    string      `json:"id" jsonschema:"the tool"`
		Input tool.Object `json:"input,omitempty" jsonschema:"its input"`
	}
	none = struct{}
)

func (w *world) note(id, input string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = append(w.ran, strings.TrimSpace(id+" "+input))
}

func spec(id string, e tool.Effect, x tool.Exposure) tool.Spec {
	return tool.Spec{ID: id, Summary: "Does it.", Effect: e, Exposure: x}
}

func (w *world) tools() []tool.Tool {
	reply := func(id, text string) (tool.Reply[none], error) {
		w.note(id, text)
		return tool.Reply[none]{Text: "said " + text}, nil
	}
	return []tool.Tool{
		tool.New(spec("studio.read", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in textIn) (tool.Reply[none], error) {
			w.note("studio.read", in.Text)
			text, err := w.read()
			return tool.Reply[none]{Text: text}, err
		}),
		tool.New(spec("test.slow", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in textIn) (tool.Reply[none], error) {
			w.slow(in.Text)
			return reply("test.slow", in.Text)
		}),
		tool.New(spec("test.say", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in textIn) (tool.Reply[none], error) {
			return reply("test.say", in.Text)
		}),
		tool.New(spec("test.break", tool.Read, tool.Direct), func(context.Context, tool.Call, textIn) (tool.Reply[none], error) {
			return tool.Reply[none]{}, fault.New(fault.NotFound, "test.break", "no such thing").WithHint("look elsewhere")
		}),
		tool.New(spec("test.miss", tool.Read, tool.Direct), func(context.Context, tool.Call, textIn) (tool.Reply[none], error) {
			return tool.Reply[none]{}, fault.New("SEAM_MISS", "seam", "no episode for mcp://far/tools")
		}),
		tool.New(spec("capability.find", tool.Read, tool.Direct), func(_ context.Context, _ tool.Call, in textIn) (tool.Reply[none], error) {
			w.note("capability.find", in.Text)
			return tool.Reply[none]{Text: "found", Reveal: strings.Fields(in.Text)}, nil
		}),
		tool.New(spec("capability.call", tool.Unknown, tool.Direct), func(context.Context, tool.Call, callIn) (tool.Reply[none], error) {
			w.t.Error("capability.call reached its handler")
			return tool.Reply[none]{}, nil
		}),
		tool.New(spec("character.identity.update", tool.Draft, tool.Deferred), func(_ context.Context, _ tool.Call, in textIn) (tool.Reply[none], error) {
			w.note("character.identity.update", in.Text)
			id := in.Text
			if id == "" {
				id = "d-1"
			}
			return tool.Reply[none]{Text: "composed", Review: &draft.Review{Draft: id, Target: "character/ada"}}, nil
		}),
		tool.New(spec("change.apply", tool.Apply, tool.Direct), func(_ context.Context, _ tool.Call, in draftIn) (tool.Reply[none], error) {
			w.note("change.apply", in.Draft)
			r, err := w.apply(in.Draft)
			return tool.Reply[none]{Text: string(r.Outcome), Receipt: &r}, err
		}),
		tool.New(spec("change.discard", tool.Draft, tool.Direct), func(_ context.Context, _ tool.Call, in draftIn) (tool.Reply[none], error) {
			w.note("change.discard", in.Draft)
			return tool.Reply[none]{Text: "dropped", Receipt: &draft.Receipt{Draft: in.Draft, Outcome: draft.Discarded, Detail: in.Reason}}, nil
		}),
	}
}

// newWorld builds a guarded session over a script.
func newWorld(t *testing.T, script ...say) *world {
	t.Helper()
	w := &world{
		t: t, model: &scripted{script: script}, trace: &notebook{}, skin: &watcher{}, person: &person{}, inbox: &post{},
		clock: clock.NewFixed(clock.Epoch), rows: ledger.NewMemory(),
		read: func() (string, error) { return "the piece", nil }, slow: func(string) {},
		apply: func(id string) (draft.Receipt, error) {
			return draft.Receipt{Draft: id, Outcome: draft.Applied, Target: store.Ref{Kind: "character", ID: "ada"}, Revision: 2}, nil
		},
	}
	rows := trust.Rows()
	for _, id := range []string{"test.slow", "test.say", "test.break", "test.miss"} {
		rows = append(rows, trust.Row{ID: id, Class: trust.Read})
	}
	reg := tool.NewRegistry(w.tools()...)
	w.opts = agent.Options{
		Provider: w.model, Registry: reg, Recorder: w.trace, Clock: w.clock, Asker: w.person, Inbox: w.inbox, Output: w.skin, Session: "s-1",
		System: []string{"You help."},
		Gate:   gate.New(gate.Options{Registry: reg, Table: trust.NewTable(rows...), Clock: w.clock}),
	}
	return w
}

func (w *world) turn(ctx context.Context) agent.Outcome {
	w.t.Helper()
	out, err := agent.New(w.opts).Turn(ctx, agent.Input{Turn: 1, Text: "rename Ada"})
	if err != nil {
		w.t.Fatalf("Turn: %v", err)
	}
	w.paired(out.History)
	w.closed(out)
	w.rebuilt(out)
	return out
}

// paired checks that every declared call has one result, right after it, in order.
func (w *world) paired(history []model.Message) {
	w.t.Helper()
	for i, m := range history {
		var calls, results []string
		for _, p := range m.Parts {
			if p.Kind == model.CallPart {
				calls = append(calls, p.Call.ID)
			}
		}
		if i+1 < len(history) && history[i+1].Role == model.ToolRole {
			for _, p := range history[i+1].Parts {
				results = append(results, p.Result.ID)
			}
		}
		if fmt.Sprint(calls) != fmt.Sprint(results) {
			w.t.Errorf("message %d calls %v and is answered %v", i, calls, results)
		}
		if i > 0 && m.Role == history[i-1].Role {
			w.t.Errorf("messages %d and %d are both of %s", i-1, i, m.Role)
		}
		if len(m.Parts) == 0 {
			w.t.Errorf("message %d is empty", i)
		}
	}
	open := map[string]bool{}
	for _, p := range w.trace.said {
		switch p := p.(type) {
		case trace.ToolCalled:
			open[p.Call] = true
		case trace.ToolFinished:
			if !open[p.Call] {
				w.t.Errorf("%s finished and was not called", p.Call)
			}
			delete(open, p.Call)
		}
	}
	if len(open) > 0 {
		w.t.Errorf("calls without a result on the trace: %v", open)
	}
}

// rebuilt checks that the trace tells the same conversation and the same costs.
func (w *world) rebuilt(out agent.Outcome) {
	w.t.Helper()
	history, err := session.History(w.trace.events)
	if err != nil {
		w.t.Fatal(err)
	}
	got, _ := json.Marshal(history)
	want, _ := json.Marshal(out.History)
	if string(got) != string(want) {
		w.t.Errorf("history from the trace\n got %s\nwant %s", got, want)
	}
	rows, err := session.Rows(w.trace.events)
	if err != nil {
		w.t.Fatal(err)
	}
	if kept, _ := w.rows.ListRows(w.t.Context(), ""); fmt.Sprint(rows) != fmt.Sprint(kept) {
		w.t.Errorf("rows from the trace\n got %+v\nwant %+v", rows, kept)
	}
}

// closed checks the turn's last event against its outcome.
func (w *world) closed(out agent.Outcome) {
	w.t.Helper()
	last, ok := w.trace.said[len(w.trace.said)-1].(trace.TurnClosed)
	if !ok || last.Label != out.Label || last.Stop != string(out.Stop) || last.Text != out.Text || last.Cost != out.Cost || w.trace.synced != 1 {
		w.t.Errorf("the trace ends with %+v (synced %d), the outcome is %+v", last, w.trace.synced, out)
	}
	if strings.Contains(out.Guidance, "\n") {
		w.t.Errorf("guidance of more than one line: %q", out.Guidance)
	}
	if out.Stop != "" && (out.Guidance == "" || !strings.HasPrefix(string(out.Stop), "STOP_")) {
		w.t.Errorf("stop %q with guidance %q", out.Stop, out.Guidance)
	}
}

// results are what the model was told in the last message of results.
func results(history []model.Message) []model.ToolResult {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role == model.ToolRole {
			var all []model.ToolResult
			for _, p := range history[i].Parts {
				all = append(all, *p.Result)
			}
			return all
		}
	}
	return nil
}

func yes() gate.Answer { return gate.Answer{Choice: gate.Once, By: gate.Person} }
func no() gate.Answer  { return gate.Answer{Choice: gate.No, By: gate.Person} }

var busy = fault.Wrap(&model.HTTPError{Status: 529, Message: "overloaded", Partial: model.Usage{State: model.None}}, model.CodeBusy, "model.stream", "busy")

func busyFor(d time.Duration) error {
	return fault.Wrap(&model.HTTPError{Status: 429, Message: "slow down", RetryAfter: d, Partial: model.Usage{State: model.None}}, model.CodeBusy, "model.stream", "busy")
}
