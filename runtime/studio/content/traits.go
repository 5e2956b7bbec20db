package content

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeTraits says that attributes cannot be spelled that way, or a text is not one.
const CodeTraits fault.Code = "CHARACTER_TRAITS"

// The spellings of attributes. Attributes given as such have no text of their own.
const (
	spellWPP   = "wpp"
	spellSBF   = "sbf"
	spellBoost = "boostyle"
	spellPlain = "text"
)

// plainTrait is the one attribute of a spelling that has no names.
const plainTrait = "traits"

// ReadTraits reads attributes in a spelling: wpp, sbf, boostyle or text. name is the
// character whom the text says that it is of; "" where the spelling does not say.
func ReadTraits(kind, text string) (t Traits, name string, err error) {
	r := &traitReader{kind: kind, rest: strings.TrimSpace(text)}
	t = Traits{Kind: kind, Attributes: map[string][]string{}}
	switch kind {
	case spellPlain:
		if r.rest != "" {
			t.Attributes[spellPlain] = []string{text}
		}
		return t, "", nil
	case spellBoost:
		for v := range strings.SplitSeq(text, "+") {
			if v = strings.TrimSpace(v); v != "" {
				t.Attributes[plainTrait] = append(t.Attributes[plainTrait], v)
			}
		}
		return t, "", nil
	case spellWPP:
		name, err = r.wpp(t.Attributes)
	case spellSBF:
		name, err = r.sbf(t.Attributes)
	default:
		err = fault.New(CodeTraits, "content.traits", "%q is no spelling that has a text", kind).WithHint("use wpp, sbf, boostyle or text")
	}
	return t, name, err
}

// A traitReader is on its way through a text.
type traitReader struct{ kind, rest string }

// wpp is [character("N") { key("a" + "b") … }].
func (r *traitReader) wpp(into map[string][]string) (name string, err error) {
	if err = r.want("["); err != nil {
		return "", err
	}
	if _, err = r.until("("); err != nil { // the word character, in any case
		return "", err
	}
	if name, err = r.quoted(); err != nil {
		return "", err
	}
	for _, s := range []string{")", "{"} {
		if err = r.want(s); err != nil {
			return "", err
		}
	}
	for !r.take("}") {
		key, err := r.until("(")
		if err != nil {
			return "", err
		}
		if err = r.values(into, key, "+"); err != nil {
			return "", err
		}
		if err = r.want(")"); err != nil {
			return "", err
		}
	}
	return name, r.want("]")
}

// sbf is [ character: "N"; key: "a", "b"; … ].
func (r *traitReader) sbf(into map[string][]string) (name string, err error) {
	if err = r.want("["); err != nil {
		return "", err
	}
	if _, err = r.until(":"); err != nil {
		return "", err
	}
	if name, err = r.quoted(); err != nil {
		return "", err
	}
	for r.take(";") {
		if r.take("]") { // a semicolon behind the last one
			return name, nil
		}
		key, err := r.until(":")
		if err != nil {
			return "", err
		}
		if err = r.values(into, key, ","); err != nil {
			return "", err
		}
	}
	return name, r.want("]")
}

func (r *traitReader) values(into map[string][]string, key, between string) error {
	key = strings.TrimSpace(key)
	if key == "" {
		return r.bad("a name")
	}
	for {
		v, err := r.quoted()
		if err != nil {
			return err
		}
		into[key] = append(into[key], v)
		if !r.take(between) {
			return nil
		}
	}
}

func (r *traitReader) take(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(r.rest, " \t\r\n"), s)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *traitReader) want(s string) error {
	if r.take(s) {
		return nil
	}
	return r.bad(s)
}

// until is the text before s; both are read.
func (r *traitReader) until(s string) (string, error) {
	before, rest, ok := strings.Cut(r.rest, s)
	if !ok || strings.Contains(before, `"`) {
		return "", r.bad(s)
	}
	r.rest = rest
	return before, nil
}

