package studio

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Results are the long observations of the sessions; runtime/result fills it.
type Results interface {
	// Text is the whole observation behind a handle of a session, or one of the
	// three errors of runtime/result.
	Text(session, handle string) (string, error)
}

// A ResultAction is what result.query does.
type ResultAction string

// Enum lists the actions.
func (ResultAction) Enum() []string { return []string{"stat", "read", "search"} }

// ResultIn asks about a long result.
type ResultIn struct {
	Handle string       `json:"handle" jsonschema:"the handle that stood in a cut result, such as result-1"`
	Action ResultAction `json:"action,omitempty" jsonschema:"stat gives its size, read a page of it, search the places of a text; read if left out"`
	Offset int          `json:"offset,omitempty" jsonschema:"for read: the character to begin at"`
	Limit  int          `json:"limit,omitempty" jsonschema:"for read: how many characters at most, 1 to 12000; for search: how many rows, 1 to 50"`
	Query  string       `json:"query,omitempty" jsonschema:"for search: text to find, taken literally, upper and lower case alike"`
}

// ResultOut is a part of a long result.
type ResultOut struct {
	Handle     string      `json:"handle"`
	Characters int         `json:"characters"` // of the whole
	Bytes      int         `json:"bytes"`
	Text       string      `json:"text,omitempty"`
	Offset     int         `json:"offset,omitempty"`
	NextOffset int         `json:"next_offset,omitempty"`
	Rows       []ResultRow `json:"rows,omitzero"`
	More       bool        `json:"more,omitempty"` // there are more rows than were asked for
}

// A ResultRow is one place of a search.
type ResultRow struct {
	Offset int    `json:"offset"` // in characters, for read
	Text   string `json:"text"`
}

func resultTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "result.query", Title: "Query a long result", Effect: tool.Read, Exposure: tool.Direct, Inline: result.MaxInlineRead,
		Summary:     "Read on in, or search, a result that was too long for one answer.",
		Description: "Results are kept for this session only, and the oldest go first.",
	}, func(_ context.Context, call tool.Call, in ResultIn) (tool.Reply[ResultOut], error) {
		const op = "result.query"
		none := tool.Reply[ResultOut]{}
		text, err := d.Results.Text(call.Session, in.Handle)
		if err != nil {
			return none, err
		}
		out := ResultOut{Handle: in.Handle, Characters: utf8.RuneCountInString(text), Bytes: len(text)}
		switch in.Action {
		case "stat":
		case "search":
			if in.Query == "" {
				return none, fault.New(fault.Invalid, op, "search needs a query").WithHint("give the text to find")
			}
			limit, err := bounded(op, in.Limit, result.MaxRows, result.MaxRows)
			if err != nil {
				return none, err
			}
			out.Rows, out.More = findAll(text, in.Query, limit)
		default:
			if out.Text, out.NextOffset, err = Page(op, text, in.Offset, in.Limit, result.MaxRead, result.MaxRead); err != nil {
				return none, err
			}
			out.Offset = in.Offset
		}
		return tool.Reply[ResultOut]{Out: out}, nil
	})
}

// findAll gives the first places of query in text, and whether there are more.
func findAll(text, query string, limit int) ([]ResultRow, bool) {
	rows := []ResultRow{}
	chars, skip := 0, 0
	for i := range text {
		if i >= skip && len(text)-i >= len(query) && strings.EqualFold(text[i:i+len(query)], query) {
			if len(rows) == limit {
				return rows, true
			}
			rows = append(rows, ResultRow{Offset: chars, Text: around(text, i, len(query))})
			skip = i + len(query)
		}
		chars++
	}
	return rows, false
}
