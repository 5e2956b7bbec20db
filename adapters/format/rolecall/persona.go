package rolecall

import (
	"bytes"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	nativeSpec    = "rolecall_persona"
	noSuchPersona = "a persona of RoleCall has no such field"
	freshPersona  = `{"spec":"rolecall_persona","spec_version":"1.0","data":{"name":"","description":"","content":"","sections":{}}}`
)

// isNative knows a persona by its spec, isCard one in the clothes of a card.
func isNative(doc *canon.Node) bool {
	return doc.Field("spec").Text() == nativeSpec && doc.Field("data").Kind() == canon.Object
}

func isCard(doc *canon.Node) bool {
	return doc.At("/data/extensions/rolecall/type").Text() == "persona"
}

func scorePersona(f content.File) float64 {
	if isNative(f.Doc) || isCard(f.Doc) {
		return 1
	}
	return 0
}

// docIn is the persona that a picture carries, and its keyword.
func docIn(f content.File) (*canon.Node, string) {
	for _, d := range f.Docs {
		if d.Tree != nil && (d.Keyword == carrier.RCPersona && isNative(d.Tree) || isCard(d.Tree)) {
			return d.Tree, d.Keyword
		}
	}
	return nil, ""
}

func scorePersonaPNG(f content.File) float64 {
	if doc, _ := docIn(f); f.Carrier.Kind == carrier.PNG && doc != nil {
		return 1
	}
	return 0
}

var nativeFields = []twin.Field{
	{Path: "/name", Ptr: "/data/name", Codec: twin.Text, Required: true},
	{Path: "/brief", Ptr: "/data/description", Codec: twin.Text},
	{Path: "/content", Ptr: "/data/content", Codec: twin.Text, Required: true},
	{Path: "/sections/appearance", Ptr: "/data/sections/appearance", Codec: twin.Text},
	{Path: "/sections/body", Ptr: "/data/sections/body", Codec: twin.Text},
	{Path: "/sections/personality", Ptr: "/data/sections/personality", Codec: twin.Text},
	{Path: "/sections/quirks", Ptr: "/data/sections/quirks", Codec: twin.Text},
	{Path: "/sections/history", Ptr: "/data/sections/history", Codec: twin.Text},
	{Path: "/tags", Ptr: "/data/metadata/tags", Codec: twin.TextList},
}

// cardFields are those of a persona in the clothes of a card: the description is the
// content with two sections behind it, and the notes are the brief.
var cardFields = []twin.Field{
	{Path: "/name", Ptr: "/data/name", Codec: twin.Text, Required: true},
	{Path: "/brief", Ptr: "/data/creator_notes", Codec: twin.Text, Required: true},
	{Path: "/content", Over: folded(0)},
	{Path: "/sections/appearance", Over: folded(1)},
	{Path: "/sections/body", Over: folded(2)},
	{Path: "/sections/personality", Ptr: "/data/personality", Codec: twin.Text, Required: true},
	{Path: "/sections/history", Ptr: "/data/scenario", Codec: twin.Text, Required: true},
	{Path: "/tags", Ptr: "/data/tags", Codec: twin.TextList, Required: true},
}

// heads begin the paragraphs behind the content.
var heads = [3]string{"", "Appearance: ", "Body: "}

// unfold is content, appearance and body.
func unfold(text string) (parts [3]string) {
	for k := 2; k > 0; k-- {
		at := strings.LastIndex(text, "\n\n"+heads[k])
		switch {
		case at >= 0:
			parts[k], text = text[at+2+len(heads[k]):], text[:at]
		case strings.HasPrefix(text, heads[k]):
			parts[k], text = text[len(heads[k]):], ""
		}
	}
	parts[0] = text
	return parts
}

func fold(parts [3]string) string {
	var list []string
	for k, p := range parts {
		if p != "" {
			list = append(list, heads[k]+p)
		}
	}
	return strings.Join(list, "\n\n")
}

const foldAt = "/data/description"

