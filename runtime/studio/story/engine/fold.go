package engine

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// fold is where a story stands after these events. A session is what its trace says: what
// a turn changed without an event is gone when the turn ends, so that a session that is
// read back from its trace is the same one.
func (s *Session) fold(at machine.Situation, events []Event) machine.Situation {
	changed := fields{}
	for _, e := range events {
		switch e.Kind {
		case "machine.transition":
			if to, _ := e.Payload.Get("to"); to.Str() != "" {
				at.State = to.Str()
			}
		case "world.update":
			set, _ := e.Payload.Get("set")
			for name, v := range set.Members() {
				changed[name] = s.folded(name, v)
			}
			counts, _ := e.Payload.Get("increment")
			for name, by := range counts.Members() {
				was, ok := changed[name]
				if !ok {
					was, _ = at.World.Get(name)
				}
				f, _ := was.Float()
				n, _ := by.Int()
				changed[name] = value.Of(int64(f) + n)
			}
		}
	}
	if len(changed) > 0 {
		at.World = at.World.Merge(value.NewMap(changed))
	}
	at.World = s.present(at.World)
	return at
}

// folded is a value as it comes back from a trace: a number is whole only where the story
// says so.
func (s *Session) folded(name string, v value.Value) value.Value {
	if s.machine.Whole(name) {
		if f, ok := v.Float(); ok {
			return value.Of(int64(f))
		}
	}
	w, _ := v.Floats()
	return w
}

// present puts into a world what holds of the session itself and stands in no trace: its
// id, and that no editor is connected.
func (s *Session) present(world value.Value) value.Value {
	if id, _ := world.Get("session_id"); id.Str() == "" {
		world = world.With("session_id", value.Of(s.id))
	}
	ide, _ := world.Get("ide")
	if ide.Kind() != value.Map {
		ide = value.NewMap(nil)
	}
	if _, ok := ide.Get("connected"); !ok {
		world = world.With("ide", ide.With("connected", value.Of(false)))
	}
	return world
}
