package twin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Codec turns a value of a document into its canonical form and back. Read gives nil
// for what is absent, null or empty, and a problem where something could not be
// taken as it stands. Write gets the twin's value, or nil, so that it keeps what
// the canonical form does not have.
type Codec struct {
	Read  func(n *canon.Node) (val *canon.Node, problem string)
	Write func(val, old *canon.Node) *canon.Node
	Lay   func(val, old *canon.Node) (*canon.Node, []Loss) // Write with losses, their paths seen from val; nil is Write
	Empty string                                           // the format's default, as JSON
	Lossy func(val *canon.Node) (why string)               // nil is never
}

// Keep is a value as it is.
func Keep(n *canon.Node) *canon.Node { return n }

// ReadText takes a text, and a number or a boolean as one.
func ReadText(n *canon.Node) (*canon.Node, string) {
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

// ReadList reads a list of items, skips items that cannot be read and wraps a
// single text.
func ReadList(item func(*canon.Node) (*canon.Node, string)) func(*canon.Node) (*canon.Node, string) {
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

// WriteList writes items; one that equals an item of the twin takes the twin's
// tokens, and items of the twin that read could not take stay, at the end.
func WriteList(item func(*canon.Node) (*canon.Node, string), plain func(*canon.Node) *canon.Node) func(v, old *canon.Node) *canon.Node {
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
		return Refill(old, append(puts, strange...))
	}
}

// Refill is a list of these items with the white space of old.
func Refill(old *canon.Node, items []*canon.Node) *canon.Node {
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

// The codecs of plain values.
var (
	Text     = Codec{Read: ReadText, Write: same, Empty: `""`}
	TextList = Codec{Read: ReadList(ReadText), Write: WriteList(ReadText, Keep), Empty: `[]`}
	TextMap  = Codec{Read: readTextMap, Write: same, Empty: `{}`}
	Number   = Codec{Read: ReadNumber, Write: writeNumber}
	Seconds  = Codec{Read: readSeconds, Write: writeSeconds}
	// Sampler is Number where null, "the provider's default", is a value too.
	Sampler = Codec{Read: readSampler, Write: writeNumber}
)

func same(val, _ *canon.Node) *canon.Node { return val }

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
		v, problem := ReadText(m)
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

// ReadNumber takes a number, also one that is written as a text.
func ReadNumber(n *canon.Node) (*canon.Node, string) {
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

func readSampler(n *canon.Node) (*canon.Node, string) {
	if n != nil && n.Kind() == canon.Null {
		return canon.NewNull(), ""
	}
	return ReadNumber(n)
}

func writeNumber(v, old *canon.Node) *canon.Node {
	if old.Kind() == canon.String && v.Kind() == canon.Number {
		return canon.NewText(v.Raw())
	}
	return v
}

// Some programs write milliseconds: larger than this cannot be seconds.
const mostSeconds = 100_000_000_000

func readSeconds(n *canon.Node) (*canon.Node, string) {
	num, problem := ReadNumber(n)
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

// Bool takes true and false, also as a text or a number.
var Bool = Codec{Read: readBool, Write: writeBool, Empty: `false`}

func readBool(n *canon.Node) (*canon.Node, string) {
	text := n.Text()
	if n.Kind() != canon.String {
		text = n.Raw()
	}
	switch {
	case n.Kind() == canon.Null, text == "":
		return nil, ""
	case text == "true", text == "1":
		return canon.NewBool(true), ""
	case text == "false", text == "0":
		return canon.NewBool(false), ""
	}
	return nil, fmt.Sprintf("is %s where true or false belongs; it stays in the original file and is not used", Clip(n))
}

func writeBool(val, old *canon.Node) *canon.Node {
	switch old.Kind() {
	case canon.String:
		return canon.NewText(val.Raw())
	case canon.Number:
		if val.Raw() == "true" {
			return canon.NewInt(1)
		}
		return canon.NewInt(0)
	}
	return val
}

// Flag is Bool for what is canonically absent where it is false.
var Flag = Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := readBool(n)
		if v.Raw() == "false" {
			v = nil
		}
		return v, problem
	},
	Write: writeBool, Empty: `false`,
}

// Not is Bool, the other way round: "disable" for what is canonically enabled.
var Not = Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := readBool(n)
		return negate(v), problem
	},
	Write: func(val, old *canon.Node) *canon.Node { return writeBool(negate(val), old) },
	Empty: `false`,
}

func negate(n *canon.Node) *canon.Node {
	if n == nil {
		return nil
	}
	return canon.NewBool(n.Raw() == "false")
}

// Int takes a whole number, also one written as a text or with a fraction of zero.
var Int = Codec{Read: readInt, Write: writeNumber, Empty: `0`}

func readInt(n *canon.Node) (*canon.Node, string) {
	num, problem := ReadNumber(n)
	if num == nil {
		return nil, problem
	}
	f, err := strconv.ParseFloat(num.Raw(), 64)
	if i := int64(f); err == nil && float64(i) == f && i > -1<<53 && i < 1<<53 {
		return canon.NewInt(i), ""
	}
	return nil, fmt.Sprintf("is %s where a whole number belongs; it stays in the original file and is not used", num.Raw())
}

// Words takes one of a few words. Each pair is the format's value, as JSON, and the
// canonical word; "" is a value that means what an absent one means. Where two values
// mean one word, the first is written.
func Words(pairs ...[2]string) Codec {
	return Codec{
		Read: func(n *canon.Node) (*canon.Node, string) {
			if n.Kind() == canon.Null {
				return nil, ""
			}
			raw := string(n.Bytes())
			for _, p := range pairs {
				if p[0] == raw {
					if p[1] == "" {
						return nil, ""
					}
					return canon.NewText(p[1]), ""
				}
			}
			return nil, fmt.Sprintf("is %s, which is not known; it stays in the original file and is not used", Clip(n))
		},
		Write: func(val, old *canon.Node) *canon.Node {
			for _, p := range pairs {
				if p[1] == val.Text() {
					n, err := canon.ParseTree([]byte(p[0]))
					must(err)
					return n
				}
			}
			return old // Lossy says so
		},
		Lossy: func(val *canon.Node) string {
			for _, p := range pairs {
				if p[1] == val.Text() {
					return ""
				}
			}
			return fmt.Sprintf("the format does not have %q", val.Text())
		},
		Empty: pairs[0][0],
	}
}
