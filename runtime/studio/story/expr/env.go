package expr

import (
	"maps"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The roots that a story can name. State is for pages only.
const (
	World     = "world"
	Slots     = "slots"
	Event     = "event"
	Run       = "run" // id, turn
	Args      = "args"
	Menu      = "menu" // primary, blocked
	Item      = "item"
	Result    = "result"
	Proposal  = "proposal"
	Inbox     = "inbox"
	Workspace = "workspace"
	State     = "state" // path, description
)

var roots = map[string]bool{
	World: true, Slots: true, Event: true, Run: true, Args: true, Menu: true, Item: true, Result: true, Proposal: true, Inbox: true, Workspace: true,
	"true": true, "false": true, "nil": true,
}

// An Env is what an expression or a template sees. It is immutable: With makes another.
type Env struct {
	vars map[string]any // as the languages see them; nobody changes what is inside
	name func(string) string
}

var nothing = map[string]any{}

// NewEnv is an empty Env: every root is nil, or empty where it is always a map.
func NewEnv() *Env {
	e := &Env{vars: make(map[string]any, 16)}
	for _, root := range []string{World, Slots, Event, Args, Menu, Result} {
		e.vars[root] = nothing
	}
	e.vars[Run] = noRun
	maps.Copy(e.vars, noMenu)
	return e
}

var (
	noRun  = map[string]any{"id": "", "turn": 0}
	noMenu = (&Env{}).asks()
)

// With is e with one root set.
func (e *Env) With(root string, v value.Value) *Env {
	next := &Env{vars: maps.Clone(e.vars), name: e.name}
	next.put(root, v)
	if root == Menu {
		maps.Copy(next.vars, next.asks())
	}
	return next
}

// Page is e for a page: its menu, what is known of its state, and what the whole story
// calls intents that the page names.
func (e *Env) Page(menu, state value.Value, to func(bare string) string) *Env {
	next := &Env{vars: maps.Clone(e.vars), name: to}
	next.put(Menu, menu)
	next.put(State, state)
	maps.Copy(next.vars, next.asks())
	return next
}

func (e *Env) put(root string, v value.Value) {
	e.vars[root] = v.Shared()
	if v.IsNil() && root != Item && root != State {
		e.vars[root] = nothing
	}
}

// Named is e for a part of a story where intents have names of their own: to is what the
// whole story calls them.
func (e *Env) Named(to func(bare string) string) *Env {
	next := &Env{vars: maps.Clone(e.vars), name: to}
	maps.Copy(next.vars, next.asks())
	return next
}

// asks are the functions that ask about intents, over the menu.
func (e *Env) asks() map[string]any {
	fns := make(map[string]any, 4)
	primary, blocked := map[string]bool{}, map[string]string{}
	menu, _ := e.vars[Menu].(map[string]any)
	for _, row := range rows(menu["primary"]) {
		primary[text(row["intent"])] = true
	}
	for _, row := range rows(menu["blocked"]) {
		blocked[text(row["intent"])] = text(row["reason"])
	}
	named := func(bare string) string {
		if e.name == nil {
			return bare
		}
		return e.name(bare)
	}
	fns["available"] = func(name string) bool { return primary[named(name)] }
	fns["blocked"] = func(name string) bool { _, ok := blocked[named(name)]; return ok }
	fns["blocked_reason"] = func(name string) string { return blocked[named(name)] }
	fns["intent_status"] = func(name string) string {
		name = named(name)
		if _, ok := blocked[name]; ok && !primary[name] {
			return "blocked"
		}
		if primary[name] {
			return "available"
		}
		return "unknown"
	}
	return fns
}

func rows(list any) []map[string]any {
	var all []map[string]any
	items, _ := list.([]any)
	for _, it := range items {
		if m, ok := it.(map[string]any); ok && text(m["intent"]) != "" {
			all = append(all, m)
		}
	}
	return all
}

func text(x any) string {
	s, _ := x.(string)
	return s
}
