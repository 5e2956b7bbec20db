package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// MaxPieces is how many words and slots a template may have.
const MaxPieces = 64

// A Problem is a synonym that can never be matched.
type Problem struct {
	Pos     program.Pos
	Message string
}

// A template is a synonym with slots in it: words that have to be there, in their order,
// and slots that take what stands between them.
type template struct {
	intent, source string
	pieces         []piece
	slots          int
}

// A piece is a run of words, or a slot.
type piece struct {
	words []string // stems; filling words count, they say where a slot ends
	slot  *program.Slot
	parse parser
}

func isTemplate(s string) bool { return strings.ContainsAny(s, "{}") }

// compile makes the template of a synonym of an intent, or says what is wrong with it.
func (l lexicon) compile(in *program.Intent, source string) (*template, error) {
	t := &template{intent: in.Name, source: source}
	rest := source
	for rest != "" {
		text, tail, open := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return nil, fmt.Errorf("a } closes nothing")
		}
		var lit []string
		for _, w := range l.split(text) {
			lit = append(lit, w.stem)
		}
		if len(lit) > 0 {
			t.pieces = append(t.pieces, piece{words: lit})
		}
		if !open {
			break
		}
		name, more, closed := strings.Cut(tail, "}")
		name, rest = strings.TrimSpace(name), more
		slot := in.Slots[name]
		switch {
		case !closed || strings.Contains(name, "{"):
			return nil, fmt.Errorf("a { is never closed")
		case name == "":
			return nil, fmt.Errorf("{} names no slot")
		case slot == nil:
			return nil, fmt.Errorf("the intent has no slot %q", name)
		case len(t.pieces) > 0 && t.pieces[len(t.pieces)-1].slot != nil:
			return nil, fmt.Errorf("no word stands between {%s} and {%s}, so nothing says where the first one ends", t.pieces[len(t.pieces)-1].slot.Name, name)
		}
		t.pieces = append(t.pieces, piece{slot: slot, parse: parserOf(slot)})
		t.slots++
	}
	if len(t.pieces) > MaxPieces {
		return nil, fmt.Errorf("it has %d words and slots, and %d is the most", len(t.pieces), MaxPieces)
	}
	return t, nil
}

// A filling is what a template made of a text.
type filling struct {
	slots   map[string]value.Value
	missing []string // slots whose words are no value, sorted
}

// match holds a template against a whole text. Filling words may stand anywhere.
func (t *template) match(list []word, env surroundings) (f filling, ok bool) {
	f.slots = map[string]value.Value{}
	at := 0
	var pending *piece
	take := func(run []word) {
		p := pending
		pending = nil
		if p == nil {
			return
		}
		if p.parse != nil {
			if it, ok := p.parse(run, p.slot, env); ok {
				f.slots[p.slot.Name] = it.value
				return
			}
		}
		f.missing = append(f.missing, p.slot.Name)
	}
	for i := range t.pieces {
		p := &t.pieces[i]
		if p.slot != nil {
			pending = p
			continue
		}
		from, to, ok := anchor(list, at, p.words)
		if !ok || pending == nil && !onlyFilling(list[at:from]) {
			return f, false
		}
		take(list[at:from])
		at = to
	}
	if pending == nil && !onlyFilling(list[at:]) {
		return f, false
	}
	take(list[at:])
	slices.Sort(f.missing)
	return f, true
}

func onlyFilling(list []word) bool {
	return !slices.ContainsFunc(list, func(w word) bool { return !w.stop })
}

// anchor is where the words of a template stand in a text, from a place on. Filling words
// that the template does not ask for may stand between them.
func anchor(list []word, from int, want []string) (begin, end int, ok bool) {
	for i := from; i < len(list); i++ {
		if list[i].stem != want[0] {
			continue
		}
		j, k := i, 0
		for j < len(list) && k < len(want) {
			if list[j].stem == want[k] {
				k++
			} else if !list[j].stop {
				break
			}
			j++
		}
		if k == len(want) {
			return i, j, true
		}
	}
	return 0, 0, false
}