// quoted is a text in quotes. \" and \\ stand for the sign behind; any other backslash
// is one.
func (r *traitReader) quoted() (string, error) {
	if !r.take(`"`) {
		return "", r.bad(`"`)
	}
	var b strings.Builder
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '"':
			r.rest = r.rest[i+1:]
			return b.String(), nil
		case c == '\\' && i+1 < len(r.rest) && (r.rest[i+1] == '"' || r.rest[i+1] == '\\'):
			i++
			b.WriteByte(r.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", r.bad(`"`)
}

func (r *traitReader) bad(want string) error {
	at := clip(strings.TrimSpace(r.rest), 40)
	if at == "" {
		at = "the end"
	}
	return fault.New(CodeTraits, "content.traits", "the %s text has %q where %s belongs", r.kind, at, want).
		WithHint(`write wpp as [character("Name") {` + "\n" + `key("a" + "b")` + "\n" + `}], sbf as [ character: "Name"; key: "a", "b" ], or give attributes`)
}

// Spell is the text of attributes, in their spelling, for a character of that name.
// ReadTraits gives the same attributes again. Names come in the order of the alphabet.
func (t Traits) Spell(name string) (string, error) {
	switch t.Kind {
	case spellPlain, spellBoost:
		return t.plain()
	case spellWPP, spellSBF:
	default:
		return "", fault.New(CodeTraits, "content.traits", "attributes of the kind %q have no text", t.Kind).WithHint("use wpp, sbf, boostyle or text")
	}
	head, pair, between, tail := `[character(%) {`, "\n@(%)", " + ", "\n}]"
	if t.Kind == spellSBF {
		head, pair, between, tail = `[ character: %`, `; @: %`, ", ", " ]"
	}
	var b strings.Builder
	b.WriteString(strings.Replace(head, "%", quote(name), 1))
	for _, key := range slices.Sorted(maps.Keys(t.Attributes)) {
		values := t.Attributes[key]
		if key != strings.TrimSpace(key) || key == "" || strings.ContainsAny(key, "\"():;[]{}\n") || len(values) == 0 {
			return "", fault.New(CodeTraits, "content.traits", "the attribute %q of %d values has no place in %s", key, len(values), t.Kind).
				WithHint("use a name of letters, with one value or more")
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = quote(v)
		}
		b.WriteString(strings.NewReplacer("@", key, "%", strings.Join(quoted, between)).Replace(pair))
	}
	b.WriteString(tail)
	return b.String(), nil
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// plain is the text of a spelling without names.
func (t Traits) plain() (string, error) {
	want := plainTrait
	if t.Kind == spellPlain {
		want = spellPlain
	}
	for key := range t.Attributes {
		if key != want {
			return "", fault.New(CodeTraits, "content.traits", "%s has no names, and there is an attribute %q", t.Kind, key).WithHint("use wpp or sbf, or one attribute %s", want)
		}
	}
	values := t.Attributes[want]
	if t.Kind == spellPlain {
		if len(values) > 1 {
			return "", fault.New(CodeTraits, "content.traits", "a plain text is one value, and there are %d", len(values)).WithHint("use wpp, sbf or boostyle")
		}
		return strings.Join(values, ""), nil
	}
	for _, v := range values {
		if v != strings.TrimSpace(v) || v == "" || strings.Contains(v, "+") {
			return "", fault.New(CodeTraits, "content.traits", "%q has no place in boostyle, which puts a + between values", clip(v, 60)).WithHint("use wpp or sbf")
		}
	}
	return strings.Join(values, " + "), nil
}

// update sets attributes, and wants that they can be spelled as their kind says. name is
// the character's.
func (t *Traits) update(in *TraitsIn, name string, warn say) error {
	if in == nil {
		return nil
	}
	next := Traits{Kind: t.Kind, Attributes: maps.Clone(t.Attributes)}
	if in.Kind != "" {
		next.Kind = string(in.Kind)
	} else if next.Kind == "" {
		next.Kind = "attributes"
	}
	if in.Text != nil {
		read, of, err := ReadTraits(next.Kind, *in.Text)
		switch {
		case *in.Text == "":
			read = Traits{Kind: next.Kind}
		case err != nil:
			return err
		}
		if of != "" && of != name {
			warn("the text is of %q, and the character is %q: the attributes are taken, the name stays", of, name)
		}
		next = read
	}
	for _, a := range in.Attributes {
		if next.Attributes == nil {
			next.Attributes = map[string][]string{}
		}
		if next.Attributes[a.Name] = a.Values; len(a.Values) == 0 {
			delete(next.Attributes, a.Name)
		}
	}
	if len(next.Attributes) == 0 {
		next = Traits{}
	} else if next.Kind != "attributes" {
		if _, err := next.Spell(name); err != nil {
			return err
		}
	}
	*t = next
	return nil
}
