package studio

import (
	"context"
	"fmt"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/merge"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// maxConflicts bounds the conflicts of one answer; the rest is counted.
const maxConflicts = 40

// MergeIn names what is merged into what.
type MergeIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece that takes the changes, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece that takes the changes: a fork, or the source of one"`
	From     string `json:"from,omitempty" jsonschema:"the piece whose changes are taken, as kind/id; the source of the fork if left out"`
	Revision int64  `json:"revision,omitempty" jsonschema:"the revision of that piece to take; its current one if left out"`
}

// MergeOut is a merge: a draft, and what both sides changed.
type MergeOut struct {
	preview.Drafted
	Base      string        `json:"base"`   // what both came from, with its revision
	Theirs    string        `json:"theirs"` // what was taken
	Conflicts []ConflictRow `json:"conflicts"`
	More      int           `json:"more,omitempty"` // conflicts that were left out
}

// A ConflictRow is a value that both sides changed. The draft has ours. What is not there
// on a side is left out; anything but a text is shown as JSON.
type ConflictRow struct {
	Path   string  `json:"path"`
	Label  string  `json:"label"`
	Base   *string `json:"base,omitempty"`
	Ours   *string `json:"ours,omitempty"`
	Theirs *string `json:"theirs,omitempty"`
}

func mergeTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.piece.merge", Title: "Merge a fork", Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "studio", Area: "piece", Action: "merge", Concurrency: "piece:{kind}/{id}",
		Aliases: []string{"combine", "take changes from the source", "update the fork", "pull", "three-way merge"},
		Summary: "Merge the changes of a fork's source into the fork, or those of the fork into its source, as a draft.",
		Description: "Both are compared with the revision that was forked. Where both changed a value, the draft keeps that of the piece it is for, " +
			"and conflicts says path, base, ours and theirs: settle those with further edits of the same draft. The imported original stays as it is.",
	}, func(ctx context.Context, call tool.Call, in MergeIn) (tool.Reply[MergeOut], error) {
		return d.Merge(ctx, call, in)
	})
}

// A triple is what a merge works on.
type triple struct {
	ours         draft.Basis
	base, theirs store.Piece
	moves        bool // ours is the fork: from now on its source is theirs
}

// Merge composes the draft of a merge. A merge that finds nothing but conflicts has no
// draft.
func (d Deps) Merge(ctx context.Context, call tool.Call, in MergeIn) (tool.Reply[MergeOut], error) {
	none := tool.Reply[MergeOut]{}
	t, err := d.triple(ctx, call, in)
	if err != nil {
		return none, err
	}
	p, conflicts, err := d.joined(t)
	if err != nil {
		return none, err
	}
	out := MergeOut{Base: at(t.base), Theirs: at(t.theirs), Conflicts: []ConflictRow{}}
	for _, c := range conflicts {
		if len(out.Conflicts) == maxConflicts {
			out.More++
			continue
		}
		out.Conflicts = append(out.Conflicts, conflictRow(c))
	}
	p.Op.Changes = []draft.Change{{Path: "", Label: "Merged from", After: out.Theirs}}
	for _, c := range out.Conflicts {
		p.Op.Warnings = append(p.Op.Warnings, fmt.Sprintf("both changed %s; this draft keeps what %s has", c.Path, p.Baseline.Ref))
	}
	rep, err := propose(ctx, d, call, in, p)
	switch {
	case fault.CodeOf(err) == draft.CodeUnchanged && len(conflicts) > 0:
		out.Drafted = preview.Drafted{Target: p.Baseline.String(), Next: "nothing was drafted: all that differs was changed on both sides; edit the piece where theirs should win"}
		return tool.Reply[MergeOut]{Out: out}, nil
	case fault.CodeOf(err) == draft.CodeUnchanged:
		return none, fault.New(draft.CodeUnchanged, "studio.piece.merge", "%s has all that %s changed since %s", p.Baseline.Ref, out.Theirs, out.Base).
			WithHint("there is nothing to merge")
	case err != nil:
		return none, err
	}
	out.Drafted = rep.Out
	return tool.Reply[MergeOut]{Out: out, Review: rep.Review}, nil
}

// at is a piece with its revision.
func at(p store.Piece) string { return fmt.Sprintf("%s at revision %d", p.Ref, p.Revision) }

