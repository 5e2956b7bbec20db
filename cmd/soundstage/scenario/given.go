package scenario

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Given is one line of what a studio's store held when a journey began: a revision of
// a piece, its removal, or a draft. Exactly one of Piece and Draft is set.
type Given struct {
	Piece   *store.Piece
	Deleted bool         // the revision is the removal
	Stamp   *store.Stamp // of the piece's revision
	Draft   *draft.Draft
}

// The shape of a line. Bodies stand as what they are, so that a person can read them.
type (
	givenLine struct {
		Piece   *givenPiece  `json:"piece,omitempty"`
		Deleted bool         `json:"deleted,omitempty"`
		Stamp   *store.Stamp `json:"stamp,omitempty"`
		Draft   *givenDraft  `json:"draft,omitempty"`
	}
	givenPiece struct {
		store.Ref
		Revision int64           `json:"revision"`
		Title    string          `json:"title,omitempty"`
		Body     json.RawMessage `json:"body,omitempty"`
		Profiles json.RawMessage `json:"profiles,omitempty"`
		Escrow   []givenFile     `json:"escrow,omitempty"`
		Updated  time.Time       `json:"updated"`
	}
	givenFile struct {
		Format string `json:"format"`
		Name   string `json:"name"`
		Text   string `json:"text,omitempty"`
		Raw    []byte `json:"raw,omitempty"` // of a file that is no text
	}
	givenDraft struct {
		draft.Draft
		Baseline givenPiece `json:"baseline"`
		Proposed givenPiece `json:"proposed"`
	}
)

func pieceOut(p store.Piece) givenPiece {
	g := givenPiece{Ref: p.Ref, Revision: p.Revision, Title: p.Title, Body: p.Body, Profiles: p.Profiles, Updated: p.Updated}
	for _, e := range p.Escrow {
		f := givenFile{Format: e.Format, Name: e.Name, Raw: e.Raw}
		if utf8.Valid(e.Raw) {
			f.Text, f.Raw = string(e.Raw), nil
		}
		g.Escrow = append(g.Escrow, f)
	}
	return g
}

func (g givenPiece) piece() store.Piece {
	p := store.Piece{Ref: g.Ref, Revision: g.Revision, Title: g.Title, Body: g.Body, Profiles: g.Profiles, Updated: g.Updated}
	for _, f := range g.Escrow {
		e := store.Escrow{Format: f.Format, Name: f.Name, Raw: f.Raw}
		if f.Text != "" {
			e.Raw = []byte(f.Text)
		}
		p.Escrow = append(p.Escrow, e)
	}
	return p
}

// FormatGiven writes what ReadGiven reads: a JSON object a line.
func FormatGiven(list []Given) ([]byte, error) {
	var b bytes.Buffer
	for _, g := range list {
		line := givenLine{Deleted: g.Deleted, Stamp: g.Stamp}
		if g.Piece != nil {
			p := pieceOut(*g.Piece)
			line.Piece = &p
		}
		if d := g.Draft; d != nil {
			line.Draft = &givenDraft{*d, pieceOut(d.Baseline), pieceOut(d.Proposed)}
		}
		text, err := json.Marshal(line)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "scenario.given", "encode")
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes(), nil
}

// maxGiven bounds one line, in bytes.
const maxGiven = 64 << 20

// ReadGiven reads the lines of a file.
func ReadGiven(data []byte) ([]Given, error) {
	var list []Given
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxGiven)
	for lines.Scan() {
		var line givenLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil || (line.Piece == nil) == (line.Draft == nil) {
			return nil, fault.Wrap(err, fault.Invalid, "scenario.given", "line %d is neither a piece nor a draft", len(list)+1)
		}
		g := Given{Deleted: line.Deleted, Stamp: line.Stamp}
		if line.Piece != nil {
			p := line.Piece.piece()
			g.Piece = &p
		}
		if d := line.Draft; d != nil {
			whole := d.Draft
			whole.Baseline, whole.Proposed = d.Baseline.piece(), d.Proposed.piece()
			g.Draft = &whole
		}
		list = append(list, g)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Wrap(err, fault.TooLarge, "scenario.given", "line %d", len(list)+1)
	}
	return list, nil
}

// A keeper is where pieces and drafts are put.
type keeper interface {
	store.Store
	draft.Drafts
}

// Put writes what was given into an empty store, revision by revision.
func Put(ctx context.Context, st keeper, list []Given) error {
	for i, g := range list {
		var err error
		switch {
		case g.Draft != nil:
			d := *g.Draft
			d.Rev = 1
			err = st.PutDraft(ctx, d)
		case g.Deleted:
			err = st.Delete(ctx, g.Piece.Ref, g.Piece.Revision-1, stampOf(g))
		default:
			err = putPiece(ctx, st, g)
		}
		if err != nil {
			return fault.Wrap(err, fault.CodeOf(err), "scenario.given", "line %d", i+1)
		}
	}
	return nil
}

func putPiece(ctx context.Context, st store.Store, g Given) error {
	p := *g.Piece
	want := p.Revision
	old, err := st.Get(ctx, p.Ref, 0)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		p, err = st.Create(ctx, p, stampOf(g))
	case err == nil:
		p.Revision = old.Revision
		p, err = st.Update(ctx, p, stampOf(g))
	}
	if err == nil && p.Revision != want {
		err = fault.New(fault.Invalid, "scenario.given", "%q became revision %d, not %d", p.Ref, p.Revision, want)
	}
	return err
}

func stampOf(g Given) store.Stamp {
	if g.Stamp == nil {
		return store.Stamp{Cause: "given"}
	}
	return *g.Stamp
}

func wordGiven(s *state, neg bool, args []string) {
	if neg || len(args) != 1 {
		s.Fatalf("usage: given FILE")
	}
	list, err := ReadGiven([]byte(s.ReadFile(args[0])))
	s.Check(err)
	s.Check(os.MkdirAll(filepath.Join(s.Dir(), stores.StateDir), 0o755))
	ctx := context.Background()
	address, err := stores.Address(s.Dir())
	s.Check(err)
	st, err := stores.Open(ctx, s.Dir(), address, s.Environ())
	s.Check(err)
	defer st.Close() //nolint:errcheck // each write is on the disk
	s.Check(Put(ctx, st, list))
}
