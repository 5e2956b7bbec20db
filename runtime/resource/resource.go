// Package resource gives what a studio holds an address, so that a client can list it,
// read it and hear of changes without a tool.
//
// It is part of the kernel, above store, draft and session. What a tool can read is
// read through that tool: an Address says which call of which tool it stands for, and
// whoever serves resources makes that call at the gate, with its bounds and its line in
// the trace. A registry without the tool has no such resources. Traces and pages of
// documentation have no tool, and are read here. It speaks no protocol.
package resource

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The bounds.
const (
	MaxURI    = 1_000           // bytes of an address
	MaxText   = result.MaxBytes // bytes of one text: what one result may hold
	maxTraces = 50              // sessions that a list shows, the latest
	maxDrafts = 100             // drafts that a list shows
)

// The codes of this package.
const (
	CodeAddress fault.Code = "RESOURCE_ADDRESS" // an address that is none of a studio
	CodeCursor  fault.Code = "RESOURCE_CURSOR"  // a list cannot go on where it was told to
)

// A Shelf is one sort of resource: the first part of an address.
type Shelf string

// The shelves, in the order of a list.
const (
	Piece  Shelf = "piece"
	Draft  Shelf = "draft"
	Result Shelf = "result" // never listed: a tool's answer links to it
	Doc    Shelf = "doc"
	Trace  Shelf = "trace"
)

// The media types.
const (
	JSON     = "application/json"
	Lines    = "application/jsonl"
	Text     = "text/plain"
	Markdown = "text/markdown"
)

// An Entry is one resource in a list.
type Entry struct {
	URI, Name, Title, Description, Type string

	Size    int64     // bytes; 0 where it is not known
	Updated time.Time // zero where it is not known
}

// A Template is a way to write addresses, in the form of RFC 6570.
type Template struct{ URI, Name, Title, Description, Type string }

// A Page is what stands behind an address, or the first part of it.
type Page struct {
	Type string
	Text string
	Next string // the address of what follows; "" at the end
}

// Drafts lists the open drafts.
type Drafts interface {
	List(ctx context.Context, all bool) ([]draft.Draft, error)
}

// Options are the doors of a Catalog. Registry, Store and Drafts are needed.
type Options struct {
	Registry *tool.Registry // of the session: a shelf is there when its tool is
	Store    store.Store
	Drafts   Drafts
	Sessions string // the folder of the traces; "": there are none
	// Mask takes secrets out of a trace once more: this program may know of some that
	// the one that wrote it did not. nil leaves it as it is.
	Mask func([]byte) []byte
	Docs fs.FS // pages, as Markdown; nil: there are none
}

// A Catalog knows every resource of a studio. It opens nothing before it is asked.
type Catalog struct{ o Options }

// New makes a catalog. It panics when a door is missing.
func New(o Options) *Catalog {
	if o.Registry == nil || o.Store == nil || o.Drafts == nil {
		panic("resource: registry, store and drafts are needed")
	}
	return &Catalog{o}
}

const scheme = "soundstage://"

// An Address names one resource.
type Address struct {
	Shelf Shelf
	Kind  string // of a piece
	ID    string // of the piece, draft, handle or session; the path of a page
	After int64  // of a trace: begin behind this event
}

// String writes the address.
func (a Address) String() string {
	id := a.ID
	if a.Shelf == Piece {
		id = a.Kind + "/" + a.ID
	}
	s := scheme + string(a.Shelf) + "/" + id
	if a.After > 0 {
		s += "?after=" + strconv.FormatInt(a.After, 10)
	}
	return s
}

