package load

import (
	"path"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// MaxIncludes is how many files one manifest may include.
const MaxIncludes = 1_000

// include merges what a manifest includes into its tree: mappings by key, lists at their
// end. A key that stands in two files is a finding.
func (l *loader) include(into *source.Node, dir string) {
	for _, g := range into.Get("include").Items() {
		pattern := g.Scalar.Text()
		if !local(pattern) {
			l.refuse(CodeEscapes, g.Pos, "include %q leads out of the story's folder", pattern)
			continue
		}
		names, err := l.files.Glob(l.ctx, dir, pattern)
		if err != nil {
			l.fail(g.Pos, "include glob %q: %s", pattern, err)
			continue
		}
		if len(names) > MaxIncludes {
			l.refuse(CodeMany, g.Pos, "include %q names %d files, the bound is %d", pattern, len(names), MaxIncludes)
			names = names[:MaxIncludes]
		}
		slices.Sort(names)
		for _, name := range names {
			if tree := l.file(name, g.Pos); tree != nil {
				l.merge(into, tree, path.Base(name))
			}
		}
	}
}

// merge puts the keys of a file into a manifest's tree.
func (l *loader) merge(into, from *source.Node, file string) {
	if from.Kind != source.Map {
		l.fail(from.Pos, "%s is %s, and not a mapping", file, from.What())
		return
	}
	for _, k := range from.Keys {
		has := into.Key(k.Name)
		switch {
		case has == nil:
			into.Keys = append(into.Keys, &source.Key{Name: k.Name, Pos: k.Pos, Val: k.Val.Copy()})
		case k.Val.IsNull():
		case has.Val.IsNull():
			has.Val = k.Val.Copy()
		case has.Val.Kind == source.Map && k.Val.Kind == source.Map && k.Name != "phases":
			l.mergeMembers(has.Val, k)
		case has.Val.Kind == source.List && k.Val.Kind == source.List && k.Name == "hosts":
			has.Val.List = append(has.Val.List, k.Val.List...)
		default:
			l.fail(k.Pos, "include: %s: block already declared", k.Name)
		}
	}
}

// kindsOf are the words for what a block of a manifest declares.
var kindsOf = map[string]string{
	"states": "state", "phase_templates": "phase_template", "proposals": "proposal", "intents": "intent", "world": "world variable",
	"meta_modes": "meta_mode", "agents": "agent", "providers": "provider", "checkpoint_intents": "checkpoint_intent",
}

func (l *loader) mergeMembers(into *source.Node, block *source.Key) {
	for _, k := range block.Val.Keys {
		if into.Key(k.Name) != nil {
			what := kindsOf[block.Name]
			if what == "" {
				what = block.Name
			}
			l.fail(k.Pos, "include: %s %q is already declared", what, k.Name)
			continue
		}
		into.Keys = append(into.Keys, k)
	}
}
