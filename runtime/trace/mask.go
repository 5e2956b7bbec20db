package trace

import (
	"bytes"
	"encoding/json"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// maskJSON masks every text in raw by itself, unescaped, then the whole, where the
// name of a field may say that its value is a secret. What comes out is JSON
// whatever mask does: a whole that it broke is left as it was masked text by text.
func maskJSON(raw []byte, mask func([]byte) []byte) ([]byte, error) {
	if whole, err := canon.JSON(raw); err == nil && clean(whole, mask) {
		return whole, nil // nearly every event: no tree is made of it
	}
	n, err := canon.ParseTree(raw)
	if err != nil {
		return nil, err
	}
	raw, err = canon.JSON(maskTree(n, mask).Bytes())
	if err != nil {
		return nil, err
	}
	masked := mask(bytes.Clone(raw))
	if out, err := canon.JSON(masked); err == nil && len(out) > 0 && out[0] == '{' {
		return out, nil
	}
	return raw, nil
}

func maskTree(n *canon.Node, mask func([]byte) []byte) *canon.Node {
	switch n.Kind() {
	case canon.String:
		return canon.NewText(string(mask([]byte(n.Text()))))
	case canon.Array:
		var items []*canon.Node
		for _, it := range n.Items() {
			items = append(items, maskTree(it, mask))
		}
		return canon.NewArray(items...)
	case canon.Object:
		o := canon.NewObject()
		for name, v := range n.Members() {
			name = string(mask([]byte(name)))
			if err := o.Set(canon.JoinPointer(name), maskTree(v, mask)); err != nil {
				panic("trace: a field cannot be set: " + err.Error()) // the name came out of an object
			}
		}
		return o
	}
	return n
}

// clean says that there is nothing to mask, neither in canonical JSON as a whole nor in
// any of its texts.
func clean(whole []byte, mask func([]byte) []byte) bool {
	if !bytes.Equal(mask(bytes.Clone(whole)), whole) {
		return false
	}
	var text []byte // unescaped
	for rest := whole; ; {
		at := bytes.IndexByte(rest, '"')
		if at < 0 {
			return true
		}
		rest = rest[at+1:]
		n := textEnd(rest)
		text = append(text[:0], rest[:n]...)
		if bytes.IndexByte(text, '\\') >= 0 {
			var s string
			if json.Unmarshal(whole[len(whole)-len(rest)-1:len(whole)-len(rest)+n+1], &s) != nil {
				return false // it came out of JSON
			}
			text = append(text[:0], s...)
		}
		before := string(text)
		if string(mask(text)) != before {
			return false
		}
		rest = rest[n+1:]
	}
}

// textEnd is where a text of JSON ends that begins after its quote.
func textEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b) - 1 // not in JSON
}
