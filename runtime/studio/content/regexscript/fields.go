// Package regexscript reads and writes regex scripts as SillyTavern spells them, in a
// file of their own, in a preset or in a card.
//
// It is a pure codec beside content/card: it opens no file, and runs no pattern.
package regexscript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Is reports a script. Placements that are words are another platform's.
func Is(n *canon.Node) bool {
	if n.Field("scriptName").Kind() != canon.String || n.Field("findRegex").Kind() != canon.String {
		return false
	}
	for _, p := range n.Field("placement").Items() {
		if p.Kind() == canon.String {
			return false
		}
	}
	return true
}

// freshRule is a script as SillyTavern makes it.
const freshRule = `{"id":"","scriptName":"","findRegex":"","replaceString":"","trimStrings":[],"placement":[],"disabled":false,` +
	`"markdownOnly":false,"promptOnly":false,"runOnEdit":false,"substituteRegex":0,"minDepth":null,"maxDepth":null}`

var ruleFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/scriptName", Codec: twin.Text, Required: true},
	{Path: "/find", Over: &pattern},
	{Path: "/flags", Over: &patternFlags},
	{Path: "/replace", Ptr: "/replaceString", Codec: twin.Text, Required: true},
	{Path: "/trim", Ptr: "/trimStrings", Codec: twin.TextList, Required: true},
	{Path: "/placement", Over: &placement},
	{Path: "/phases", Over: &phases},
	{Path: "/enabled", Ptr: "/disabled", Codec: twin.AbsentIs(twin.Not, canon.NewBool(true))},
	{Path: "/runOnEdit", Ptr: "/runOnEdit", Codec: twin.Flag, Required: true},
	{Path: "/substitute", Ptr: "/substituteRegex", Codec: substitute, Required: true},
	{Path: "/minDepth", Ptr: "/minDepth", Codec: twin.IntOrNull, Required: true},
	{Path: "/maxDepth", Ptr: "/maxDepth", Codec: twin.IntOrNull, Required: true},
	twin.Lost("/order", twin.Int, "SillyTavern runs scripts in the order of their list"),
}

var substitute = twin.WithEmpty(twin.Alias(twin.Words([2]string{"0", ""}, [2]string{"1", "raw"}, [2]string{"2", "escaped"}, [2]string{"true", "raw"}, [2]string{"false", ""}), "none", "0"), "0")

// List is the codec of a list of scripts.
var List = twin.Objects(ruleFields, "/id", "rule-", freshRule)

// The pattern and its flags are one text in the file.
var (
	pattern = twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			text, problem := twin.ReadText(doc.Field("findRegex"))
			if text == nil {
				return nil, problem
			}
			find, _, _ := splitPattern(text.Text())
			if strings.Contains(find, "\n") && strings.HasPrefix(find, "/") {
				problem = "has a line end between its slashes, and SillyTavern reads it only up to there"
			}
			return canon.NewText(find), problem
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			_, flags, slashed := splitPattern(doc.Field("findRegex").Text())
			return writePattern(doc, val.Text(), flags, slashed)
		},
	}
	patternFlags = twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if _, flags, _ := splitPattern(doc.Field("findRegex").Text()); flags != "" {
				return canon.NewText(flags), ""
			}
			return nil, ""
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			find, _, slashed := splitPattern(doc.Field("findRegex").Text())
			return writePattern(doc, find, val.Text(), slashed)
		},
	}
)

// splitPattern reads a pattern as SillyTavern's engine does: between the first slash
// and the last, if something is there; flags are letters that it lets through, each
// once. All else is the pattern as it stands.
func splitPattern(text string) (find, flags string, slashed bool) {
	end := strings.LastIndexByte(text, '/')
	if end < 2 || text[0] != '/' || strings.ContainsAny(text, "\n\r\u2028\u2029") {
		return text, "", false
	}
	flags = text[end+1:]
	for i, r := range flags {
		if !strings.ContainsRune(ruleFlags, r) || strings.ContainsRune(flags[:i], r) {
			return text, "", false
		}
	}
	return text[1:end], flags, true
}

// ruleFlags are the letters that SillyTavern lets through, though not every browser
// takes them all.
const ruleFlags = "gmixXsuUAJ"

