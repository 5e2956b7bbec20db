package draft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
)

var ada = store.Ref{Kind: "character", ID: "ada"}

// noBad is a checker that refuses one word.
type noBad struct{}

func (noBad) CheckPiece(_ context.Context, p store.Piece) error {
	if strings.Contains(string(p.Body), "BAD") {
		return fault.New(fault.Invalid, "check", "the body holds %q", "BAD")
	}
	return nil
}

// A bench is a service over a store that holds ada at revision 1.
type bench struct {
	*draft.Service
	mem *memory.Store
	clk *clock.Fixed
}

func newBench(t *testing.T) bench {
	t.Helper()
	mem, clk := memory.New(), clock.NewFixed(clock.Epoch)
	p := store.Piece{
		Ref: ada, Title: "Ada", Body: []byte(`{"name":"Ada","tags":["a","b"]}`),
		Escrow:   []store.Escrow{{Format: "ccv3-json", Name: "ada.json", Raw: []byte("{ }")}},
		Profiles: []byte(`{"risu":1}`),
	}
	if _, err := mem.Create(t.Context(), p, store.Stamp{At: clk.Now(), Cause: "import"}); err != nil {
		t.Fatal(err)
	}
	return bench{draft.New(mem, mem, clk, noBad{}), mem, clk}
}

// rename proposes a body over what Base gives.
func (b bench) rename(t *testing.T, owner, name string) (draft.Draft, error) {
	t.Helper()
	basis, err := b.Base(t.Context(), owner, ada)
	if err != nil {
		t.Fatal(err)
	}
	return b.Compose(t.Context(), owner, renaming(basis.Piece, name))
}

func renaming(base store.Piece, name string) draft.Proposal {
	after := base
	after.Title, after.Body = name, fmt.Appendf(nil, `{"name":%q,"tags":["a","b"]}`, name)
	return draft.Proposal{
		Baseline: base, Proposed: after,
		Op: draft.Op{
			Capability: "character.identity.update", Input: fmt.Sprintf(`{"name":%q}`, name),
			Changes:  []draft.Change{{Path: "/name", Label: "Name"}},
			Warnings: []string{"w"}, Impact: []draft.Impact{{Platform: "risu", Effect: "shown"}},
		},
	}
}

