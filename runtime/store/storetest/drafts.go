package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// RunDrafts checks a backend of [draft.Drafts]. Each call of open gives an empty
// one.
func RunDrafts(t *testing.T, open func(t *testing.T) draft.Drafts) {
	t.Run("put", func(t *testing.T) { testPutDraft(t, open(t)) })
	t.Run("put many", func(t *testing.T) { testPutDrafts(t, open(t)) })
	t.Run("list", func(t *testing.T) { testListDrafts(t, open(t)) })
	t.Run("one of many wins", func(t *testing.T) {
		ds := open(t)
		d := sampleDraft("d-1", 1)
		if err := ds.PutDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		d.Rev++
		got := race(func(int) error { return ds.PutDraft(t.Context(), d) })
		if got[""] != 1 || got[fault.Conflict] != many-1 {
			t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Conflict)
		}
	})
}

func sampleDraft(id string, n int64) draft.Draft {
	p := stored(piece("character", "ada"), 3, stamp(1))
	p.Escrow = []store.Escrow{{Format: "f", Name: "n", Raw: []byte{0, 1, 0xff}}}
	p.Profiles = []byte(`{"p":1}`)
	after := p
	after.Body = []byte(`{"name":"<Ada> & 12345678901234567890"}`)
	return draft.Draft{
		ID: id, Rev: 1, Owner: "s-1", Baseline: p, Proposed: after, State: draft.Open,
		Ops: []draft.Op{{
			Capability: "character.identity.update", Input: `{"name":"x"}`,
			Changes:  []draft.Change{{Path: "/name", Label: "Name", Before: "ada", After: "Ada"}},
			Warnings: []string{"w"}, Impact: []draft.Impact{{Platform: "risu", Effect: "none"}},
		}},
		Created: store.Instant(stamp(n).At), Updated: store.Instant(stamp(n + 1).At),
	}
}

func testPutDraft(t *testing.T, ds draft.Drafts) {
	ctx := t.Context()
	d := sampleDraft("d-1", 1)
	_, err := ds.GetDraft(ctx, "d-1")
	wantCode(t, "Get of none", err, fault.NotFound)
	d.Rev = 2
	wantCode(t, "Put over none", ds.PutDraft(ctx, d), fault.Conflict)
	d.Rev = 1
	if err := ds.PutDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Put of the same revision", ds.PutDraft(ctx, d), fault.Conflict)
	got, err := ds.GetDraft(ctx, "d-1")
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, got.Baseline, d.Baseline)
	wantPiece(t, got.Proposed, d.Proposed)
	if fmt.Sprint(got.Ops) != fmt.Sprint(d.Ops) || got.Owner != d.Owner || got.State != d.State || !got.Created.Equal(d.Created) || !got.Updated.Equal(d.Updated) {
		t.Errorf("got %+v, want %+v", got, d)
	}
	d.Rev, d.State, d.Reason = 2, draft.Discarded, "a person said no"
	if err := ds.PutDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	if got, err = ds.GetDraft(ctx, "d-1"); err != nil || got.State != draft.Discarded || got.Reason != d.Reason || got.Rev != 2 {
		t.Errorf("got %+v, %v, want the second revision", got, err)
	}
	d.Rev = 4
	wantCode(t, "Put that skips a revision", ds.PutDraft(ctx, d), fault.Conflict)
}

// Many are kept as one.
func testPutDrafts(t *testing.T, ds draft.Drafts) {
	ctx := t.Context()
	a, b, c := sampleDraft("d-1", 1), sampleDraft("d-2", 1), sampleDraft("d-3", 1)
	if err := ds.PutDraft(ctx, b); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Put of one that is there", ds.PutDraft(ctx, a, b, c), fault.Conflict)
	wantCode(t, "Put of one twice", ds.PutDraft(ctx, a, c, a), fault.Conflict)
	for _, d := range []draft.Draft{a, c} {
		_, err := ds.GetDraft(ctx, d.ID)
		wantCode(t, "Get of what was not kept", err, fault.NotFound)
	}
	b.Rev, b.State = 2, draft.Discarded
	if err := ds.PutDraft(ctx, a, b, c); err != nil {
		t.Fatal(err)
	}
	if n, err := ds.CountDrafts(ctx); n != 3 || err != nil {
		t.Errorf("%d drafts, %v", n, err)
	}
	if got, err := ds.GetDraft(ctx, "d-2"); err != nil || got.Rev != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func testListDrafts(t *testing.T, ds draft.Drafts) {
	states := []draft.State{draft.Open, draft.Applied, draft.Applying, draft.Stale, draft.Failed, draft.Discarded, draft.Open}
	for i, state := range states {
		d := sampleDraft(fmt.Sprint("d-", i), int64(i/2)) // pairs have the same time
		d.State = state
		if err := ds.PutDraft(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := ds.CountDrafts(t.Context()); n != int64(len(states)) || err != nil {
		t.Errorf("CountDrafts = %d, %v, want %d", n, err, len(states))
	}
	for all, want := range map[bool]string{true: "d-6 d-5 d-4 d-3 d-2 d-1 d-0", false: "d-6 d-2 d-0"} {
		list, err := ds.ListDrafts(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range list {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("ListDrafts(%v) = %s, want %s", all, got, want)
		}
	}
}
