package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Fold makes the provider-safe name of an id: dots and dashes become underscores. Names that
// are folded already come back as they are.
func Fold(id string) string { return fold.Replace(id) }

var fold = strings.NewReplacer(".", "_", "-", "_")

// A Registry is an immutable set of tools. It is safe for concurrent use.
type Registry struct {
	tools  []Tool // by id
	byName map[string]int
}

// NewRegistry makes a registry. It panics when two tools have the same id or the
// same provider-safe name, and on a tool that was not made by New.
func NewRegistry(tools ...Tool) *Registry {
	r, dropped := (&Registry{}).Join(tools...)
	if len(dropped) > 0 {
		panic(fmt.Sprintf("tool: ids that clash, or tools not made by New: %s", strings.Join(dropped, ", ")))
	}
	return r
}

// All returns every tool, by id. The slice is the caller's.
func (r *Registry) All() []Tool { return slices.Clone(r.tools) }

// Len is the number of tools.
func (r *Registry) Len() int { return len(r.tools) }

// Names returns every dotted id, sorted.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.ID
	}
	return names
}

// Get finds a tool by its dotted id or its provider-safe name.
func (r *Registry) Get(name string) (Tool, bool) {
	i, ok := r.byName[Fold(name)]
	if !ok || (r.tools[i].ID != name && Fold(name) != name) {
		return Tool{}, false
	}
	return r.tools[i], true
}

// Join adds tools whose names arrive at run time, and returns a new registry with
// the ids that were left out because their name was taken. What was there first
// stays.
func (r *Registry) Join(extra ...Tool) (joined *Registry, dropped []string) {
	all, taken := slices.Clone(r.tools), map[string]bool{}
	for _, t := range all {
		taken[t.Name()] = true
	}
	for _, t := range extra {
		if taken[t.Name()] || t.check == nil {
			dropped = append(dropped, t.ID)
			continue
		}
		taken[t.Name()] = true
		all = append(all, t)
	}
	return index(all), dropped
}

// Only returns the tools that keep says yes to. Everything else is unknown to the
// new registry, and so to whoever dispatches from it.
func (r *Registry) Only(keep func(Spec) bool) *Registry {
	return index(slices.DeleteFunc(slices.Clone(r.tools), func(t Tool) bool { return !keep(t.Spec) }))
}

// On returns the tools of one skin.
func (r *Registry) On(skin Skin) *Registry { return r.Only(func(s Spec) bool { return s.On(skin) }) }

// Belt returns what a model sees now: the direct tools and those of the deferred
// that were revealed, as far as they are available on this skin.
func (r *Registry) Belt(skin Skin, revealed []string) []Tool {
	var belt []Tool
	for _, t := range r.tools {
		shown := t.Exposure == Direct || t.Exposure == Deferred && slices.Contains(revealed, t.ID)
		if shown && t.On(skin) && t.Here() {
			belt = append(belt, t)
		}
	}
	return belt
}

func index(tools []Tool) *Registry {
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.ID, b.ID) })
	r := &Registry{tools: tools, byName: make(map[string]int, len(tools))}
	for i, t := range tools {
		r.byName[t.Name()] = i
	}
	return r
}

// Key is the concurrency key of a call: the Spec's, with "{field}" replaced by the
// input's field as JSON text without quotes; an absent field is "".
func Key(s Spec, input []byte) string {
	if s.Concurrency == "" {
		return ""
	}
	return eachField(s.Concurrency, func(name string) string { return field(input, name) })
}

// field reads one top-level field of a canonical object.
func field(input []byte, name string) string {
	d := jsontext.NewDecoder(strings.NewReader(string(input)))
	if _, err := d.ReadToken(); err != nil {
		return ""
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return ""
		}
		found := key.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return ""
		}
		if found {
			if v.Kind() == '"' {
				text, _ := jsontext.AppendUnquote(nil, v)
				return string(text)
			}
			return string(v)
		}
	}
	return ""
}