func (b bench) mustRename(t *testing.T, owner, name string) draft.Draft {
	t.Helper()
	d, err := b.rename(t, owner, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func TestComposeGathersOperations(t *testing.T) {
	b := newBench(t)
	first := b.mustRename(t, "s-1", "Ada L.")
	b.clk.Advance(1e9)
	second := b.mustRename(t, "s-1", "Ada Lovelace")
	if second.ID != first.ID || len(second.Ops) != 2 || second.Baseline.Revision != 1 || string(second.Baseline.Body) != string(first.Baseline.Body) {
		t.Errorf("second operation gave %+v, want it in %s over the same baseline", second, first.ID)
	}
	if !second.Created.Equal(first.Created) || !second.Updated.After(first.Updated) {
		t.Errorf("created %v, updated %v, want the first and a later time", second.Created, second.Updated)
	}
	other := b.mustRename(t, "s-2", "Ada of another")
	if other.ID == first.ID {
		t.Error("another session composed into a draft that it does not own")
	}
	if p, err := b.mem.Get(t.Context(), ada, 0); err != nil || p.Revision != 1 {
		t.Errorf("the store is at revision %d, %v after composing, want 1", p.Revision, err)
	}
	got, err := b.Get(t.Context(), first.ID)
	if err != nil || len(got.Ops) != 2 || got.Ops[1].Input != `{"name":"Ada Lovelace"}` {
		t.Errorf("Get = %+v, %v, want both operations", got, err)
	}
	list, err := b.List(t.Context(), false)
	if err != nil || len(list) != 2 {
		t.Errorf("List = %v, %v, want 2 drafts", list, err)
	}
}

func TestComposeRefuses(t *testing.T) {
	tests := []struct {
		name string
		edit func(p *draft.Proposal)
		want fault.Code
	}{
		{"another id", func(p *draft.Proposal) { p.Proposed.ID = "bob" }, draft.CodeEscrow},
		{"another kind", func(p *draft.Proposal) { p.Proposed.Kind = "persona" }, draft.CodeEscrow},
		{"dropped escrow", func(p *draft.Proposal) { p.Proposed.Escrow = nil }, draft.CodeEscrow},
		{"escrow byte", func(p *draft.Proposal) {
			p.Proposed.Escrow = []store.Escrow{{Format: "ccv3-json", Name: "ada.json", Raw: []byte("{} ")}}
		}, draft.CodeEscrow},
		{"nothing", func(p *draft.Proposal) { p.Proposed = p.Baseline }, draft.CodeUnchanged},
		{"only spelling", func(p *draft.Proposal) {
			p.Proposed.Title = p.Baseline.Title
			p.Proposed.Body = []byte(` {"tags":["a", "b"], "name":"\u0041da"}`)
		}, draft.CodeUnchanged},
		{"bad body", func(p *draft.Proposal) { p.Proposed.Body = []byte(`{"name":"BAD"}`) }, fault.Invalid},
		{"not JSON", func(p *draft.Proposal) { p.Proposed.Body = []byte(`{`) }, store.CodeBody},
		{"create over a piece", func(p *draft.Proposal) { p.Create = true }, fault.Conflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			basis, err := b.Base(t.Context(), "s-1", ada)
			if err != nil {
				t.Fatal(err)
			}
			p := renaming(basis.Piece, "Ada L.")
			tt.edit(&p)
			_, err = b.Compose(t.Context(), "s-1", p)
			wantCode(t, "Compose", err, tt.want)
			if list, err := b.List(t.Context(), true); err != nil || len(list) != 0 {
				t.Errorf("List = %v, %v after a refusal, want nothing", list, err)
			}
		})
	}
}

func TestComposeStartsFromTheProposal(t *testing.T) {
	b := newBench(t)
	basis, err := b.Base(t.Context(), "s-1", ada)
	if err != nil {
		t.Fatal(err)
	}
	b.mustRename(t, "s-1", "Ada L.")
	_, err = b.Compose(t.Context(), "s-1", renaming(basis.Piece, "Ada M.")) // would lose the first operation
	wantCode(t, "Compose over the old baseline", err, draft.CodeMismatch)
	d := b.mustRename(t, "s-1", "Ada")
	if len(d.Ops) != 2 || len(draft.ReviewOf(d).Rows) != 0 {
		t.Errorf("an operation back to the baseline gave %+v", d)
	}
}

func TestComposeIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range draft.MaxOps {
		b.mustRename(t, "s-1", fmt.Sprint("Ada ", i))
	}
	_, err := b.rename(t, "s-1", "one too many")
	wantCode(t, "Compose", err, draft.CodeFull)
}

