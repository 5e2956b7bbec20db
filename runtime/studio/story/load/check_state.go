package load

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// later notes a check that needs all states and declarations.
func (l *loader) later(check func()) { l.checks = append(l.checks, check) }

// checkState says what a state must not put together. What needs the whole story is asked
// later.
func (l *loader) checkState(p place, o *object, s *program.State) {
	if s.OffRamp != nil && s.Terminal {
		l.fail(s.OffRamp.Pos, "%s declares agent_off_ramp on a terminal: true state; a terminal state never routes free text", o.what)
	}
	if s.OffRamp != nil && s.Mode == "conversational" {
		l.fail(s.OffRamp.Pos, "%s declares agent_off_ramp on a mode: conversational state; that harness is already free-form", o.what)
	}
	if s.Kind == program.Parallel {
		if len(s.Children) < 2 {
			l.fail(s.Pos, "%s: parallel state must declare at least 2 child regions (got %d)", o.what, len(s.Children))
		}
		for up := s.Parent; up != nil; up = up.Parent {
			if up.Kind == program.Parallel {
				l.fail(s.Pos, "%s: a parallel state within the parallel state %s", o.what, up.Path)
			}
		}
	}
	for i, k := range o.n.Get("relevant_world").Items() {
		if i < len(s.RelevantWorld) {
			at, name := k.Pos, s.RelevantWorld[i]
			l.later(func() {
				if !l.keys[name] && !slices.Contains(reserved, name) {
					l.fail(at, "%s: relevant_world key %q is not declared in world schema", o.what, k.Scalar.Text())
				}
			})
		}
	}
	l.later(func() {
		l.checkInitial(o, s)
		l.checkDefault(o, s)
		l.checkLanes(o, s)
		l.checkWriteMode(o, s)
		if s.OffRamp != nil {
			l.agentKnown(s.OffRamp.Agent, s.OffRamp.Pos, "states."+s.Path+".agent_off_ramp.agent")
		}
	})
	if s.DefaultIntent == "" && s.Mode == "" && !s.Terminal && len(s.Children) == 0 && len(s.On) == 0 && len(s.OnEnter) == 0 && s.Parent == nil {
		l.warn(s.Pos, "%s: nothing leads out of it, and it is not terminal", o.what)
	}
}

func (l *loader) checkInitial(o *object, s *program.State) {
	if s.Initial == nil || s.Initial.Template != nil || s.Kind != program.Compound {
		return
	}
	path := s.Path + "." + s.Initial.Name
	if l.s.States[path] != nil {
		return
	}
	say := l.fail
	if !o.has("type") { // a state that only has children runs with any name
		say = l.warn
	}
	say(s.Initial.Pos, "%s: initial child %q does not exist", o.what, s.Initial.Name)
}

func (l *loader) checkDefault(o *object, s *program.State) {
	if s.DefaultIntent == "" {
		return
	}
	at, bare := o.pos("default_intent"), o.n.Get("default_intent").Scalar.Text()
	if !takes(s, s.DefaultIntent) {
		l.fail(at, "%s: default_intent %q has no matching on: arc in this state", o.what, bare)
	}
	if in := l.intentIn(s, s.DefaultIntent); in == nil {
		l.fail(at, "%s: default_intent %q is not a declared intent", o.what, bare)
	} else if !oneText(in) {
		l.fail(at, "%s: default_intent %q must declare exactly one required string slot to receive the free-text utterance", o.what, bare)
	}
}

func (l *loader) checkLanes(o *object, s *program.State) {
	c := s.Contextual
	if c == nil || !c.Enabled {
		return
	}
	if c.RoomChat == "" && c.HelpChat == "" && c.MetaChat == "" {
		l.fail(c.Pos, "%s: contextual_routing.enabled requires at least one lane (room_chat, help_chat, or meta_chat)", o.what)
	}
	lanes := o.n.Get("contextual_routing")
	for _, lane := range []struct{ name, intent string }{{"room_chat", c.RoomChat}, {"plan_accept_intent", c.PlanAccept}, {"plan_refine_intent", c.PlanRefine}} {
		if lane.intent == "" {
			continue
		}
		at := lanes.Get(lane.name).Pos
		if !takes(s, lane.intent) {
			l.fail(at, "%s: contextual_routing.%s %q has no matching on: arc in this state", o.what, lane.name, lane.intent)
		}
		if l.intentIn(s, lane.intent) == nil {
			l.fail(at, "%s: contextual_routing.%s %q is not a declared intent", o.what, lane.name, lane.intent)
		}
	}
}

