package formattest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// words are the values that a field can have instead, by its last name.
var words = map[string][]string{
	"position": {"before", "after", "prompt", "depth", "none"}, "role": {"system", "user"}, "logic": {"and_any", "not_all", "not_any"},
	"activation": {"constant", "vector"}, "placement": {"user_input", "ai_output", "reasoning"}, "phases": {"display", "prompt"},
	"substitute": {"raw", "escaped"}, "names": {"completion", "none"}, "sources": {"scenario", "persona_description"}, "type": {"one", "many"},
	"triggers": {"normal", "quiet"}, "kind": {"wpp", "sbf"}, "marker": {"persona", "scenario"}, "runsOn": {"user", "ai", "chat_change"}, "wrapFormat": {"xml", "none"},
}

// another is a value that a field can have instead.
func another(path string, v *canon.Node) *canon.Node {
	switch v.Kind() {
	case canon.Bool:
		return canon.NewBool(v.Raw() == "false")
	case canon.Number, canon.Null:
		return canon.NewInt(7)
	}
	toks := strings.Split(path, "/")
	last := toks[len(toks)-1]
	if _, err := strconv.Atoi(last); err == nil {
		last = toks[len(toks)-2]
	}
	if set := words[last]; set != nil {
		if v.Text() == "before" || v.Text() == "depth" && strings.Contains(path, "/placement/") {
			return canon.NewText("after")
		}
		if i := slices.Index(set, v.Text()); i >= 0 {
			return canon.NewText(set[(i+1)%len(set)])
		}
		return canon.NewText(set[0])
	}
	return canon.NewText(v.Text() + " X")
}

// leaves are the scalars of a tree by pointer.
func leaves(n *canon.Node) map[string]string {
	out := map[string]string{}
	var walk func(n *canon.Node, at string)
	walk = func(n *canon.Node, at string) {
		switch n.Kind() {
		case canon.Object:
			for name, v := range n.Members() {
				walk(v, at+canon.JoinPointer(name))
			}
		case canon.Array:
			for i, v := range n.Items() {
				walk(v, at+"/"+strconv.Itoa(i))
			}
		default:
			out[at] = n.Raw()
		}
	}
	walk(n, "")
	return out
}

// OneEdits changes each value of a piece by itself, and wants that change in the file
// and no other: two values at most, because a switch may stand beside. wide are the last
// names of fields that a file says in several places. It tells how many edits there were.
func (s Suite) OneEdits(t *testing.T, p store.Piece, linked []store.Piece, wide ...string) int {
	t.Helper()
	n := 0
	b := parse(t, p.Body)
	for path := range leaves(b) {
		if strings.HasSuffix(path, "/id") || strings.HasPrefix(path, "/regexes") || strings.HasPrefix(path, "/links") || slices.Contains([]string{"marker", "key", "folder", "group", "parent"}, path[strings.LastIndexByte(path, '/')+1:]) {
			continue
		}
		n++
		s.oneEdit(t, p, path, linked, wide)
	}
	return n
}

func (s Suite) oneEdit(t *testing.T, p store.Piece, path string, linked []store.Piece, wide []string) {
	t.Helper()
	name := p.Escrow[0].Format
	before := s.Write(t, p, name, linked)
	b := parse(t, p.Body)
	must(t, b.Set(path, another(path, b.At(path))))
	raw, err := canon.JSON(b.Bytes())
	must(t, err)
	p.Body = raw
	out := s.Write(t, p, name, linked)
	was, now := leaves(doc(t, before.Data)), leaves(doc(t, out.Data))
	var changed []string
	for at := range was {
		if now[at] != was[at] {
			changed = append(changed, at)
		}
	}
	for at := range now {
		if _, ok := was[at]; !ok {
			changed = append(changed, at)
		}
	}
	isWide := slices.ContainsFunc(wide, func(w string) bool { return slices.Contains(strings.Split(path, "/"), w) })
	lost := slices.ContainsFunc(out.Losses, func(l content.Loss) bool { return strings.HasPrefix(path, l.Path) && l.Verdict != twin.Embedded })
	if len(changed) > 2 && !isWide {
		t.Errorf("%s is %s, and %d values changed: %q", path, b.At(path).Bytes(), len(changed), changed)
	}
	if len(changed) == 0 && !lost {
		t.Errorf("%s is %s, and nothing changed", path, b.At(path).Bytes())
	}
	got, want := s.Read(t, name, p.Kind, out.Data).Found[0].Body, b.At(path)
	if want.Raw() == "false" && !strings.HasSuffix(path, "enabled") && got.At(path) == nil {
		want = nil // absent is false
	}
	if strings.HasSuffix(path, "/phases/1") {
		return // now it is the first one twice
	}
	if !lost && !canon.Equal(got.At(path), want) && path != "/name" {
		t.Errorf("%s is %s, and reads %s", path, b.At(path).Bytes(), got.At(path).Bytes())
	}
}

// doc is the document of a file.
func doc(t testing.TB, data []byte) *canon.Node {
	t.Helper()
	f := content.Open("x", data)
	switch {
	case f.Doc != nil:
		return f.Doc
	case len(f.Docs) > 0:
		return f.Docs[0].Tree
	}
	t.Fatalf("not a document: %v", f.Err)
	return nil
}

// Fuzz wants of any file that a format takes: bodies in their canonical form, the same
// tokens unedited, and a new name that is read again.
func (s Suite) Fuzz(f *testing.F, name string, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := s.Formats.Import("x.json", data)
		if err != nil || im.Format != name {
			return
		}
		for _, p := range im.Pieces {
			Canonical(t, p)
			s.Unedited(t, p, im.Pieces)
		}
		p := Main(im)
		if _, err := s.Formats.Named(name, p.Kind); err != nil {
			return // only read
		}
		s.renamed(t, p, name, im.Pieces)
	})
}

func (s Suite) renamed(t *testing.T, p store.Piece, name string, linked []store.Piece) {
	t.Helper()
	at := "/name"
	if p.Kind == content.KindCharacter {
		at = "/identity/name"
	}
	b := parse(t, p.Body)
	must(t, b.Set(at, canon.NewText("Renamed 7")))
	raw, err := canon.JSON(b.Bytes())
	must(t, err)
	p.Body = raw
	out := s.Write(t, p, name, linked)
	for _, l := range out.Losses {
		if l.Path != at && !strings.HasPrefix(l.Path, "original:") {
			t.Errorf("a new name, and a loss: %+v", l)
		}
	}
	again, err := s.Formats.Import("Renamed 7.json", out.Data)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Data)
	}
	got := parse(t, Main(again).Body)
	if got.At(at).Text() != "Renamed 7" && len(out.Losses) == 0 {
		t.Errorf("called %q\n%s", got.At(at).Text(), out.Data)
	}
	for _, n := range []*canon.Node{b, got} {
		for _, ptr := range []string{at, "/regexes", "/links"} { // ids of what is beside are made of names
			_, err := n.Delete(ptr)
			must(t, err)
		}
	}
	if !canon.Equal(b, got) {
		t.Errorf("renamed\n%s\nreads\n%s", b.Bytes(), got.Bytes())
	}
}
