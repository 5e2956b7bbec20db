package draft

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// MaxOps is how many operations one draft may hold.
const MaxOps = 200

// CodeFull says that a draft holds MaxOps operations.
const CodeFull fault.Code = "DRAFT_FULL"

// A Service composes, shows, applies and discards drafts. It is safe for
// concurrent use, also by several processes over one store. Make one with New.
type Service struct {
	st    store.Store
	ds    Drafts
	both  Saver // nil where st and ds are not one store that can
	clk   clock.Clock
	check Checker
}

// New returns a Service over st and ds.
func New(st store.Store, ds Drafts, c clock.Clock, check Checker) *Service {
	if st == nil || ds == nil || c == nil || check == nil {
		panic("draft: New needs a store, drafts, a clock and a checker")
	}
	s := &Service{st: st, ds: ds, clk: c, check: check}
	if both, ok := st.(Saver); ok && any(st) == any(ds) {
		s.both = both
	}
	return s
}

// A Basis is what the next operation on a target starts from.
type Basis struct {
	Piece  store.Piece
	Draft  string // the owner's open draft whose proposal Piece is, or ""
	Create bool   // the draft creates the piece: it is not stored yet
}

// Base gives what a capability previews over: the proposal of the owner's open
// draft for ref, else the stored piece, else fault.NotFound.
func (s *Service) Base(ctx context.Context, owner string, ref store.Ref) (Basis, error) {
	d, ok, err := s.openFor(ctx, owner, ref)
	if err != nil {
		return Basis{}, err
	}
	if ok {
		return Basis{Piece: d.Proposed, Draft: d.ID, Create: d.Create}, nil
	}
	p, err := s.st.Get(ctx, ref, 0)
	return Basis{Piece: p}, err
}

// openFor is the owner's open draft for ref, if there is one.
func (s *Service) openFor(ctx context.Context, owner string, ref store.Ref) (Draft, bool, error) {
	list, err := s.List(ctx, false)
	if err != nil {
		return Draft{}, false, err
	}
	for _, d := range list {
		if d.State == Open && d.Owner == owner && d.Proposed.Ref == ref {
			return d, true, nil
		}
	}
	return Draft{}, false, nil
}

// Compose adds one operation to the owner's open draft for the same target, or
// makes a new draft. It writes nothing to the store.
//
// A proposal that changes the identity or the escrow is CodeEscrow, one that
// changes nothing is CodeUnchanged, one that does not start from the draft's
// present proposal is CodeMismatch, one that creates an occupied id is
// fault.Conflict; what the checker refuses is refused.
func (s *Service) Compose(ctx context.Context, owner string, p Proposal) (Draft, error) {
	made, err := s.ComposeAll(ctx, owner, []Proposal{p})
	if err != nil {
		return Draft{}, err
	}
	return made[0], nil
}

// ComposeAll is Compose for proposals that belong together, each of another piece: all
// are kept, or none is, also where the process dies.
func (s *Service) ComposeAll(ctx context.Context, owner string, ps []Proposal) ([]Draft, error) {
	made := make([]Draft, len(ps))
	for i, p := range ps {
		if slices.ContainsFunc(ps[:i], func(o Proposal) bool { return o.Proposed.Ref == p.Proposed.Ref }) {
			return nil, fault.New(CodeMismatch, "draft.compose", "%q is proposed twice at once", p.Proposed.Ref).
				WithHint("propose one after the other")
		}
		var err error
		if made[i], err = s.compose(ctx, owner, p); err != nil {
			return nil, err
		}
	}
	return made, s.name(ctx, made)
}

// compose is a draft that is not kept yet; without an id where it is new.
func (s *Service) compose(ctx context.Context, owner string, p Proposal) (Draft, error) {
	if err := s.admit(ctx, p); err != nil {
		return Draft{}, err
	}
	d, ok, err := s.openFor(ctx, owner, p.Proposed.Ref)
	if err != nil {
		return Draft{}, err
	}
	if !ok {
		return s.begin(ctx, owner, p)
	}
	return s.extend(d, p)
}