// Parse reads an address. It says nothing of whether something stands behind it.
func Parse(uri string) (Address, error) {
	bad := func(why string) (Address, error) {
		return Address{}, fault.New(CodeAddress, "resource.parse", "%q is no address of a studio: %s", clip(uri), why).
			WithHint("write it as one of the resource templates, such as soundstage://piece/character/ada")
	}
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok || len(uri) > MaxURI {
		return bad("it begins with " + scheme + " and is short")
	}
	rest, query, has := strings.Cut(rest, "?")
	shelf, id, _ := strings.Cut(rest, "/")
	a := Address{Shelf: Shelf(shelf), ID: id}
	if strings.ContainsAny(rest, "%#\\") || id == "" {
		return bad("it names nothing")
	}
	switch a.Shelf {
	case Piece:
		a.Kind, a.ID, _ = strings.Cut(id, "/")
		if err := store.CheckRef(store.Ref{Kind: a.Kind, ID: a.ID}); err != nil {
			return bad("a piece is kind/id")
		}
	case Draft, Result, Trace:
		if strings.Contains(id, "/") {
			return bad("the id holds a slash")
		}
	case Doc:
		if !fs.ValidPath(id) {
			return bad("the path does not lead to a page")
		}
	default:
		return bad("the shelves are piece, draft, result, doc and trace")
	}
	if !has {
		return a, nil
	}
	values, err := url.ParseQuery(query)
	n, nerr := strconv.ParseInt(values.Get("after"), 10, 64)
	if err != nil || nerr != nil || n < 0 || len(values) != 1 || a.Shelf != Trace {
		return bad("only a trace takes a part, and it is after=N")
	}
	a.After = n
	return a, nil
}

// Call is the call of a tool that gives what stands behind the address; "" for what is
// read with [Catalog.Read].
func (a Address) Call() (id string, input []byte) {
	var fields any
	switch a.Shelf {
	case Piece:
		id, fields = "studio.read", struct {
			Kind string `json:"kind"`
			ID   string `json:"id"`
		}{a.Kind, a.ID}
	case Draft:
		id, fields = "change.query", struct {
			Action string `json:"action"`
			Draft  string `json:"draft"`
		}{"show", a.ID}
	case Result:
		id, fields = "result.query", struct {
			Action string `json:"action"`
			Handle string `json:"handle"`
		}{"stat", a.ID}
	default:
		return "", nil
	}
	input, err := json.Marshal(fields)
	if err != nil {
		panic("resource: " + err.Error()) // strings always encode
	}
	return id, input
}

// Type is the media type of what stands behind the address.
func (a Address) Type() string {
	switch a.Shelf {
	case Piece, Draft:
		return JSON
	case Trace:
		return Lines
	case Doc:
		return Markdown
	}
	return Text
}

// has says whether a shelf is there.
func (c *Catalog) has(s Shelf) bool {
	switch s {
	case Trace:
		return c.o.Sessions != ""
	case Doc:
		return c.o.Docs != nil
	}
	id, _ := Address{Shelf: s}.Call()
	t, ok := c.o.Registry.Get(id)
	return ok && t.Here()
}

// Templates are the ways to write an address here.
func (c *Catalog) Templates() []Template {
	var list []Template
	for _, t := range []struct {
		shelf Shelf
		Template
	}{
		{Piece, Template{"soundstage://piece/{kind}/{id}", "piece", "A piece", "A stored piece, whole, as studio.read gives it.", JSON}},
		{Draft, Template{"soundstage://draft/{draft}", "draft", "A draft", "A draft with its operations, baseline and proposal, as change.query shows it.", JSON}},
		{Result, Template{"soundstage://result/{handle}", "result", "A long result", "A result of this session that was too long for one answer, whole.", Text}},
		{Doc, Template{"soundstage://doc/{+path}", "doc", "A page of the documentation", "A page of Soundstage's own documentation.", Markdown}},
		{Trace, Template{"soundstage://trace/{session}{?after}", "trace", "A trace", "What happened in a session, one event a line; after=N begins behind event N.", Lines}},
	} {
		if c.has(t.shelf) {
			list = append(list, t.Template)
		}
	}
	return list
}

func clip(s string) string {
	if short, cut := result.Inline(s, 200); cut {
		return short + "…"
	}
	return s
}
