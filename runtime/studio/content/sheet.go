package content

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// A Sheet is the document that a body is laid over, and the body to lay.
type Sheet struct {
	Doc  *canon.Node
	Body *canon.Node
	raw  []byte // the twin's file; nil where there is none
}

// OpenSheet opens the twin, or fresh where there is none. name is where a file of the
// format can have the piece's name, or "".
//
// A name that the file does not have came from the file's own name, which an export
// cannot write; where it is still that one it is taken out of the body, so that it is
// neither written nor lost.
func OpenSheet(w Writing, fresh, name string) (Sheet, error) {
	s := Sheet{Body: w.Body.Clone()}
	if w.Twin == nil {
		doc, err := canon.ParseTree([]byte(fresh))
		s.Doc = doc
		return s, err
	}
	f := Open(w.Twin.Name, w.Twin.Raw)
	if f.Doc == nil {
		return s, fault.New(CodeEscrow, "content.export", "the original %q of %s no longer reads", w.Twin.Name, w.Piece.Ref)
	}
	s.Doc, s.raw = f.Doc, w.Twin.Raw
	at, known := "/name", ""
	if w.Piece.Kind == KindCharacter {
		at = "/identity/name"
	}
	if name != "" {
		known = s.Doc.At(name).Text()
	}
	if known == "" && s.Body.At(at).Text() == NameFromFile(w.Twin.Name, 0) {
		_, err := s.Body.Delete(at)
		must(err)
	}
	return s, nil
}

// Written is the file, with the byte order mark and the last line end of its twin.
func (s Sheet) Written(losses []Loss) Written {
	return Written{Data: carrier.WriteJSON(s.raw, s.Doc.Bytes()), Losses: losses}
}
