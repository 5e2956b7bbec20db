package twin

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// Numbers and switches for which null is "the engine's default".
var (
	IntOrNull  = WithEmpty(Int, "null")
	BoolOrNull = WithEmpty(Bool, "null")
)

// Lost is a table's line for a value that the format has no place for.
func Lost(path string, codec Codec, why string) Field {
	return Field{Path: path, Codec: codec, Reason: why}
}

// Rest is a table's last line: whatever no other line names is dropped, and said.
func Rest(why string) Field { return Field{Reason: why} }

// WithEmpty is a codec with another default, as JSON.
func WithEmpty(c Codec, json string) Codec {
	c.Empty = json
	return c
}

// AbsentIs is a codec for which an absent key means val.
func AbsentIs(c Codec, val *canon.Node) Codec {
	inner := c.Read
	c.Read = func(n *canon.Node) (*canon.Node, string) {
		v, problem := inner(n)
		if v == nil {
			v = val
		}
		return v, problem
	}
	return c
}

// Alias is a codec of words in which word is written as the JSON text as, and never
// read.
func Alias(c Codec, word, as string) Codec {
	write, lossy := c.Write, c.Lossy
	c.Write = func(val, old *canon.Node) *canon.Node {
		if val.Text() == word {
			return Parsed(as)
		}
		return write(val, old)
	}
	c.Lossy = func(val *canon.Node) string {
		if val.Text() == word {
			return ""
		}
		return lossy(val)
	}
	return c
}

// Parsed is a JSON text of a table's own.
func Parsed(json string) *canon.Node {
	n, err := canon.ParseTree([]byte(json))
	must(err)
	return n
}

// Plain is a place of Alt.
func Plain(ptr string, c Codec) Field { return Field{Ptr: ptr, Codec: c} }

// Alt is a value that stands at one of several places: at the first that is there.
func Alt(path string, at ...Field) Field {
	pick := func(doc *canon.Node) Field {
		for _, f := range at {
			if doc.At(f.Ptr) != nil {
				return f
			}
		}
		return at[0]
	}
	return Field{Path: path, Over: &Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			f := pick(doc)
			return f.Codec.Read(doc.At(f.Ptr))
		},
		Write: func(doc, val *canon.Node) []Loss {
			f := pick(doc)
			f.Path = "/v"
			body := canon.NewObject()
			if val != nil {
				must(body.Set(f.Path, val))
			}
			losses := Lay(doc, []Field{f}, body)
			for i := range losses {
				losses[i].Path = strings.TrimPrefix(losses[i].Path, f.Path)
			}
			return losses
		},
	}}
}

// Switches is a list of words of which each is a switch of its own in the file. Each
// pair is the switch's pointer and the word; why is the loss of another word.
func Switches(path, why string, pairs ...[2]string) Field {
	ptrOf := func(word string) string {
		for _, p := range pairs {
			if p[1] == word {
				return p[0]
			}
		}
		return ""
	}
	return Field{Path: path, Over: &Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			var on []*canon.Node
			for _, p := range pairs {
				if v, _ := Bool.Read(doc.At(p[0])); v.Raw() == "true" {
					on = append(on, canon.NewText(p[1]))
				}
			}
			if len(on) == 0 {
				return nil, ""
			}
			return canon.NewArray(on...), ""
		},
		Write: func(doc, val *canon.Node) []Loss {
			want := map[string]bool{}
			var losses []Loss
			for i, it := range val.Items() {
				if ptr := ptrOf(it.Text()); ptr != "" {
					want[ptr] = true
					continue
				}
				losses = append(losses, Loss{Path: "/" + strconv.Itoa(i), Value: Clip(it), Verdict: Dropped, Reason: why})
			}
			for _, p := range pairs {
				if v, _ := Bool.Read(doc.At(p[0])); (v.Raw() == "true") != want[p[0]] {
					l := layer{doc: doc}
					l.set(p[0], Bool.Write(canon.NewBool(want[p[0]]), doc.At(p[0])))
					losses = append(losses, l.losses...)
				}
			}
			return losses
		},
	}}
}

// Wrapped is a list of texts, canonically of objects with the text at key. why is the
// loss of whatever else such an object has.
func Wrapped(key, why string) Codec {
	read := func(n *canon.Node) (*canon.Node, string) {
		text, problem := ReadText(n)
		if text == nil {
			return nil, problem
		}
		obj := canon.NewObject()
		must(obj.Set(canon.JoinPointer(key), text))
		return obj, problem
	}
	write := WriteList(read, func(val *canon.Node) *canon.Node { return val.Field(key) })
	lay := func(val, old *canon.Node) (*canon.Node, []Loss) {
		var plain []*canon.Node
		var losses []Loss
		for i, it := range val.Items() {
			obj, at := canon.NewObject(), "/"+strconv.Itoa(i)
			for name, v := range it.Members() {
				if name != key {
					losses = append(losses, Loss{Path: at + canon.JoinPointer(name), Value: Clip(v), Verdict: Dropped, Reason: why})
				}
			}
			if it.Field(key).Text() == "" {
				losses = append(losses, Loss{Path: at, Value: Clip(it), Verdict: Dropped, Reason: "an empty text is none"})
				continue
			}
			must(obj.Set(canon.JoinPointer(key), it.Field(key)))
			plain = append(plain, obj)
		}
		return write(canon.NewArray(plain...), old), losses
	}
	return Codec{
		Read: ReadList(read), Lay: lay, Empty: "[]",
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := lay(val, old)
			return put
		},
	}
}

// Tags is TextList, and of a single text what stands between its commas, as people type
// tags.
var Tags = Codec{Read: readTags, Write: TextList.Write, Empty: `[]`}

func readTags(n *canon.Node) (*canon.Node, string) {
	if n.Kind() != canon.String || !strings.Contains(n.Text(), ",") {
		return TextList.Read(n)
	}
	var tags []*canon.Node
	for tag := range strings.SplitSeq(n.Text(), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, canon.NewText(tag))
		}
	}
	if len(tags) == 0 {
		return nil, ""
	}
	return canon.NewArray(tags...), "is a single text where a list belongs; what is between its commas is"
}
