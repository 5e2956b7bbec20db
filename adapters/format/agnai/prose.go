package agnai

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// plainKind is the kind of a persona that is one text.
const plainKind = "text"

var personaKinds = []string{"wpp", "sbf", "boostyle", "attributes", plainKind}

// prose is the persona: one text, which is the description, or attributes in a spelling.
var prose = twin.Over{Read: readProse, Write: writeProse}

func readProse(doc *canon.Node) (*canon.Node, string) {
	persona := doc.Field("persona")
	kind := persona.Field("kind").Text()
	switch {
	case persona.Kind() == canon.Null:
		return nil, ""
	case !slices.Contains(personaKinds, kind):
		return nil, "/persona/kind is " + twin.Clip(persona.Field("kind")) + ", which is not known; the persona stays in the original file and is not used"
	}
	attrs, problem := readAttributes(persona.Field("attributes"))
	if attrs == nil {
		return nil, problem
	}
	out := canon.NewObject()
	if only := attrs.Field(plainKind); kind == plainKind && only.Len() > 0 {
		var lines []string
		for _, it := range only.Items() {
			lines = append(lines, it.Text())
		}
		twin.Set(out, "/description", canon.NewText(strings.Join(lines, "\n")))
		return out, problem
	}
	twin.Set(out, "/structured", canon.NewObject())
	twin.Set(out, "/structured/kind", canon.NewText(kind))
	twin.Set(out, "/structured/attributes", attrs)
	return out, problem
}

// readAttributes are those that have a value.
func readAttributes(n *canon.Node) (*canon.Node, string) {
	out, problem := canon.NewObject(), ""
	for name := range n.Members() {
		vals, p := twin.TextList.Read(n.Field(name))
		if p != "" && problem == "" {
			problem = "/persona/attributes/" + name + ": " + p
		}
		if vals != nil {
			twin.Set(out, canon.JoinPointer(name), vals)
		}
	}
	if out.Len() == 0 {
		out = nil
	}
	return out, problem
}

// writeProse puts texts and attributes into the one persona that Agnai has.
func writeProse(doc, val *canon.Node) (losses []twin.Loss) {
	was, _ := readProse(doc)
	same := true
	for _, key := range []string{"description", "personality", "backstory", "structured"} {
		same = same && canon.Equal(was.Field(key), val.Field(key))
	}
	if same {
		return nil
	}
	lose := func(key string, v twin.Verdict, why string) {
		losses = append(losses, twin.Loss{Path: "/" + key, Value: twin.Clip(val.Field(key)), Verdict: v, Reason: why})
	}
	texts := [][2]string{}
	for _, t := range [][2]string{{"description", ""}, {"personality", "Personality: "}, {"backstory", "Backstory: "}} {
		if s := val.Field(t[0]).Text(); s != "" {
			texts = append(texts, [2]string{t[0], t[1] + s})
		}
	}
	traits := val.Field("structured")
	if kept := textOf(traits); kept != "" { // one plain text
		lose("structured", twin.Approximated, "a plain text of Agnai's persona is the description")
		texts, traits = append(texts, [2]string{"structured", kept}), nil
	}
	if traits.Field("attributes").Len() == 0 {
		if traits != nil {
			lose("structured", twin.Dropped, "attributes of which there is none have no place")
		}
		var all []string
		for _, t := range texts {
			all = append(all, t[1])
			if len(texts) > 1 && t[0] != "structured" || t[0] == "personality" || t[0] == "backstory" {
				lose(t[0], twin.Approximated, "Agnai has one text for description, personality and backstory; it is joined to the others")
			}
		}
		setPersona(doc, plainKind, func(attrs *canon.Node) {
			layAttributes(attrs, twin.Parsed("{}"))
			old, list := doc.At("/persona/attributes/text"), canon.NewArray()
			if len(all) > 0 {
				list = canon.NewArray(canon.NewText(strings.Join(all, "\n\n")))
			}
			twin.Set(attrs, "/text", twin.Refill(old, itemsOf(list)))
		})
		return losses
	}
	attrs := traits.Field("attributes").Clone()
	for _, t := range texts {
		lose(t[0], twin.Approximated, "Agnai has attributes or a text; beside attributes the text is one of them")
		twin.Set(attrs, canon.JoinPointer(t[0]), canon.NewArray(append(itemsOf(attrs.Field(t[0])), canon.NewText(val.Field(t[0]).Text()))...))
	}
	kind := traits.Field("kind").Text()
	if kind == "" || kind == plainKind {
		kind = "attributes"
		lose("structured", twin.Approximated, "attributes with names are of the kind attributes")
	} else if len(texts) > 0 {
		lose("structured", twin.Approximated, "the text is one of the attributes")
	}
	if holdsEmpty(attrs) {
		lose("structured", twin.Approximated, "an attribute that is empty is none")
	}
	setPersona(doc, kind, func(old *canon.Node) { layAttributes(old, attrs) })
	return losses
}

func holdsEmpty(attrs *canon.Node) bool {
	for _, list := range attrs.Members() {
		if list.Len() == 0 {
			return true
		}
		for _, v := range list.Items() {
			if v.Text() == "" {
				return true
			}
		}
	}
	return false
}

// textOf is the text of attributes that are a plain text, and "" of all others.
func textOf(traits *canon.Node) string {
	attrs := traits.Field("attributes")
	if traits.Field("kind").Text() != plainKind || attrs.Len() != 1 || attrs.Field(plainKind).Len() != 1 {
		return ""
	}
	return attrs.Field(plainKind).At("/0").Text()
}

// setPersona changes the persona in its place.
func setPersona(doc *canon.Node, kind string, lay func(attrs *canon.Node)) {
	if doc.Field("persona").Kind() != canon.Object {
		twin.Set(doc, "/persona", twin.Parsed(`{"kind":"","attributes":{}}`))
	}
	if doc.At("/persona/kind").Text() != kind {
		twin.Set(doc, "/persona/kind", canon.NewText(kind))
	}
	if doc.At("/persona/attributes").Kind() != canon.Object {
		twin.Set(doc, "/persona/attributes", canon.NewObject())
	}
	lay(doc.At("/persona/attributes"))
}

// layAttributes changes what is not equal.
func layAttributes(old, now *canon.Node) {
	for name := range old.Clone().Members() {
		if now.Field(name) == nil {
			twin.Drop(old, canon.JoinPointer(name))
		}
	}
	for name, vals := range now.Members() {
		if was, _ := twin.TextList.Read(old.Field(name)); !canon.Equal(was, vals) {
			twin.Set(old, canon.JoinPointer(name), twin.TextList.Write(vals, old.Field(name)))
		}
	}
}

func itemsOf(list *canon.Node) (items []*canon.Node) {
	for _, it := range list.Items() {
		items = append(items, it)
	}
	return items
}
