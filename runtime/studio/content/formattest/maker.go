package formattest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// A maker fills bodies with values that bite: each field by its type, words by the
// path of the field.
type maker struct {
	*rand.Rand
	ids  int
	only map[string][]string // words of the format under test, by path
}

var (
	roleWords = []string{"system", "user", "assistant"}
	textWords = []string{"a", "two words", "it's \"quoted\"", "灯台 🗼", "/x/gi", "line\nend", "$1 $<n> {{user}} \\", "{\"a\":1}", "true", "0", " ", "a,b"}
	wordsAt   = map[string][]string{
		"Entries.Activation": {"constant", "vector"}, "Entries.Logic": {"and_any", "and_all", "not_any", "not_all"},
		"Entries.Placement.Position": content.LorePositions, "Entries.Placement.Role": roleWords,
		"Entries.Keys.Flags": {"i", "gi", "v"}, "Entries.Secondary.Flags": {"m"},
		"Entries.Sources": {"persona_description", "character_description", "scenario", "character_tags"},
		"Injection.Role":  roleWords, "Injection.Position": {"prompt", "after_chat", "note_top", "note_bottom", "depth", "none"},
		"Rules.Placement": content.RulePlacements, "Rules.Phases": content.RulePhases, "Rules.Substitute": {"raw", "escaped"},
		"Rules.Flags": {"g", "gi", "v", "gg"}, "Replies.RunsOn": content.ReplyEvents,
		"Blocks.Role": roleWords, "Blocks.Marker": content.Markers, "Blocks.Position": {"depth"},
		"Behavior.Names":          {"none", "default", "completion", "content", "sometimes"},
		"Choices.Type":            {"many", "toggle", "text", "number"},
		"Persona.Structured.Kind": {"wpp", "sbf", "boostyle", "attributes", "text"}, "Prompts.DepthInjections.Role": roleWords,
		"Items.Ref": {"data:image/png;base64,iVBORw0KGgo=", "https://x.test/a b.png", "asset:1", "archive:a/b.webp"}, "Items.MIME": {"image/png", "text/html"},
		"Behavior.Regex.Placement": content.RulePlacements, "Behavior.Regex.Phases": content.RulePhases, "Behavior.Regex.Substitute": {"raw", "escaped"},
	}
	numbers = []string{"1", "0.50", "-1", "1e3"}
	// these name other pieces or items
	skipAt = []string{"Entries.Folder", "Folders.Parent", "Blocks.Group", "Regexes", "Book", "Groups.Parent", "Links", "Variants", "Choices.Options.Blocks", "Behavior.Triggers", "Groups.Items", "Default"}
)

func (m *maker) fill(v reflect.Value, path string) {
	if slices.Contains(skipAt, path) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(m.text(path))
	case reflect.Bool:
		v.SetBool(m.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(m.IntN(4)))
	case reflect.Pointer:
		if m.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if m.IntN(4) == 0 && f.Name != "ID" && f.Name != "Key" && !f.Anonymous {
				continue
			}
			at := strings.TrimPrefix(path+"."+f.Name, ".")
			if f.Anonymous {
				at = path
			}
			m.fill(v.Field(i), at)
		}
	case reflect.Map:
		m.table(v, path)
	case reflect.Slice:
		m.list(v, path)
	}
}

func (m *maker) table(v reflect.Value, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	for range m.IntN(3) {
		val := reflect.New(v.Type().Elem()).Elem()
		m.fill(val, path)
		if val.Kind() != reflect.Slice || val.Len() > 0 {
			v.SetMapIndex(reflect.ValueOf([]string{"wrap", "input_sequence", "x y", "mind"}[m.IntN(4)]), val)
		}
	}
	if v.Len() == 0 {
		v.SetZero()
	}
}

func (m *maker) list(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[jsontext.Value]() {
		n := numbers
		if strings.HasPrefix(path, "Samplers.") {
			n = append(slices.Clone(n), "null")
		}
		v.SetBytes([]byte(n[m.IntN(len(n))]))
		return
	}
	if words := m.words(path); words != nil { // a set, in its order
		for _, w := range words {
			if m.IntN(3) == 0 {
				v.Set(reflect.Append(v, reflect.ValueOf(w)))
			}
		}
		return
	}
	n := m.IntN(4)
	if n == 0 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		m.fill(v.Index(i), path)
	}
}

func (m *maker) words(path string) []string {
	if w, ok := m.only[path]; ok {
		return w
	}
	return wordsAt[path]
}

