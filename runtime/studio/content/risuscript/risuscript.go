// Package risuscript reads and writes regex scripts as Risu spells them, in a file of
// their own or in a card.
//
// It is a pure codec beside content/regexscript: it opens no file, and runs no pattern.
package risuscript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const freshScript = `{"comment":"","in":"","out":"","type":"editdisplay","ableFlag":false}`

// scriptFields are a script; where is what a place and phases are together.
var scriptFields = []twin.Field{
	{Path: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/comment", Codec: twin.Text, Required: true},
	{Path: "/find", Ptr: "/in", Codec: twin.Text, Required: true},
	{Path: "/flags", Over: &flags},
	{Path: "/replace", Over: &replace},
	twin.Lost("/trim", twin.TextList, "Risu does not trim what it inserts"),
	{Path: "/where", Over: &where},
	{Path: "/enabled", Over: &scriptOn},
	twin.Lost("/runOnEdit", twin.Flag, "Risu does not tell an edit apart"),
	{Path: "/substitute", Over: &macros},
	twin.Lost("/minDepth", twin.Int, "Risu runs a script at every depth"),
	twin.Lost("/maxDepth", twin.Int, "Risu runs a script at every depth"),
	{Path: "/order", Over: &scriptOrder},
}

var list = twin.Objects(scriptFields, "/id", "rule-", freshScript)

// scriptOn says that a script is on: Risu has no switch for it.
var scriptOn = twin.Over{
	Read: func(*canon.Node) (*canon.Node, string) { return canon.NewBool(true), "" },
	Write: func(_, val *canon.Node) []twin.Loss {
		if val.Raw() != "false" {
			return nil
		}
		return []twin.Loss{{Value: "false", Verdict: twin.Approximated, Reason: "Risu has no switch for a script: it is on there"}}
	},
}

// A flag is letters and words in angle brackets.
func flagsOf(doc *canon.Node) (letters string, words []string) {
	text := doc.Field("flag").Text()
	if doc.Field("ableFlag").Raw() != "true" {
		return "g", nil
	}
	for text != "" {
		before, rest, more := strings.Cut(text, "<")
		letters += before
		word, after, closed := strings.Cut(rest, ">")
		if more && closed {
			words = append(words, word)
		} else if more {
			letters += rest
		}
		text = after
	}
	known := strings.Map(func(r rune) rune {
		if strings.ContainsRune("dgimsuvy", r) {
			return r
		}
		return -1
	}, letters)
	if known == "" {
		known = "u" // as Risu does
	}
	return known, words
}

func setFlags(doc *canon.Node, letters string, words []string) {
	on := letters != "g" || len(words) > 0
	if (doc.Field("ableFlag").Raw() == "true") != on {
		twin.Set(doc, "/ableFlag", canon.NewBool(on))
	}
	if !on {
		return
	}
	for _, w := range words {
		letters += "<" + w + ">"
	}
	twin.Set(doc, "/flag", canon.NewText(letters))
}

var flags = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		letters, _ := flagsOf(doc)
		if letters == "u" {
			return nil, "" // what Risu makes of none
		}
		return canon.NewText(letters), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		_, words := flagsOf(doc)
		letters := val.Text()
		if letters == "" {
			letters = "u"
		}
		setFlags(doc, letters, words)
		if back, _ := flagsOf(doc); val != nil && (back != val.Text() || back == "u") {
			return []twin.Loss{{Value: val.Text(), Verdict: twin.Approximated, Reason: fmt.Sprintf("Risu takes the flags dgimsuvy, and u alone is none; it becomes %q", back)}}
		}
		return nil
	},
}

var macros = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if _, words := flagsOf(doc); slices.Contains(words, "cbs") {
			return canon.NewText("raw"), ""
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		letters, words := flagsOf(doc)
		words = slices.DeleteFunc(words, func(w string) bool { return w == "cbs" })
		if to := val.Text(); to == "raw" || to == "escaped" {
			words = append(words, "cbs")
		}
		setFlags(doc, letters, words)
		if val.Text() == "escaped" {
			return []twin.Loss{{Value: "escaped", Verdict: twin.Approximated, Reason: "Risu puts macros into a pattern as they are"}}
		}
		return nil
	},
}

var scriptOrder = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		_, words := flagsOf(doc)
		for _, w := range words {
			if n, err := strconv.Atoi(strings.TrimPrefix(w, "order ")); err == nil && isOrder(w) {
				return canon.NewInt(int64(n)), ""
			}
		}
		return nil, ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		letters, words := flagsOf(doc)
		words = slices.DeleteFunc(words, isOrder)
		if val != nil {
			words = append(words, "order "+val.Raw())
		}
		setFlags(doc, letters, words)
		return nil
	},
}

func isOrder(w string) bool { return strings.HasPrefix(w, "order ") }

var (
	fromRisu = strings.NewReplacer("$n", "\n", "{{data}}", "{{match}}")
	toRisu   = strings.NewReplacer("\n", "$n", "{{match}}", "{{data}}")
)

