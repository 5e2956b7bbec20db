package load

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// The bounds of imports.
const (
	MaxImports     = 300 // of one story, each counted as often as it is imported
	MaxImportDepth = 16
)

var aliasForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// An imported is how a story takes another in, in the words of the one that does.
type imported struct {
	pos                        program.Pos
	alias, source, entry       string
	entryPos                   program.Pos
	exits                      []*outlet
	worldIn                    []*source.Key
	hosts                      string
	exports, lifts             []*source.Node // intents that the child may use, and that it lends
	states, intents, overrides []*source.Key  // overrides are those of prompts
	bindings                   []*source.Key
}

// An outlet is where an exit of the child leads in the parent.
type outlet struct {
	name string
	pos  program.Pos
	to   string
	set  *object
	keys []*source.Key // of set
}

func (i *imported) exit(name string) *outlet {
	for _, x := range i.exits {
		if x.name == name {
			return x
		}
	}
	return nil
}

// imports reads what a module takes in, and then those modules, by alias.
func (l *loader) imports(m *module) {
	keys := slices.Clone(m.o.entries("imports"))
	slices.SortFunc(keys, func(a, b *source.Key) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range keys {
		if imp := l.importOf(k); imp != nil {
			if c := l.child(m, imp); c != nil {
				m.children = append(m.children, c)
			}
		}
	}
}

func (l *loader) importOf(k *source.Key) *imported {
	if k.Val.IsNull() {
		l.fail(k.Pos, "imports.%s: empty definition", k.Name)
		return nil
	}
	o := l.object(k.Val, "imports.%s", k.Name)
	imp := &imported{pos: k.Pos, alias: k.Name, source: o.text("source"), entry: o.text("entry"), entryPos: o.pos("entry"), hosts: o.text("hosts")}
	o.text("version")
	for _, x := range o.entries("exits") {
		xo := l.object(x.Val, "imports.%s.exits.%s", k.Name, x.Name)
		out := &outlet{name: x.Name, pos: x.Pos, to: xo.text("to"), keys: xo.entries("set"), set: xo}
		imp.exits = append(imp.exits, out)
		xo.done()
	}
	imp.worldIn, imp.bindings = o.entries("world_in"), o.entries("host_bindings")
	in := l.object(o.node("intents"), "imports.%s.intents", k.Name)
	imp.exports, imp.lifts = in.list("export"), in.list("import")
	in.done()
	ov := l.object(o.node("overrides"), "imports.%s.overrides", k.Name)
	imp.states, imp.intents, imp.overrides = ov.entries("states"), ov.entries("intents"), ov.entries("prompts")
	ov.done()
	o.done()
	switch {
	case !aliasForm.MatchString(k.Name):
		l.fail(k.Pos, "imports.%s: alias must match %s", k.Name, aliasForm)
		return nil
	case imp.source == "":
		l.fail(k.Pos, "imports.%s: source is required", k.Name)
		return nil
	}
	if imp.hosts != "" && imp.hosts != "inherit" && imp.hosts != "declared" {
		l.fail(o.pos("hosts"), "imports.%s: hosts: must be 'inherit' or 'declared' (got %q)", k.Name, imp.hosts)
	}
	return imp
}

// child reads an imported module.
func (l *loader) child(m *module, imp *imported) *module {
	app, problem := l.sourceOf(m.dir, imp.source)
	if problem != "" {
		l.fail(imp.pos, "imports.%s: %s", imp.alias, problem)
		return nil
	}
	depth := 0
	for p := m; p != nil; p = p.parent {
		if p.app == app {
			l.refuse(CodeCycle, imp.pos, "imports.%s: cycle detected via %s", imp.alias, l.shown(app))
			return nil
		}
		depth++
	}
	l.modules++
	if depth > MaxImportDepth || l.modules > MaxImports {
		l.refuse(CodeImports, imp.pos, "imports.%s: more than %d imports, or deeper than %d", imp.alias, MaxImports, MaxImportDepth)
		return nil
	}
	c := l.module(app, m, imp)
	if c != nil {
		l.override(c)
	}
	return c
}

// sourceOf is the file that a source means, in a manifest of dir.
func (l *loader) sourceOf(dir, src string) (app, problem string) {
	switch {
	case strings.HasPrefix(src, "@"):
		_, name, _ := strings.Cut(src, "/")
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
			return "", sprintf("source %q: not of the form @library/name", src)
		}
		if l.root == "" {
			return "", sprintf("source %q: cannot be resolved, no folder of stories was given", src)
		}
		app = path.Join(l.root, name)
	case path.IsAbs(src):
		app = path.Clean(src)
	default:
		app = path.Join(dir, src)
	}
	if ext := path.Ext(app); ext != ".yaml" && ext != ".yml" {
		app = path.Join(app, "app.yaml")
	}
	return app, ""
}

// override puts what an importer writes in place of the child's own.
func (l *loader) override(c *module) {
	imp := c.imp
	replace := func(block, what string, with []*source.Key) {
		own := c.tree.Get(block)
		for _, k := range with {
			if own.Get(k.Name) == nil {
				l.fail(k.Pos, "imports.%s: overrides: %s.%s: child does not declare %s named %q", imp.alias, block, k.Name, what, k.Name)
				continue
			}
			own = own.Copy()
			for i, has := range own.Keys {
				if has.Name == k.Name {
					own.Keys[i] = k
				}
			}
			c.tree = c.tree.Copy()
			for i, has := range c.tree.Keys {
				if has.Name == block {
					c.tree.Keys[i] = &source.Key{Name: block, Pos: has.Pos, Val: own}
				}
			}
			c.o.n = c.tree
		}
	}
	replace("states", "a top-level state", imp.states)
	replace("intents", "an intent", imp.intents)
	for _, k := range imp.overrides {
		to := k.Val.Scalar.Text()
		if !path.IsAbs(to) {
			to = path.Join(c.parent.dir, to)
		}
		if _, err := l.files.Read(l.ctx, to); err != nil {
			l.fail(k.Val.Pos, "imports.%s: overrides: prompts.%s: %s", imp.alias, k.Name, err)
			continue
		}
		if c.prompts == nil {
			c.prompts = map[string]string{}
		}
		c.prompts[k.Name], c.prompts[path.Join(c.dir, k.Name)] = to, to
	}
}
