package card

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A codec turns a value of a card into its canonical form and back. read gives nil
// for what is absent, null or empty, and a problem where something could not be
// taken as it stands. write gets the twin's value, or nil, so that it keeps what
// the canonical form does not have.
type codec struct {
	read  func(n *canon.Node) (val *canon.Node, problem string)
	write func(val, old *canon.Node) *canon.Node
	empty string                             // the specification's default, as JSON
	lossy func(val *canon.Node) (why string) // nil is never
}

var (
	text     = codec{read: readText, write: func(v, _ *canon.Node) *canon.Node { return v }, empty: `""`}
	textList = codec{read: readList(readText), write: writeList(readText, keep), empty: `[]`}
	textMap  = codec{read: readTextMap, write: func(v, _ *canon.Node) *canon.Node { return v }, empty: `{}`}
	number   = codec{read: readNumber, write: writeNumber}
	seconds  = codec{read: readSeconds, write: writeSeconds}
	assets   = codec{read: readList(readAsset), write: writeList(readAsset, keep), empty: `[]`}

	greetings = codec{
		read: readList(readGreeting), empty: `[]`,
		write: writeList(readGreeting, func(v *canon.Node) *canon.Node { return v.Field("text") }),
		lossy: lossyGreetings,
	}
	depthPrompt = codec{read: readDepthPrompt, write: writeDepthPrompt, lossy: lossyDepthPrompt}
)

func keep(n *canon.Node) *canon.Node { return n }

func readText(n *canon.Node) (*canon.Node, string) {
	switch n.Kind() {
	case canon.String:
		if s := n.Text(); s != "" {
			return canon.NewText(s), ""
		}
		return nil, ""
	case canon.Null:
		return nil, ""
	case canon.Number, canon.Bool:
		return canon.NewText(n.Raw()), fmt.Sprintf("is %s and is read as the text %q", n.Kind(), n.Raw())
	}
	return nil, fmt.Sprintf("is %s where a text belongs; it stays in the original file and is not used", n.Kind())
}

// mostProblems is how many problems of one value are told one by one.
const mostProblems = 3

// readList reads a list of items, skips items that cannot be read and wraps a
// single text.
func readList(item func(*canon.Node) (*canon.Node, string)) func(*canon.Node) (*canon.Node, string) {
	return func(n *canon.Node) (*canon.Node, string) {
		var vals []*canon.Node
		var problems []string
		more := 0
		switch n.Kind() {
		case canon.Null:
			return nil, ""
		case canon.Array:
			for i, it := range n.Items() {
				v, problem := item(it)
				switch {
				case problem == "":
				case len(problems) < mostProblems:
					problems = append(problems, fmt.Sprintf("item %d %s", i, problem))
				default:
					more++
				}
				if v != nil {
					vals = append(vals, v)
				}
			}
		case canon.String:
			if v, _ := item(n); v != nil {
				vals = append(vals, v)
				problems = append(problems, "is a single text where a list belongs; it is read as a list of one")
			}
		default:
			problems = append(problems, fmt.Sprintf("is %s where a list belongs; it stays in the original file and is not used", n.Kind()))
		}
		if more > 0 {
			problems = append(problems, fmt.Sprintf("and %d more items", more))
		}
		if len(vals) == 0 {
			return nil, strings.Join(problems, "; ")
		}
		return canon.NewArray(vals...), strings.Join(problems, "; ")
	}
}

// writeList writes items; one that equals an item of the twin takes the twin's
// tokens, and items of the twin that read could not take stay, at the end.
func writeList(item func(*canon.Node) (*canon.Node, string), plain func(*canon.Node) *canon.Node) func(v, old *canon.Node) *canon.Node {
	return func(v, old *canon.Node) *canon.Node {
		known := map[string]*canon.Node{}
		var strange []*canon.Node
		for _, raw := range old.Items() {
			if val, _ := item(raw); val != nil {
				known[key(val)] = raw
			} else if raw.Kind() == canon.Object || raw.Kind() == canon.Array {
				strange = append(strange, raw)
			}
		}
		puts := make([]*canon.Node, 0, v.Len()+len(strange))
		for _, it := range v.Items() {
			put := plain(it)
			if raw, ok := known[key(it)]; ok {
				put = raw
			}
			puts = append(puts, put)
		}
		return refill(old, append(puts, strange...))
	}
}

