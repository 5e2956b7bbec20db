package sillytavern_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// seeds is how many bodies are made of each kind.
const seeds = 60

// A maker fills bodies with values that bite: each field by its type, words by the
// path of the field.
type maker struct {
	*rand.Rand
	ids int
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
		"Behavior.Names": {"none", "default", "completion", "content", "sometimes"},
	}
	skipAt = []string{"Entries.Folder", "Blocks.Group", "Regexes", "Book", "Choices", "Groups.Parent"} // they name others
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
	case reflect.Int:
		v.SetInt(int64(m.IntN(4)))
	case reflect.Pointer:
		if m.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if m.IntN(4) > 0 || v.Type().Field(i).Name == "ID" {
				m.fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."))
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range m.IntN(3) {
			v.SetMapIndex(reflect.ValueOf([]string{"wrap", "input_sequence", "x y", "skip_examples"}[m.IntN(4)]), reflect.ValueOf(m.text(path)))
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.Slice:
		m.list(v, path)
	}
}

func (m *maker) list(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[content.Number]() {
		v.SetBytes([]byte([]string{"1", "0.50", "null", "-1", "1e3"}[m.IntN(5)]))
		return
	}
	if words := wordsAt[path]; words != nil { // a set, in its order
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

func (m *maker) text(path string) string {
	if strings.HasSuffix(path, ".ID") {
		m.ids++
		return []string{strconv.Itoa(m.ids), fmt.Sprintf("x-%d", m.ids), fmt.Sprintf("00%d", m.ids)}[m.IntN(3)]
	}
	if words := wordsAt[path]; words != nil {
		return words[m.IntN(len(words))]
	}
	return textWords[m.IntN(len(textWords))]
}

func make1[B content.Body](t *testing.T, m *maker, kind string) store.Piece {
	t.Helper()
	var b B
	m.ids = 0
	v := reflect.ValueOf(&b).Elem()
	m.fill(v, "")
	v.FieldByName("Name").SetString(m.text("Name"))
	if rules := v.FieldByName("Rules"); rules.IsValid() {
		for i := range rules.Len() { // stored alone is what an absent list is
			if r := rules.Index(i).Addr().Interface().(*content.Rule); slices.Equal(r.Phases, []string{"stored"}) {
				r.Phases = nil
			}
		}
	}
	if blocks := v.FieldByName("Blocks"); blocks.IsValid() {
		tidyBlocks(m, blocks.Addr().Interface().(*[]content.Block))
	}
	raw, err := content.Bytes(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := content.Parse[B](raw); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return store.Piece{Ref: store.Ref{Kind: kind, ID: "made"}, Title: "Made", Body: raw}
}

// tidyBlocks puts those in no order last and off, as a file has them.
func tidyBlocks(m *maker, blocks *[]content.Block) {
	for i := range *blocks {
		b := &(*blocks)[i]
		b.Enabled = b.Enabled && !b.Unlisted
		if m.IntN(3) == 0 && i < 2 {
			b.ID = []string{"main", "jailbreak"}[i]
		}
	}
	slices.SortStableFunc(*blocks, func(a, b content.Block) int {
		switch {
		case a.Unlisted == b.Unlisted:
			return 0
		case a.Unlisted:
			return 1
		}
		return -1
	})
}

// formats under test, with what a body leaves out and the file does not.
var generated = []struct {
	format, kind string
	make         func(t *testing.T, m *maker) store.Piece
	fill         map[string]string // in each item of the list, defaults by path
	list         string
}{
	{"sillytavern-world", content.KindLorebook, func(t *testing.T, m *maker) store.Piece { return make1[content.Lorebook](t, m, content.KindLorebook) }, map[string]string{
		"/placement/position": `"before"`, "/placement/depth": "4", "/sortOrder": "100",
	}, "/entries"},
	{"sillytavern-chat", content.KindPreset, func(t *testing.T, m *maker) store.Piece { return make1[content.Preset](t, m, content.KindPreset) }, nil, ""},
	{"sillytavern-text", content.KindPreset, func(t *testing.T, m *maker) store.Piece { return make1[content.Preset](t, m, content.KindPreset) }, map[string]string{
		"/samplers/temperature": "1", "/samplers/topP": "1", "/samplers/topK": "0", "/samplers/repetitionPenalty": "1", "/blocks/0/role": `"system"`, "/blocks/1/role": `"system"`,
	}, ""},
	{"sillytavern-master", content.KindPreset, func(t *testing.T, m *maker) store.Piece { return make1[content.Preset](t, m, content.KindPreset) }, map[string]string{
		"/role": `"system"`,
	}, "/blocks"},
	{"sillytavern-regex", content.KindRegex, func(t *testing.T, m *maker) store.Piece { return make1[content.RegexSet](t, m, content.KindRegex) }, nil, ""},
	{"sillytavern-quickreply", content.KindQuickReply, func(t *testing.T, m *maker) store.Piece {
		return make1[content.QuickReplySet](t, m, content.KindQuickReply)
	}, nil, ""},
	{"sillytavern-personas", content.KindPersona, func(t *testing.T, m *maker) store.Piece { return make1[content.Persona](t, m, content.KindPersona) }, nil, ""},
}

// TestWhatIsWrittenIsReadAgain wants, of any body, what the losses leave of it: in a
// new file, and over the file of any other body.
func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for _, g := range generated {
		t.Run(g.format, func(t *testing.T) {
			for seed := range uint64(seeds) {
				m := &maker{Rand: rand.New(rand.NewPCG(seed, 7))}
				first := g.make(t, m)
				out := writeAs(t, first, g.format, nil)
				again(t, g.format, first, out, g.list, g.fill, seed)
				second := g.make(t, m)
				second.Escrow = []store.Escrow{{Format: g.format, Name: "other.json", Raw: out.Data}}
				again(t, g.format, second, writeAs(t, second, g.format, nil), g.list, g.fill, seed)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func again(t *testing.T, format string, p store.Piece, out content.Written, list string, fill map[string]string, seed uint64) {
	t.Helper()
	f, err := table.Named(format, p.Kind)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Read(content.Open("made.json", out.Data))
	if err != nil || len(r.Found) == 0 {
		t.Fatalf("seed %d: %v\n%s", seed, err, out.Data)
	}
	got, want := r.Found[0].Body, body(t, p)
	less(t, want, got, out.Losses)
	for at, n := range filled(want, list) {
		for path, def := range fill {
			if now := got.At(at + path); n.At(path) == nil && now != nil && string(now.Bytes()) == def {
				must(t, want.Set(at+path, now))
			}
		}
	}
	if tidy(want); !canon.Equal(want, tidy(got)) {
		t.Errorf("seed %d: the body\n%s\nwritten as\n%s\nreads\n%s\nwant\n%s\nlosses %+v", seed, p.Body, out.Data, sorted(t, got), sorted(t, want), out.Losses)
	}
}

// filled are the places that defaults are filled into: the items of a list, or the
// whole.
func filled(want *canon.Node, list string) map[string]*canon.Node {
	if list == "" {
		return map[string]*canon.Node{"": want}
	}
	places := map[string]*canon.Node{}
	for i, it := range want.At(list).Items() {
		places[list+"/"+strconv.Itoa(i)] = it
	}
	return places
}

func sorted(t *testing.T, n *canon.Node) []byte {
	b, err := canon.JSON(n.Bytes())
	must(t, err)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// less takes out of want what the losses say: what is dropped goes, what is another
// value is what was read.
func less(t *testing.T, want, got *canon.Node, losses []content.Loss) {
	t.Helper()
	var dropped []string
	for _, l := range losses {
		if l.Verdict == twin.Dropped {
			dropped = append(dropped, l.Path)
		}
	}
	for _, l := range losses {
		if strings.HasPrefix(l.Path, "original:") || l.Verdict == twin.Dropped {
			continue
		}
		if want.At(l.Path) == nil {
			t.Errorf("the loss %+v is of nothing", l)
			continue
		}
		now := got.At(shifted(l.Path, dropped))
		if now == nil {
			_, err := want.Delete(l.Path)
			must(t, err)
			continue
		}
		must(t, want.Set(l.Path, now))
	}
	slices.SortFunc(dropped, func(a, b string) int { return comparePaths(b, a) })
	for _, path := range slices.Compact(dropped) {
		if strings.HasPrefix(path, "original:") {
			continue
		}
		within := func(l content.Loss) bool { return l.Verdict != twin.Dropped && strings.HasPrefix(path, l.Path+"/") }
		if ok, err := want.Delete(path); err != nil || !ok && !slices.ContainsFunc(losses, within) {
			t.Errorf("the loss of %s is of nothing", path)
		}
	}
}

// comparePaths compares indices as numbers.
func comparePaths(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		x, ex := strconv.Atoi(as[i])
		y, ey := strconv.Atoi(bs[i])
		if c := x - y; ex == nil && ey == nil && c != 0 {
			return c
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 && (ex != nil || ey != nil) {
			return c
		}
	}
	return len(as) - len(bs)
}

// shifted is a path in what was read, from which items before it are gone.
func shifted(path string, dropped []string) string {
	toks := strings.Split(path, "/")
	for i := range toks {
		n, err := strconv.Atoi(toks[i])
		if err != nil {
			continue
		}
		gone := 0
		for _, d := range dropped {
			ds := strings.Split(d, "/")
			if len(ds) == i+1 && slices.Equal(ds[:i], strings.Split(path, "/")[:i]) {
				if k, err := strconv.Atoi(ds[i]); err == nil && k < n {
					gone++
				}
			}
		}
		toks[i] = strconv.Itoa(n - gone)
	}
	return strings.Join(toks, "/")
}

// tidy takes out what is empty: objects and lists.
func tidy(n *canon.Node) *canon.Node {
	for name, v := range n.Clone().Members() {
		inner := tidy(n.Field(name))
		if (v.Kind() == canon.Object || v.Kind() == canon.Array) && inner.Len() == 0 {
			_, _ = n.Delete(canon.JoinPointer(name))
		}
	}
	for _, v := range n.Items() {
		tidy(v)
	}
	return n
}
