package resource

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// List gives up to limit resources from the place that after names, which is "" or the
// next of the list before. The pieces come first and are all there; of the traces the
// latest.
func (c *Catalog) List(ctx context.Context, after string, limit int) (list []Entry, next string, err error) {
	var ref store.Ref
	if after != "" {
		a, err := Parse(after)
		if err != nil || a.Shelf != Piece {
			return nil, "", fault.New(CodeCursor, "resource.list", "a list cannot go on behind %q", clip(after)).
				WithHint("give the cursor that came with the list before, or none")
		}
		ref = store.Ref{Kind: a.Kind, ID: a.ID}
	}
	if c.has(Piece) {
		rows, err := c.o.Store.List(ctx, store.Query{After: ref, Limit: limit + 1})
		if err != nil {
			return nil, "", err
		}
		more := len(rows) > limit
		for _, r := range rows[:min(len(rows), limit)] {
			list = append(list, pieceEntry(r))
		}
		if more {
			return list, list[limit-1].URI, nil
		}
	}
	// The rest is bounded, and stands on the last page.
	for _, part := range []func(context.Context) ([]Entry, error){c.drafts, c.pages, c.traces} {
		entries, err := part(ctx)
		if err != nil {
			return nil, "", err
		}
		list = append(list, entries...)
	}
	return list, "", nil
}

func pieceEntry(s store.Summary) Entry {
	a := Address{Shelf: Piece, Kind: s.Kind, ID: s.ID}
	return Entry{URI: a.String(), Name: s.Ref.String(), Title: s.Title, Type: JSON, Size: s.Size, Updated: s.Updated}
}

func (c *Catalog) drafts(ctx context.Context) ([]Entry, error) {
	if !c.has(Draft) {
		return nil, nil
	}
	open, err := c.o.Drafts.List(ctx, false)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, d := range open[:min(len(open), maxDrafts)] {
		list = append(list, Entry{
			URI: Address{Shelf: Draft, ID: d.ID}.String(), Name: d.ID, Title: "Draft for " + d.Proposed.Ref.String(), Type: JSON, Updated: d.Updated,
		})
	}
	return list, nil
}

func (c *Catalog) pages(context.Context) ([]Entry, error) {
	var list []Entry
	err := c.eachPage(func(path string, size int64) {
		list = append(list, Entry{URI: Address{Shelf: Doc, ID: path}.String(), Name: path, Type: Markdown, Size: size})
	})
	return list, err
}

// eachPage ranges over the pages of the documentation, by path.
func (c *Catalog) eachPage(do func(path string, size int64)) error {
	if !c.has(Doc) {
		return nil
	}
	return fs.WalkDir(c.o.Docs, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			do(path, info.Size())
		}
		return err
	})
}

func (c *Catalog) traces(context.Context) ([]Entry, error) {
	ids, err := c.sessions("")
	var list []Entry
	for _, id := range ids[:min(len(ids), maxTraces)] {
		list = append(list, Entry{URI: Address{Shelf: Trace, ID: id}.String(), Name: id, Title: "Trace of session " + id, Type: Lines})
	}
	return list, err
}

// sessions are the ids that begin with prefix, the latest first: ids sort by age.
func (c *Catalog) sessions(prefix string) ([]string, error) {
	if !c.has(Trace) {
		return nil, nil
	}
	ids, err := session.IDs(c.o.Sessions)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
	slices.Reverse(ids)
	return ids, nil
}
