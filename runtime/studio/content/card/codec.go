package card

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

var (
	assets    = twin.Codec{Read: twin.ReadList(readAsset), Write: twin.WriteList(readAsset, twin.Keep), Empty: `[]`}
	greetings = twin.Codec{
		Read: twin.ReadList(readGreeting), Empty: `[]`,
		Write: twin.WriteList(readGreeting, func(v *canon.Node) *canon.Node { return v.Field("text") }),
		Lossy: lossyGreetings,
	}
	depthPrompt = twin.Codec{Read: readDepthPrompt, Write: writeDepthPrompt, Lossy: lossyDepthPrompt}
)

func readGreeting(n *canon.Node) (*canon.Node, string) {
	t, problem := twin.ReadText(n)
	if t == nil {
		return nil, problem
	}
	g := canon.NewObject()
	must(g.Set("/text", t))
	return g, problem
}

func lossyGreetings(v *canon.Node) string {
	for _, g := range v.Items() {
		if g.Field("title").Text() != "" {
			return "titles of alternate greetings have no place; the texts are written"
		}
	}
	return ""
}

func readAsset(n *canon.Node) (*canon.Node, string) {
	if n.Kind() != canon.Object {
		return nil, fmt.Sprintf("is %s where an asset belongs", n.Kind())
	}
	a := canon.NewObject()
	var problems []string
	for _, key := range []string{"type", "uri", "name", "ext"} {
		v, problem := twin.ReadText(n.Field(key))
		if problem != "" {
			problems = append(problems, key+" "+problem)
		}
		if v != nil {
			must(a.Set("/"+key, v))
		}
	}
	if a.Len() == 0 {
		return nil, "has none of type, uri, name and ext"
	}
	return a, strings.Join(problems, "; ")
}

func readDepthPrompt(n *canon.Node) (*canon.Node, string) {
	if n.Kind() == canon.Null {
		return nil, ""
	}
	content, problem := twin.ReadText(n.Field("prompt"))
	if n.Kind() != canon.Object {
		return nil, fmt.Sprintf("is %s where an object belongs; it stays in the original file and is not used", n.Kind())
	}
	if content == nil {
		return nil, problem
	}
	problems := []string{problem}
	depth, _ := twin.ReadNumber(n.Field("depth"))
	if d, err := strconv.Atoi(depth.Raw()); err != nil || d < 0 {
		if n.Field("depth") != nil {
			problems = append(problems, "depth is not a whole number; 4 is used")
		}
		depth = canon.NewInt(4)
	}
	role, known := readRole(n.Field("role"))
	if !known {
		problems = append(problems, "role is not system, user or assistant; system is used")
	}
	inj := canon.NewObject()
	must(inj.Set("/content", content))
	must(inj.Set("/depth", depth))
	must(inj.Set("/role", canon.NewText(role)))
	return canon.NewArray(inj), strings.TrimPrefix(strings.Join(problems, "; "), "; ")
}

// readRole takes a word, or SillyTavern's number for it.
func readRole(n *canon.Node) (string, bool) {
	for i, role := range []string{"system", "user", "assistant"} {
		if n.Text() == role || n.Raw() == strconv.Itoa(i) {
			return role, true
		}
	}
	return "system", n.Kind() == canon.Null || n.Text() == "" && n.Kind() == canon.String
}

// putIn is the first injection that is put in: a card has one place, and no way to say
// that it is off.
func putIn(v *canon.Node) *canon.Node {
	for _, inj := range v.Items() {
		if inj.Field("off").Raw() != "true" {
			return inj
		}
	}
	return nil
}

func writeDepthPrompt(v, old *canon.Node) *canon.Node {
	out := canon.NewObject()
	if old.Kind() == canon.Object {
		out = old.Clone()
	}
	was, _ := readDepthPrompt(old)
	first := putIn(v)
	if first == nil {
		must(out.Set("/prompt", canon.NewText("")))
		return out
	}
	for _, m := range [][2]string{{"/prompt", "content"}, {"/depth", "depth"}, {"/role", "role"}} {
		if val := first.Field(m[1]); val != nil && !canon.Equal(val, was.At("/0").Field(m[1])) {
			must(out.Set(m[0], val))
		}
	}
	return out
}

func lossyDepthPrompt(v *canon.Node) string {
	first := putIn(v)
	switch {
	case first == nil:
		return "a card cannot say that a depth injection is off; none is written"
	case v.Len() > 1:
		return fmt.Sprintf("there is one place for a depth injection; of %d the first that is on is written", v.Len())
	case first.Field("id") != nil || first.Field("off") != nil:
		return "the id of a depth injection has no place; the text is written"
	}
	return ""
}
