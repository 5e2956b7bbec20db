package load

import (
	"cmp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// fallback gives every state that takes no free text the way to the one that does: the
// state that routing names, or a landing with a work intent.
func (l *loader) fallback() {
	r := &l.s.Routing
	if r.FallbackState == "" && r.FallbackIntent == "" {
		r.FallbackState, r.FallbackIntent = l.landing()
	}
	from := l.s.States[r.FallbackState]
	if from == nil || r.FallbackIntent == "" {
		return
	}
	i := slices.IndexFunc(from.On, func(on program.On) bool { return on.Intent == r.FallbackIntent })
	if i < 0 || len(from.On[i].Arcs) == 0 {
		return
	}
	way := program.On{Intent: r.FallbackIntent, Bare: r.FallbackIntent, Pos: from.On[i].Pos}
	for _, a := range from.On[i].Arcs {
		c := *a
		c.Target = program.Target{Raw: from.Path, Path: from.Path, Pos: a.Target.Pos}
		way.Arcs = append(way.Arcs, &c)
	}
	for _, s := range l.s.States {
		if s == from || s.Terminal || s.DefaultIntent != "" || s.OffRamp != nil {
			continue
		}
		if !slices.ContainsFunc(s.On, func(on program.On) bool { return on.Intent == way.Intent }) {
			s.On = append(s.On, way)
		}
	}
}

func (l *loader) landing() (state, intent string) {
	type candidate struct{ state, intent string }
	var all []candidate
	for _, s := range l.s.States {
		if s.Name != "landing" {
			continue
		}
		if slices.ContainsFunc(s.On, func(on program.On) bool { return on.Intent == "work" }) {
			all = append(all, candidate{s.Path, "work"})
			continue
		}
		for _, on := range s.On {
			if strings.HasSuffix(on.Intent, "__work") {
				all = append(all, candidate{s.Path, on.Intent})
			}
		}
	}
	if len(all) == 0 {
		return "", ""
	}
	first := slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.state, b.state), strings.Compare(a.intent, b.intent))
	})
	return first.state, first.intent
}
