package book

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The title and the author's note share two keys: programs show either. One that says
// nothing beside the other is the title.
var (
	title = twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			t, _, problem := names(doc)
			return orNil(t), problem
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			_, n, _ := names(doc)
			return setNames(doc, val.Text(), n)
		},
	}
	note = twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			_, n, _ := names(doc)
			return orNil(n), ""
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			t, _, _ := names(doc)
			return setNames(doc, t, val.Text())
		},
	}
)

const ourNote = "/extensions/soundstage/note"

func names(doc *canon.Node) (title, note, problem string) {
	name, p1 := twin.ReadText(doc.Field("name"))
	comment, p2 := twin.ReadText(doc.Field("comment"))
	if p1 == "" {
		p1 = p2
	}
	title, note = name.Text(), doc.At(ourNote).Text()
	switch {
	case title == "":
		title = comment.Text()
	case note == "" && comment.Text() != title:
		note = comment.Text()
	}
	return title, note, p1
}

func setNames(doc *canon.Node, title, note string) []twin.Loss {
	if doc.At(ourNote) != nil {
		twin.Drop(doc, ourNote)
	}
	name, comment := doc.Field("name"), doc.Field("comment")
	if note != "" && title != "" && note != title {
		set(doc, "/name", canon.NewText(title))
		set(doc, "/comment", canon.NewText(note))
		return nil
	}
	if name.Text() != "" || name != nil && comment.Text() == "" {
		set(doc, "/name", canon.NewText(title))
	}
	if comment != nil || name == nil {
		set(doc, "/comment", canon.NewText(title))
	}
	if note == "" {
		return nil
	}
	set(doc, ourNote, canon.NewText(note))
	return []twin.Loss{{Value: twin.Clip(canon.NewText(note)), Verdict: twin.Embedded, Reason: oursOnly}}
}

func orNil(s string) *canon.Node {
	if s == "" {
		return nil
	}
	return canon.NewText(s)
}

// text is the content without the decorators that are fields.
var text = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if doc.Field("content").Kind() != canon.String {
			return twin.ReadText(doc.Field("content"))
		}
		h := headerOf(doc)
		var kept []string
		for _, d := range h.list {
			if d.claim == claimNone {
				kept = append(kept, "@@"+d.name)
			}
		}
		problem := ""
		if len(kept) > 0 {
			problem = "has decorators that are no field here, or that say again what a field says: " +
				strings.Join(kept[:min(len(kept), 5)], ", ") + "; they stay in the text, and programs that do not know them may send them"
		}
		return orNil(h.shown()), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		hidden := headerOf(doc).hidden()
		set(doc, "/content", canon.NewText(hidden+val.Text()))
		if headerOf(doc).shown() == val.Text() {
			return nil
		}
		return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "its first lines are decorators, which are read as settings of the entry"}}
	},
}

// enabled is there in every canonical entry.
var enabled = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if headerOf(doc).has(claimOff) {
			return canon.NewBool(false), ""
		}
		v, problem := twin.Bool.Read(doc.Field("enabled"))
		if v == nil {
			if problem == "" {
				problem = "does not say whether it is enabled, and is taken as enabled; SillyTavern takes it as disabled"
			}
			v = canon.NewBool(true)
		}
		return v, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		undecorate(doc, claimOff)
		if val == nil {
			val = canon.NewBool(true)
		}
		set(doc, "/enabled", twin.Bool.Write(val, doc.Field("enabled")))
		return nil
	},
}

// activation is two switches and a decorator, of which constant is the stronger.
var activation = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if headerOf(doc).has(claimActive) {
			return canon.NewText("constant"), ""
		}
		v, problem := twin.Flag.Read(doc.Field("constant"))
		if v != nil {
			return canon.NewText("constant"), problem
		}
		if v, more := twin.Flag.Read(doc.At("/extensions/vectorized")); v != nil || more != "" {
			if v == nil {
				return nil, more
			}
			return canon.NewText("vector"), problem
		}
		return nil, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		undecorate(doc, claimActive)
		for _, s := range []struct {
			ptr string
			on  bool
		}{{"/constant", val.Text() == "constant"}, {"/extensions/vectorized", val.Text() == "vector"}} {
			if was, _ := twin.Flag.Read(doc.At(s.ptr)); (was != nil) != s.on {
				set(doc, s.ptr, twin.Flag.Write(canon.NewBool(s.on), doc.At(s.ptr)))
			}
		}
		return nil
	},
}

// decorated is a number in an extension, or in a decorator.
func decorated(c claim, ptr string) *twin.Over {
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if h := headerOf(doc); h.has(c) {
				return h.int(c), ""
			}
			return twin.Int.Read(doc.At(ptr))
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			undecorate(doc, c)
			put(doc, ptr, twin.Int, val)
			return nil
		},
	}
}

// put writes a value, or takes it away.
func put(doc *canon.Node, ptr string, c twin.Codec, val *canon.Node) {
	was, _ := c.Read(doc.At(ptr))
	switch {
	case canon.Equal(was, val):
	case val == nil:
		twin.Drop(doc, ptr)
	default:
		set(doc, ptr, c.Write(val, doc.At(ptr)))
	}
}

var (
	positions = twin.Words(
		[2]string{"0", "before"}, [2]string{"1", "after"}, [2]string{"2", "note_top"}, [2]string{"3", "note_bottom"}, [2]string{"4", "depth"},
		[2]string{"5", "examples_top"}, [2]string{"6", "examples_bottom"}, [2]string{"7", "outlet"})
	charPositions = twin.Words([2]string{`"before_char"`, "before"}, [2]string{`"after_char"`, "after"}, [2]string{`""`, ""},
		[2]string{"0", "before"}, [2]string{"1", "after"}, [2]string{"2", "depth"})
	roleNumber = twin.Words([2]string{"0", "system"}, [2]string{"1", "user"}, [2]string{"2", "assistant"},
		[2]string{`"system"`, "system"}, [2]string{`"user"`, "user"}, [2]string{`"assistant"`, "assistant"}, [2]string{`""`, ""})
)

