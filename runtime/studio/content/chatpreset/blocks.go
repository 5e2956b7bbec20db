// Package chatpreset reads and writes presets of chat completion as SillyTavern spells
// them: prompts and their order, settings, the scripts that they carry.
//
// It is a pure codec beside content/card, because more than one platform's presets are
// of this shape; the adapters know whose file it is. It opens no file and sends nothing.
package chatpreset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func itoa(i int) string { return strconv.Itoa(i) }

// The ids of the "characters" whose orders hold for all: the older and the present one.
var orderIDs = []string{"100001", "100000"}

// markers are the prompts that stand for something, by SillyTavern's identifiers.
var markers = [][2]string{
	{"chatHistory", "chat_history"},
	{"dialogueExamples", "examples"},
	{"worldInfoBefore", "lore_before"},
	{"worldInfoAfter", "lore_after"},
	{"charDescription", "description"},
	{"charPersonality", "personality"},
	{"scenario", "scenario"},
	{"personaDescription", "persona"},
}

// builtIn are the identifiers that SillyTavern adds to a preset that lacks their prompt.
var builtIn = []string{
	"main", "nsfw", "jailbreak", "enhanceDefinitions", "chatHistory", "dialogueExamples", "worldInfoBefore", "worldInfoAfter",
	"charDescription", "charPersonality", "scenario", "personaDescription",
}

func markerOf(identifier string) string {
	for _, m := range markers {
		if m[0] == identifier {
			return m[1]
		}
	}
	return ""
}

func identifierOf(marker string) string {
	for _, m := range markers {
		if m[1] == marker {
			return m[0]
		}
	}
	return ""
}

// freshPrompt is a prompt as SillyTavern makes it.
const freshPrompt = `{"identifier":"","name":"","system_prompt":false,"marker":false,"role":"system","content":"","injection_position":0,` +
	`"injection_depth":4,"injection_order":100,"forbid_overrides":false}`

// promptFields are a block's, but for whether it is enabled and listed.
var promptFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/role", Ptr: "/role", Codec: twin.Words([2]string{`"system"`, "system"}, [2]string{`"user"`, "user"}, [2]string{`"assistant"`, "assistant"})},
	{Path: "/content", Ptr: "/content", Codec: twin.Text, Required: true},
	{Path: "/marker", Over: &marker},
	{Path: "/position", Ptr: "/injection_position", Required: true, Codec: twin.Alias(twin.Words([2]string{"0", ""}, [2]string{"1", "depth"}), "relative", "0")},
	{Path: "/depth", Ptr: "/injection_depth", Codec: twin.Int},
	{Path: "/order", Ptr: "/injection_order", Codec: twin.Int},
	{Path: "/triggers", Ptr: "/injection_trigger", Codec: twin.TextList},
	{Path: "/forbidOverrides", Ptr: "/forbid_overrides", Codec: twin.Flag, Required: true},
	twin.Lost("/group", twin.Text, "SillyTavern has no groups of prompts"),
	twin.Lost("/wrap", twin.Text, "SillyTavern puts no wrapper around prompts"),
	twin.Lost("/sealed", twin.Bool, "SillyTavern has no sealed prompts"),
}

// marker is a switch; what the prompt stands for is its identifier's matter.
var marker = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(doc.Field("marker"))
		if v == nil {
			return nil, problem
		}
		if m := markerOf(doc.Field("identifier").Text()); m != "" {
			return canon.NewText(m), ""
		}
		return canon.NewText("other"), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		is, _ := twin.Flag.Read(doc.Field("marker"))
		if val == nil || val.Text() == markerOf(doc.Field("identifier").Text()) {
			twin.Set(doc, "/marker", twin.Flag.Write(canon.NewBool(val != nil), doc.Field("marker")))
			return nil
		}
		verdict := twin.Dropped
		if is != nil {
			verdict = twin.Approximated
		}
		return []twin.Loss{{Value: val.Text(), Verdict: verdict, Reason: "what a prompt of SillyTavern stands for is fixed by its identifier"}}
	},
}

// A plan is the prompts of a document and the order that counts.
type plan struct {
	at      string // "" or "/data"
	prompts *canon.Node
	order   *canon.Node // a list of {identifier, enabled}; nil where there is none
	orderAt string      // where it is, or is to be
}

