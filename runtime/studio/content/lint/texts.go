package lint

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
)

// texts looks at every text of the body, whatever the kind.
func (v *visit) texts() {
	if n := len(v.piece.Body); n > LargeBody {
		v.add("size-body", "", "the body has %d bytes", n)
	}
	root, err := canon.ParseTree(v.piece.Body)
	if err != nil {
		return // said already
	}
	var walk func(ptr string, n *canon.Node)
	walk = func(ptr string, n *canon.Node) {
		if text := n.Text(); len(text) > LongText && !strings.HasPrefix(text, "data:") {
			if count := utf8.RuneCountInString(text); count > LongText {
				v.add("size-text", ptr, "the text has %d characters", count)
			}
		}
		for name, c := range n.Members() {
			walk(ptr+canon.JoinPointer(name), c)
		}
		for i, c := range n.Items() {
			walk(ptr+"/"+strconv.Itoa(i), c)
		}
	}
	walk("", root)
	for _, ptr := range secret.Clean(root, v.l.redactor.Mask) {
		v.add("secret", ptr, "it looks like a credential; an export leaves it out")
	}
}

// originals looks for credentials in the imported files that are kept.
func (v *visit) originals() {
	for _, e := range v.piece.Escrow {
		f, err := carrier.Read(e.Raw)
		if err != nil {
			continue
		}
		for _, p := range f.Payloads {
			doc, err := canon.ParseTree(p.Text)
			if err != nil {
				continue
			}
			found := secret.Clean(doc, v.l.redactor.Mask)
			if v.piece.Kind == content.KindPreset {
				found = append(found, secret.Strip(doc)...)
			}
			for _, ptr := range found {
				v.add("secret-original", "original:"+ptr, "the original %s has a credential; no export has it", e.Format)
			}
		}
	}
}