// placement is one value because one decorator says two parts of it.
var placement = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		val, problem := readPlacement(doc)
		if val.Len() == 0 {
			val = nil
		}
		return val, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		undecorate(doc, claimPlace, claimRole)
		was, _ := readPlacement(doc)
		if now := val.Field("position"); !canon.Equal(now, was.Field("position")) {
			setPosition(doc, now.Text())
		}
		put(doc, "/extensions/depth", twin.Int, val.Field("depth"))
		put(doc, "/extensions/role", roleNumber, val.Field("role"))
		put(doc, "/extensions/outlet_name", twin.Text, val.Field("outlet"))
		return nil
	},
}

func readPlacement(doc *canon.Node) (*canon.Node, string) {
	val, h := canon.NewObject(), headerOf(doc)
	var problems []string
	take := func(key string, c twin.Codec, ptr string) {
		v, problem := c.Read(doc.At(ptr))
		if problem != "" {
			problems = append(problems, strings.TrimPrefix(ptr, "/extensions/")+" "+problem)
		}
		if v != nil && val.Field(key) == nil {
			set(val, "/"+key, v)
		}
	}
	if h.has(claimPlace) {
		if d := h.first(claimPlace); d.name == "depth" {
			set(val, "/position", canon.NewText("depth"))
			set(val, "/depth", h.int(claimPlace))
		} else {
			set(val, "/position", canon.NewText(strings.TrimSuffix(d.value, "_desc")))
		}
	}
	if h.has(claimRole) {
		set(val, "/role", canon.NewText(h.first(claimRole).value))
	}
	take("position", positions, "/extensions/position")
	if val.Field("position") == nil {
		take("position", charPositions, "/position")
	}
	take("depth", twin.Int, "/extensions/depth")
	take("role", roleNumber, "/extensions/role")
	take("outlet", twin.Text, "/extensions/outlet_name")
	return val, strings.Join(problems, ", ")
}

// setPosition writes a place: in the specification's own key, which knows two, and in
// SillyTavern's extension, which knows all.
func setPosition(doc *canon.Node, to string) {
	if to == "" {
		twin.Drop(doc, "/position")
		if doc.At("/extensions/position") != nil {
			twin.Drop(doc, "/extensions/position")
		}
		return
	}
	spec := "after_char"
	if to == "before" {
		spec = "before_char"
	}
	if doc.Field("position").Text() != spec {
		set(doc, "/position", canon.NewText(spec))
	}
	if plain := to == "before" || to == "after"; !plain || doc.At("/extensions/position") != nil {
		set(doc, "/extensions/position", positions.Write(canon.NewText(to), nil))
	}
}

// probability is a number and a switch that makes it count, or Risu's number.
var probability = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if v, _ := twin.Bool.Read(doc.At("/extensions/useProbability")); v.Raw() == "false" {
			return nil, ""
		}
		if at := doc.At("/extensions/probability"); at.Kind() != canon.Null {
			return twin.Int.Read(at)
		}
		return twin.Int.Read(doc.At("/extensions/risu_activationPercent"))
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		use := doc.At("/extensions/useProbability")
		on, _ := twin.Bool.Read(use)
		switch {
		case val == nil && use != nil:
			set(doc, "/extensions/useProbability", twin.Bool.Write(canon.NewBool(false), use))
		case val == nil:
			twin.Drop(doc, "/extensions/probability")
			twin.Drop(doc, "/extensions/risu_activationPercent")
		default:
			if on.Raw() != "true" {
				set(doc, "/extensions/useProbability", twin.Bool.Write(canon.NewBool(true), use))
			}
			set(doc, "/extensions/probability", twin.Int.Write(val, doc.At("/extensions/probability")))
			if doc.At("/extensions/risu_activationPercent") != nil {
				set(doc, "/extensions/risu_activationPercent", val)
			}
		}
		return nil
	},
}

// sourceKeys are the switches of what is scanned besides the chat.
var sourceKeys = [][2]string{
	{"match_persona_description", "persona_description"},
	{"match_character_description", "character_description"},
	{"match_character_personality", "character_personality"},
	{"match_character_depth_prompt", "character_depth_prompt"},
	{"match_scenario", "scenario"},
	{"match_creator_notes", "creator_notes"},
}

var sources = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		var on []*canon.Node
		for _, p := range sourceKeys {
			if v, _ := twin.Flag.Read(doc.At("/extensions/" + p[0])); v != nil {
				on = append(on, canon.NewText(p[1]))
			}
		}
		if on == nil {
			return nil, ""
		}
		return canon.NewArray(on...), ""
	},
	Write: func(doc, val *canon.Node) (losses []twin.Loss) {
		want := map[string]bool{}
		for _, it := range val.Items() {
			want[it.Text()] = true
		}
		for _, p := range sourceKeys {
			ptr := "/extensions/" + p[0]
			if was, _ := twin.Flag.Read(doc.At(ptr)); (was != nil) != want[p[1]] {
				set(doc, ptr, twin.Flag.Write(canon.NewBool(want[p[1]]), doc.At(ptr)))
			}
			delete(want, p[1])
		}
		for i, it := range val.Items() {
			if want[it.Text()] {
				losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i), Value: twin.Clip(it), Verdict: twin.Dropped, Reason: "the book has no switch to scan it for keys"})
			}
		}
		return losses
	},
}
