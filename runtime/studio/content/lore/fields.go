package lore

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Constant is an activation that the file has as a switch; vector is why one by meaning
// is lost.
func Constant(vector string) twin.Codec {
	return twin.Codec{
		Read: func(n *canon.Node) (*canon.Node, string) {
			v, problem := twin.Flag.Read(n)
			if v != nil {
				v = canon.NewText("constant")
			}
			return v, problem
		},
		Write: func(val, old *canon.Node) *canon.Node {
			return twin.Bool.Write(canon.NewBool(val.Text() == "constant"), old)
		},
		Lossy: func(val *canon.Node) string {
			if val.Text() == "vector" {
				return vector
			}
			return ""
		},
		Empty: "false",
	}
}

// NumberedLogic is the logic of second keys as a number.
var NumberedLogic = twin.Words([2]string{"0", "and_any"}, [2]string{"1", "not_all"}, [2]string{"2", "not_any"}, [2]string{"3", "and_all"})

// Logic is how second keys count, in words, and whether they do, in the switch
// selective.
func Logic(words twin.Codec) twin.Over {
	return twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if v, problem := twin.Flag.Read(doc.Field("selective")); v == nil {
				return nil, problem
			}
			if doc.Field("selectiveLogic").Kind() == canon.Null {
				return canon.NewText("and_any"), ""
			}
			return words.Read(doc.Field("selectiveLogic"))
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			Selective(doc, val != nil)
			if val != nil {
				twin.Set(doc, "/selectiveLogic", words.Write(val, doc.Field("selectiveLogic")))
			}
			return nil
		},
	}
}

// Selective turns the switch, where it is not so already.
func Selective(doc *canon.Node, on bool) {
	if was, _ := twin.Flag.Read(doc.Field("selective")); (was != nil) != on {
		twin.Set(doc, "/selective", twin.Flag.Write(canon.NewBool(on), doc.Field("selective")))
	}
}

// Level is a round of recursion; true is the first.
var Level = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if n.Kind() == canon.Bool {
			if n.Raw() == "true" {
				return canon.NewInt(1), ""
			}
			return nil, ""
		}
		v, problem := twin.Int.Read(n)
		if v.Raw() == "0" {
			v = nil
		}
		return v, problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if old.Kind() == canon.Bool && val.Raw() == "1" {
			return canon.NewBool(true)
		}
		return twin.Int.Write(val, old)
	},
	Empty: "0",
}

// LeaveFolders takes entries out of folders that the book does not have. at is where the
// file has its entries, and noun what it calls a folder, for the problems.
func LeaveFolders(body *canon.Node, at, noun string) (problems []string) {
	ids := map[string]bool{}
	for _, f := range body.Field("folders").Items() {
		ids[f.Field("id").Text()] = true
	}
	for i, e := range body.Field("entries").Items() {
		if in := e.Field("folder"); in != nil && !ids[in.Text()] {
			twin.Drop(e, "/folder")
			problems = append(problems, fmt.Sprintf("%s/%d is in the %s %q, which is not there", at, i, noun, in.Text()))
		}
	}
	return problems
}

// RestoreFolders gives entries of body the folder that LeaveFolders took from them when
// full, what the file says before that, was read: an entry that has none in body still
// stands in its file as it stood.
func RestoreFolders(body, full *canon.Node) {
	left := full.Clone()
	LeaveFolders(left, "", "")
	in := map[string]*canon.Node{}
	for i, e := range full.Field("entries").Items() {
		if f := e.Field("folder"); f != nil && left.At(fmt.Sprintf("/entries/%d/folder", i)) == nil {
			in[e.Field("id").Text()] = f
		}
	}
	for _, e := range body.Field("entries").Items() {
		if f := in[e.Field("id").Text()]; f != nil && e.Field("folder") == nil {
			twin.Set(e, "/folder", f)
		}
	}
}