func planOf(doc *canon.Node, at string) plan {
	p := plan{at: at, prompts: doc.At(at + "/prompts"), orderAt: at + "/prompt_order"}
	all := doc.At(p.orderAt)
	if all.Len() > 0 && all.At("/0/identifier") != nil {
		p.order = all // the prompt manager's: one order
		return p
	}
	if at != "" {
		return p
	}
	pick := -1
	for _, id := range orderIDs {
		for i, o := range all.Items() {
			if pick < 0 && o.Field("order").Kind() == canon.Array && (o.Field("character_id").Raw() == id || o.Field("character_id").Text() == id) {
				pick = i
			}
		}
	}
	for i, o := range all.Items() {
		if pick < 0 && o.Field("order").Kind() == canon.Array {
			pick = i
		}
	}
	if pick >= 0 {
		p.orderAt += "/" + itoa(pick) + "/order"
		p.order = doc.At(p.orderAt)
	}
	return p
}

// A row is a block as the document has it.
type row struct {
	id       string
	prompt   *canon.Node // nil for a built-in one that the document leaves out
	enabled  bool
	unlisted bool
}

// rows are the blocks in order: those of the order, then those that are in none.
func (p plan) rows() (list []row, ghosts, others []string) {
	firsts := map[string]*canon.Node{}
	var ids []string
	for i, it := range p.prompts.Items() {
		id := it.Field("identifier").Text()
		switch {
		case it.Kind() != canon.Object || i >= twin.MaxItems:
		case id == "":
			others = append(others, it.Field("name").Text())
		case firsts[id] != nil:
			others = append(others, id)
		default:
			firsts[id] = it
			ids = append(ids, id)
		}
	}
	listed := map[string]bool{}
	for _, o := range p.order.Items() {
		id := o.Field("identifier").Text()
		if id == "" || listed[id] {
			continue
		}
		if firsts[id] == nil && !slices.Contains(builtIn, id) {
			ghosts = append(ghosts, id)
			continue
		}
		listed[id] = true
		on, _ := twin.Bool.Read(o.Field("enabled"))
		list = append(list, row{id: id, prompt: firsts[id], enabled: on.Raw() != "false"})
	}
	for _, id := range ids {
		if listed[id] {
			continue
		}
		on, _ := twin.Bool.Read(firsts[id].Field("enabled"))
		list = append(list, row{id: id, prompt: firsts[id], enabled: p.order == nil && on.Raw() != "false", unlisted: p.order != nil})
	}
	return list, ghosts, others
}

// block is the canonical form of a row.
func (r row) block() (*canon.Node, []string) {
	b, problems := twin.Read(r.prompt, promptFields)
	if r.prompt == nil {
		if m := markerOf(r.id); m != "" {
			twin.Set(b, "/marker", canon.NewText(m))
		}
	}
	twin.Set(b, "/id", canon.NewText(r.id))
	twin.Set(b, "/enabled", canon.NewBool(r.enabled))
	if r.unlisted {
		twin.Set(b, "/unlisted", canon.NewBool(true))
	}
	return b, problems
}

// blocksAt are the blocks of a document whose prompts are below at.
func blocksAt(at string) *twin.Over {
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if isLegacy(doc) {
				return readLegacy(doc), ""
			}
			return planOf(doc, at).read()
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			if isLegacy(doc) {
				if writeLegacy(doc, val) {
					return nil
				}
				return writeModern(doc, val)
			}
			return planOf(doc, at).write(doc, val)
		},
	}
}

func (p plan) read() (*canon.Node, string) {
	list, _, _ := p.rows()
	var blocks []*canon.Node
	problem := ""
	for _, r := range list {
		b, problems := r.block()
		if len(problems) > 0 && problem == "" {
			problem = fmt.Sprintf("the prompt %q: %s", r.id, problems[0])
		}
		blocks = append(blocks, b)
	}
	if blocks == nil {
		return nil, problem
	}
	return canon.NewArray(blocks...), problem
}

// Strays says what of the prompts and their order does not become a block.
func Strays(doc *canon.Node) (warnings []string) {
	at := ""
	if IsManager(doc) {
		at = "/data"
	}
	list, ghosts, others := planOf(doc, at).rows()
	say := func(ids []string, what string) {
		if len(ids) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s %q", what, ids[:min(len(ids), 5)]))
		}
	}
	var orphans []string
	for _, r := range list {
		if r.unlisted {
			orphans = append(orphans, r.id)
		}
	}
	say(orphans, "prompts in no order are kept, and are never sent:")
	say(ghosts, "the order names prompts that are not there:")
	say(others, "prompts without an identifier, or with one of another, are kept in the file and not used:")
	return warnings
}

