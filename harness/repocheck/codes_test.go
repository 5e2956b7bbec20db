package repocheck

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A code is one constant of type fault.Code.
type code struct {
	value, pkg, comment, at string
	exported                bool
}

var upperSnake = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// preamble is how a docstring begins.
var preamble = regexp.MustCompile(`^\w+ (says that|says|is) `)

// codes collects the constants, and what is wrong with them.
func codes(tr *tree) (all []code, found []string) {
	for _, f := range tr.code() {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok.String() != "const" {
				continue
			}
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && isCode(f, v.Type) {
					doc := v.Doc
					if !g.Lparen.IsValid() {
						doc = g.Doc
					}
					c, bad := readCode(tr, f, v, cmp.Or(v.Comment.Text(), doc.Text()))
					all, found = append(all, c...), append(found, bad...)
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			// A suite for a port (storetest) names codes as its tables need them.
			if ok && len(call.Args) == 1 && isCode(f, call.Fun) && !strings.HasSuffix(f.pkg(), "test") {
				if _, ok := call.Args[0].(*ast.BasicLit); ok {
					found = append(found, tr.at(call.Pos())+"a code is a constant of type fault.Code")
				}
			}
			return true
		})
	}
	slices.SortFunc(all, func(a, b code) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.at, b.at)) })
	// A package that passes on a code of a room that it may not import repeats it,
	// unexported: the home is where it is exported.
	all = slices.DeleteFunc(all, func(c code) bool {
		return !c.exported && slices.ContainsFunc(all, func(o code) bool { return o.value == c.value && o.exported })
	})
	for i := 1; i < len(all); i++ {
		if all[i].value == all[i-1].value {
			found = append(found, fmt.Sprintf("%s%s is declared at %s too", all[i].at, all[i].value, strings.TrimSuffix(all[i-1].at, ": ")))
		}
	}
	return all, found
}

// isCode reports whether an expression is the type fault.Code.
func isCode(f *file, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && e.Sel.Name == "Code" && imports(f)[x.Name] == module+"harness/fault"
	case *ast.Ident:
		return e.Name == "Code" && f.pkg() == "harness/fault"
	}
	return false
}

func readCode(tr *tree, f *file, v *ast.ValueSpec, comment string) (all []code, found []string) {
	for i, id := range v.Names {
		c := code{pkg: f.pkg(), at: tr.at(id.Pos()), exported: id.IsExported()}
		if i < len(v.Values) {
			if lit, ok := v.Values[i].(*ast.BasicLit); ok {
				c.value, _ = strconv.Unquote(lit.Value)
			}
		}
		// "CodeX says that a thing is so." is what Go wants of a lone constant; the page
		// has the code beside it.
		c.comment = strings.TrimSuffix(preamble.ReplaceAllString(strings.Join(strings.Fields(comment), " "), ""), ".")
		switch {
		case !upperSnake.MatchString(c.value):
			found = append(found, fmt.Sprintf("%s%s is %q, not UPPER_SNAKE", c.at, id.Name, c.value))
		case c.comment == "":
			found = append(found, fmt.Sprintf("%s%s has no comment that says when it is given", c.at, c.value))
		default:
			all = append(all, c)
		}
	}
	return all, found
}

var codeRule = rule{
	name: "error codes",
	find: func(tr *tree) []string {
		all, found := codes(tr)
		if len(all) == 0 {
			found = append(found, "found no code at all")
		}
		return found
	},
	plant: `
-- harness/fault/a.go --
package fault
type Code string
const Stale Code = "STALE" // it changed
const Bad Code = "bad-code" // it is bad
-- runtime/gate/a.go --
package gate
import "github.com/soundstage-dev/soundstage/harness/fault"
const (
	CodeA fault.Code = "GATE_A" // a
	CodeB fault.Code = "GATE_B"
	CodeC fault.Code = "STALE" // again
	codeD fault.Code = "STALE" // the store's, passed on
)
func f() { _ = fault.Code("GATE_D") }
`,
	want: []string{`Bad is "bad-code"`, "GATE_B has no comment", "a code is a constant", "STALE is declared at harness/fault/a.go:3 too"},
}

// The flag is this package's own: harness/snapshot, which has it elsewhere, is a module
// that the harness does not require.
var update = flag.Bool("update", false, "rewrite docs/reference/errors.md")

// TestErrorReference keeps docs/reference/errors.md true.
func TestErrorReference(t *testing.T) {
	all, _ := codes(repo(t))
	var b bytes.Buffer
	b.WriteString("# Error codes\n\n<!-- Written by harness/repocheck from the constants; change them there, then: make update -->\n\n")
	b.WriteString("Every error carries one of these codes, a message that names the thing, and where there is one a hint: the next step.\nCodes never change. The package is where the code is declared.\n\n")
	b.WriteString("| code | when | package |\n|---|---|---|\n")
	for _, c := range all {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.value, strings.ReplaceAll(c.comment, "|", `\|`), c.pkg)
	}
	const path = root + "/docs/reference/errors.md"
	if *update {
		if os.Getenv("CI") != "" {
			t.Fatal("CI is set, so nothing is rewritten")
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, b.Bytes()) {
		t.Errorf("%s is not what the constants say (%v): make update", path, err)
	}
}
