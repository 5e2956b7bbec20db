package studio

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxCollected bounds the pieces of one collection.
const maxCollected = 1000

// The codes of collections.
const (
	CodeNoCollection   fault.Code = "COLLECTION_NONE" // there is none of that name
	CodeCollectionFull fault.Code = "COLLECTION_FULL" // it holds maxCollected pieces
)

// A Collection is a person's own grouping of pieces. A piece may be in many, and stays
// where it is; one that was deleted stays named.
type Collection struct {
	Name   string      `json:"name"`
	About  string      `json:"about,omitempty"`
	Pieces []store.Ref `json:"pieces"`
}

// Collections keeps them. Only people's skins have its methods that write.
type Collections struct {
	rows  drawer.Rows
	clock clock.Clock
}

// NewCollections returns the collections of a studio.
func NewCollections(rows drawer.Rows, c clock.Clock) *Collections {
	if rows == nil || c == nil {
		panic("studio: NewCollections needs rows and a clock")
	}
	return &Collections{rows, c}
}

// All is every collection, by name.
func (c *Collections) All(ctx context.Context) ([]Collection, error) {
	list, err := c.rows.ListEntries(ctx, drawer.Collections)
	if err != nil {
		return nil, err
	}
	all := make([]Collection, len(list))
	for i, e := range list {
		if all[i], err = decodeCollection(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func decodeCollection(e drawer.Entry) (c Collection, err error) {
	if err := json.Unmarshal(e.Doc, &c); err != nil {
		return c, fault.Wrap(err, store.CodeDamaged, "studio.collections", "the collection %q does not decode", e.ID)
	}
	return c, nil
}

// Get is the collection of a name, with the entry that it stands in.
func (c *Collections) Get(ctx context.Context, name string) (Collection, error) {
	got, _, err := c.get(ctx, name)
	return got, err
}

func (c *Collections) get(ctx context.Context, name string) (Collection, drawer.Entry, error) {
	e, err := c.rows.GetEntry(ctx, drawer.Collections, strings.TrimSpace(name))
	if fault.CodeOf(err) == drawer.CodeNone {
		return Collection{}, e, fault.New(CodeNoCollection, "studio.collections", "there is no collection %q", plain.Clip(name, 80)).
			WithHint("list them with studio.collections, or: soundstage collection ls")
	}
	if err != nil {
		return Collection{}, e, err
	}
	got, err := decodeCollection(e)
	return got, e, err
}

// New makes a collection; a name that is taken is fault.Conflict.
func (c *Collections) New(ctx context.Context, name, about string) (Collection, error) {
	made := Collection{Name: strings.TrimSpace(name), About: about, Pieces: []store.Ref{}}
	err := c.put(ctx, made, drawer.Entry{})
	if fault.CodeOf(err) == fault.Conflict {
		err = fault.New(fault.Conflict, "collection.new", "there is a collection %q already", made.Name).WithHint("choose another name, or add to it")
	}
	return made, err
}

func (c *Collections) put(ctx context.Context, made Collection, over drawer.Entry) error {
	doc, err := canon.Marshal(made)
	if err != nil {
		return err
	}
	return c.rows.PutEntry(ctx, drawer.Entry{Drawer: drawer.Collections, ID: made.Name, Rev: over.Rev + 1, At: c.clock.Now(), Doc: doc})
}

// Add puts pieces into a collection, each once, in the order given.
func (c *Collections) Add(ctx context.Context, name string, refs ...store.Ref) (Collection, error) {
	return c.change(ctx, name, func(got *Collection) error {
		for _, ref := range refs {
			if !slices.Contains(got.Pieces, ref) {
				got.Pieces = append(got.Pieces, ref)
			}
		}
		if len(got.Pieces) > maxCollected {
			return fault.New(CodeCollectionFull, "collection.add", "the collection %q would hold %d pieces, the most is %d", got.Name, len(got.Pieces), maxCollected).
				WithHint("make a second one")
		}
		return nil
	})
}

// Take takes pieces out of a collection; the pieces themselves stay.
func (c *Collections) Take(ctx context.Context, name string, refs ...store.Ref) (Collection, error) {
	return c.change(ctx, name, func(got *Collection) error {
		for _, ref := range refs {
			i := slices.Index(got.Pieces, ref)
			if i < 0 {
				return fault.New(fault.NotFound, "collection.rm", "%s is not in the collection %q", ref, got.Name).WithHint("see: soundstage collection ls %q", got.Name)
			}
			got.Pieces = slices.Delete(got.Pieces, i, i+1)
		}
		return nil
	})
}

// change rewrites a collection over what another process may have made of it meanwhile.
func (c *Collections) change(ctx context.Context, name string, f func(*Collection) error) (Collection, error) {
	const tries = 20
	for i := 0; ; i++ {
		got, e, err := c.get(ctx, name)
		if err == nil {
			err = f(&got)
		}
		if err == nil {
			err = c.put(ctx, got, e)
		}
		if fault.CodeOf(err) != fault.Conflict || i == tries {
			return got, err
		}
	}
}

// Drop removes a collection; its pieces stay.
func (c *Collections) Drop(ctx context.Context, name string) error {
	got, e, err := c.get(ctx, name)
	if err != nil {
		return err
	}
	return c.rows.DropEntry(ctx, drawer.Collections, got.Name, e.Rev)
}

// CollectionsIn asks for all collections or one.
type CollectionsIn struct {
	Name string `json:"name,omitempty" jsonschema:"one collection, with its pieces; leave out to list all"`
}

// CollectionsOut is what there is.
type CollectionsOut struct {
	Collections []CollectionRow `json:"collections"`
	Pieces      []Collected     `json:"pieces,omitzero"` // of the one that was named
}

// A CollectionRow is a collection in a list.
type CollectionRow struct {
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Pieces int    `json:"pieces"`
}

// Collected is a piece of a collection.
type Collected struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Missing bool   `json:"missing,omitempty"` // it was deleted
}

func collectionsTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.collections", Title: "Collections", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "List the person's own named groups of pieces, or what is in one.",
		Description: "They are the person's: only they make and change them, with soundstage collection.",
	}, func(ctx context.Context, _ tool.Call, in CollectionsIn) (tool.Reply[CollectionsOut], error) {
		out, err := d.collections(ctx, in.Name)
		return tool.Reply[CollectionsOut]{Out: out}, err
	})
}

func (d Deps) collections(ctx context.Context, name string) (CollectionsOut, error) {
	out := CollectionsOut{Collections: []CollectionRow{}}
	row := func(c Collection) CollectionRow { return CollectionRow{c.Name, c.About, len(c.Pieces)} }
	kept := NewCollections(d.Drawers, d.Clock)
	if name == "" {
		all, err := kept.All(ctx)
		for _, c := range all {
			out.Collections = append(out.Collections, row(c))
		}
		return out, err
	}
	c, err := kept.Get(ctx, name)
	if err != nil {
		return out, err
	}
	out.Collections, out.Pieces = append(out.Collections, row(c)), []Collected{}
	for _, ref := range c.Pieces {
		p, err := d.Store.Get(ctx, ref, 0)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return out, err
		}
		out.Pieces = append(out.Pieces, Collected{ref.Kind, ref.ID, p.Title, err != nil})
	}
	return out, nil
}
