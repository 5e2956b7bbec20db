package studio

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The bounds of lists.
const (
	defaultList = 25 // stays below result.MaxInline
	maxList     = 200
	maxFound    = 8 // pieces of one search
	maxExcerpts = 2 // excerpts of one piece
)

// ListIn asks for pieces.
type ListIn struct {
	Kind  string `json:"kind,omitempty" jsonschema:"only this kind, such as character; leave out for all kinds"`
	After string `json:"after,omitempty" jsonschema:"continue behind this piece: the value of next from the call before"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many at most, 1 to 200; 25 if left out"`
}

// ListOut is a page of the shelf.
type ListOut struct {
	Pieces []Shelved `json:"pieces"`
	Next   string    `json:"next,omitempty"`
}

// Shelved is a piece as a list shows it.
type Shelved struct {
	Kind     string    `json:"kind"`
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Revision int64     `json:"revision"`
	Bytes    int64     `json:"bytes"`
	Matches  []Excerpt `json:"matches,omitempty"`
}

// An Excerpt is where a search hit.
type Excerpt struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func listTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.list", Title: "List pieces", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "List the pieces in this studio, by kind and id.",
		Description: "Drafts are not in it: change.query lists those. A page ends with next where there is more.",
	}, func(ctx context.Context, _ tool.Call, in ListIn) (tool.Reply[ListOut], error) {
		limit, err := bounded("studio.list", in.Limit, defaultList, maxList)
		if err != nil {
			return tool.Reply[ListOut]{}, err
		}
		after, err := parseRef("studio.list", in.After)
		if err != nil {
			return tool.Reply[ListOut]{}, err
		}
		rows, err := d.Store.List(ctx, store.Query{Kind: in.Kind, After: after, Limit: limit + 1})
		if err != nil {
			return tool.Reply[ListOut]{}, err
		}
		out := ListOut{Pieces: []Shelved{}}
		if len(rows) > limit {
			rows = rows[:limit]
			out.Next = rows[limit-1].Ref.String()
		}
		for _, s := range rows {
			out.Pieces = append(out.Pieces, shelved(s))
		}
		return tool.Reply[ListOut]{Out: out}, nil
	})
}

func shelved(s store.Summary) Shelved {
	return Shelved{Kind: s.Kind, ID: s.ID, Title: s.Title, Revision: s.Revision, Bytes: s.Size}
}

// bounded is n, or def where n was left out.
func bounded(op string, n, def, most int) (int, error) {
	if n == 0 {
		return def, nil
	}
	if n < 0 || n > most {
		return 0, fault.New(fault.Invalid, op, "limit %d is not between 1 and %d", n, most).
			WithHint("give a limit of at most %d", most)
	}
	return n, nil
}

// parseRef reads kind/id; "" is the zero Ref.
func parseRef(op, s string) (store.Ref, error) {
	if s == "" {
		return store.Ref{}, nil
	}
	kind, id, ok := strings.Cut(s, "/")
	ref := store.Ref{Kind: kind, ID: id}
	if err := store.CheckRef(ref); !ok || err != nil {
		return store.Ref{}, fault.New(fault.Invalid, op, "%q is not a piece written as kind/id", s).
			WithHint("write it as character/ada")
	}
	return ref, nil
}

// SearchIn is a literal search.
type SearchIn struct {
	Query string `json:"query" jsonschema:"text to find in titles and bodies, taken literally, upper and lower case alike"`
	Kind  string `json:"kind,omitempty" jsonschema:"only this kind, such as character; leave out for all kinds"`
	After string `json:"after,omitempty" jsonschema:"continue behind this piece: the value of next from the call before"`
}

func searchTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.search", Title: "Search pieces", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "Find pieces whose title or body contains a text.",
		Description: "The text is literal, not a pattern. Each hit comes with the places where it stands; read more of one with studio.read.",
	}, func(ctx context.Context, _ tool.Call, in SearchIn) (tool.Reply[ListOut], error) {
		const op = "studio.search"
		if strings.TrimSpace(in.Query) == "" {
			return tool.Reply[ListOut]{}, fault.New(fault.Invalid, op, "the query is empty").
				WithHint("give a text to find, or call studio.list")
		}
		after, err := parseRef(op, in.After)
		if err != nil {
			return tool.Reply[ListOut]{}, err
		}
		rows, err := d.Store.List(ctx, store.Query{Kind: in.Kind, Text: in.Query, After: after, Limit: maxFound + 1})
		if err != nil {
			return tool.Reply[ListOut]{}, err
		}
		out := ListOut{Pieces: []Shelved{}}
		if len(rows) > maxFound {
			rows = rows[:maxFound]
			out.Next = rows[maxFound-1].Ref.String()
		}
		for _, s := range rows {
			hit := shelved(s)
			p, err := d.Store.Get(ctx, s.Ref, 0)
			if err != nil && fault.CodeOf(err) != fault.NotFound {
				return tool.Reply[ListOut]{}, err
			}
			hit.Matches = excerpts(p.Body, in.Query)
			out.Pieces = append(out.Pieces, hit)
		}
		return tool.Reply[ListOut]{Out: out}, nil
	})
}

// excerpts are the first places in a body where a text stands.
func excerpts(body []byte, query string) []Excerpt {
	root, err := canon.ParseTree(body)
	if err != nil {
		return nil
	}
	var found []Excerpt
	var walk func(ptr string, n *canon.Node)
	walk = func(ptr string, n *canon.Node) {
		if len(found) == maxExcerpts {
			return
		}
		if text := n.Text(); text != "" {
			if at := indexFold(text, query); at >= 0 {
				found = append(found, Excerpt{Path: ptr, Text: around(text, at, len(query))})
			}
		}
		for c := range children(ptr, n) {
			walk(c.path, c.node)
		}
	}
	walk("", root)
	return found
}

// indexFold is where query stands in text, upper and lower case alike, or -1.
func indexFold(text, query string) int {
	for i := range text {
		if len(text)-i >= len(query) && strings.EqualFold(text[i:i+len(query)], query) {
			return i
		}
	}
	return -1
}

// around is a hit with 40 characters on each side.
func around(text string, at, size int) string {
	const side = 40
	from, to := at, min(at+size, len(text))
	for n := 0; n < side && from > 0; n++ {
		_, w := utf8.DecodeLastRuneInString(text[:from])
		from -= w
	}
	for n := 0; n < side && to < len(text); n++ {
		_, w := utf8.DecodeRuneInString(text[to:])
		to += w
	}
	s := text[from:to]
	if from > 0 {
		s = "…" + s
	}
	if to < len(text) {
		s += "…"
	}
	return s
}
