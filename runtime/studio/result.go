package studio

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A ResultAction is what result.query does.
type ResultAction string

// Enum lists the actions.
func (ResultAction) Enum() []string { return []string{"stat", "read", "search"} }

// ResultIn asks about a long result.
type ResultIn struct {
	Handle string       `json:"handle" jsonschema:"the handle that stood in a cut result, such as result-1"`
	Action ResultAction `json:"action,omitempty" jsonschema:"stat gives its size, read a page of it, search the places of a text; read if left out"`
	Offset int          `json:"offset,omitempty" jsonschema:"for read: the character to begin at"`
	Limit  int          `json:"limit,omitempty" jsonschema:"for read: how many characters at most, 1 to 12000"`
	Query  string       `json:"query,omitempty" jsonschema:"for search: text to find, taken literally, upper and lower case alike"`
}

// ResultOut is a part of a long result.
type ResultOut struct {
	Handle     string       `json:"handle"`
	Characters int          `json:"characters"` // of the whole
	Bytes      int          `json:"bytes"`
	Text       string       `json:"text,omitempty"`
	Offset     int          `json:"offset,omitempty"`
	NextOffset int          `json:"next_offset,omitempty"` // 0 at the end
	Rows       []result.Row `json:"rows,omitzero"`
	More       bool         `json:"more,omitempty"` // there are more rows than one answer holds
}

func resultTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "result.query", Title: "Query a long result", Effect: tool.Read, Exposure: tool.Direct, Inline: result.MaxInlineRead,
		Summary:     "Read on in, or search, a result that was too long for one answer.",
		Description: "Results are kept for this session only, and the oldest go first.",
	}, func(_ context.Context, call tool.Call, in ResultIn) (tool.Reply[ResultOut], error) {
		out, err := queryResult(d.Results.For(call.Session), in)
		return tool.Reply[ResultOut]{Out: out}, err
	})
}

func queryResult(kept *result.Store, in ResultIn) (ResultOut, error) {
	handle := result.Handle(in.Handle)
	switch in.Action {
	case "stat":
		s, err := kept.Stat(handle)
		return sized(s), err
	case "search":
		f, err := kept.Search(handle, in.Query)
		out := sized(f.Stat)
		out.Rows, out.More = f.Rows, f.More
		return out, err
	}
	p, err := kept.Read(handle, in.Offset, in.Limit)
	out := sized(p.Stat)
	out.Text, out.Offset, out.NextOffset = p.Text, p.Offset, p.Next
	return out, err
}

func sized(s result.Stat) ResultOut {
	return ResultOut{Handle: string(s.Handle), Characters: s.Characters, Bytes: s.Bytes}
}
