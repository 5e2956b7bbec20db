package repocheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const (
	root   = "../.." // the repository
	module = "github.com/soundstage-dev/soundstage/"
)

// A file is one file of the repository.
type file struct {
	path string // slashes, from the root
	text string
	ast  *ast.File // of Go files
}

func (f *file) pkg() string     { return path.Dir(f.path) }
func (f *file) isTest() bool    { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) generated() bool { return f.ast != nil && ast.IsGenerated(f.ast) }
func (f *file) lines() int      { return strings.Count(f.text, "\n") }

// A tree is the repository, or a small one planted for a test.
type tree struct {
	fset  *token.FileSet
	files []*file
}

// add parses Go files and keeps the rest as text.
func (tr *tree) add(name, text string) error {
	f := &file{path: name, text: text}
	if path.Ext(name) == ".go" {
		parsed, err := parser.ParseFile(tr.fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		f.ast = parsed
	}
	tr.files = append(tr.files, f)
	return nil
}

// golang yields the Go files.
func (tr *tree) golang() []*file {
	return slices.DeleteFunc(slices.Clone(tr.files), func(f *file) bool { return f.ast == nil })
}

// code yields the Go files that are neither tests nor generated.
func (tr *tree) code() []*file {
	return slices.DeleteFunc(tr.golang(), func(f *file) bool { return f.isTest() || f.generated() })
}

// get finds a file by its path.
func (tr *tree) get(name string) (*file, bool) {
	i := slices.IndexFunc(tr.files, func(f *file) bool { return f.path == name })
	if i < 0 {
		return nil, false
	}
	return tr.files[i], true
}

// at is "file.go:12: ".
func (tr *tree) at(pos token.Pos) string {
	p := tr.fset.Position(pos)
	return fmt.Sprintf("%s:%d: ", p.Filename, p.Line)
}

// skipped are folders that are not part of the repository.
var skipped = []string{".git", "bin", "node_modules"}

// theTree reads the repository once for all tests of this package.
//
// Most of it lies outside of this module, and what a test reads there go test's cache
// does not watch: an old pass would hide a breach. It tells outside by the beginning of
// a path, so the files are opened through one that is absolute and not cleaned,
// <this folder>/../../name; os.DirFS leaves it so.
var theTree = sync.OnceValues(func() (*tree, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	fsys := os.DirFS(here + "/" + root)
	tr := &tree{fset: token.NewFileSet()}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skipped, name) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || name == ".git" {
			return nil
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return tr.add(name, string(b))
	})
	return tr, err
})

// repo is the repository. It fails when there is so little of it that a walk must
// have gone wrong.
func repo(t *testing.T) *tree {
	t.Helper()
	tr, err := theTree()
	if err != nil {
		t.Fatal(err)
	}
	if top, ok := tr.get("go.mod"); !ok || !strings.HasPrefix(top.text, "module "+strings.TrimSuffix(module, "/")+"\n") {
		t.Skip("harness lies here without the rest of the repository")
	}
	if n := len(tr.code()); n < 20 {
		t.Fatalf("found %d Go files below %s: the walk is broken", n, root)
	}
	return tr
}

// plant makes a tree from a txtar text.
func plant(t *testing.T, text string) *tree {
	t.Helper()
	tr := &tree{fset: token.NewFileSet()}
	for _, f := range txtar.Parse([]byte(text)).Files {
		if err := tr.add(f.Name, string(f.Data)); err != nil {
			t.Fatal(err)
		}
	}
	if len(tr.files) == 0 {
		t.Fatal("nothing was planted")
	}
	return tr
}

// imports are the import paths of a file by the name that they have in it.
func imports(f *file) map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		name := importName(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// importPaths are the import paths of a file, in order.
func importPaths(f *file) []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		paths = append(paths, p)
	}
	return paths
}

// importName guesses a package's name from its path: the last part that is no
// version.
func importName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(p))
	}
	return base
}

// selectors calls visit for each pkg.Name in f whose pkg is an import.
func selectors(f *file, visit func(pos token.Pos, pkg, name string)) {
	names := imports(f)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier that the parser resolved is a variable that hides the import.
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && names[x.Name] != "" {
			visit(sel.Pos(), names[x.Name], sel.Sel.Name)
		}
		return true
	})
}

// match reports whether pattern, a path or "path/...", covers pkg.
func match(pattern, pkg string) bool {
	dir, all := strings.CutSuffix(pattern, "...")
	if !all {
		return pattern == pkg
	}
	return strings.HasPrefix(pkg+"/", dir)
}

// covered reports whether any of the patterns (with spaces between) covers pkg.
func covered(patterns, pkg string) bool {
	for p := range strings.FieldsSeq(patterns) {
		if match(p, pkg) {
			return true
		}
	}
	return false
}