// admit checks a proposal by itself.
func (s *Service) admit(ctx context.Context, p Proposal) error {
	const op = "draft.compose"
	ref := p.Baseline.Ref
	if p.Proposed.Ref != ref {
		return fault.New(CodeEscrow, op, "the preview of %q turned %q into %q", p.Op.Capability, ref, p.Proposed.Ref).
			WithHint("an operation keeps the kind and id of its target")
	}
	if !p.Create && !store.EqualEscrow(p.Baseline.Escrow, p.Proposed.Escrow) {
		return fault.New(CodeEscrow, op, "the preview of %q changed the escrow of %q", p.Op.Capability, ref).
			WithHint("an operation changes the body and leaves the imported file alone")
	}
	if _, err := store.Prepare(p.Proposed, store.Stamp{}); err != nil {
		return err
	}
	if !p.Create {
		same, err := equalContent(p.Baseline, p.Proposed)
		if err != nil {
			return err
		}
		if same {
			return fault.New(CodeUnchanged, op, "%q changes nothing in %q", p.Op.Capability, ref).
				WithHint("say what should be different from what is there")
		}
	}
	return s.check.CheckPiece(ctx, p.Proposed)
}

// begin is a new draft, without an id.
func (s *Service) begin(ctx context.Context, owner string, p Proposal) (Draft, error) {
	const op = "draft.compose"
	baseline := p.Baseline
	if p.Create {
		baseline = store.Piece{Ref: p.Proposed.Ref}
		has, err := s.st.Get(ctx, p.Proposed.Ref, 0)
		switch {
		case err == nil:
			return Draft{}, store.Taken(op, p.Proposed.Ref, has.Revision)
		case fault.CodeOf(err) != fault.NotFound:
			return Draft{}, err
		}
	}
	now := store.Instant(s.clk.Now())
	d := Draft{
		Rev: 1, Owner: owner, Create: p.Create, Baseline: baseline, Proposed: p.Proposed,
		Ops: []Op{p.Op}, State: Open, Created: now, Updated: now,
	}
	d.Proposed.Revision = baseline.Revision
	return d, nil
}

// name gives new drafts the studio's next numbers, and keeps all. An id from the clock
// would stand in the next prompt and be another one in every replay.
func (s *Service) name(ctx context.Context, ds []Draft) error {
	var unnamed []*Draft
	for i := range ds {
		if ds[i].ID == "" {
			unnamed = append(unnamed, &ds[i])
		}
	}
	if len(unnamed) == 0 {
		return s.ds.PutDraft(ctx, ds...)
	}
	n, err := s.ds.CountDrafts(ctx)
	if err != nil {
		return err
	}
	const tries = 1_000 // others may be naming drafts at the same time
	for range tries {
		n++
		for i, d := range unnamed {
			d.ID = fmt.Sprintf("d-%04d", n+int64(i))
		}
		if err = s.ds.PutDraft(ctx, ds...); fault.CodeOf(err) != fault.Conflict {
			break
		}
	}
	return err
}

// extend is d with one more operation.
func (s *Service) extend(d Draft, p Proposal) (Draft, error) {
	const op = "draft.compose"
	same := false
	if !p.Create {
		var err error
		if same, err = equalContent(p.Baseline, d.Proposed); err != nil {
			return Draft{}, err
		}
	}
	switch {
	case !same || p.Baseline.Revision != d.Baseline.Revision:
		return Draft{}, fault.New(CodeMismatch, op, "the draft %q already proposes something for %q, and %q does not start from it",
			d.ID, d.Proposed.Ref, p.Op.Capability).WithHint("apply or discard the draft first, or preview over its proposal")
	case !store.EqualEscrow(d.Proposed.Escrow, p.Proposed.Escrow):
		return Draft{}, fault.New(CodeEscrow, op, "the preview of %q changed the escrow of %q", p.Op.Capability, d.Proposed.Ref)
	case len(d.Ops) >= MaxOps:
		return Draft{}, fault.New(CodeFull, op, "the draft %q holds %d operations, which is the most", d.ID, MaxOps).
			WithHint("apply it and go on with a new one")
	}
	d.Proposed = p.Proposed
	d.Proposed.Revision = d.Baseline.Revision
	d.Ops = append(d.Ops, p.Op)
	return s.next(d), nil
}

// next is d as its next revision.
func (s *Service) next(d Draft) Draft {
	d.Rev++
	d.Updated = store.Instant(s.clk.Now())
	return d
}

// put keeps d as its next revision.
func (s *Service) put(ctx context.Context, d Draft) (Draft, error) {
	d = s.next(d)
	if err := s.ds.PutDraft(ctx, d); err != nil {
		return Draft{}, err
	}
	return d, nil
}

