package story

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// TurnIn is one transition, and where it begins.
type TurnIn struct {
	Dir    string      `json:"dir,omitempty" jsonschema:"the story's folder: below the workspace or the stories folder; the workspace if left out"`
	State  string      `json:"state,omitempty" jsonschema:"where the story stands, such as shop.counter; where it begins if left out"`
	Intent string      `json:"intent,omitempty" jsonschema:"what is wanted, such as buy; or give text"`
	Text   string      `json:"text,omitempty" jsonschema:"what a person says, in place of an intent: routing finds what it means"`
	Slots  tool.Object `json:"slots,omitempty" jsonschema:"the values of the intent's slots"`
	World  tool.Object `json:"world,omitempty" jsonschema:"keys of the world that differ from how it begins"`
	Stubs  tool.Object `json:"stubs,omitempty" jsonschema:"what calls are answered, by handler, as in host_handlers of a flow: {\"host.run\":{\"data\":{\"ok\":true}}}"`
	Staged bool        `json:"staged,omitempty" jsonschema:"stop where a person decides"`
	Now    *time.Time  `json:"now,omitempty" jsonschema:"the time that it is, for days that the text names; 1970-01-01T00:00:00Z if left out"`
}

// TurnOut is what came of a transition.
type TurnOut struct {
	OK        bool        `json:"ok"`   // the intent was taken
	Mode      string      `json:"mode"` // transitioned, completed, rejected, clarify
	PrevState string      `json:"prev_state"`
	NextState string      `json:"next_state"`
	View      string      `json:"view_rendered"`
	Allowed   []string    `json:"allowed_intents"`
	Changed   tool.Object `json:"world_changed"` // keys of the world with their new values
	World     tool.Object `json:"world_after"`
	Effects   []Happened  `json:"effects_applied"`
	Calls     []HostCall  `json:"host_calls"` // that a stub answered, or a handler that ran
	WouldCall []HostCall  `json:"would_call"` // that nothing answered: none of them ran
	Code      string      `json:"error_code,omitempty"`
	Message   string      `json:"error_message,omitempty"`
	Hint      string      `json:"guard_hint,omitempty"`
	Needed    []string    `json:"slots_needed,omitempty"`
	Problem   string      `json:"problem,omitempty"` // what went wrong beside the story: a loop of settles

	Routed     *flow.Routed `json:"routed,omitempty"`      // what routing made of the text
	WouldRoute *WouldRoute  `json:"would_route,omitempty"` // what a model would be asked about the text: none was
}

// A WouldRoute is what a model would be asked about a text.
type WouldRoute struct {
	Text    string      `json:"text"`
	State   string      `json:"state"`
	Intents []string    `json:"intents"` // that it would choose among
	Tool    string      `json:"tool"`    // that it would answer with
	System  string      `json:"system"`
	Prompt  string      `json:"prompt"`
	Schema  tool.Object `json:"schema"` // of the tool's input
}

// A Happened is an event of a turn.
type Happened struct {
	Kind    string      `json:"kind"`
	State   string      `json:"state"`
	Payload tool.Object `json:"payload"`
}

// A HostCall is a call that the story asked for.
type HostCall struct {
	Handler    string      `json:"handler"`
	Args       tool.Object `json:"args"`
	State      string      `json:"state"`
	Background bool        `json:"background,omitempty"`
	Ran        bool        `json:"ran,omitempty"` // for real: no stub answered it
	Data       tool.Object `json:"data,omitempty"`
	Error      string      `json:"error,omitempty"`
}

func turnTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.turn", Title: "Try one turn of a story", Inline: result.MaxInlineRead,
		Summary: "Try one transition of a story: from a state and a world, with an intent or a text, to what comes of it.",
		Description: "routed says which tier of routing knew what a text means, and how sure it is; a text that only a model could know is not taken, and would_route is what the model would be asked. " +
			"Nothing is kept and nothing runs: calls are answered by stubs, and those that no stub answers are listed in would_call and give nothing; story.turn.exec makes them. " +
			"A rejected intent is an answer: error_code says why.",
	}), func(ctx context.Context, _ tool.Call, in TurnIn) (rep tool.Reply[TurnOut], err error) {
		err = d.in(ctx, "story.turn", in.Dir, func(p Place, dir string) error {
			rep.Out, err = Take(ctx, TurnDeps{Files: p.Disk, App: dir, Root: p.Stories}, in)
			return err
		})
		return rep, err
	})
}

// TurnDeps are the story of a turn, and the doors of one.
type TurnDeps struct {
	Files load.Files
	App   string
	Root  string          // where libraries are found
	Model route.Model     // for texts that no tier knows; nil: none is asked
	Calls engine.Handlers // makes the calls that no stub answers; nil: they are listed
}

