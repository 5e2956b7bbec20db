package content

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// A Converted is a piece as a file of a format.
type Converted struct {
	Format   string
	Name     string // of the file: the piece's id and the format's extension
	Data     []byte
	Losses   []Loss
	Stripped []string // pointers of secrets that are not in the file
	Verbatim bool     // the file is the one that the piece came from
}

// Convert writes a piece as a file of a format, and says what the format cannot hold.
// It is the one function behind previews and exports, so that they agree. linked are
// the pieces that p names.
func (t *Formats) Convert(p store.Piece, format string, linked []store.Piece) (Converted, error) {
	const op = "content.export"
	f, err := t.Named(format, p.Kind)
	if err != nil {
		return Converted{}, err
	}
	kind, err := kindNamed(p.Kind)
	if err != nil {
		return Converted{}, err
	}
	if _, err := kind.Title(p.Body); err != nil {
		return Converted{}, err
	}
	w := Writing{Piece: p, Linked: linked}
	stripped, err := w.clean()
	if err != nil {
		return Converted{}, err
	}
	if w.Body, err = canon.ParseTree(w.Piece.Body); err != nil {
		return Converted{}, err
	}
	for i, e := range w.Piece.Escrow {
		if e.Format == format && w.Twin == nil {
			w.Twin = &w.Piece.Escrow[i]
		} else {
			w.Others = append(w.Others, e)
		}
	}
	about := f.About()
	c := Converted{Format: format, Name: p.ID + about.Ext, Stripped: stripped}
	if about.Verbatim && w.Twin != nil {
		same, err := t.unchanged(f, w)
		if err != nil {
			return c, fault.Wrap(err, CodeEscrow, op, "the original %q of %s no longer reads", w.Twin.Name, p.Ref)
		}
		if same {
			more, err := c.mask(slices.Clone(w.Twin.Raw))
			c.Stripped = append(c.Stripped, more...)
			c.Verbatim = len(c.Stripped) == 0
			return c, err
		}
	}
	out, err := f.Write(w)
	if err != nil {
		return c, err
	}
	for i := range out.Losses {
		out.Losses[i].Target = format
	}
	more, err := c.mask(out.Data)
	if err != nil {
		return c, err
	}
	c.Losses = append(out.Losses, t.leftBehind(w, format, c.Data, out.Losses)...)
	c.Stripped = append(slices.Clone(out.Stripped), more...)
	for _, ptr := range stripped {
		if !slices.Contains(c.Stripped, ptr) {
			c.Stripped = append(c.Stripped, ptr)
		}
	}
	return c, leak(p, format, c.Data)
}

// mask takes the file, without credentials in what it holds beside its card.
func (c *Converted) mask(data []byte) (found []string, err error) {
	c.Data, found, err = carrier.Masked(data, shapes)
	if err != nil {
		return nil, fmt.Errorf("content.export: %w", err)
	}
	return found, nil
}

// Losses is what Convert says is lost.
func (t *Formats) Losses(p store.Piece, format string, linked []store.Piece) ([]Loss, error) {
	c, err := t.Convert(p, format, linked)
	return c.Losses, err
}

// unchanged reports that the body is still what its original gives, but for its links,
// which are this studio's.
func (t *Formats) unchanged(f Format, w Writing) (bool, error) {
	again, err := t.read(f, Open(w.Twin.Name, w.Twin.Raw))
	if err != nil {
		return false, err
	}
	if len(again.Inside) > 0 {
		return false, nil
	}
	now := withoutLinks(w.Body)
	for _, found := range again.Found {
		if found.Kind == w.Piece.Kind && canon.Equal(withoutLinks(found.Body), now) {
			return sameLinked(w, again.Found, found)
		}
	}
	return false, nil
}

// embedded is where a character names what files of characters hold whole.
var embedded = []string{"/links/lorebooks", "/links/regexes"}

// sameLinked reports that the pieces which the file holds beside this one are still
// those that are linked, unchanged. One that is not at hand is taken as unchanged.
func sameLinked(w Writing, all []Found, found Found) (bool, error) {
	if found.Kind != KindCharacter {
		return true, nil
	}
	count := map[string]int{}
	for _, l := range found.Links {
		id := w.Body.At(l.Path + "/" + strconv.Itoa(count[l.Path])).Text()
		count[l.Path]++
		i := slices.IndexFunc(w.Linked, func(p store.Piece) bool { return p.Kind == all[l.To].Kind && p.ID == id })
		if i < 0 {
			continue
		}
		body, err := canon.ParseTree(w.Linked[i].Body)
		if err != nil || !canon.Equal(withoutLinks(body), withoutLinks(all[l.To].Body)) {
			return false, err
		}
	}
	return !slices.ContainsFunc(embedded, func(list string) bool { return w.Body.At(list).Len() != count[list] }), nil
}

// Linked are the pieces that p names and that get gives, for Convert; one that is not
// there any more is left out.
func Linked(ctx context.Context, p store.Piece, get func(ctx context.Context, ref store.Ref) (store.Piece, error)) ([]store.Piece, error) {
	kind, err := kindNamed(p.Kind)
	if err != nil {
		return nil, err
	}
	var list []store.Piece
	for _, ref := range kind.Links(p.Body) {
		q, err := get(ctx, ref)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
		case err != nil:
			return nil, err
		default:
			list = append(list, q)
		}
	}
	return list, nil
}

func withoutLinks(body *canon.Node) *canon.Node {
	n := body.Clone()
	for _, ptr := range []string{"/links", "/book", "/regexes"} {
		_, err := n.Delete(ptr)
		must(err)
	}
	return n
}

// must is for pointers of our own into objects of our own.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
