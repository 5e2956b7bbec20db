package card

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A shape is what a value looks like that this program writes: nothing empty, nothing
// more than the canonical body has. It is for values under extensions.soundstage, which
// nobody else has cause to write: what does not fit is not guessed at.
type shape struct {
	kind   canon.Kind
	items  *shape           // of each item of an array, and of each member of an object without fields
	fields map[string]shape // of an object
	need   []string         // fields that must be there
	words  []string         // that a text may be; nil is any
	empty  bool             // a text may be empty
}

var (
	aText   = shape{kind: canon.String}
	aNumber = shape{kind: canon.Number}
	aBool   = shape{kind: canon.Bool}
	orEmpty = shape{kind: canon.String, empty: true}
	texts   = shape{kind: canon.Array, items: &orEmpty}
	textsOf = shape{kind: canon.Object, items: &texts}
	textOf  = shape{kind: canon.Object, items: &orEmpty}
)

func (s shape) fits(n *canon.Node) bool {
	if n.Kind() != s.kind {
		return false
	}
	switch s.kind {
	case canon.String:
		return s.says(n.Text())
	case canon.Array:
		for _, it := range n.Items() {
			if !s.items.fits(it) {
				return false
			}
		}
		return n.Len() > 0
	case canon.Object:
		return n.Len() > 0 && s.members(n)
	}
	return true
}

func (s shape) says(text string) bool {
	for _, w := range s.words {
		if w == text {
			return true
		}
	}
	return s.words == nil && (s.empty || text != "")
}

func (s shape) members(n *canon.Node) bool {
	for name, m := range n.Members() {
		of, ok := s.fields[name]
		if s.fields == nil {
			of, ok = *s.items, true
		}
		if !ok || !of.fits(m) {
			return false
		}
	}
	for _, name := range s.need {
		if n.Field(name) == nil {
			return false
		}
	}
	return true
}

// codec carries values of the shape as they are.
func (s shape) codec() twin.Codec {
	return twin.Codec{
		Read: func(n *canon.Node) (*canon.Node, string) {
			switch {
			case n.Kind() == canon.Null:
				return nil, ""
			case !s.fits(n):
				return nil, fmt.Sprintf("is %s, and not as this program writes it; it stays in the original file and is not used", twin.Clip(n))
			}
			return n, ""
		},
		Write: func(val, _ *canon.Node) *canon.Node { return val },
	}
}

// ours is a field that versions 2 and 3 keep in our own extension.
func ours(path, ptr string, s shape) field {
	return field{path, s.codec(), extension("/soundstage"+ptr, oursOnly)}
}

// nowhere is a field that no version has, with why.
func nowhere(path, why string) field {
	gone := place{gone: why}
	return field{path, twin.Codec{}, [4]place{V1: gone, V2: gone, V3: gone}}
}

// own are the fields of the body that the specification has no place for. What version 1
// lacks is dropped by the writer.
func own() []field {
	traitKinds := []string{"wpp", "sbf", "boostyle", "attributes", "text"}
	swatch := shape{kind: canon.Object, need: []string{"color"}, fields: map[string]shape{"label": aText, "color": orEmpty}}
	bias := shape{kind: canon.Object, need: []string{"text", "value"}, fields: map[string]shape{"text": orEmpty, "value": aNumber}}
	return []field{
		ours("/persona/structured/kind", "/structured/kind", shape{kind: canon.String, words: traitKinds}),
		ours("/persona/structured/attributes", "/structured/attributes", textsOf),
		ours("/prompts/prefill", "/prefill", aText),
		ours("/prompts/additionalText", "/additionalText", aText),
		ours("/media/visual", "/visual", aText),
		ours("/media/face", "/face", aText),
		ours("/discovery/rating", "/rating", aText),
		ours("/discovery/warnings", "/warnings", texts),
		ours("/discovery/genre", "/genre", aText),
		ours("/discovery/fandom", "/fandom", aText),
		ours("/presentation/palette", "/palette", shape{kind: canon.Array, items: &swatch}),
		ours("/presentation/background/ref", "/background/ref", aText),
		ours("/presentation/background/opacity", "/background/opacity", aNumber),
		ours("/presentation/background/rate", "/background/rate", aNumber),
		ours("/presentation/fieldOrder", "/fieldOrder", texts),
		ours("/presentation/spoilers", "/spoilers", texts),
		ours("/presentation/css", "/css", aText),
		ours("/presentation/html", "/html", aText),
		ours("/presentation/mediaLinks", "/mediaLinks", texts),
		ours("/settings/bias", "/bias", shape{kind: canon.Array, items: &bias}),
		ours("/settings/variables", "/variables", textOf),
		ours("/settings/lowLevel", "/lowLevel", aBool),
		ours("/settings/utility", "/utility", aBool),
		nowhere("/links/lorebooks", "it is a link inside this studio, by id"),
		nowhere("/links/packs", "it is a link inside this studio, by id"),
		nowhere("/links/regexes", "the version has no place for scripts; export the regex sets by themselves"),
		nowhere("/behavior/regex", "the version has no place for scripts"),
		nowhere("/behavior/triggers", "the specification has no place for scripts of an engine"),
	}
}