// Take takes one turn of a story and keeps nothing of it.
func Take(ctx context.Context, d TurnDeps, in TurnIn) (TurnOut, error) {
	const op = "story.turn"
	slots, world, stubs, err := in.parsed(op)
	if err != nil {
		return TurnOut{}, err
	}
	story, err := loaded(ctx, op, d.Files, d.App, d.Root)
	if err != nil {
		return TurnOut{}, err
	}
	m := machine.New(story)
	if in.State == "" {
		in.State = story.Root
	}
	top, _, _ := strings.Cut(in.State, "#")
	if story.States[top] == nil {
		return TurnOut{}, unknown(op, "state", in.State, slices.Sorted(maps.Keys(story.States)))
	}
	if top == in.State { // not of a parallel state: then every region is named
		if in.State, err = m.Leaf(machine.Situation{State: in.State, World: m.World().Merge(world)}, in.State); err != nil {
			return TurnOut{}, err
		}
	}
	asked := &recorder{real: d.Calls}
	asked.stubs = flow.NewHandlers(stubs, unstubbed{asked})
	start := time.Unix(0, 0).UTC()
	if in.Now != nil {
		start = in.Now.UTC()
	}
	routes := route.New(route.Options{Story: story, Machine: m, Model: d.Model})
	s := engine.New(engine.Options{Story: story, Machine: m, Handlers: asked, Router: routes, ID: "turn", Staged: in.Staged, Start: start})
	s.Seed(in.State, world)
	before := s.World()
	var o engine.Outcome
	if in.Text != "" {
		o, err = s.Say(ctx, in.Text)
	} else {
		o, err = s.Turn(ctx, in.Intent, slots, "")
	}
	if err != nil {
		return TurnOut{}, err
	}
	return outcome(o, in.State, before, s.World(), asked), nil
}

func (in TurnIn) parsed(op string) (slots, world value.Value, stubs map[string]*flow.Stub, err error) {
	object := func(name string, raw tool.Object) value.Value {
		if len(raw) == 0 || err != nil {
			return value.NewMap(nil)
		}
		v, e := value.Parse(raw)
		if e != nil || v.Kind() != value.Map {
			err = fault.New(fault.Invalid, op, "%s is no JSON object: %.60q", name, string(raw)).WithHint(`write one, such as {"name":"Ada"}`)
			return value.NewMap(nil)
		}
		return v
	}
	switch {
	case (in.Intent == "") == (in.Text == ""):
		err = fault.New(fault.Invalid, op, "give either an intent or a text").WithHint("an intent is a name of the story, a text is what a person would type")
	case in.Text != "" && len(in.Slots) > 0:
		err = fault.New(fault.Invalid, op, "slots are given beside a text").WithHint("leave slots out: they come from the text; or give the intent")
	}
	slots, world = object("slots", in.Slots), object("world", in.World)
	if given := object("stubs", in.Stubs); err == nil && given.Len() > 0 {
		stubs, err = flow.Stubs(given)
	}
	return slots, world, stubs, err
}

// unknown is the error of a name that a story does not have, with those that are near.
func unknown(op, what, name string, names []string) error {
	e := fault.New(CodeWhat, op, "the story has no %s %q", what, name)
	if near := tool.Near(name, names); len(near) > 0 {
		return e.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
	return e.WithHint("its %ss are %s", what, strings.Join(names[:min(len(names), 30)], ", "))
}

func outcome(o engine.Outcome, from string, before, after value.Value, asked *recorder) TurnOut {
	out := TurnOut{
		OK: o.Rejection == nil, Mode: string(o.Mode), PrevState: from, NextState: o.State, View: o.View, Allowed: append([]string{}, o.Allowed...),
		World: object(after), Effects: []Happened{}, Calls: append([]HostCall{}, asked.answered...), WouldCall: append([]HostCall{}, asked.missed...), Problem: o.Problem,
		Routed: flow.RoutedOf(o.Route), WouldRoute: wouldRoute(o.Route),
	}
	changed := map[string]value.Value{}
	for name, v := range after.Members() {
		if was, ok := before.Get(name); !ok || !was.Equal(v) {
			changed[name] = v
		}
	}
	out.Changed = object(value.NewMap(changed))
	for _, e := range o.Events {
		out.Effects = append(out.Effects, Happened{Kind: e.Kind, State: e.State, Payload: object(e.Payload)})
	}
	if r := o.Rejection; r != nil {
		out.Code, out.Message, out.Hint, out.Needed = string(r.Code), r.Message, r.Hint, r.Missing
		if len(r.Allowed) > 0 {
			out.Allowed = r.Allowed
		}
	}
	return out
}

func wouldRoute(v *route.Verdict) *WouldRoute {
	if v == nil || v.Question == nil {
		return nil
	}
	q := v.Question
	return &WouldRoute{Text: q.Text, State: q.State, Intents: append([]string{}, q.Intents...), Tool: route.Tool, System: q.System, Prompt: q.Prompt, Schema: tool.Object(q.Schema)}
}

func object(v value.Value) tool.Object {
	if v.Kind() != value.Map {
		return nil
	}
	return tool.Object(v.JSON())
}

// A recorder notes every call of a turn, answered or not.
type recorder struct {
	stubs            engine.Handlers
	real             engine.Handlers // nil: none
	answered, missed []HostCall
	nobody, ran      bool // of the call that is made: nothing answered it, or no stub did
}

// Call implements engine.Handlers.
func (r *recorder) Call(ctx context.Context, c engine.Request) (engine.Result, error) {
	r.nobody, r.ran = false, false
	res, err := r.stubs.Call(ctx, c)
	call := HostCall{Handler: c.Handler, Args: object(c.Args), State: c.State, Background: c.Background, Ran: r.ran}
	if r.nobody {
		r.missed = append(r.missed, call)
		return res, err
	}
	call.Data, call.Error = object(res.Data), res.Error
	if err != nil {
		call.Error = err.Error()
	}
	r.answered = append(r.answered, call)
	return res, err
}

// unstubbed is who is asked behind the stubs.
type unstubbed struct{ r *recorder }

// Call implements engine.Handlers. Where there is no handler nothing is given.
func (u unstubbed) Call(ctx context.Context, c engine.Request) (engine.Result, error) {
	if u.r.real != nil {
		res, err := u.r.real.Call(ctx, c)
		if fault.CodeOf(err) != engine.CodeHandler {
			u.r.ran = true
			return res, err
		}
	}
	u.r.nobody = true
	return engine.Result{}, nil
}
