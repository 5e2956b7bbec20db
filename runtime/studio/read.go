package studio

import (
	"context"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxPage is the most characters of one page of studio.read: escaped as JSON, a page
// of prose still fits into one answer.
const maxPage = 32_000

// CodeOffset says that an offset lies behind the end of a text.
const CodeOffset fault.Code = "OFFSET_PAST_END"

// A ReadAction is what studio.read does.
type ReadAction string

// Enum lists the actions.
func (ReadAction) Enum() []string { return []string{"read", "outline"} }

// ReadIn names a piece and a part of it.
type ReadIn struct {
	Kind     string     `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string     `json:"id" jsonschema:"the id of the piece, as studio.list shows it"`
	Action   ReadAction `json:"action,omitempty" jsonschema:"read gives the value, outline its immediate children; read if left out"`
	Path     string     `json:"path,omitempty" jsonschema:"a JSON Pointer into the body, such as /persona/description; leave out for the whole piece"`
	Offset   int        `json:"offset,omitempty" jsonschema:"the character to begin at, for a value too long for one answer"`
	Limit    int        `json:"limit,omitempty" jsonschema:"how many characters at most, 1 to 32000; 12000 if left out where offset is given"`
	Revision int64      `json:"revision,omitempty" jsonschema:"an older revision; leave out for the current one"`
}

// ReadOut is a piece or a part of it.
type ReadOut struct {
	Kind       string      `json:"kind"`
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Revision   int64       `json:"revision"`
	Path       string      `json:"path"`
	Characters int         `json:"characters"`     // of the whole value
	Body       tool.Object `json:"body,omitempty"` // a whole object
	Text       *string     `json:"text,omitempty"` // any other value, or a page of one
	Children   []Child     `json:"children,omitempty"`
	Offset     int         `json:"offset,omitempty"`
	NextOffset int         `json:"next_offset,omitempty"` // 0 at the end
	Originals  []string    `json:"originals,omitempty"`   // formats of the imported files kept with the piece
}

// A Child is one line of an outline.
type Child struct {
	Path       string `json:"path"`
	Type       string `json:"type"`
	Characters int    `json:"characters"`
}

func readTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.read", Title: "Read a piece", Effect: tool.Read, Exposure: tool.Direct, Inline: result.MaxInlineRead,
		Summary: "Read one stored piece, whole.",
		Description: "A piece of up to 64,000 characters comes complete in one answer. For a longer one, action outline lists the " +
			"immediate children of path as JSON Pointers, and read takes one of them with offset and limit. It reads what is stored; a draft is read with change.query.",
	}, func(ctx context.Context, _ tool.Call, in ReadIn) (tool.Reply[ReadOut], error) {
		return d.read(ctx, in)
	})
}

func (d Deps) read(ctx context.Context, in ReadIn) (tool.Reply[ReadOut], error) {
	const op = "studio.read"
	none := tool.Reply[ReadOut]{}
	p, err := d.stored(ctx, op, store.Ref{Kind: in.Kind, ID: in.ID}, in.Revision)
	if err != nil {
		return none, err
	}
	root, err := canon.ParseTree(p.Body)
	if err != nil {
		return none, fault.Wrap(err, fault.Internal, op, "the body of %s is not JSON", p.Ref)
	}
	n, err := root.Get(in.Path)
	if err != nil {
		return none, fault.Wrap(err, fault.CodeOf(err), op, "nothing can be read at %q of %s", in.Path, p.Ref).
			WithHint("call studio.read with action outline to see the paths that there are")
	}
	out := ReadOut{Kind: p.Kind, ID: p.ID, Title: p.Title, Revision: p.Revision, Path: in.Path}
	for _, e := range p.Escrow {
		out.Originals = append(out.Originals, e.Format)
	}
	text := textOf(n)
	out.Characters = utf8.RuneCountInString(text)
	if in.Action == "outline" {
		for c := range children(in.Path, n) {
			out.Children = append(out.Children, Child{Path: c.path, Type: c.node.Kind().String(), Characters: utf8.RuneCountInString(textOf(c.node))})
		}
		return tool.Reply[ReadOut]{Out: out}, nil
	}
	if in.Offset == 0 && in.Limit == 0 {
		whole := out
		whole.put(n, text)
		raw, err := canon.Marshal(whole)
		if err != nil {
			return none, err
		}
		// The text is the answer. The structured part repeats it where it fits too; a
		// longer text goes behind a handle.
		if utf8.RuneCount(raw) <= result.MaxInlineRead {
			out = whole
		}
		return tool.Reply[ReadOut]{Out: out, Text: text}, nil
	}
	page, next, err := Page(op, text, in.Offset, in.Limit, result.MaxRead, maxPage)
	if err != nil {
		return none, err
	}
	out.Text, out.Offset, out.NextOffset = &page, in.Offset, next
	return tool.Reply[ReadOut]{Out: out}, nil
}

func (o *ReadOut) put(n *canon.Node, text string) {
	if n.Kind() == canon.Object {
		o.Body = tool.Object(text)
		return
	}
	o.Text = &text
}

// textOf is a value as it is read: a string bare, anything else as JSON.
func textOf(n *canon.Node) string {
	if n.Kind() == canon.String {
		return n.Text()
	}
	return string(n.Bytes())
}

type child struct {
	path string
	node *canon.Node
}

// children ranges over the immediate parts of a value.
func children(ptr string, n *canon.Node) iter.Seq[child] {
	return func(yield func(child) bool) {
		for name, v := range n.Members() {
			if !yield(child{ptr + canon.JoinPointer(name), v}) {
				return
			}
		}
		for i, v := range n.Items() {
			if !yield(child{ptr + "/" + strconv.Itoa(i), v}) {
				return
			}
		}
	}
}

// Page cuts a text by characters, which are runes and never split. A limit of 0 is
// def. next is 0 where the page ends the text.
func Page(op, text string, offset, limit, def, most int) (page string, next int, err error) {
	if limit, err = bounded(op, limit, def, most); err != nil {
		return "", 0, err
	}
	total := utf8.RuneCountInString(text)
	if offset < 0 || offset > total || (offset == total && total > 0) {
		return "", 0, fault.New(CodeOffset, op, "offset %d is not in a text of %d characters", offset, total).
			WithHint("use next_offset of the page before; where it is missing, the text has ended")
	}
	runes := 0
	from, to := len(text), len(text)
	for i := range text {
		if runes == offset {
			from = i
		}
		if runes == offset+limit {
			to = i
			break
		}
		runes++
	}
	if to < len(text) {
		next = offset + limit
	}
	return text[from:to], next, nil
}