// folded is one part of the description.
func folded(k int) *twin.Over {
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			if part := unfold(doc.At(foldAt).Text())[k]; part != "" {
				return canon.NewText(part), ""
			}
			return nil, ""
		},
		Write: func(doc, val *canon.Node) []twin.Loss {
			parts := unfold(doc.At(foldAt).Text())
			parts[k] = val.Text()
			twin.Set(doc, foldAt, canon.NewText(fold(parts)))
			if unfold(fold(parts)) == parts || val == nil {
				return nil
			}
			return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "the card has one text for content, appearance and body, and this one has the head of another within"}}
		},
	}
}

func fieldsOf(doc *canon.Node) []twin.Field {
	fields := nativeFields
	if isCard(doc) {
		fields = cardFields
	}
	return slices.Clone(fields)
}

func readPersona(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, fieldsOf(f.Doc))
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindPersona, Body: body}}}, nil
}

func readPersonaPNG(f content.File) (content.Reading, error) {
	doc, _ := docIn(f)
	if doc == nil {
		return content.Reading{}, fault.New(content.CodeUnread, "rolecall.persona", "%q carries no persona of RoleCall", f.Name)
	}
	body, problems := twin.Read(doc, fieldsOf(doc))
	twin.Set(body, "/portrait", canon.NewText(content.OriginalPrefix+namePersonaPNG))
	return content.Reading{Warnings: append(slices.Clone(f.Carrier.Warnings), problems...), Found: []content.Found{{Kind: content.KindPersona, Body: body}}}, nil
}

func writePersona(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshPersona, "/data/name")
	if err != nil {
		return content.Written{}, err
	}
	fields := append(fieldsOf(s.Doc),
		twin.Lost("/portrait", twin.Text, "a JSON file carries no picture"), twin.Rest(noSuchPersona))
	return s.Written(twin.Lay(s.Doc, fields, s.Body)), nil
}

func writePersonaPNG(w content.Writing) (content.Written, error) {
	picture, doc, key := carried(w)
	if picture == nil {
		return content.Written{}, fault.New(content.CodeNoPicture, "content.export", "%s has no PNG picture to carry the persona", w.Piece.Ref).
			WithHint("export as %s, or import the persona from a PNG", namePersona)
	}
	body := w.Body.Clone()
	if w.Twin != nil && doc.At("/data/name").Text() == "" && body.Field("name").Text() == content.NameFromFile(w.Twin.Name, 0) {
		twin.Drop(body, "/name")
	}
	portrait := body.At("/portrait")
	twin.Drop(body, "/portrait") // it is the picture
	before := doc.Bytes()
	losses := twin.Lay(doc, append(fieldsOf(doc), twin.Rest(noSuchPersona)), body)
	if inline := content.InlinePNG(portrait.Text()); inline != nil {
		picture = inline
	} else if portrait != nil && !strings.HasPrefix(portrait.Text(), content.OriginalPrefix) {
		losses = append(losses, content.Loss{
			Path: "/portrait", Value: twin.Clip(portrait), Verdict: twin.Dropped, Reason: "only a PNG as a data: URI can be the picture of a persona; that of the imported file is used",
		})
	}
	if w.Twin != nil && bytes.Equal(picture, w.Twin.Raw) && string(before) == string(doc.Bytes()) {
		return content.Written{Data: slices.Clone(picture), Losses: losses}, nil
	}
	out, err := carrier.WriteTexts(picture, carrier.Payload{Keyword: key, Text: doc.Bytes()})
	return content.Written{Data: out, Losses: losses}, err
}

// carried is a picture, and the persona to write into it.
func carried(w content.Writing) (picture []byte, doc *canon.Node, key string) {
	if w.Twin != nil {
		if doc, key = docIn(content.Open(w.Twin.Name, w.Twin.Raw)); doc != nil {
			return w.Twin.Raw, doc, key
		}
	}
	for _, e := range w.Others {
		if carrier.Sniff(e.Raw) == carrier.PNG {
			return e.Raw, twin.Parsed(freshPersona), carrier.RCPersona
		}
	}
	if inline := content.InlinePNG(w.Body.At("/portrait").Text()); inline != nil {
		return inline, twin.Parsed(freshPersona), carrier.RCPersona
	}
	return nil, nil, ""
}
