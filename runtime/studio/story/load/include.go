package load

import (
	"path"
	"slices"
)

// MaxIncludes is how many files one manifest may include.
const MaxIncludes = 1_000

// include merges what a manifest includes into its tree: mappings by key, lists at their
// end. A key that stands in two files is a finding.
func (l *loader) include(m *module) {
	for _, g := range m.tree.get("include").items() {
		pattern := g.scalar.Text()
		if !local(pattern) {
			l.fail(g.pos, "include %q leads out of the story's folder", pattern)
			continue
		}
		names, err := l.files.Glob(l.ctx, m.dir, pattern)
		if err != nil {
			l.fail(g.pos, "include glob %q: %s", pattern, err)
			continue
		}
		if len(names) > MaxIncludes {
			l.fail(g.pos, "include %q names %d files, the bound is %d", pattern, len(names), MaxIncludes)
			names = names[:MaxIncludes]
		}
		slices.Sort(names)
		for _, name := range names {
			raw := l.read(name, g.pos)
			if raw == nil {
				continue
			}
			if tree := l.parse(l.shown(name), raw); tree != nil {
				l.merge(m.tree, tree, path.Base(name))
			}
		}
	}
}

func (n *node) items() []*node {
	if n == nil {
		return nil
	}
	return n.list
}

// merge puts the keys of a file into a manifest's tree.
func (l *loader) merge(into, from *node, file string) {
	if from.kind != mapNode {
		l.fail(from.pos, "%s is %s, and not a mapping", file, from.what())
		return
	}
	for _, k := range from.keys {
		has := into.key(k.name)
		switch {
		case has == nil:
			into.keys = append(into.keys, &key{name: k.name, pos: k.pos, val: k.val.copied()})
		case k.val.isNull():
		case has.val.isNull():
			has.val = k.val.copied()
		case has.val.kind == mapNode && k.val.kind == mapNode && k.name != "phases":
			l.mergeMembers(has.val, k)
		case has.val.kind == listNode && k.val.kind == listNode && k.name == "hosts":
			has.val.list = append(has.val.list, k.val.list...)
		default:
			l.fail(k.pos, "include: %s: block already declared", k.name)
		}
	}
}

// kindsOf are the words for what a block of a manifest declares.
var kindsOf = map[string]string{
	"states": "state", "phase_templates": "phase_template", "proposals": "proposal", "intents": "intent", "world": "world variable",
	"meta_modes": "meta_mode", "agents": "agent", "providers": "provider", "checkpoint_intents": "checkpoint_intent",
}

func (l *loader) mergeMembers(into *node, block *key) {
	for _, k := range block.val.keys {
		if into.key(k.name) != nil {
			what := kindsOf[block.name]
			if what == "" {
				what = block.name
			}
			l.fail(k.pos, "include: %s %q is already declared", what, k.name)
			continue
		}
		into.keys = append(into.keys, k)
	}
}

func (n *node) key(name string) *key {
	for _, k := range n.keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

// copied is a node whose keys can be added to.
func (n *node) copied() *node {
	if n == nil {
		return nil
	}
	c := *n
	c.keys, c.list = slices.Clone(n.keys), slices.Clone(n.list)
	return &c
}
