package machine

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// A Row is one thing that can be done now, or cannot.
type Row struct {
	Intent  string
	Display string
	Reason  string // why it cannot
	To      string // where it leads
	Open    bool   // it can
	Slots   value.Value
	Missing []string // slots that a person gives
}

// A Menu is what can be done in a situation.
type Menu struct{ Primary, Blocked []Row }

// Value is a menu as pages see it.
func (m Menu) Value() value.Value {
	list := func(rows []Row) value.Value {
		items := make([]value.Value, len(rows))
		for i, r := range rows {
			items[i] = value.Owned(fields{
				"intent": value.Of(r.Intent), "display": value.Of(r.Display), "reason": value.Of(r.Reason),
				"destination_hint": value.Of(r.To), "primary": value.Of(r.Open),
			})
		}
		return value.NewList(items...)
	}
	return value.Owned(fields{"primary": list(m.Primary), "blocked": list(m.Blocked)})
}

// Menu is what can be done in a situation.
func (m *Machine) Menu(at Situation) Menu {
	at = at.looked()
	var menu Menu
	labels := m.labels(at.State)
	allowed := m.Allowed(at.State)
	urgency := map[string]int{}
	for _, a := range allowed {
		urgency[a.Name] = a.Intent.Priority
		if a.Intent.Hidden {
			continue
		}
		rows := m.rows(at, a)
		if l := labels[a.Name]; l != "" && len(rows) == 1 && len(rows[0].Missing) > 0 {
			rows[0].Display = l
		}
		for _, row := range rows {
			if row.Open {
				menu.Primary = append(menu.Primary, row)
			} else {
				menu.Blocked = append(menu.Blocked, row)
			}
		}
	}
	slices.SortStableFunc(menu.Primary, func(a, b Row) int {
		if d := urgency[b.Intent] - urgency[a.Intent]; d != 0 {
			return d
		}
		return strings.Compare(a.Display, b.Display)
	})
	slices.SortStableFunc(menu.Blocked, func(a, b Row) int { return strings.Compare(a.Display, b.Display) })
	return menu
}

func (m *Machine) labels(state string) map[string]string {
	s := m.story.States[state]
	if s == nil || s.View == nil {
		return nil
	}
	labels := map[string]string{}
	for bare, label := range s.View.Labels {
		labels[m.alias(state, bare)] = label
	}
	return labels
}

// rows are the rows of an intent: one, or one for each value of its first enum slot.
func (m *Machine) rows(at Situation, a Allowed) []Row {
	var required []string
	for _, name := range slices.Sorted(slices.Values(a.Intent.SlotOrder)) {
		if a.Intent.Slots[name].Required {
			required = append(required, name)
		}
	}
	enum := slices.IndexFunc(required, func(name string) bool { return len(a.Intent.Slots[name].Values) > 0 })
	if len(required) > 0 && enum < 0 {
		return []Row{{Intent: a.Name, Display: spell(a, required, -1, ""), Missing: required, Open: true}}
	}
	if len(required) == 0 {
		t := m.try(at, a.Name, value.Value{})
		row := Row{Intent: a.Name, Display: a.Name, Open: true, To: t.to}
		if t.blocked || t.byDefault && t.refused && t.reason != "" {
			row.Open, row.To, row.Reason = false, "", t.reason
			if row.Reason == "" {
				row.Reason = a.Intent.Description
			}
		}
		return []Row{row}
	}
	var rows []Row
	rest := slices.Delete(slices.Clone(required), enum, enum+1)
	for _, v := range a.Intent.Slots[required[enum]].Values {
		slots := value.Owned(fields{required[enum]: value.Of(v)})
		t := m.try(at, a.Name, slots)
		if t.byDefault {
			continue
		}
		row := Row{Intent: a.Name, Display: spell(a, required, enum, v), Slots: slots, Missing: rest, Open: true, To: t.to}
		if t.blocked {
			row.Open, row.To, row.Reason = false, "", t.reason
			if row.Reason == "" {
				row.Reason = a.Intent.Description
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// spell is a row with places for what is to be given.
func spell(a Allowed, required []string, enum int, val string) string {
	words := []string{a.Name}
	for i, name := range required {
		if i == enum {
			words = append(words, val)
		} else {
			words = append(words, "<"+name+":"+a.Intent.Slots[name].Type+">")
		}
	}
	return strings.Join(words, " ")
}

// A trial is what would become of an intent.
type trial struct {
	blocked   bool // no arc takes it
	byDefault bool // the default arc does
	refused   bool // after another arc did not
	reason    string
	to        string
}

func (m *Machine) try(at Situation, intent string, slots value.Value) trial {
	r := m.run(at, slots, false)
	for s := range m.up(at.State) {
		on := find(s, intent)
		if on == nil || len(on.Arcs) == 0 {
			continue
		}
		var t trial
		for _, a := range on.Arcs {
			switch {
			case a.Default:
				t.byDefault = true
				if a.Hint != "" {
					t.reason = a.Hint
				}
				t.to = hinted(s, a)
				return t
			case a.When == nil:
				return trial{to: hinted(s, a)}
			}
			ok, err := a.When.Bool(r.env(a.Scope))
			if err != nil {
				return trial{}
			}
			if ok {
				return trial{to: hinted(s, a)}
			}
			t.refused = true
			if t.reason == "" {
				t.reason = a.Hint
			}
		}
		t.blocked = true
		return t
	}
	return trial{}
}

func hinted(s *program.State, a *program.Arc) string {
	if a.Target.Path != "" {
		return a.Target.Path
	}
	return Resolve(s, a.Target.Raw)
}

// page renders the page of where a run stands.
func (m *Machine) page(r *run, arc *program.Arc) (string, error) {
	menu := m.Menu(r.at()).Value()
	show := func(v *view.View, path string) (string, error) {
		if v == nil {
			return "", nil
		}
		var scope *program.Scope
		description := ""
		if s := m.story.States[path]; s != nil {
			scope, description = s.Scope, s.Description
		}
		about := value.Owned(fields{"path": value.Of(path), "description": value.Of(description)})
		env := r.env(scope).Page(menu, about, func(bare string) string { return m.alias(path, bare) })
		return v.Text(env, view.Width)
	}
	par, ok := parallelOf(r.state)
	if arc != nil && arc.View != nil {
		return show(arc.View, plainState(r.state))
	}
	if !ok {
		s := m.story.States[r.state]
		if s == nil {
			return "", nil
		}
		return show(s.View, r.state)
	}
	var parts []string
	for _, path := range append([]string{par.root}, par.leaves...) {
		s := m.story.States[path]
		if s == nil {
			continue
		}
		text, err := show(s.View, path)
		if err != nil {
			return "", err
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}