// replace is what a match becomes, in our spelling of a line end and of the match.
var replace = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(doc.Field("out"))
		if text == nil {
			return nil, problem
		}
		return canon.NewText(fromRisu.Replace(text.Text())), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		text := toRisu.Replace(val.Text())
		twin.Set(doc, "/out", canon.NewText(text))
		if fromRisu.Replace(text) != val.Text() {
			return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "$n is a line end in Risu, and {{data}} the match"}}
		}
		return nil
	},
}

// kinds are Risu's kinds of scripts, what is nearest to any first.
var kinds = []struct {
	name              string
	placement, phases []string
}{
	{"editoutput", []string{"ai_output"}, nil},
	{"editinput", []string{"user_input"}, nil},
	{"editdisplay", []string{"user_input", "ai_output"}, []string{"display"}},
	{"editprocess", []string{"user_input", "ai_output"}, []string{"prompt"}},
}

func texts(words []string) *canon.Node {
	var nodes []*canon.Node
	for _, s := range words {
		nodes = append(nodes, canon.NewText(s))
	}
	return canon.NewArray(nodes...)
}

func listOf(n *canon.Node) (words []string) {
	for _, it := range n.Items() {
		words = append(words, it.Text())
	}
	return words
}

// where is placement and phases, which Risu says in one word.
var where = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		name := doc.Field("type").Text()
		for _, k := range kinds {
			if k.name != name {
				continue
			}
			val := canon.NewObject()
			twin.Set(val, "/placement", texts(k.placement))
			if k.phases != nil {
				twin.Set(val, "/phases", texts(k.phases))
			}
			return val, ""
		}
		return canon.NewObject(), fmt.Sprintf("is a script of the kind %q, which is not known; it stays in the original file and is not used", name)
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		places, phases := listOf(val.Field("placement")), listOf(val.Field("phases"))
		to := kinds[0]
		switch {
		case slices.Contains(phases, "display"):
			to = kinds[2]
		case slices.Contains(phases, "prompt") || slices.Contains(places, "user_input") && slices.Contains(places, "ai_output") && !slices.Contains(phases, "stored") && len(phases) > 0:
			to = kinds[3]
		case slices.Contains(places, "user_input") && !slices.Contains(places, "ai_output"):
			to = kinds[1]
		}
		twin.Set(doc, "/type", canon.NewText(to.name))
		want := canon.NewObject()
		twin.Set(want, "/placement", texts(to.placement))
		if to.phases != nil {
			twin.Set(want, "/phases", texts(to.phases))
		}
		why := "a script of Risu has one kind; it becomes " + to.name
		if len(places) == 0 || len(phases) == 0 && to.phases != nil {
			return []twin.Loss{{Value: strings.Join(append(places, phases...), ", "), Verdict: twin.Approximated, Reason: why}}
		}
		var losses []twin.Loss
		for _, key := range []string{"placement", "phases"} {
			if now := val.Field(key); now != nil && !canon.Equal(now, want.Field(key)) {
				losses = append(losses, twin.Loss{Path: "/" + key, Value: twin.Clip(now), Verdict: twin.Approximated, Reason: why})
			}
		}
		return losses
	},
}

// fold puts placement and phases of each rule into where; unfold takes them out again.
func fold(rules *canon.Node) *canon.Node {
	out := rules.Clone()
	for _, r := range out.Items() {
		w := canon.NewObject()
		for _, key := range []string{"placement", "phases"} {
			if v := r.Field(key); v != nil {
				twin.Set(w, "/"+key, v)
				twin.Drop(r, "/"+key)
			}
		}
		twin.Set(r, "/where", w)
	}
	return out
}

func unfold(rules *canon.Node) *canon.Node {
	out := rules.Clone()
	for _, r := range out.Items() {
		for key, v := range r.Field("where").Members() {
			twin.Set(r, "/"+key, v)
		}
		twin.Drop(r, "/where")
	}
	return out
}

// Read gives the rules of a list of scripts, nil where there are none.
func Read(doc *canon.Node) (rules *canon.Node, problem string) {
	rules, problem = list.Read(doc)
	if rules != nil {
		rules = unfold(rules)
	}
	return rules, problem
}

// Lay lays rules over a list of scripts.
func Lay(now, old *canon.Node) (put *canon.Node, losses []twin.Loss) {
	put, losses = list.Lay(fold(now), old)
	for i, l := range losses {
		losses[i].Path = strings.Replace(l.Path, "/where", "", 1)
	}
	return put, losses
}

// Home is where a document of another kind carries scripts of Risu.
func Home(at string) regexscript.Home {
	return regexscript.Home{At: at, Format: Format, Read: Read, Lay: Lay, Alone: alone}
}

// Format is the format of a file of Risu's scripts alone.
const Format = "risu-regex"

func alone(scripts *canon.Node) *canon.Node {
	doc := twin.Parsed(`{"type":"regex"}`)
	twin.Set(doc, "/data", scripts)
	return doc
}