// triple finds out which of two pieces is the fork, and reads all three.
func (d Deps) triple(ctx context.Context, call tool.Call, in MergeIn) (t triple, err error) {
	const op = "studio.piece.merge"
	ref := store.Ref{Kind: in.Kind, ID: in.ID}
	if err := store.CheckRef(ref); err != nil {
		return t, err
	}
	if t.ours, err = d.Drafts.Base(ctx, call.Session, ref); fault.CodeOf(err) == fault.NotFound {
		return t, fault.New(fault.NotFound, op, "there is no %s", ref).WithHint("call studio.list to see what there is")
	} else if err != nil {
		return t, err
	}
	src, forked := SourceOf(t.ours.Piece)
	from, err := parseRef(op, in.From)
	switch {
	case err != nil:
		return t, err
	case in.From == "" && !forked:
		return t, fault.New(CodeUnrelated, op, "%s is no fork, so that nothing says what to merge", ref).
			WithHint("name the fork whose changes it should take in from")
	case in.From == "":
		from = src.Ref
	}
	if t.theirs, err = d.stored(ctx, op, from, in.Revision); err != nil {
		return t, err
	}
	if forked && from == src.Ref {
		t.moves = true
		t.base, err = d.stored(ctx, op, src.Ref, src.Revision)
		return t, err
	}
	if theirs, ok := SourceOf(t.theirs); ok && theirs.Ref == ref {
		t.base, err = d.stored(ctx, op, ref, theirs.Revision)
		return t, err
	}
	return t, fault.New(CodeUnrelated, op, "neither of %s and %s is a fork of the other", ref, from).
		WithHint("make a fork with studio.piece.fork; a duplicate has no source")
}

// joined is the proposal of a merge.
func (d Deps) joined(t triple) (draft.Proposal, []merge.Conflict, error) {
	p := draft.Proposal{
		Baseline: t.ours.Piece, Create: t.ours.Create, Proposed: t.ours.Piece, Op: draft.Op{Capability: "studio.piece.merge"},
	}
	body, conflicts, err := three(t.base.Body, t.ours.Piece.Body, t.theirs.Body)
	if err != nil {
		return p, nil, err
	}
	profiles, more, err := three(bare(t.base.Profiles), bare(t.ours.Piece.Profiles), bare(t.theirs.Profiles))
	if err != nil {
		return p, nil, err
	}
	for i := range more {
		more[i].Path = "profiles" + more[i].Path
	}
	src, forked := SourceOf(t.ours.Piece)
	if t.moves {
		src.Revision = t.theirs.Revision
	}
	switch {
	case forked:
		profiles, err = forkedFrom(profiles, src)
	case len(t.ours.Piece.Profiles) == 0 && string(profiles) == "{}":
		profiles = nil
	}
	if err != nil {
		return p, nil, err
	}
	p.Proposed.Body, p.Proposed.Profiles = body, profiles
	p.Proposed.Title, err = d.Kinds.title(p.Proposed.Kind, body)
	return p, append(conflicts, more...), err
}

// bare are profiles without a source, which is each piece's own.
func bare(profiles []byte) []byte {
	root, err := parsed(profiles)
	if err != nil {
		return profiles
	}
	_, _ = root.Delete(sourcePath) // where it is not there, nothing is to be done
	if own := root.Field("soundstage"); own != nil && own.Len() == 0 {
		_, _ = root.Delete("/soundstage")
	}
	return root.Bytes()
}

func three(base, ours, theirs []byte) ([]byte, []merge.Conflict, error) {
	var docs []*canon.Node
	for _, raw := range [][]byte{base, ours, theirs} {
		n, err := parsed(raw)
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, n)
	}
	merged, conflicts := merge.Three(docs[0], docs[1], docs[2], merge.Options{Set: isSet})
	raw, err := canon.JSON(merged.Bytes())
	return raw, conflicts, err
}

// isSet says which lists of texts, in any kind of body, have no order that matters.
func isSet(name string) bool {
	return slices.Contains([]string{"tags", "keys", "secondaryKeys", "knowledgeRefs", "behaviorRefs", "source"}, name)
}

func conflictRow(c merge.Conflict) ConflictRow {
	side := func(n *canon.Node) *string {
		if n == nil {
			return nil
		}
		s := plain.Clip(textOf(n), maxDiffValue)
		return &s
	}
	return ConflictRow{
		Path: c.Path, Label: labelOf(merge.Row{Path: c.Path, Order: c.Order}),
		Base: side(c.Base), Ours: side(c.Ours), Theirs: side(c.Theirs),
	}
}
