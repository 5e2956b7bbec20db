package content

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
)

// TestReference checks docs/reference/character-body.md against the code: the table
// of places, every field of the body, and the example.
func TestReference(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "character-body.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	if table := places(); !strings.Contains(doc, table) {
		t.Errorf("the table of places is not the code's, which is\n%s", table)
	}
	for _, path := range leaves(reflect.TypeFor[Character](), "") {
		if !strings.Contains(doc, "`"+path+"`") {
			t.Errorf("the field %s is not described", path)
		}
	}
	_, example, _ := strings.Cut(doc, "```json\n")
	example, _, _ = strings.Cut(example, "```")
	c, err := Parse[Character]([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Bytes(c)
	want, werr := canon.JSON([]byte(example))
	if err != nil || werr != nil || !bytes.Equal(got, want) {
		t.Errorf("the example is not a whole body: %v, %v\n%s\n%s", err, werr, got, want)
	}
}

func places() string {
	var b strings.Builder
	b.WriteString("| Body | V1 | V2 | V3 |\n|---|---|---|---|\n")
	for _, f := range card.Fields() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Path, place(f.V1), place(f.V2), place(f.V3))
	}
	return b.String()
}

func place(ptr string) string {
	if ptr == "" {
		return "–"
	}
	return "`" + ptr + "`"
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
	case t == reflect.TypeFor[Fields]():
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem() != reflect.TypeFor[Variant]() && t.Elem() != reflect.TypeFor[Rule]():
		return leaves(t.Elem(), path+"/-")
	default:
		return []string{path}
	}
	return all
}