// refill is a list of these items with the white space of old.
func refill(old *canon.Node, items []*canon.Node) *canon.Node {
	if old.Kind() != canon.Array {
		return canon.NewArray(items...)
	}
	list := old.Clone()
	for i, it := range items {
		must(list.Set("/"+strconv.Itoa(i), it))
	}
	for i := list.Len() - 1; i >= len(items); i-- {
		_, err := list.Delete("/" + strconv.Itoa(i))
		must(err)
	}
	return list
}

// key is equal for equal values.
func key(n *canon.Node) string {
	b, err := canon.JSON(n.Bytes())
	must(err) // made by read, or out of a canonical body
	return string(b)
}

func readGreeting(n *canon.Node) (*canon.Node, string) {
	t, problem := readText(n)
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
		v, problem := readText(n.Field(key))
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

func readTextMap(n *canon.Node) (*canon.Node, string) {
	if n.Kind() == canon.Null {
		return nil, ""
	}
	if n.Kind() != canon.Object {
		return nil, fmt.Sprintf("is %s where an object belongs; it stays in the original file and is not used", n.Kind())
	}
	out := canon.NewObject()
	var problems []string
	for name, m := range n.Members() {
		v, problem := readText(m)
		if problem != "" && len(problems) < mostProblems {
			problems = append(problems, fmt.Sprintf("%q %s", name, problem))
		}
		if v != nil {
			must(out.Set(canon.JoinPointer(name), v))
		}
	}
	if out.Len() == 0 {
		out = nil
	}
	return out, strings.Join(problems, "; ")
}

func readNumber(n *canon.Node) (*canon.Node, string) {
	switch n.Kind() {
	case canon.Number:
		return n, ""
	case canon.String:
		s := strings.TrimSpace(n.Text())
		if s == "" {
			return nil, ""
		}
		if num, err := canon.ParseTree([]byte(s)); err == nil && num.Kind() == canon.Number {
			return num, "" // SillyTavern writes both forms
		}
	case canon.Null:
		return nil, ""
	}
	return nil, "is not a number; it stays in the original file and is not used"
}

func writeNumber(v, old *canon.Node) *canon.Node {
	if old.Kind() == canon.String {
		return canon.NewText(v.Raw())
	}
	return v
}

// Some programs write milliseconds: larger than this cannot be seconds.
const mostSeconds = 100_000_000_000

func readSeconds(n *canon.Node) (*canon.Node, string) {
	num, problem := readNumber(n)
	if num == nil {
		return nil, problem
	}
	f, err := strconv.ParseFloat(num.Raw(), 64)
	switch {
	case err != nil || f < 0 || f > 1000*mostSeconds:
		return nil, fmt.Sprintf("is %s, which is not a time in seconds", num.Raw())
	case f > mostSeconds:
		return canon.NewInt(int64(f) / 1000), "is in milliseconds and is read as seconds"
	case f < 1:
		return nil, ""
	}
	return canon.NewInt(int64(f)), ""
}

func writeSeconds(v, old *canon.Node) *canon.Node {
	if f, err := strconv.ParseFloat(old.Raw(), 64); err == nil && f > mostSeconds {
		if s, err := strconv.ParseInt(v.Raw(), 10, 64); err == nil && s < mostSeconds {
			return canon.NewInt(s * 1000)
		}
	}
	return v
}

func readDepthPrompt(n *canon.Node) (*canon.Node, string) {
	if n.Kind() == canon.Null {
		return nil, ""
	}
	content, problem := readText(n.Field("prompt"))
	if n.Kind() != canon.Object {
		return nil, fmt.Sprintf("is %s where an object belongs; it stays in the original file and is not used", n.Kind())
	}
	if content == nil {
		return nil, problem
	}
	problems := []string{problem}
	depth, _ := readNumber(n.Field("depth"))
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

func writeDepthPrompt(v, old *canon.Node) *canon.Node {
	out := canon.NewObject()
	if old.Kind() == canon.Object {
		out = old.Clone()
	}
	was, _ := readDepthPrompt(old)
	first := v.At("/0")
	for _, m := range [][2]string{{"/prompt", "content"}, {"/depth", "depth"}, {"/role", "role"}} {
		if val := first.Field(m[1]); val != nil && !canon.Equal(val, was.At("/0").Field(m[1])) {
			must(out.Set(m[0], val))
		}
	}
	return out
}

func lossyDepthPrompt(v *canon.Node) string {
	if v.Len() > 1 {
		return fmt.Sprintf("there is one place for a depth injection; the first of %d is written", v.Len())
	}
	return ""
}
