package resource

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// Read gives what stands behind an address that no tool reads. A text that is longer
// than [MaxText] comes in pages where it has parts, and is fault.TooLarge else.
func (c *Catalog) Read(ctx context.Context, a Address) (Page, error) {
	switch {
	case a.Shelf == Trace && c.has(Trace):
		return c.readTrace(ctx, a)
	case a.Shelf == Doc && c.has(Doc):
		return c.readDoc(a)
	}
	return Page{}, missing(a)
}

func missing(a Address) error {
	return fault.New(fault.NotFound, "resource.read", "there is no %s", a).
		WithHint("list the resources to see what there is")
}

func (c *Catalog) readDoc(a Address) (Page, error) {
	b, err := fs.ReadFile(c.o.Docs, a.ID)
	if err != nil || !strings.HasSuffix(a.ID, ".md") {
		return Page{}, missing(a)
	}
	if len(b) > MaxText {
		return Page{}, fault.New(fault.TooLarge, "resource.read", "%s has %d bytes, the most is %d", a, len(b), MaxText)
	}
	return Page{Type: Markdown, Text: string(b)}, nil
}

// readTrace gives whole lines, as many as fit.
func (c *Catalog) readTrace(ctx context.Context, a Address) (Page, error) {
	path, err := session.Path(c.o.Sessions, a.ID)
	if err != nil {
		return Page{}, missing(a)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return Page{}, missing(a)
	}
	p := Page{Type: Lines}
	var b strings.Builder
	for e, err := range trace.Read(path) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Page{}, err
		}
		if e.Seq <= a.After {
			continue
		}
		line, err := c.line(e)
		if err != nil {
			return Page{}, err
		}
		if b.Len()+len(line) > MaxText {
			if b.Len() == 0 { // one event alone: it is named, and left out
				line = []byte(`{"seq":` + strconv.FormatInt(e.Seq, 10) + `,"omitted":"the event has more than ` + strconv.Itoa(MaxText) + ` bytes"}` + "\n")
			} else {
				p.Next = Address{Shelf: Trace, ID: a.ID, After: e.Seq - 1}.String()
				break
			}
		}
		b.Write(line)
	}
	p.Text = b.String()
	return p, nil
}

// line is an event as it stands in the file, with what is known to be secret now taken
// out.
func (c *Catalog) line(e trace.Event) ([]byte, error) {
	b, err := json.Marshal(struct {
		trace.Event
		Data json.RawMessage `json:"data"`
	}{e, e.Data})
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "resource.read", "encode event %d", e.Seq)
	}
	if c.o.Mask != nil {
		b = c.o.Mask(b)
	}
	return append(b, '\n'), nil
}

// Revision is a word that changes whenever what stands behind an address does; "" where
// nothing does, or where it never changes.
func (c *Catalog) Revision(ctx context.Context, uri string) (string, error) {
	a, err := Parse(uri)
	if err != nil {
		return "", nil // somebody's who may yet make it ours
	}
	switch {
	case a.Shelf == Piece && c.has(Piece):
		return c.pieceRevision(ctx, store.Ref{Kind: a.Kind, ID: a.ID})
	case a.Shelf == Draft && c.has(Draft):
		return c.draftRevision(ctx, a.ID)
	case a.Shelf == Trace && c.has(Trace):
		path, err := session.Path(c.o.Sessions, a.ID)
		if err != nil {
			return "", nil
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return "", nil
		}
		if err != nil {
			return "", fault.Wrap(err, fault.Internal, "resource.revision", "look at %s", a)
		}
		return strconv.FormatInt(info.Size(), 10), nil
	}
	return "", nil
}

func (c *Catalog) pieceRevision(ctx context.Context, ref store.Ref) (string, error) {
	history, err := c.o.Store.History(ctx, ref)
	if fault.CodeOf(err) == fault.NotFound || err == nil && len(history) == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(history[len(history)-1].Revision, 10), nil
}

func (c *Catalog) draftRevision(ctx context.Context, id string) (string, error) {
	all, err := c.o.Drafts.List(ctx, true)
	if err != nil {
		return "", err
	}
	for _, d := range all {
		if d.ID == id {
			return strconv.FormatInt(d.Rev, 10), nil
		}
	}
	return "", nil
}