// Get returns a draft. Any session may read it.
func (s *Service) Get(ctx context.Context, id string) (Draft, error) {
	d, err := s.ds.GetDraft(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	return s.seen(ctx, d)
}

// List returns the drafts that wait for an outcome, or all of them, newest first.
func (s *Service) List(ctx context.Context, all bool) ([]Draft, error) {
	list, err := s.ds.ListDrafts(ctx, all)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, d := range list {
		if d, err = s.seen(ctx, d); err != nil {
			return nil, err
		}
		if all || d.State.Pending() {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

// A Validation is what Validate found.
type Validation struct {
	Draft    string `json:"draft"`
	Valid    bool   `json:"valid"`             // it could be applied now
	Stale    bool   `json:"stale"`             // the stored piece is not at the baseline
	Stored   int64  `json:"stored"`            // revision now, 0 if there is none
	Baseline int64  `json:"baseline"`          // revision that the draft starts from, 0 to create
	Problem  string `json:"problem,omitempty"` // what the checker says, or what is stale
}

// Validate checks the proposal again and compares the stored revision. It changes
// nothing.
func (s *Service) Validate(ctx context.Context, id string) (Validation, error) {
	d, err := s.ds.GetDraft(ctx, id)
	if err != nil {
		return Validation{}, err
	}
	v := Validation{Draft: id, Baseline: d.Baseline.Revision}
	now, err := s.st.Get(ctx, d.Proposed.Ref, 0)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return Validation{}, err
	}
	v.Stored = now.Revision
	v.Stale = v.Stored != v.Baseline
	if v.Stale {
		v.Problem = staleDetail(d, v.Stored)
	}
	if err := s.check.CheckPiece(ctx, d.Proposed); err != nil {
		v.Problem = strings.TrimPrefix(v.Problem+"; "+err.Error(), "; ")
	}
	v.Valid = v.Problem == "" && d.State == Open
	return v, nil
}

// Discard closes the owner's draft. The reason is kept with it.
func (s *Service) Discard(ctx context.Context, caller, id, reason string) (Draft, error) {
	d, err := s.Get(ctx, id)
	if err = cmp.Or(err, mine("draft.discard", caller, d)); err != nil {
		return Draft{}, err
	}
	d.State, d.Reason = Discarded, reason
	return s.put(ctx, d)
}

// HandOver gives an open draft to another session, or to the person at the command
// line (""). Only a person may ask for it; it is never a part of something else.
func (s *Service) HandOver(ctx context.Context, id, to string) (Draft, error) {
	d, err := s.Get(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	if !d.State.Pending() {
		return Draft{}, closed("draft.hand_over", d)
	}
	d.Owner = to
	return s.put(ctx, d)
}

// Ready says whether the caller may decide on d: it is their own, and has no
// outcome yet.
func (s *Service) Ready(caller string, d Draft) error { return mine("draft.ready", caller, d) }

// mine says whether the caller may decide on d.
func mine(op, caller string, d Draft) error {
	switch {
	case d.Owner != caller:
		return fault.New(CodeNotOwner, op, "the draft %q belongs to session %q, not %q", d.ID, d.Owner, caller).
			WithHint("compose a draft of your own; or a person decides on this one: soundstage tool call change.apply '{\"draft\":%q}', or change.discard", d.ID)
	case !d.State.Pending():
		return closed(op, d)
	}
	return nil
}

func closed(op string, d Draft) error {
	return fault.New(CodeClosed, op, "the draft %q is %s", d.ID, strings.TrimSuffix(string(d.State)+": "+d.Reason, ": ")).
		WithHint("make a new draft")
}

// equalContent compares all that an operation may change, by value.
func equalContent(a, b store.Piece) (bool, error) {
	if a.Title != b.Title {
		return false, nil
	}
	for _, pair := range [][2][]byte{{a.Body, b.Body}, {a.Profiles, b.Profiles}} {
		same, err := equalJSON(pair[0], pair[1])
		if !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalJSON compares by canonical form; nothing equals only nothing.
func equalJSON(a, b []byte) (bool, error) {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b), nil
	}
	if bytes.Equal(a, b) {
		return true, nil
	}
	x, err := canon.JSON(a)
	if err != nil {
		return false, err
	}
	y, err := canon.JSON(b)
	return string(x) == string(y), err
}
