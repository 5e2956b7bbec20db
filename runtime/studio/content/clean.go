package content

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
)

// CodeSecret says that a file would hold a credential, so that it is not made.
const CodeSecret fault.Code = "EXPORT_SECRET"

// shapes masks what looks like a credential. It knows none by value.
var shapes = redact.New(redact.Options{}).Mask

// clean takes credentials out of everything that a format sees: the body, the originals,
// and the pieces that go along. So they are neither in the file nor in what is said of it,
// whatever the format; formats that know credentials by name take those out themselves.
func (w *Writing) clean() (stripped []string, err error) {
	if w.Piece.Body, stripped, err = cleanBody(w.Piece.Body); err != nil {
		return nil, err
	}
	var more []string
	w.Piece.Escrow, more = cleanEscrow(w.Piece.Escrow)
	stripped = append(stripped, more...)
	w.Linked = slices.Clone(w.Linked)
	for i, l := range w.Linked {
		if l.Body, more, err = cleanBody(l.Body); err != nil {
			return nil, err
		}
		stripped = append(stripped, prefixed(l, more)...)
		l.Escrow, more = cleanEscrow(l.Escrow)
		stripped = append(stripped, prefixed(l, more)...)
		w.Linked[i] = l
	}
	slices.Sort(stripped)
	return slices.Compact(stripped), nil
}

// prefixed are pointers into another piece.
func prefixed(p store.Piece, ptrs []string) []string {
	var all []string
	for _, ptr := range ptrs {
		all = append(all, p.Ref.String()+":"+ptr)
	}
	return all
}

func cleanBody(body []byte) ([]byte, []string, error) {
	pictures := bytes.Contains(body, []byte(inlinePNG))
	if bytes.Equal(shapes(body), body) && !pictures {
		return body, nil, nil
	}
	n, err := canon.ParseTree(body)
	if err != nil {
		return nil, nil, err
	}
	found := secret.Clean(n, shapes)
	if pictures {
		found = append(found, cleanPictures(n, nil)...)
	}
	if len(found) > 0 {
		return n.Bytes(), found, nil
	}
	return body, nil, nil
}

// cleanPictures takes credentials out of pictures that stand in a document.
func cleanPictures(n *canon.Node, at []string) (found []string) {
	put := func(tok string, v *canon.Node) {
		here := append(slices.Clone(at), tok)
		raw := InlinePNG(v.Text())
		if raw == nil {
			found = append(found, cleanPictures(v, here)...)
			return
		}
		masked, parts, err := carrier.Masked(raw, shapes)
		if err != nil || len(parts) == 0 {
			return // cut off, or nothing there
		}
		must(n.Set(canon.JoinPointer(tok), canon.NewText(inlinePNG+base64.StdEncoding.EncodeToString(masked))))
		found = append(found, canon.JoinPointer(here...))
	}
	for name, v := range n.Members() {
		put(name, v)
	}
	for i, v := range n.Items() {
		put(strconv.Itoa(i), v)
	}
	return found
}

// cleanEscrow gives originals without what looks like a credential. What does not read
// is for its format to say.
func cleanEscrow(list []store.Escrow) ([]store.Escrow, []string) {
	var stripped []string
	list = slices.Clone(list)
	for i, e := range list {
		raw, found := cleanFile(e.Raw)
		if len(found) > 0 {
			list[i].Raw = raw
			stripped = append(stripped, found...)
		}
	}
	return list, stripped
}

func cleanFile(raw []byte) ([]byte, []string) {
	f, err := carrier.Read(raw)
	if err != nil {
		return raw, nil
	}
	docs := map[string][]byte{}
	var stripped []string
	for _, p := range f.Payloads {
		text, found, err := cleanBody(p.Text)
		if err != nil {
			continue
		}
		docs[p.Keyword] = text
		stripped = append(stripped, found...)
	}
	made := raw
	if len(stripped) > 0 {
		if made, err = rewrapped(f.Kind, raw, docs); err != nil {
			return nil, stripped // better no original than one with a credential
		}
	}
	made, beside, err := carrier.Masked(made, shapes)
	if err != nil {
		return nil, stripped
	}
	return made, append(stripped, beside...)
}

// rewrapped is the file with other documents.
func rewrapped(kind carrier.Kind, raw []byte, docs map[string][]byte) ([]byte, error) {
	switch kind {
	case carrier.PNG:
		var texts []carrier.Payload
		for _, keyword := range slices.Sorted(maps.Keys(docs)) {
			texts = append(texts, carrier.Payload{Keyword: keyword, Text: docs[keyword]})
		}
		return carrier.WriteTexts(raw, texts...)
	case carrier.Archive, carrier.JPEG:
		return carrier.RewriteArchive(raw, docs[""])
	}
	return carrier.WriteJSON(raw, docs[""]), nil
}

// Clean takes out of a document what looks like a credential, for formats whose files
// only they can read, and says where it stood.
func Clean(doc *canon.Node) []string { return secret.Clean(doc, shapes) }

// leak refuses a file that still holds what looks like a credential.
func leak(p store.Piece, format string, data []byte) error {
	f, err := carrier.Read(data)
	if err != nil {
		f.Payloads = []carrier.Payload{{Text: data}} // no card: a text of its own
	}
	for _, payload := range f.Payloads {
		if !bytes.Equal(shapes(payload.Text), payload.Text) {
			return fault.New(CodeSecret, "content.export", "%s as %s would hold what looks like a credential", p.Ref, format).
				WithHint("soundstage lint %s says where it stands; take it out of the piece", p.Ref)
		}
	}
	return nil
}
