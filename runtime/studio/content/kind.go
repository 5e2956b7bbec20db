package content

import (
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The kinds.
const (
	KindCharacter  = "character"
	KindLorebook   = "lorebook"
	KindPersona    = "persona"
	KindPreset     = "preset"
	KindRegex      = "regex"
	KindQuickReply = "quickreply"
	KindPack       = "pack"
	KindHTMLDoc    = "htmldoc"
)

// CodeBody says that a body is not one of its kind.
const CodeBody fault.Code = "CONTENT_BODY"

// A Body is the canonical body of a kind. What is empty is absent in its JSON.
type Body interface {
	title() string      // never empty in a sound body
	check() error       // what the types cannot say
	links() []store.Ref // the pieces that it names, in order
}

// A Kind is one of the eight, as the studio's tools know it.
type Kind struct {
	name       string
	referenced bool
	parse      func(raw []byte) (Body, error)
}

// Kinds are the eight kinds.
func Kinds() []Kind {
	return []Kind{
		{KindCharacter, false, anyBody[Character]},
		{KindLorebook, true, anyBody[Lorebook]},
		{KindPersona, false, anyBody[Persona]},
		{KindPreset, false, anyBody[Preset]},
		{KindRegex, true, anyBody[RegexSet]},
		{KindQuickReply, false, anyBody[QuickReplySet]},
		{KindPack, true, anyBody[Pack]},
		{KindHTMLDoc, false, anyBody[HTMLDoc]},
	}
}

// Name is the kind's name.
func (k Kind) Name() string { return k.name }

// Title is what lists show of a body, or why it is not one of this kind.
func (k Kind) Title(body []byte) (string, error) {
	b, err := k.parse(body)
	if err != nil {
		return "", err
	}
	return titleOf(b), nil
}

// Links are the pieces that a body names; none where it is not one of this kind.
func (k Kind) Links(body []byte) []store.Ref {
	b, err := k.parse(body)
	if err != nil {
		return nil
	}
	return b.links()
}

// Referenced says whether other pieces can name one of this kind.
func (k Kind) Referenced() bool { return k.referenced }

// kindNamed is the kind of that name.
func kindNamed(name string) (Kind, error) {
	for _, k := range Kinds() {
		if k.name == name {
			return k, nil
		}
	}
	return Kind{}, fault.New(CodeBody, "content.kind", "there is no kind %q", name)
}

func anyBody[B Body](raw []byte) (Body, error) { return Parse[B](raw) }

// Parse reads a body, and refuses what is not one: an unknown field, a wrong type, a
// missing name.
func Parse[B Body](raw []byte) (B, error) {
	var b, none B
	if err := json.Unmarshal(raw, &b, json.RejectUnknownMembers(true)); err != nil {
		return none, fault.Wrap(err, CodeBody, "content.parse", "the body is not %s", nounOf(none))
	}
	if b.title() == "" {
		return none, fault.New(CodeBody, "content.parse", "the body is %s without a name", nounOf(none)).WithHint("give it a name")
	}
	if err := b.check(); err != nil {
		return none, err
	}
	return b, nil
}

// Bytes is the canonical JSON of a body.
func Bytes[B Body](b B) ([]byte, error) {
	raw, err := json.Marshal(b, jsonv1.OmitEmptyWithLegacySemantics(true))
	if err != nil {
		return nil, fault.Wrap(err, CodeBody, "content.body", "%q cannot be written", b.title())
	}
	return canon.JSON(raw)
}

func nounOf(b Body) string {
	switch b.(type) {
	case Character:
		return "a character"
	case Lorebook:
		return "a lorebook"
	case Persona:
		return "a persona"
	case Preset:
		return "a preset"
	case RegexSet:
		return "a regex set"
	case QuickReplySet:
		return "a quick-reply set"
	case Pack:
		return "a media pack"
	}
	return "an HTML document"
}

// titleOf is the name as lists show it, cut at their bound.
func titleOf(b Body) string {
	t := b.title()
	if utf8.RuneCountInString(t) <= store.MaxTitle {
		return t
	}
	return string([]rune(t)[:store.MaxTitle-1]) + "…"
}