func (m *maker) text(path string) string {
	if strings.HasSuffix(path, ".ID") || strings.HasSuffix(path, "Choices.Key") {
		m.ids++
		return []string{strconv.Itoa(m.ids), fmt.Sprintf("x-%d", m.ids), fmt.Sprintf("00%d", m.ids)}[m.IntN(3)]
	}
	if words := m.words(path); words != nil {
		return words[m.IntN(len(words))]
	}
	return textWords[m.IntN(len(textWords))]
}

// makers are of each kind.
var makers = map[string]func(t *testing.T, m *maker) store.Piece{
	content.KindCharacter: made[content.Character], content.KindLorebook: made[content.Lorebook], content.KindPersona: made[content.Persona],
	content.KindPreset: made[content.Preset], content.KindRegex: made[content.RegexSet],
	content.KindQuickReply: made[content.QuickReplySet], content.KindPack: made[content.Pack], content.KindHTMLDoc: made[content.HTMLDoc],
}

func made[B content.Body](t *testing.T, m *maker) store.Piece {
	t.Helper()
	var b B
	m.ids = 0
	v := reflect.ValueOf(&b).Elem()
	m.fill(v, "")
	kind := ""
	switch x := any(&b).(type) {
	case *content.Character:
		kind, x.Identity.Name = content.KindCharacter, m.text("Name")
		if x.Persona.Structured.Kind == "" || x.Persona.Structured.Attributes == nil {
			x.Persona.Structured = content.Traits{}
		}
		for i := range x.Prompts.DepthInjections {
			if inj := &x.Prompts.DepthInjections[i]; inj.Role == "" {
				inj.Role = "system"
			}
			x.Prompts.DepthInjections[i].Content += "."
		}
		for i := range x.Greetings.Alternates {
			x.Greetings.Alternates[i].Text += "." // what is empty is absent
		}
		for i := range x.Settings.Bias {
			x.Settings.Bias[i].Value = jsontext.Value("0.5")
		}
		tidyRules(x.Behavior.Regex)
	case *content.Lorebook:
		kind, x.Name = content.KindLorebook, m.text("Name")
	case *content.Persona:
		kind, x.Name = content.KindPersona, m.text("Name")
	case *content.Preset:
		kind, x.Name = content.KindPreset, m.text("Name")
		tidyBlocks(m, x.Blocks)
	case *content.QuickReplySet:
		kind, x.Name = content.KindQuickReply, m.text("Name")
	case *content.RegexSet:
		kind, x.Name = content.KindRegex, m.text("Name")
		tidyRules(x.Rules)
	case *content.Pack:
		kind, x.Name = content.KindPack, m.text("Name")
		m.group(x)
	case *content.HTMLDoc:
		kind, x.Name = content.KindHTMLDoc, m.text("Name")
		x.HTML = []string{"", "<p>" + x.HTML, "<html><head><title>" + x.Name + "</title></head>\r\n<body onload=x()>" + x.HTML, "<!DOCTYPE html><title> A\n b &amp; c </title>"}[m.IntN(4)]
	}
	raw, err := content.Bytes(b)
	must(t, err)
	if _, err := content.Parse[B](raw); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return store.Piece{Ref: store.Ref{Kind: kind, ID: "made"}, Title: "Made", Body: raw}
}

// group puts items of a pack into its groups, whose names tell them apart.
func (m *maker) group(p *content.Pack) {
	for i := range p.Items {
		if p.Items[i].Ref == "" {
			p.Items[i].Ref = pixel
		}
	}
	for i := range p.Groups {
		p.Groups[i].Name += strconv.Itoa(i)
		for _, it := range p.Items {
			if m.IntN(2) == 0 {
				p.Groups[i].Items = append(p.Groups[i].Items, it.ID)
			}
		}
	}
	if len(p.Items) > 0 && m.IntN(2) == 0 {
		p.Default = p.Items[m.IntN(len(p.Items))].ID
	}
}

// tidyRules: stored alone is what an absent list is.
func tidyRules(rules []content.Rule) {
	for i := range rules {
		if r := &rules[i]; slices.Equal(r.Phases, []string{"stored"}) {
			r.Phases = nil
		}
	}
}

// tidyBlocks puts those in no order last and off, as files have them.
func tidyBlocks(m *maker, blocks []content.Block) {
	for i := range blocks {
		b := &blocks[i]
		b.Enabled = b.Enabled && !b.Unlisted
		if m.IntN(3) == 0 && i < 2 {
			b.ID = []string{"main", "jailbreak"}[i]
		}
	}
	slices.SortStableFunc(blocks, func(a, b content.Block) int {
		switch {
		case a.Unlisted == b.Unlisted:
			return 0
		case a.Unlisted:
			return 1
		}
		return -1
	})
}
