package secret

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// A Mask replaces credentials that it knows by their shape, or by the name before them,
// in a JSON document or in a text.
type Mask func([]byte) []byte

// Clean takes out of any document what looks like a credential by its shape, or by its
// shape under a name of one, and says where it stood. Within a text only the credential
// goes. Unlike Strip it takes no name alone for a proof: authors write of secrets.
func Clean(doc *canon.Node, mask Mask) (found []string) {
	if raw := doc.Bytes(); bytes.Equal(mask(raw), raw) {
		return nil
	}
	var gone []string
	var walk func(n *canon.Node, name string, at []string)
	walk = func(n *canon.Node, name string, at []string) {
		if n.Kind() == canon.String {
			switch ptr := canon.JoinPointer(at...); {
			case !held(mask, name, n.Raw()):
			case named(mask, name):
				found, gone = append(found, ptr), append(gone, ptr)
			default:
				found = append(found, ptr)
				if err := doc.Set(ptr, canon.NewText(string(mask([]byte(n.Text()))))); err != nil {
					panic(err) // it stands there
				}
			}
			return
		}
		for key, v := range n.Members() {
			walk(v, key, append(slices.Clone(at), key))
		}
		for i, v := range n.Items() {
			walk(v, name, append(slices.Clone(at), strconv.Itoa(i)))
		}
	}
	walk(doc, "", nil)
	slices.Reverse(gone) // of a list the last goes first
	for _, ptr := range gone {
		if _, err := doc.Delete(ptr); err != nil {
			panic(err) // found there
		}
	}
	return found
}

// held reports that the mask takes something out of a value under a name.
func held(mask Mask, name, raw string) bool {
	b := slices.Concat([]byte(`{"`), []byte(name), []byte(`":`), []byte(raw), []byte(`}`))
	return !bytes.Equal(mask(b), b)
}

// named reports a name under which any key is taken for a credential.
func named(mask Mask, name string) bool {
	return name != "" && held(mask, name, `"q8Zr2LkP0vXw7TnB4mJc"`)
}
