package preview_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The reply is of one operation, its card of the whole draft, and it never says that
// something was saved.
func TestReply(t *testing.T) {
	ref := store.Ref{Kind: "character", ID: "ada"}
	d := draft.Draft{
		ID: "d-0001", State: draft.Open,
		Baseline: store.Piece{Ref: ref, Body: []byte(`{"name":"Ada","tag":"a"}`)},
		Proposed: store.Piece{Ref: ref, Body: []byte(`{"name":"Ida","tag":"b"}`)},
	}
	op := draft.Op{Capability: "x.update", Changes: preview.Changes(draft.Proposal{Baseline: d.Baseline, Proposed: d.Proposed}, map[string]string{"/name": "Full name"})}
	r := preview.Reply(d, op)
	if r.Out.Draft != "d-0001" || r.Out.Target != "character/ada" || r.Out.Saved {
		t.Errorf("reply %+v", r.Out)
	}
	labels := map[string]string{}
	for _, c := range r.Out.Changes {
		labels[c.Path] = c.Label
	}
	if len(labels) != 2 || labels["/name"] != "Full name" || labels["/tag"] == "" {
		t.Errorf("labels %v, want the studio's word for /name and some for /tag", labels)
	}
	if r.Review == nil || len(r.Review.Rows) != 2 {
		t.Errorf("card %+v, want both rows", r.Review)
	}
}
