// Package load reads a story: files in, a program.Story and every finding out.
//
// It is a part of the story studio above program and below everything that runs one. It
// stops at nothing: what is wrong in one place is said, and the rest is read on, so that
// one run gives the findings of all stages. It opens files through Files, and runs
// nothing of a story.
package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// The codes of this package.
const (
	CodeNoFile  fault.Code = "STORY_NO_FILE" // a file that is not there, or must not be read
	CodeInvalid fault.Code = "STORY_INVALID" // the story has errors; the findings say which

	// Of findings.
	CodeEscapes fault.Code = "STORY_ESCAPES"      // a name that leads out of the story's folder
	CodeCycle   fault.Code = "STORY_IMPORT_CYCLE" // an import within itself
	CodeImports fault.Code = "STORY_IMPORTS"      // too many, or too deep
	CodeMany    fault.Code = "STORY_TOO_MANY"     // more files than an include may name, or a prompt that is too long
)

// Files is where a story lies. Names are absolute and slashed; what must not be read is
// an error of code CodeNoFile. It is asked for several files at once.
type Files interface {
	// Read gives a file, of at most source.MaxFile bytes and one more.
	Read(ctx context.Context, name string) ([]byte, error)
	// Glob gives the files below dir that a pattern names, sorted.
	Glob(ctx context.Context, dir, pattern string) ([]string, error)
}

// Options say what to read.
type Options struct {
	Files Files
	App   string // the manifest, or its folder
	Work  string // the folder that a run works in: pages link the files that they name from here; "" links none
	Root  string // where "@library/name" is found, as <Root>/<name>; "" is nowhere

	// Bindings bind interfaces, by folded name, in place of what the story says. Names that
	// it does not have are nothing.
	Bindings map[string]string
	// Env gives variables of the environment. Nil: none is asked for, and a story that names
	// one that is not set is not told so.
	Env func(name string) (string, bool)
}

// Load reads a story whole. The story is nil where the findings have an error; err is for
// what is no finding: a file that cannot be read, ctx.
func Load(ctx context.Context, o Options) (*program.Story, []Finding, error) {
	app := o.App
	if path.Ext(app) != ".yaml" && path.Ext(app) != ".yml" {
		app = path.Join(app, "app.yaml")
	}
	app = path.Clean(app)
	l := &loader{
		ctx: ctx, files: o.Files, root: o.Root, work: o.Work, base: path.Dir(app), bindings: o.Bindings, env: o.Env, keys: map[string]bool{}, guards: map[string]*expr.Expr{}, smalls: map[string]*expr.Template{}, pages: map[string]*expr.Pages{}, trees: map[string]*source.Node{}, allowed: map[string]bool{},
		sum: sha256.New(),
	}
	l.readAhead(app)
	m := l.module(app, nil, nil)
	if l.err != nil {
		return nil, l.sorted(), l.err
	}
	if m == nil {
		return nil, l.sorted(), nil
	}
	story := l.story(m)
	if l.err != nil || l.failed() {
		return nil, l.sorted(), l.err
	}
	return story, l.sorted(), nil
}

// A loader is one run.
type loader struct {
	report
	ctx   context.Context //nolint:containedctx // lives as long as Load
	files Files
	root  string
	work  string
	base  string // folder of the root manifest: names in findings are seen from here
	yaml  source.Reader
	err   error // the first that is no finding
	sum   hash.Hash

	bindings map[string]string
	trees    map[string]*source.Node // by manifest, with what it includes
	modules  int                     // that were imported
	ready    map[string]*parsed      // files that were parsed ahead

	// What was compiled already, by source: the same guards stand in many places, and an
	// imported story is there as often as it is imported.
	guards map[string]*expr.Expr
	smalls map[string]*expr.Template
	pages  map[string]*expr.Pages // by folder

	s       *program.Story
	aims    []aim
	allowed map[string]bool // handlers that interfaces are bound to
	keys    map[string]bool // of the world, by folded name
	uses    []use
	checks  []func()
	env     func(string) (string, bool)
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// shown is a file's name in findings.
func (l *loader) shown(name string) string { return Shown(l.base, name) }

// Shown is a file's name as findings and positions of a story in the folder dir have it.
func Shown(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
		return rest
	}
	if !path.IsAbs(name) || !path.IsAbs(dir) {
		return name
	}
	ups := ""
	for ; dir != "/"; dir = path.Dir(dir) {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			return ups + rest
		}
		ups += "../"
	}
	return name
}

