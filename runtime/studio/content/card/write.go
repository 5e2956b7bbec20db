package card

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The smallest documents that the specifications allow, laid out as people like
// to read them: what is added takes the same white space.
var templates = [4]string{
	V1: `{
  "name": "",
  "description": "",
  "personality": "",
  "scenario": "",
  "first_mes": "",
  "mes_example": ""
}`,
	V2: `{
  "spec": "chara_card_v2",
  "spec_version": "2.0",
  "data": {
    "name": "",
    "description": "",
    "personality": "",
    "scenario": "",
    "first_mes": "",
    "mes_example": "",
    "creator_notes": "",
    "system_prompt": "",
    "post_history_instructions": "",
    "alternate_greetings": [],
    "tags": [],
    "creator": "",
    "character_version": "",
    "extensions": {}
  }
}`,
	V3: `{
  "spec": "chara_card_v3",
  "spec_version": "3.0",
  "data": {
    "name": "",
    "description": "",
    "personality": "",
    "scenario": "",
    "first_mes": "",
    "mes_example": "",
    "creator_notes": "",
    "system_prompt": "",
    "post_history_instructions": "",
    "alternate_greetings": [],
    "group_only_greetings": [],
    "tags": [],
    "creator": "",
    "character_version": "",
    "extensions": {}
  }
}`,
}

// Write gives the document of version to that means body. from is the document it
// is laid over: one of another version is brought over first, nil is the smallest
// valid document. That is not changed.
func Write(body *canon.Node, to Version, from *Card) (*canon.Node, []Loss) {
	w := &writer{to: to}
	switch {
	case from == nil:
		w.doc = template(to)
	case from.Version == to:
		w.doc = from.Doc.Clone()
	default:
		w.rebase(from)
	}
	was, _ := readBody(w.doc, to, nil)
	for _, f := range fields {
		w.field(f, body.At(f.path), was.At(f.path))
	}
	return w.doc, w.losses
}

func template(v Version) *canon.Node {
	doc, err := canon.ParseTree([]byte(templates[v]))
	must(err)
	return doc
}

type writer struct {
	to     Version
	doc    *canon.Node
	losses []Loss
}

func (w *writer) lose(path string, val *canon.Node, verdict twin.Verdict, why string) {
	w.losses = append(w.losses, Loss{Path: path, Value: twin.Clip(val), Target: w.to.String(), Verdict: verdict, Reason: why})
}

// field is the three-state overlay: equal leaves the twin's tokens, changed writes,
// cleared deletes or, where the specification demands the key, writes its default.
func (w *writer) field(f field, now, was *canon.Node) {
	to, beside := f.chosen(w.doc, w.to, was)
	if to.place.ptr == "" {
		why := to.gone
		if why == "" {
			why = "version " + w.to.String()[1:] + " has no place for it"
		}
		if now != nil {
			w.lose(f.path, now, twin.Dropped, why)
		}
		return
	}
	if now != nil && to.codec.Lossy != nil {
		if why := to.codec.Lossy(now); why != "" {
			w.lose(f.path, now, twin.Approximated, why)
		}
	}
	if canon.Equal(now, was) {
		return
	}
	if now != nil && to.foreign != "" {
		w.lose(f.path, now, twin.Embedded, to.foreign)
	}
	w.put(to, to.ptr, now)
	for _, s := range beside {
		w.put(s, s.ptr, now)
	}
	// SillyTavern keeps copies of the version 1 fields at the root
	if top := f.at[V1].ptr; top != "" && w.to != V1 && to.bag == "" && w.doc.At(top) != nil {
		w.put(to, top, now)
	}
}

func (w *writer) put(to spot, ptr string, now *canon.Node) {
	switch old := w.doc.At(ptr); {
	case now != nil || to.whole:
		w.set(ptr, to.codec.Write(now, old))
	case to.required:
		def, err := canon.ParseTree([]byte(to.codec.Empty))
		must(err)
		w.set(ptr, def)
	default:
		_, err := w.doc.Delete(ptr)
		must(err)
	}
}

