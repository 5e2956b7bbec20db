package resource

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxValues is how many completions are given.
const maxValues = 100

// Complete gives the values of an argument, of a template or a prompt, that begin with
// prefix, and whether there are more. with has the arguments that are known already. An
// argument that it knows nothing of has none.
func (c *Catalog) Complete(ctx context.Context, argument, prefix string, with map[string]string) (values []string, more bool, err error) {
	if len(prefix) > MaxURI {
		return nil, false, nil
	}
	switch argument {
	case "piece":
		values, err = c.refs(ctx, prefix)
	case "id":
		values, err = c.ids(ctx, with["kind"], prefix)
	case "kind":
		values, err = c.kinds(ctx, prefix)
	case "draft":
		values, err = c.draftIDs(ctx, prefix)
	case "session":
		values, err = c.sessions(prefix)
	case "path":
		err = c.eachPage(func(path string, _ int64) {
			if strings.HasPrefix(path, prefix) {
				values = append(values, path)
			}
		})
	case "capability":
		values = c.capabilities(prefix)
	}
	if len(values) > maxValues {
		return values[:maxValues], true, err
	}
	return values, false, err
}

// refs are pieces as kind/id.
func (c *Catalog) refs(ctx context.Context, prefix string) ([]string, error) {
	kind, id, whole := strings.Cut(prefix, "/")
	if whole {
		ids, err := c.ids(ctx, kind, id)
		for i := range ids {
			ids[i] = kind + "/" + ids[i]
		}
		return ids, err
	}
	if !c.has(Piece) {
		return nil, nil
	}
	rows, err := c.o.Store.List(ctx, store.Query{})
	var refs []string
	for _, r := range rows {
		if s := r.Ref.String(); strings.HasPrefix(s, prefix) {
			refs = append(refs, s)
		}
	}
	return refs, err
}

// ids are the pieces of a kind. They are in order, so that the store is asked only for
// those from prefix on.
func (c *Catalog) ids(ctx context.Context, kind, prefix string) ([]string, error) {
	if !c.has(Piece) {
		return nil, nil
	}
	q := store.Query{Kind: kind}
	if kind != "" {
		q.Limit = maxValues + 2
		if n := len(prefix); n > 0 {
			if prefix[n-1] < '-' || prefix[n-1] > 'z' {
				return nil, nil // no id has it
			}
			q.After = store.Ref{Kind: kind, ID: prefix[:n-1] + string(prefix[n-1]-1) + "~"} // the last that sorts before prefix
		}
	}
	rows, err := c.o.Store.List(ctx, q)
	var ids []string
	for _, r := range rows {
		if strings.HasPrefix(r.ID, prefix) {
			ids = append(ids, r.ID)
		}
	}
	return ids, err
}

func (c *Catalog) kinds(ctx context.Context, prefix string) ([]string, error) {
	if !c.has(Piece) {
		return nil, nil
	}
	rows, err := c.o.Store.List(ctx, store.Query{})
	var kinds []string
	for _, r := range rows {
		if strings.HasPrefix(r.Kind, prefix) && !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds, err
}

func (c *Catalog) draftIDs(ctx context.Context, prefix string) ([]string, error) {
	if !c.has(Draft) {
		return nil, nil
	}
	open, err := c.o.Drafts.List(ctx, false)
	var ids []string
	for _, d := range open {
		if strings.HasPrefix(d.ID, prefix) {
			ids = append(ids, d.ID)
		}
	}
	return ids, err
}

// capabilities are the tools that capability.call runs.
func (c *Catalog) capabilities(prefix string) []string {
	var ids []string
	for _, t := range c.o.Registry.On(tool.MCP).All() {
		if t.Exposure == tool.Deferred && t.Here() && strings.HasPrefix(t.ID, prefix) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
