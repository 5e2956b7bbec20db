package content

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
)

// A page is the reference of one kind: its example, and the type of its body.
type page struct {
	kind, example string
	body          reflect.Type
	bytes         func([]byte) ([]byte, error) // the example, parsed and written again
}

func pageOf[B Body](kind, example string) page {
	return page{kind, example, reflect.TypeFor[B](), func(raw []byte) ([]byte, error) {
		b, err := Parse[B](raw)
		if err != nil {
			return nil, err
		}
		return Bytes(b)
	}}
}

var pages = []page{
	pageOf[Character](KindCharacter, `{
  "identity": {"name": "Ada Lighthouse", "nickname": "Ada"},
  "persona": {"description": "{{char}} keeps the lamp.", "scenario": "A storm."},
  "prompts": {"depthInjections": [{"content": "Be brief.", "depth": 4, "role": "system"}]},
  "greetings": {"first": "The lamp is lit.", "alternates": [{"text": "Again?", "title": "Second evening"}]},
  "discovery": {"tags": ["oc"]},
  "settings": {"talkativeness": 0.5},
  "variants": [{"id": "young", "label": "Forty years ago", "fields": {"persona": {"scenario": "Her first storm."}}}]
}`),
	pageOf[Lorebook](KindLorebook, `{"name": "The coast", "entries": [{"id": "lamp", "title": "The lamp", "keys": [{"text": "lamp"}], "content": "It burns whale oil.", "enabled": true}]}`),
	pageOf[Persona](KindPersona, `{"name": "Me", "brief": "For the shelf.", "content": "I came by boat.", "pronouns": {"subjective": "they"}, "injection": {"position": "depth", "depth": 2, "role": "system"}}`),
	pageOf[Preset](KindPreset, `{"name": "Calm"}`),
	pageOf[RegexSet](KindRegex, `{"name": "Tidy", "rules": [{"id": "stars", "name": "No stars", "find": "\\*", "flags": "g", "placement": ["ai_output"], "phases": ["display"], "enabled": true}]}`),
	pageOf[QuickReplySet](KindQuickReply, `{"name": "Table"}`),
	pageOf[Pack](KindPack, `{"name": "Faces", "items": [{"id": "joy", "label": "joy", "ref": "asset:1", "mime": "image/png"}], "groups": [{"name": "Mild", "items": ["joy"]}], "default": "joy"}`),
	pageOf[HTMLDoc](KindHTMLDoc, `{"name": "Status", "html": "<table></table>", "summary": "What she carries.", "tags": ["panel"]}`),
}

// described are the kinds all of whose fields have a comment in the types.
var described = []string{KindCharacter, KindPersona, KindPack, KindHTMLDoc}

const written = "<!-- Written by runtime/studio/content from the types; change their comments, then: make update -->\n"

// TestReference keeps docs/reference/bodies: a page a kind, written from the types of the
// bodies and their comments.
func TestReference(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "reference")
	source := sourceOf(t)
	for _, p := range pages {
		got, err := p.bytes([]byte(p.example))
		want, werr := canon.JSON([]byte(p.example))
		if err != nil || werr != nil || !bytes.Equal(got, want) {
			t.Errorf("the example of a %s is not a whole body: %v, %v\n%s\n%s", p.kind, err, werr, got, want)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "# The body of a %s\n\n%s\n%s\n\n", p.kind, written, source.types[p.body.Name()].doc)
		fmt.Fprintf(&b, "What is empty is absent, names are sorted, numbers stay as they were written. A field that is not on this page is refused.\n"+
			"In a pointer `-` is any item of a list, `*` any name.\n\n| Field | Type | What it is |\n|---|---|---|\n")
		for _, r := range source.rows(p.body, "") {
			if r.about == "" && slices.Contains(described, p.kind) && !strings.HasPrefix(r.path, "/behavior/regex/") {
				t.Errorf("%s of a %s has no comment", r.path, p.kind)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.path, r.typ, strings.ReplaceAll(r.about, "|", `\|`))
		}
		fmt.Fprintf(&b, "\n## Example\n\n```json\n%s\n```\n", p.example)
		snapshot.File(t, filepath.Join(dir, "bodies", p.kind+".md"), []byte(b.String()))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "character-cards.md"))
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- places -->\n", "<!-- end of places -->\n"
	head, rest, ok := strings.Cut(string(raw), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("character-cards.md has no %q and %q", from, to)
	}
	snapshot.File(t, filepath.Join(dir, "character-cards.md"), []byte(head+from+places()+to+tail))
}

func places() string {
	var b strings.Builder
	b.WriteString("| Body | V1 | V2 | V3 | In a card of a program |\n|---|---|---|---|---|\n")
	for _, f := range card.Fields() {
		programs := "–"
		if len(f.Programs) > 0 {
			programs = "`" + strings.Join(f.Programs, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Path, place(f.V1), place(f.V2), place(f.V3), programs)
	}
	return b.String()
}

func place(ptr string) string {
	if ptr == "" {
		return "–"
	}
	return "`" + ptr + "`"
}

// A declared is a type and what its comments say.
type declared struct {
	doc    string
	fields map[string]string
}

type source struct{ types map[string]declared }

// sourceOf reads the comments of this package.
func sourceOf(t *testing.T) source {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	s := source{map[string]declared{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				ts := spec.(*ast.TypeSpec)
				if st, ok := ts.Type.(*ast.StructType); ok {
					s.types[ts.Name.Name] = declared{strings.TrimSpace(g.Doc.Text()), comments(st)}
				}
			}
		}
	}
	return s
}

func comments(st *ast.StructType) map[string]string {
	all := map[string]string{}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			all[n.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		}
	}
	return all
}

// A row is one field of a body.
type row struct{ path, typ, about string }

func (s source) rows(t reflect.Type, path string) []row {
	var all []row
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && len(f.Index) == 1 {
			all = append(all, s.rows(f.Type, path)...)
			continue
		}
		if len(f.Index) > 1 || name == "" || name == "-" {
			continue
		}
		about := s.types[t.Name()].fields[f.Name]
		at, inner := path+"/"+name, f.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		r := row{at, typeOf(inner), about}
		switch list := inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct; {
		case inner.Kind() == reflect.Struct:
			all = append(all, s.rows(inner, at)...)
			continue
		case inner == reflect.TypeFor[[]Variant]():
			r.about = strings.TrimSpace("other tellings: `id`, `label`, `mode`, and `fields` with any of identity, persona, prompts, greetings, examples " + about)
		case list:
			if about != "" {
				all = append(all, row{at, "list", about})
			}
			all = append(all, s.rows(inner.Elem(), at+"/-")...)
			continue
		}
		all = append(all, r)
	}
	return all
}

func typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Number]():
		return "JSON"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "texts"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map:
		return "names to " + typeOf(t.Elem())
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "whole number"
}

// leaves are the pointers of a body's fields; items of lists are at "-".
func leaves(t reflect.Type, path string) []string {
	var all []string
	switch {
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && len(f.Index) == 1 {
				all = append(all, leaves(f.Type, path+"/"+name)...)
			} else if f.Anonymous {
				all = append(all, leaves(f.Type, path)...)
			}
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem() != reflect.TypeFor[Variant]() && t.Elem() != reflect.TypeFor[Rule]():
		return leaves(t.Elem(), path+"/-")
	default:
		return []string{path}
	}
	return all
}