// read reads a file, or says at the place that names it why not.
func (l *loader) read(name string, at program.Pos) []byte {
	raw, err := l.raw(name)
	if err == nil {
		_, _ = fmt.Fprintf(l.sum, "%s\x00%d\x00", l.shown(name), len(raw)) // a hash takes everything
		_, _ = l.sum.Write(raw)
		return raw
	}
	if l.ctx.Err() != nil {
		l.err = l.ctx.Err()
	}
	if at.File == "" && l.err == nil {
		l.err = fault.Wrap(err, CodeNoFile, "story.load", "the story %q cannot be read", l.shown(name)).WithHint("name a folder with an app.yaml, or the file itself")
		return nil
	}
	l.fail(at, "%q cannot be read: %s", l.shown(name), err)
	return nil
}

func (l *loader) raw(name string) ([]byte, error) {
	if p := l.ready[name]; p != nil {
		return p.raw, p.err
	}
	return l.files.Read(l.ctx, name)
}

// file reads a YAML file.
func (l *loader) file(name string, at program.Pos) *source.Node {
	raw := l.read(name, at)
	if raw == nil {
		return nil
	}
	p := l.ready[name]
	if p == nil {
		return l.parse(l.shown(name), raw)
	}
	l.yaml.Count(program.Pos{File: l.shown(name), Line: 1, Column: 1}, p.nodes)
	for _, pr := range append(p.problems, l.yaml.Problems()...) {
		l.refuse(pr.Code, pr.Pos, "%s", pr.Message)
	}
	return p.node
}

// parse reads YAML, and takes what is wrong with it into the findings.
func (l *loader) parse(name string, raw []byte) *source.Node {
	n := l.yaml.Parse(name, raw)
	for _, p := range l.yaml.Problems() {
		l.refuse(p.Code, p.Pos, "%s", p.Message)
	}
	return n
}

// A module is one manifest with all that it includes, at the place where it is imported.
type module struct {
	app      string // absolute
	dir      string
	tree     *source.Node
	o        *object // over tree
	scope    *program.Scope
	pages    *expr.Pages
	parent   *module
	imp      *imported // how parent takes it in; nil for the root
	children []*module // by alias
	names    names
	lent     []string          // intents of the parent, under their own names here
	lifted   []string          // intents that the parent has under their own names
	prompts  map[string]string // files that an importer puts in place of others
	hosts    []string
	exits    map[string]*program.Exit
}

// module reads a manifest with its includes, and what it imports.
func (l *loader) module(app string, parent *module, imp *imported) *module {
	at := program.Pos{}
	if imp != nil {
		at = imp.pos
	}
	tree := l.tree(app, at)
	if tree == nil {
		return nil
	}
	m := &module{app: app, dir: path.Dir(app), tree: tree, parent: parent, imp: imp}
	m.o = l.object(tree, "the story")
	m.pages = l.pagesOf(m.dir)
	l.imports(m)
	return m
}

func (l *loader) pagesOf(dir string) *expr.Pages {
	if p := l.pages[dir]; p != nil {
		return p
	}
	p := expr.NewPages(func(name string) ([]byte, error) {
		if !local(name) {
			return nil, fault.New(CodeNoFile, "story.page", "the page %q lies outside of the story's views", name)
		}
		return l.files.Read(l.ctx, path.Join(dir, "views", name))
	})
	l.pages[dir] = p
	return p
}

// tree reads a manifest once, however often it is imported.
func (l *loader) tree(app string, at program.Pos) *source.Node {
	if t, ok := l.trees[app]; ok {
		return t
	}
	l.trees[app] = nil
	tree := l.file(app, at)
	if tree == nil {
		return nil
	}
	if tree.Kind != source.Map {
		l.fail(tree.Pos, "the story is %s, and not a mapping", tree.What())
		return nil
	}
	l.include(tree, path.Dir(app))
	l.phases(tree)
	l.trees[app] = tree
	return tree
}

// local reports a name that stays below its folder.
func local(name string) bool {
	clean := path.Clean(name)
	return !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../")
}
