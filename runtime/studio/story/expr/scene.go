package expr

import (
	"maps"
	"sync"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// Names are what a part of a story calls keys of the world.
type Names struct {
	whole map[string]string   // name here -> in the whole story
	here  map[string][]string // the other way
}

// NewNames makes Names of name here -> name in the whole story.
func NewNames(whole map[string]string) *Names {
	n := &Names{whole: whole, here: make(map[string][]string, len(whole))}
	for bare, folded := range whole {
		n.here[folded] = append(n.here[folded], bare)
	}
	return n
}

// A Scene is one world as the languages see it, once for every part of a story that looks
// at it. It is immutable and safe for concurrent use.
type Scene struct {
	world value.Value
	mu    sync.Mutex
	views map[*Names]map[string]any
}

// NewScene is the scene of a world.
func NewScene(world value.Value) *Scene { return &Scene{world: world} }

// World is the world of the scene.
func (s *Scene) World() value.Value { return s.world }

// Env is what a part of the story sees: its own keys under their own names, over all
// others. A nil part sees all names as they are.
func (s *Scene) Env(part *Names, slots value.Value) *Env {
	e := NewEnv()
	e.vars[World] = s.view(part)
	e.put(Slots, slots)
	return e
}

func (s *Scene) view(part *Names) map[string]any {
	whole, _ := s.world.Shared().(map[string]any)
	if part == nil || len(part.whole) == 0 {
		return whole
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[part]
	if v == nil {
		v = maps.Clone(whole)
		for bare, folded := range part.whole {
			if x, ok := whole[folded]; ok {
				v[bare] = x
			} else {
				delete(v, bare)
			}
		}
		if s.views == nil {
			s.views = map[*Names]map[string]any{}
		}
		s.views[part] = v
	}
	return v
}

// A Stage is a scene at work: one run changes its world key by key, and nobody else sees
// it.
type Stage struct {
	scene *Scene // that it began with, or that it was sealed as; nil where it changed since
	world value.Value
	whole map[string]any            // its own; nil before the first change
	views map[*Names]map[string]any // its own, of those that were asked for
}

// Stage begins to change a scene.
func (s *Scene) Stage() *Stage { return &Stage{scene: s, world: s.world} }

// World is the world as it is.
func (t *Stage) World() value.Value { return t.world }

// Set changes a key.
func (t *Stage) Set(key string, v value.Value) {
	if t.whole == nil {
		had, _ := t.world.Shared().(map[string]any)
		t.whole = maps.Clone(had)
		if t.whole == nil {
			t.whole = map[string]any{}
		}
		t.views = map[*Names]map[string]any{}
	}
	t.scene = nil
	t.world = t.world.With(key, v)
	x := v.Shared()
	t.whole[key] = x
	for part, view := range t.views {
		if _, own := part.whole[key]; !own {
			view[key] = x
		}
		for _, bare := range part.here[key] {
			view[bare] = x
		}
	}
}

// Env is Scene.Env of the world as it is. It is to be used before the next Set.
func (t *Stage) Env(part *Names, slots value.Value) *Env {
	if t.whole == nil {
		return t.scene.Env(part, slots)
	}
	e := NewEnv()
	e.vars[World] = t.view(part)
	e.put(Slots, slots)
	return e
}

func (t *Stage) view(part *Names) map[string]any {
	if part == nil || len(part.whole) == 0 {
		return t.whole
	}
	v := t.views[part]
	if v == nil {
		v = maps.Clone(t.whole)
		for bare, folded := range part.whole {
			if x, ok := t.whole[folded]; ok {
				v[bare] = x
			} else {
				delete(v, bare)
			}
		}
		t.views[part] = v
	}
	return v
}

// Scene is the world as it is, for others.
func (t *Stage) Scene() *Scene {
	if t.scene == nil {
		t.scene = NewScene(t.world)
	}
	return t.scene
}