// set writes at ptr; a parent of the wrong type, as "extensions": null, is replaced,
// because nothing can be kept in it.
func (w *writer) set(ptr string, v *canon.Node) {
	if w.doc.Set(ptr, v) == nil {
		return
	}
	toks, err := canon.SplitPointer(ptr)
	must(err)
	for i := range toks[:len(toks)-1] {
		parent := canon.JoinPointer(toks[:i+1]...)
		if n := w.doc.At(parent); n != nil && n.Kind() != canon.Object {
			if n.Kind() != canon.Null {
				w.lose("original:"+parent, n, twin.Dropped, "it is "+n.Kind().String()+" where an object belongs, and a value must be kept there")
			}
			must(w.doc.Set(parent, canon.NewObject()))
		}
	}
	must(w.doc.Set(ptr, v))
}

// rebase brings a twin of another version over. Keys that nobody here knows come
// along wherever the target has a place for them.
func (w *writer) rebase(from *Card) {
	switch {
	case w.to == V1:
		w.flatten(from)
	case from.Version == V1:
		w.doc = template(w.to)
		for name, v := range from.Doc.Members() {
			if w.doc.Field(name) == nil {
				must(w.doc.Set(canon.JoinPointer(name), v))
			}
		}
	case w.to == V3:
		w.doc = from.Doc.Clone()
		w.stamp("chara_card_v3", "3.0")
		if w.doc.At("/data/group_only_greetings").Kind() != canon.Array {
			must(w.doc.Set("/data/group_only_greetings", canon.NewArray()))
		}
		for _, e := range w.doc.At("/data/character_book/entries").Items() {
			if e.Kind() == canon.Object && e.Field("use_regex") == nil {
				must(e.Set("/use_regex", canon.NewBool(false)))
			}
		}
	default:
		w.doc = from.Doc.Clone()
		w.stamp("chara_card_v2", "2.0")
		for _, f := range fields {
			if p := f.at[V3].ptr; p != "" && p != f.at[V2].ptr {
				_, err := w.doc.Delete("/data" + p)
				must(err)
			}
		}
		w.bookTo2()
	}
}

func (w *writer) stamp(spec, version string) {
	must(w.doc.Set("/spec", canon.NewText(spec)))
	must(w.doc.Set("/spec_version", canon.NewText(version)))
}

// bookTo2 says what a version 2 reader makes of a version 3 lorebook.
func (w *writer) bookTo2() {
	for _, e := range w.doc.At("/data/character_book/entries").Items() {
		if e.Field("use_regex").Raw() == "true" || strings.HasPrefix(e.Field("content").Text(), "@@") {
			w.lose("original:/data/character_book", w.doc.At("/data/character_book/name"), twin.Approximated,
				"entries use regular expressions or decorators, which version 2 does not have; they are written as they are")
			return
		}
	}
}

// flatten keeps the root's own keys; what stands in data is either canonical and
// written by the overlay, or a loss.
func (w *writer) flatten(from *Card) {
	w.doc = template(V1)
	for name, v := range from.Doc.Members() {
		if name != "spec" && name != "spec_version" && name != "data" {
			must(w.doc.Set(canon.JoinPointer(name), v))
		}
	}
	known := map[string]bool{"/extensions": true, "/extensions/soundstage": true}
	for _, f := range fields {
		known[f.at[from.Version].ptr] = true
		for _, h := range homes[f.path] { // what of it has no field is the caller's to find
			known[h.bag] = true
		}
	}
	for _, parent := range []string{"", "/extensions"} {
		for name, v := range from.Doc.At("/data" + parent).Members() {
			ptr := parent + canon.JoinPointer(name)
			if !known[ptr] && v.Kind() != canon.Null {
				w.lose("original:/data"+ptr, v, twin.Dropped, "version 1 has no place for it")
			}
		}
	}
}

// Differ lists the canonical paths that both cards' versions have a place for, and
// that are not equal.
func Differ(a, b Card) []string {
	var paths []string
	for _, f := range fields {
		if f.at[a.Version].ptr != "" && f.at[b.Version].ptr != "" && f.at[a.Version].foreign == "" && f.at[b.Version].foreign == "" &&
			!canon.Equal(a.Body.At(f.path), b.Body.At(f.path)) {
			paths = append(paths, f.path)
		}
	}
	return paths
}
