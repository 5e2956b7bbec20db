package studio

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/merge"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The bounds of one answer of studio.history.
const (
	maxRevisions = 100 // the newest
	maxDiffRows  = 40
	maxDiffValue = 400 // characters of a value
)

// HistoryIn names a piece, and revisions to compare.
type HistoryIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece, also of one that was deleted"`
	Revision int64  `json:"revision,omitempty" jsonschema:"say what this revision changed; leave out to list all revisions"`
	Against  int64  `json:"against,omitempty" jsonschema:"with revision: the earlier revision to compare with; the one before it if left out"`
}

// HistoryOut is the history of a piece, or what differs between two of its revisions.
type HistoryOut struct {
	Kind      string         `json:"kind"`
	ID        string         `json:"id"`
	Revisions []RevisionRow  `json:"revisions,omitzero"` // the newest first
	Older     int            `json:"older,omitempty"`    // revisions that were left out
	From      int64          `json:"from,omitempty"`
	To        int64          `json:"to,omitempty"`
	Rows      []draft.Change `json:"rows,omitzero"`
	More      int            `json:"more,omitempty"` // rows that were left out
}

// A RevisionRow is one save, or the removal.
type RevisionRow struct {
	Revision int64  `json:"revision"`
	Deleted  bool   `json:"deleted,omitempty"`
	At       string `json:"at"`
	By       string `json:"by"` // a session, or a person
	Cause    string `json:"cause"`
	Bytes    int64  `json:"bytes"`
}

func historyTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.history", Title: "History of a piece", Effect: tool.Read, Exposure: tool.Deferred,
		Domain: "studio", Area: "history", Action: "read",
		Aliases:     []string{"revisions", "versions", "what changed", "who changed it", "compare revisions", "diff", "undo"},
		Summary:     "List the revisions of a piece, or say what one of them changed.",
		Description: "Every save keeps its revision, and a deleted piece keeps its history. Read an old revision whole with studio.read; bring one back with studio.restore.",
	}, func(ctx context.Context, _ tool.Call, in HistoryIn) (tool.Reply[HistoryOut], error) {
		out, err := d.history(ctx, in)
		return tool.Reply[HistoryOut]{Out: out}, err
	})
}

func (d Deps) history(ctx context.Context, in HistoryIn) (HistoryOut, error) {
	const op = "studio.history"
	ref := store.Ref{Kind: in.Kind, ID: in.ID}
	out := HistoryOut{Kind: in.Kind, ID: in.ID}
	revs, err := d.past(ctx, op, ref)
	if err != nil {
		return out, err
	}
	if in.Revision == 0 {
		for i := len(revs) - 1; i >= 0 && len(out.Revisions) < maxRevisions; i-- {
			r := revs[i]
			row := RevisionRow{Revision: r.Revision, Deleted: r.Deleted, At: r.At.Format(time.RFC3339), By: r.Session, Cause: r.Cause, Bytes: r.Size}
			if row.By == "" {
				row.By = "a person"
			}
			out.Revisions = append(out.Revisions, row)
		}
		out.Older = len(revs) - len(out.Revisions)
		return out, nil
	}
	if out.From, out.Rows, err = d.Between(ctx, ref, in.Against, in.Revision); err != nil {
		return out, err
	}
	out.To = in.Revision
	if len(out.Rows) > maxDiffRows {
		out.Rows, out.More = out.Rows[:maxDiffRows], len(out.Rows)-maxDiffRows
	}
	for i, r := range out.Rows {
		out.Rows[i].Before, out.Rows[i].After = plain.Clip(r.Before, maxDiffValue), plain.Clip(r.After, maxDiffValue)
	}
	return out, nil
}

// past is the history of a piece, with words of ours where there is none.
func (d Deps) past(ctx context.Context, op string, ref store.Ref) ([]store.Revision, error) {
	if err := store.CheckRef(ref); err != nil {
		return nil, err
	}
	revs, err := d.Store.History(ctx, ref)
	if fault.CodeOf(err) == fault.NotFound || err == nil && len(revs) == 0 {
		return nil, fault.New(fault.NotFound, op, "there is no %s, now or before", ref).
			WithHint("call studio.list or studio.search to see what there is")
	}
	return revs, err
}

// Between gives what differs between two revisions of a piece, whole and in the order of
// the body. A from of 0 is the last revision before to that was no removal; the first
// revision is compared with nothing.
func (d Deps) Between(ctx context.Context, ref store.Ref, from, to int64) (int64, []draft.Change, error) {
	const op = "studio.history"
	later, err := d.stored(ctx, op, ref, to)
	if err != nil {
		return 0, nil, err
	}
	var earlier store.Piece
	if from == 0 {
		revs, err := d.past(ctx, op, ref)
		if err != nil {
			return 0, nil, err
		}
		for _, r := range revs {
			if r.Revision < to && !r.Deleted {
				from = r.Revision
			}
		}
	}
	if from != 0 {
		if earlier, err = d.stored(ctx, op, ref, from); err != nil {
			return 0, nil, err
		}
	}
	rows, err := Rows(earlier, later)
	return from, rows, err
}

// Rows are the values that differ between two pieces, whole.
func Rows(before, after store.Piece) ([]draft.Change, error) {
	rows := []draft.Change{}
	for _, part := range []struct {
		prefix string
		a, b   []byte
	}{{"", before.Body, after.Body}, {"profiles", before.Profiles, after.Profiles}} {
		a, err := parsed(part.a)
		if err != nil {
			return nil, err
		}
		b, err := parsed(part.b)
		if err != nil {
			return nil, err
		}
		for _, r := range merge.Diff(a, b) {
			rows = append(rows, draft.Change{Path: part.prefix + r.Path, Label: labelOf(r), Before: shown(r.Before), After: shown(r.After)})
		}
	}
	return rows, nil
}

// parsed is a body or profiles as a tree; none is an empty one.
func parsed(raw []byte) (*canon.Node, error) {
	if len(raw) == 0 {
		return canon.NewObject(), nil
	}
	n, err := canon.ParseTree(raw)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "studio.parse", "a stored body is not JSON")
	}
	return n, nil
}

// shown is a value as a person reads it; nothing is "".
func shown(n *canon.Node) string {
	if n == nil {
		return ""
	}
	return textOf(n)
}

// labelOf makes words of a row: "Text (rain)" for a field of the entry rain.
func labelOf(r merge.Row) string {
	toks, err := canon.SplitPointer(r.Path)
	if err != nil || len(toks) == 0 {
		return "Whole piece"
	}
	label := toks[len(toks)-1]
	if n, err := strconv.Atoi(label); err == nil && len(toks) > 1 {
		label = toks[len(toks)-2]
		if len(r.Items) == 0 {
			label += " " + strconv.Itoa(n+1)
		}
	}
	if r.Order {
		label += " in order"
	}
	if len(r.Items) > 0 {
		label += " (" + strings.Join(r.Items, ", ") + ")"
	}
	first, size := utf8.DecodeRuneInString(label)
	return plain.Clip(string(unicode.ToUpper(first))+label[size:], 120)
}