func TestCreateDraft(t *testing.T) {
	b := newBench(t)
	bob := store.Ref{Kind: "character", ID: "bob"}
	p := draft.Proposal{
		Create: true, Baseline: store.Piece{Ref: bob},
		Proposed: store.Piece{Ref: bob, Title: "Bob", Body: []byte(`{"name":"Bob"}`), Escrow: []store.Escrow{{Format: "f", Raw: []byte("x")}}},
	}
	d, err := b.Compose(t.Context(), "s-1", p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Compose(t.Context(), "s-1", p)
	wantCode(t, "creating twice", err, draft.CodeMismatch)
	basis, err := b.Base(t.Context(), "s-1", bob)
	if err != nil || !basis.Create || basis.Draft != d.ID {
		t.Fatalf("Base = %+v, %v, want the draft's proposal", basis, err)
	}
	after := basis.Piece
	after.Body = []byte(`{"name":"Bob","n":1}`)
	if d, err = b.Compose(t.Context(), "s-1", draft.Proposal{Baseline: basis.Piece, Proposed: after}); err != nil || len(d.Ops) != 2 || !d.Create {
		t.Fatalf("second operation: %+v, %v", d, err)
	}
	r, err := b.Apply(t.Context(), "s-1", d.ID, 7)
	if err != nil || r.Outcome != draft.Applied || r.Revision != 1 {
		t.Fatalf("Apply = %+v, %v, want applied at revision 1", r, err)
	}
	h, err := b.mem.History(t.Context(), bob)
	if want := (store.Stamp{At: h[0].At, Session: "s-1", Seq: 7, Cause: "draft " + d.ID}); err != nil || h[0].Stamp != want {
		t.Errorf("stamp %+v, %v, want %+v", h[0].Stamp, err, want)
	}
}

func TestOwnership(t *testing.T) {
	b := newBench(t)
	d := b.mustRename(t, "s-1", "Ada L.")
	for _, caller := range []string{"s-2", ""} {
		_, err := b.Apply(t.Context(), caller, d.ID, 1)
		wantCode(t, "Apply by "+caller, err, draft.CodeNotOwner)
		_, err = b.Discard(t.Context(), caller, d.ID, "no")
		wantCode(t, "Discard by "+caller, err, draft.CodeNotOwner)
	}
	if _, err := b.HandOver(t.Context(), d.ID, "s-2"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Apply(t.Context(), "s-1", d.ID, 1)
	wantCode(t, "Apply by the former owner", err, draft.CodeNotOwner)
	if r, err := b.Apply(t.Context(), "s-2", d.ID, 1); err != nil || r.Outcome != draft.Applied {
		t.Errorf("Apply by the new owner = %+v, %v", r, err)
	}
	_, err = b.HandOver(t.Context(), d.ID, "s-1")
	wantCode(t, "HandOver of an applied draft", err, draft.CodeClosed)
}

func TestDiscard(t *testing.T) {
	b := newBench(t)
	d := b.mustRename(t, "s-1", "Ada L.")
	if d, err := b.Discard(t.Context(), "s-1", d.ID, "denied at the gate"); err != nil || d.State != draft.Discarded || d.Reason != "denied at the gate" {
		t.Errorf("Discard = %+v, %v", d, err)
	}
	_, err := b.Apply(t.Context(), "s-1", d.ID, 1)
	wantCode(t, "Apply", err, draft.CodeClosed)
	_, err = b.Discard(t.Context(), "s-1", d.ID, "again")
	wantCode(t, "second Discard", err, draft.CodeClosed)
	if next := b.mustRename(t, "s-1", "Ada L."); next.ID == d.ID {
		t.Error("composed into a discarded draft")
	}
	_, err = b.Get(t.Context(), "d-9")
	wantCode(t, "Get of none", err, fault.NotFound)
}

func TestValidateChangesNothing(t *testing.T) {
	b := newBench(t)
	d := b.mustRename(t, "s-1", "Ada L.")
	v, err := b.Validate(t.Context(), d.ID)
	if want := (draft.Validation{Draft: d.ID, Valid: true, Stored: 1, Baseline: 1}); err != nil || v != want {
		t.Errorf("Validate = %+v, %v, want %+v", v, err, want)
	}
	other := b.mustRename(t, "s-2", "Other")
	if _, err := b.Apply(t.Context(), "s-2", other.ID, 1); err != nil {
		t.Fatal(err)
	}
	v, err = b.Validate(t.Context(), d.ID)
	if err != nil || v.Valid || !v.Stale || v.Stored != 2 || v.Problem == "" {
		t.Errorf("Validate = %+v, %v, want stale", v, err)
	}
	if got, err := b.Get(t.Context(), d.ID); err != nil || got.State != draft.Open || got.Rev != d.Rev {
		t.Errorf("the draft is %+v, %v after Validate, want it unchanged", got, err)
	}
}

func TestIDsSkipWhatIsTaken(t *testing.T) {
	b := newBench(t)
	first := b.mustRename(t, "s-1", "Ada L.")
	again := draft.New(b.mem, b.mem, clock.NewFixed(clock.Epoch), noBad{}) // a new process with a fixed clock
	d, err := again.Compose(t.Context(), "s-2", renaming(first.Baseline, "Other"))
	if err != nil || d.ID == first.ID || d.ID != "d-0002" {
		t.Errorf("second process made %q, %v, want d-0002", d.ID, err)
	}
}
