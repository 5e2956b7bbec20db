// Package preview is the one shape in which a capability answers that composed a
// draft.
//
// It stands above draft and tool, and below every studio, which never import one
// another. It decides nothing: the operation is the capability's, the draft is
// runtime/draft's.
package preview

import (
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Drafted is what a model reads of a composed draft.
type Drafted struct {
	Draft    string         `json:"draft"`
	Target   string         `json:"target"`
	Create   bool           `json:"create"`
	Changes  []draft.Change `json:"changes"` // of this operation; values clipped
	Warnings []string       `json:"warnings,omitempty"`
	Impact   []draft.Impact `json:"impact,omitempty"`
	Saved    bool           `json:"saved"` // always false: a draft writes nothing
	Next     string         `json:"next"`
}

// Reply is the reply of a tool that composed op into d. It carries the card of the
// whole draft.
func Reply(d draft.Draft, op draft.Op) tool.Reply[Drafted] {
	review := draft.ReviewOf(d)
	return tool.Reply[Drafted]{
		Review: &review,
		Out: Drafted{
			Draft: d.ID, Target: d.Proposed.Ref.String(), Create: d.Create,
			Changes: op.Changes, Warnings: op.Warnings, Impact: op.Impact,
			Next: "nothing is saved yet: compose more changes, or call change.apply with this draft",
		},
	}
}

// Changes are the rows of one operation, with the studio's own words for the fields
// that it names.
func Changes(p draft.Proposal, labels map[string]string) []draft.Change {
	rows := draft.ReviewOf(draft.Draft{Baseline: p.Baseline, Proposed: p.Proposed}).Rows
	for i, r := range rows {
		if label, ok := labels[r.Path]; ok {
			rows[i].Label = label
		}
	}
	return rows
}