// checkWriteMode: a room that begins without writing has somebody who might, and nobody
// who is said to.
func (l *loader) checkWriteMode(o *object, s *program.State) {
	if s.WriteMode != "read_only" {
		return
	}
	calls := s.Mode == "conversational" || s.OffRamp != nil
	for _, e := range ownEffects(s) {
		if e.Invoke != "host.agent.task" && e.Invoke != "host.agent.converse" {
			continue
		}
		calls = true
		if a := l.s.Agents[literal(e.With, "agent")]; a != nil && a.External {
			l.fail(o.pos("write_mode"), "%s: write_mode: read_only contradicts agent %q which declares external_side_effect: true", o.what, a.Bare)
		}
	}
	if !calls {
		l.fail(o.pos("write_mode"), "%s: write_mode: read_only is only meaningful on a room that dispatches an agent; it would silently do nothing here", o.what)
	}
}

// ownEffects are those of a state and its arcs.
func ownEffects(s *program.State) []*program.Effect {
	list := slices.Clone(s.OnEnter)
	for _, on := range s.On {
		for _, a := range on.Arcs {
			list = append(list, a.Effects...)
		}
	}
	return list
}

// literal is a text among arguments that is no template.
func literal(t *program.Tree, path ...string) string {
	for _, name := range path {
		if t == nil {
			return ""
		}
		t = t.Map[name]
	}
	if t == nil || t.Kind != program.TreeLiteral {
		return ""
	}
	return t.Literal.Str()
}

// checkOn says which intents a state takes that nobody declares.
func (l *loader) checkOn() {
	for _, s := range l.s.States {
		for _, on := range s.On {
			if on.Intent != "*" && s.Intents[on.Intent] == nil && l.s.Intents[on.Intent] == nil {
				l.fail(on.Pos, "state %s: on: %q — intent not declared in intents library or state.intents", here(s), on.Bare)
			}
		}
	}
}

// here is a state's path as the author of its file knows it.
func here(s *program.State) string { return strings.TrimPrefix(s.Path, s.Scope.Path+".") }

// checkIntent says what is wrong with the words for an intent.
func (l *loader) checkIntent(o *object, in *program.Intent) {
	for i, n := range o.n.Get("synonyms").Items() {
		if strings.TrimSpace(n.Value().Text()) == "" {
			l.fail(n.Pos, "%s: synonyms[%d] is empty", o.what, i)
		}
	}
	for _, name := range in.SlotOrder {
		s := in.Slots[name]
		l.checkSlot(o.n.Get("slots").Get(name).Get("synonyms"), s, o.what+" slot "+name)
		if s.Validator != "" {
			if _, err := expr.CompileBool(s.Validator); err != nil {
				l.warn(o.n.Get("slots").Get(name).Get("validator").Pos, "%s slot %s: validator: %s", o.what, name, problem(err))
			}
		}
		if s.HasDefault && len(s.Values) > 0 && !slices.Contains(s.Values, s.Default.Text()) {
			l.warn(s.Pos, "%s slot %s: the default %q is none of its values", o.what, name, s.Default.Text())
		}
	}
}

func (l *loader) checkSlot(synonyms *source.Node, s *program.Slot, what string) {
	if synonyms.IsNull() {
		return
	}
	if s.Type != "enum" {
		l.fail(synonyms.Pos, "%s: synonyms: is only valid on enum slots (got type %q)", what, s.Type)
		return
	}
	for _, k := range synonyms.Keys {
		if !slices.Contains(s.Values, k.Name) {
			l.fail(k.Pos, "%s: synonyms key %q is not in values: %v", what, k.Name, s.Values)
			continue
		}
		for i, n := range k.Val.Items() {
			if strings.TrimSpace(n.Value().Text()) == "" {
				l.fail(n.Pos, "%s: synonyms[%q][%d] is empty", what, k.Name, i)
			}
		}
	}
}