var lineEnds = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`)

func writePattern(doc *canon.Node, find, flags string, slashed bool) []twin.Loss {
	why, plain := "", lineEnds.Replace(find)
	if plain != find {
		why = "SillyTavern reads a pattern up to its first line end; they are written as escapes"
	}
	var kept strings.Builder
	for _, r := range flags {
		if strings.ContainsRune(ruleFlags, r) && !strings.ContainsRune(kept.String(), r) {
			kept.WriteRune(r)
		}
	}
	if kept.String() != flags {
		why = "SillyTavern takes the flags " + ruleFlags + " alone, each once"
	}
	text := plain
	if _, _, is := splitPattern(plain); slashed || kept.Len() > 0 || is {
		text = "/" + plain + "/" + kept.String()
	}
	if plain == "" {
		text, why = "", "" // layRules says so
	}
	twin.Set(doc, "/findRegex", canon.NewText(text))
	if why == "" {
		return nil
	}
	return []twin.Loss{{Value: twin.Clip(canon.NewText(find + " " + flags)), Verdict: twin.Approximated, Reason: why}}
}

var placements = []string{1: "user_input", 2: "ai_output", 3: "slash_command", 5: "world_info", 6: "reasoning"}

// Old numbers of placements.
const (
	oldDisplay = "0" // everywhere, as display and prompt
	oldSendAs  = "4" // now a slash command
)

func isOldDisplay(doc *canon.Node) bool {
	for _, p := range doc.Field("placement").Items() {
		if p.Raw() == oldDisplay {
			return true
		}
	}
	return false
}

func placementOf(n *canon.Node) string {
	if n.Raw() == oldSendAs {
		return placements[3]
	}
	i, err := strconv.Atoi(n.Raw())
	if err != nil || i < 0 || i >= len(placements) {
		return ""
	}
	return placements[i]
}

// placement is a list of numbers.
var placement = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		var words []*canon.Node
		var strange []string
		if isOldDisplay(doc) {
			for _, w := range placements {
				if w != "" {
					words = append(words, canon.NewText(w))
				}
			}
			return canon.NewArray(words...), ""
		}
		for _, p := range doc.Field("placement").Items() {
			if w := placementOf(p); w != "" {
				words = append(words, canon.NewText(w))
			} else {
				strange = append(strange, twin.Clip(p))
			}
		}
		problem := ""
		if len(strange) > 0 {
			problem = fmt.Sprintf("has %s, which is not known; it stays in the original file and is not used", strings.Join(strange[:min(len(strange), 3)], ", "))
		}
		if words == nil {
			return nil, problem
		}
		return canon.NewArray(words...), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		if isOldDisplay(doc) { // the old number says two things more
			twin.Set(doc, "/markdownOnly", canon.NewBool(true))
			twin.Set(doc, "/promptOnly", canon.NewBool(true))
		}
		numbers := map[string]*canon.Node{}
		var strange []*canon.Node
		for _, p := range doc.Field("placement").Items() {
			if w := placementOf(p); w != "" {
				numbers[w] = p
			} else if p.Raw() != oldDisplay {
				strange = append(strange, p)
			}
		}
		var list []*canon.Node
		for _, it := range val.Items() {
			n := numbers[it.Text()]
			if n == nil {
				n = canon.NewInt(int64(slices.Index(placements, it.Text())))
			}
			list = append(list, n)
		}
		twin.Set(doc, "/placement", twin.Refill(doc.Field("placement"), append(list, strange...)))
		return nil
	},
}

// phases are two switches; with neither, the stored text is changed.
var phases = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		var list []*canon.Node
		old := isOldDisplay(doc)
		if v, _ := twin.Flag.Read(doc.Field("markdownOnly")); v != nil || old {
			list = append(list, canon.NewText("display"))
		}
		if v, _ := twin.Flag.Read(doc.Field("promptOnly")); v != nil || old {
			list = append(list, canon.NewText("prompt"))
		}
		if list == nil {
			return nil, ""
		}
		return canon.NewArray(list...), ""
	},
	Write: func(doc, val *canon.Node) (losses []twin.Loss) {
		if all, _ := placement.Read(doc); isOldDisplay(doc) {
			placement.Write(doc, all)
		}
		has := map[string]bool{}
		for _, it := range val.Items() {
			has[it.Text()] = true
		}
		if has["stored"] && len(has) > 1 {
			losses = append(losses, twin.Loss{
				Value: twin.Clip(val), Verdict: twin.Approximated,
				Reason: "what SillyTavern stores changed is shown and sent changed, too: it has no switch beside",
			})
		}
		for ptr, word := range map[string]string{"/markdownOnly": "display", "/promptOnly": "prompt"} {
			on := has[word] && !has["stored"]
			if was, _ := twin.Flag.Read(doc.At(ptr)); (was != nil) != on {
				twin.Set(doc, ptr, twin.Flag.Write(canon.NewBool(on), doc.At(ptr)))
			}
		}
		return losses
	},
}

// Lay lays rules over scripts. Flags without a pattern have no place.
func Lay(now, old *canon.Node) (*canon.Node, []content.Loss) {
	var losses []content.Loss
	now = now.Clone()
	for i, r := range now.Items() {
		if f := r.Field("flags"); f != nil && r.Field("find") == nil {
			losses = append(losses, content.Loss{Path: canon.JoinPointer(strconv.Itoa(i), "flags"), Value: twin.Clip(f), Verdict: twin.Dropped, Reason: "a pattern that is empty has no flags"})
			twin.Drop(r, "/flags")
		}
	}
	put, more := List.Lay(now, old)
	return put, append(losses, more...)
}

// Read is the body of a regex set, without a name, of a list of scripts.
func Read(doc *canon.Node) (*canon.Node, string) {
	body := canon.NewObject()
	list, problem := List.Read(doc)
	if list != nil {
		twin.Set(body, "/rules", list)
	}
	return body, problem
}
