package sillytavern

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// roleNumber is a role as its number.
var roleNumber = twin.WithEmpty(twin.Words([2]string{"0", "system"}, [2]string{"1", "user"}, [2]string{"2", "assistant"}), "null")

// numberID is an id that is a whole number in the file.
var numberID = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if n.Kind() == canon.String {
			return twin.ReadText(n)
		}
		v, problem := twin.Int.Read(n)
		if v == nil {
			return nil, problem
		}
		return canon.NewText(v.Raw()), problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if n, ok := whole(val.Text()); ok && old.Kind() != canon.String {
			return canon.NewInt(int64(n))
		}
		return val
	},
	Empty: "0",
}

// whole reads an id that is a number in files.
func whole(id string) (int, bool) {
	n, err := strconv.Atoi(id)
	return n, err == nil && n >= 0 && n < 1<<31 && strconv.Itoa(n) == id
}

// numbered is a list of objects whose ids are numbers in the file. An item that is new
// there, and has another id, is given the next number; from is the least.
func numbered(list twin.Codec, from func(old *canon.Node) int) twin.Codec {
	return twin.Codec{
		Read: list.Read, Empty: list.Empty,
		Write: func(val, old *canon.Node) *canon.Node {
			put, _ := layNumbered(list, from, val, old)
			return put
		},
		Lay: func(val, old *canon.Node) (*canon.Node, []twin.Loss) { return layNumbered(list, from, val, old) },
	}
}

func layNumbered(list twin.Codec, from func(old *canon.Node) int, val, old *canon.Node) (*canon.Node, []twin.Loss) {
	was, _ := list.Read(old)
	there := map[string]bool{}
	for _, it := range was.Items() {
		there[it.Field("id").Text()] = true
	}
	next := from(old)
	for _, it := range val.Items() {
		if n, ok := whole(it.Field("id").Text()); ok && n >= next {
			next = n + 1
		}
	}
	val = val.Clone()
	var losses []twin.Loss
	for i, it := range val.Items() {
		id := it.Field("id").Text()
		if _, ok := whole(id); ok || there[id] {
			continue
		}
		twin.Set(it, "/id", canon.NewText(strconv.Itoa(next)))
		losses = append(losses, twin.Loss{
			Path: "/" + strconv.Itoa(i) + "/id", Value: twin.Clip(canon.NewText(id)), Verdict: twin.Renamed,
			Reason: "SillyTavern numbers them; it becomes " + strconv.Itoa(next),
		})
		next++
	}
	put, more := list.Lay(val, old)
	return put, append(losses, more...)
}

// keysAt is the keys of an entry, at the first place that is there.
func keysAt(path string, ptrs ...string) twin.Field {
	codec := keyList
	codec.Lay = func(val, old *canon.Node) (*canon.Node, []twin.Loss) { return codec.Write(val, old), keyLosses(val) }
	var at []twin.Field
	for _, ptr := range ptrs {
		at = append(at, twin.Field{Ptr: ptr, Codec: codec, Required: true})
	}
	return twin.Alt(path, at...)
}

// keyList is a list of keys.
var keyList = twin.Codec{
	Read: twin.ReadList(readKey),
	Write: func(val, old *canon.Node) *canon.Node {
		var list []*canon.Node
		for _, k := range val.Items() {
			if keyOf(k).Text != "" {
				list = append(list, k)
			}
		}
		return writeKeys(canon.NewArray(list...), old)
	},
	Empty: "[]",
}

var writeKeys = twin.WriteList(readKey, func(val *canon.Node) *canon.Node { return canon.NewText(keyOf(val).Spelled()) })

func readKey(n *canon.Node) (*canon.Node, string) {
	text, problem := twin.ReadText(n)
	if text == nil {
		return nil, problem
	}
	k := content.ReadKey(text.Text())
	out := canon.NewObject()
	twin.Set(out, "/text", canon.NewText(k.Text))
	if k.Regex {
		twin.Set(out, "/regex", canon.NewBool(true))
	}
	if k.Flags != "" {
		twin.Set(out, "/flags", canon.NewText(k.Flags))
	}
	return out, problem
}

func keyOf(val *canon.Node) content.LoreKey {
	return content.LoreKey{Text: val.Field("text").Text(), Regex: val.Field("regex").Raw() == "true", Flags: val.Field("flags").Text()}
}

func keyLosses(val *canon.Node) []twin.Loss {
	var losses []twin.Loss
	for i, it := range val.Items() {
		at := "/" + strconv.Itoa(i)
		if p := it.Field("probability"); p != nil && keyOf(it).Text != "" {
			losses = append(losses, twin.Loss{Path: at + "/probability", Value: twin.Clip(p), Verdict: twin.Dropped, Reason: "SillyTavern gives a probability to an entry, not to a key"})
		}
		k := keyOf(it)
		why := ""
		switch back := content.ReadKey(k.Spelled()); {
		case k.Text == "":
			why = "an empty key is none"
		case !k.Regex && k.Flags != "":
			why = "only a pattern has flags"
		case back == k:
			continue
		case !k.Regex:
			why = "SillyTavern reads what stands between slashes as a pattern"
		case back.Regex:
			why = "SillyTavern's patterns have the flags " + content.KeyFlags + " alone, and their slashes have a backslash"
		default:
			why = "SillyTavern does not read it as a pattern"
		}
		verdict := twin.Approximated
		if k.Text == "" {
			verdict = twin.Dropped
		}
		losses = append(losses, twin.Loss{Path: at, Value: twin.Clip(canon.NewText(k.Text)), Verdict: verdict, Reason: why})
	}
	return losses
}
