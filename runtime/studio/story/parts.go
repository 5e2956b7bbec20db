package story

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// A collector gathers the parts of a story.
type collector struct{ list []Part }

func (c *collector) add(at source.Pos, scope *program.Scope, p Part) {
	p.at = at
	if scope != nil {
		p.Scope = strings.ReplaceAll(strings.TrimSuffix(scope.Prefix, "__"), "__", ".")
	}
	c.list = append(c.list, p)
}

// partsOf is everything of a story that stands somewhere.
func partsOf(s *program.Story) []Part {
	c := &collector{}
	for _, v := range s.World {
		does := "a key of the world"
		if v.Type != "" {
			does += ", " + v.Type
		}
		if !v.Default.IsNil() {
			does += ", at first " + clipped(v.Default.JSON())
		}
		c.add(v.Pos, v.Scope, Part{Kind: "world", Name: v.Name, Does: does})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Intents)) {
		c.intent(s.Intents[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		a := s.Agents[name]
		c.add(a.Pos, a.Scope, Part{Kind: "agent", Name: a.Name, Does: strings.TrimSpace("a model with a task " + a.Model)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Interfaces)) {
		i := s.Interfaces[name]
		c.add(i.Pos, i.Scope, Part{Kind: "interface", Name: i.Name, Does: "calls go to " + either3(i.Binding, i.Default, "nobody")})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Exits)) {
		c.add(s.Exits[name].Pos, nil, Part{Kind: "exit", Name: name, Does: "a way out that an importer maps"})
	}
	for _, p := range slices.Sorted(maps.Keys(s.States)) {
		c.state(s.States[p])
	}
	return c.list
}

func either3(a, b, c string) string {
	if a != "" {
		return a
	}
	if b != "" {
		return b
	}
	return c
}

func (c *collector) intent(i *program.Intent) {
	c.add(i.Pos, i.Scope, Part{Kind: "intent", Name: i.Name, Does: "something a person can want: " + either3(i.Title, i.Description, i.Name)})
	for _, name := range i.SlotOrder {
		s := i.Slots[name]
		does := "a value that " + i.Name + " takes: " + either3(s.Type, "", "any")
		if s.Required {
			does += ", required"
		}
		if len(s.Values) > 0 {
			does += ", one of " + strings.Join(s.Values, ", ")
		}
		c.add(s.Pos, i.Scope, Part{Kind: "slot", Name: name, Does: does})
	}
}

func (c *collector) state(s *program.State) {
	does := string(s.Kind)
	switch {
	case s.Wrapper:
		does += ", an imported story"
	case s.Terminal:
		does += ", and the story ends here"
	}
	target := ""
	if s.Initial != nil {
		does += ", begins in " + s.Initial.Name
		target = s.Path + "." + s.Initial.Name
	}
	c.add(s.Pos, s.Scope, Part{Kind: "state", Name: s.Path, Does: does, Target: target, Reads: qualified(s.Scope, s.RelevantWorld)})
	for _, i := range slices.Sorted(maps.Keys(s.Intents)) {
		c.intent(s.Intents[i])
	}
	if t := s.Timeout; t != nil {
		c.add(t.Pos, s.Scope, Part{Kind: "timeout", Name: s.Path, Does: "leaves by itself after " + t.After.String(), Target: leads(s, t.Target)})
	}
	for _, on := range s.On {
		c.add(on.Pos, s.Scope, Part{Kind: "on", Name: on.Intent, Does: "what " + s.Path + " does on it: the first arc that holds of " + strconv.Itoa(len(on.Arcs))})
		for i, a := range on.Arcs {
			c.arc(s, on, i, a)
		}
	}
	for _, e := range s.OnEnter {
		c.effect(s, e, "on_enter of "+s.Path)
	}
}

func (c *collector) arc(s *program.State, on program.On, i int, a *program.Arc) {
	p := Part{Kind: "arc", Name: on.Intent + "[" + strconv.Itoa(i) + "] of " + s.Path, Target: leads(s, a.Target), Does: "leads to " + leads(s, a.Target)}
	if a.Target.Self {
		p.Does += ", whose on_enter runs again"
	}
	if a.Target.Raw == "" || a.Target.Raw == "." {
		p.Does = "stays in " + s.Path
	}
	if a.When != nil {
		p.When, p.Reads = a.When.Source(), qualifiedReads(s.Scope, a.When.Reads())
	}
	if a.Default {
		p.When = "no arc before it held"
	}
	c.add(a.Pos, s.Scope, p)
	for _, e := range a.Effects {
		c.effect(s, e, p.Name)
	}
}

func leads(s *program.State, t program.Target) string {
	switch {
	case t.Path != "":
		return t.Path
	case t.Raw == "" || t.Raw == ".":
		return s.Path
	}
	return t.Raw // a template, or a way out
}

func (c *collector) effect(s *program.State, e *program.Effect, of string) {
	p := Part{Kind: "effect", Name: either3(string(e.Kind), "", "emit") + " in " + of}
	if e.When != nil {
		p.When = e.When.Source()
		p.Reads = qualifiedReads(e.Scope, e.When.Reads())
	}
	reads := func(list []string) { p.Reads = append(p.Reads, qualifiedReads(e.Scope, list)...) }
	switch e.Kind {
	case program.Set:
		for _, a := range e.Set {
			p.Writes = append(p.Writes, "world."+a.Key)
			reads(treeReads(a.Value))
			c.add(a.Pos, e.Scope, Part{Kind: "assignment", Name: "world." + a.Key, Does: "set in " + of, Reads: qualifiedReads(e.Scope, treeReads(a.Value)), Writes: []string{"world." + a.Key}})
		}
		p.Does = "sets " + strings.Join(p.Writes, ", ")
	case program.Increment:
		for _, n := range e.Increment {
			p.Writes = append(p.Writes, "world."+n.Key)
			c.add(n.Pos, e.Scope, Part{Kind: "count", Name: "world." + n.Key, Does: "adds " + strconv.FormatInt(n.By, 10), Writes: []string{"world." + n.Key}})
		}
		p.Does = "adds to " + strings.Join(p.Writes, ", ")
	case program.Say:
		p.Does = "says something above the page"
		reads(e.Say.Reads())
	case program.Invoke:
		c.invoke(s, e, of, &p, reads)
	case program.Nothing:
	}
	if e.EmitIntent != nil {
		p.Does = strings.TrimPrefix(p.Does+", and emits the intent "+e.EmitIntent.Source(), ", and ")
		reads(e.EmitIntent.Reads())
	}
	if e.Target != nil {
		p.Target = leads(s, *e.Target)
	}
	slices.Sort(p.Reads)
	p.Reads = slices.Compact(p.Reads)
	c.add(e.Pos, e.Scope, p)
	for _, sub := range slices.Concat(e.Effects, e.OnComplete) {
		c.effect(s, sub, of)
	}
}

func (c *collector) invoke(s *program.State, e *program.Effect, of string, p *Part, reads func([]string)) {
	p.Does = "calls " + e.Invoke
	if e.RawInvoke != "" && e.RawInvoke != e.Invoke {
		p.Does += " (" + e.RawInvoke + ")"
	}
	if e.Background {
		p.Does += " in the background"
	}
	if e.Once {
		p.Does += ", unless what it binds is set"
	}
	if e.OnError != nil {
		p.Does += ", and leads to " + leads(s, *e.OnError) + " where it fails"
	}
	reads(treeReads(e.With))
	for _, b := range e.Bind {
		p.Writes = append(p.Writes, "world."+b.Key)
		from := b.Path
		if b.Template != nil {
			from = b.Template.Source()
		}
		c.add(b.Pos, e.Scope, Part{Kind: "bind", Name: "world." + b.Key, Does: "takes " + from + " of what " + e.Invoke + " gives in " + of, Writes: []string{"world." + b.Key}})
	}
}

// treeReads is what the templates of a value read.
func treeReads(t *program.Tree) (list []string) {
	if t == nil {
		return nil
	}
	if t.Template != nil {
		list = slices.Clone(t.Template.Reads())
	}
	for _, it := range t.List {
		list = append(list, treeReads(it)...)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Map)) {
		list = append(list, treeReads(t.Map[name])...)
	}
	return list
}

// qualifiedReads says what a file's own words for keys are in the whole story.
func qualifiedReads(scope *program.Scope, reads []string) []string {
	var list []string
	for _, r := range reads {
		if key, ok := strings.CutPrefix(r, "world."); ok && scope != nil {
			r = "world." + scope.Key(key)
		}
		list = append(list, r)
	}
	return list
}

func qualified(scope *program.Scope, keys []string) []string {
	var list []string
	for _, k := range keys {
		if scope != nil {
			k = scope.Key(k)
		}
		list = append(list, "world."+k)
	}
	return list
}