// write changes the document so that its blocks are these.
func (p plan) write(doc, val *canon.Node) (losses []twin.Loss) {
	was, _, _ := p.rows()
	before := map[string]row{}
	for _, r := range was {
		before[r.id] = r
	}
	now := p.renamed(val, before, &losses)
	prompts := p.layPrompts(now, before, &losses)
	if !sameOrder(was, now) {
		p.layOrder(doc, now)
	}
	twin.Set(doc, p.at+"/prompts", prompts)
	return losses
}

// A next is a block to be written, under its identifier in the file.
type next struct {
	row
	at  int // in the body
	val *canon.Node
}

// renamed gives markers their identifiers, and leaves out what SillyTavern has no
// marker for.
func (p plan) renamed(val *canon.Node, before map[string]row, losses *[]twin.Loss) (list []next) {
	taken := map[string]bool{}
	for _, b := range val.Items() {
		if _, old := before[b.Field("id").Text()]; old {
			taken[b.Field("id").Text()] = true
		}
	}
	for i, b := range val.Items() {
		id, mark := b.Field("id").Text(), b.Field("marker").Text()
		_, old := before[id]
		lose := func(path string, v twin.Verdict, why string) {
			*losses = append(*losses, twin.Loss{Path: "/" + itoa(i) + path, Value: twin.Clip(canon.NewText(id)), Verdict: v, Reason: why})
		}
		if !old {
			want := id
			switch own := identifierOf(mark); {
			case mark != "" && own == "":
				lose("", twin.Dropped, "SillyTavern has no place for "+mark)
				continue
			case mark != "" && taken[own]:
				lose("", twin.Dropped, "SillyTavern puts "+mark+" in one place only")
				continue
			case mark != "":
				want = own
			case markerOf(id) != "":
				want = id + "-text"
			}
			base := want
			for n := 2; taken[want]; n++ {
				want = base + "-" + itoa(n)
			}
			if want != id {
				lose("/id", twin.Renamed, "its identifier in SillyTavern is "+want)
			}
			taken[want] = true
			id = want
		}
		list = append(list, next{row: row{id: id, enabled: b.Field("enabled").Raw() == "true", unlisted: b.Field("unlisted").Raw() == "true"}, at: i, val: b})
	}
	return list
}

// layPrompts is the list of prompts: those that were there in their places, new ones
// behind them.
func (p plan) layPrompts(now []next, before map[string]row, losses *[]twin.Loss) *canon.Node {
	keep := map[string]*canon.Node{}
	var added []*canon.Node
	for _, n := range now {
		old, had := before[n.id]
		var doc *canon.Node
		switch {
		case had && old.prompt != nil:
			doc = old.prompt.Clone()
		case had && sameBlock(old, n.val):
			continue // SillyTavern makes it
		default:
			doc = twin.Parsed(freshPrompt)
			twin.Set(doc, "/identifier", canon.NewText(n.id))
			if slices.Contains(builtIn, n.id) {
				twin.Set(doc, "/system_prompt", canon.NewBool(true))
			}
		}
		for _, l := range twin.Lay(doc, promptFields, n.val) {
			l.Path = "/" + itoa(n.at) + l.Path
			*losses = append(*losses, l)
		}
		if n.unlisted && n.enabled {
			*losses = append(*losses, twin.Loss{Path: "/" + itoa(n.at) + "/enabled", Value: "true", Verdict: twin.Dropped, Reason: "a prompt in no order is not enabled"})
		}
		if had && old.prompt != nil {
			keep[n.id] = doc
		} else {
			added = append(added, doc)
		}
	}
	var list []*canon.Node
	for _, it := range p.prompts.Items() {
		id := it.Field("identifier").Text()
		doc, kept := keep[id]
		switch {
		case id == "" || it.Kind() != canon.Object:
			list = append(list, it) // nothing that is read
		case kept && doc != nil:
			list = append(list, doc)
			keep[id] = nil
		case kept:
			list = append(list, it) // a double
		}
	}
	return twin.Refill(p.prompts, unlistedInOrder(append(list, added...), now))
}

func sameBlock(old row, val *canon.Node) bool {
	b, _ := old.block()
	b = b.Clone()
	twin.Set(b, "/enabled", val.Field("enabled"))
	if val.Field("unlisted") != nil {
		twin.Set(b, "/unlisted", val.Field("unlisted"))
	}
	return canon.Equal(b, val)
}
