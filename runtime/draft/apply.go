package draft

import (
	"cmp"
	"context"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// Cause is what the stamp of a write says that applied the draft. It is the proof
// that the draft was saved.
func Cause(id string) string { return "draft " + id }

// Apply saves the caller's draft, once. It reads the piece again and compares body,
// profiles, title and escrow before it says applied. A changed revision or a taken
// id is the receipt stale, and nothing is written; a save that cannot be verified is
// failed, and not repeated. seq is the trace event that caused the write.
//
// Of several that apply one draft at once, one gets the receipt applied and the
// others CodeClosed. A draft that was being applied when the process died is taken
// up where the store says it ended: the write's own stamp tells.
func (s *Service) Apply(ctx context.Context, caller, id string, seq int64) (Receipt, error) {
	const op = "draft.apply"
	d, err := s.ds.GetDraft(ctx, id)
	if err = cmp.Or(err, mine(op, caller, d)); err != nil {
		return Receipt{}, err
	}
	if d.State == Applying { // of a process that died, or of one that is at it now
		revision, err := s.proof(ctx, d)
		if err != nil {
			return Receipt{}, err
		}
		if revision != 0 {
			return s.settle(ctx, d, s.verify(ctx, d, revision))
		}
	}
	if err := s.check.CheckPiece(ctx, d.Proposed); err != nil {
		return Receipt{}, err
	}
	stamp := store.Stamp{At: s.clk.Now(), Session: caller, Seq: seq, Cause: Cause(id)}
	if s.both != nil {
		return s.atOnce(ctx, d, stamp)
	}
	if d, err = s.claim(ctx, d); err != nil {
		return Receipt{}, err
	}
	saved, err := s.save(ctx, d, stamp)
	// From here on the outcome must be kept, whatever becomes of the caller.
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		return s.settle(ctx, d, s.verify(ctx, d, saved.Revision))
	}
	return s.afterError(ctx, d, err)
}

// afterError settles a draft whose save came back with err, which may have happened all
// the same.
func (s *Service) afterError(ctx context.Context, d Draft, err error) (Receipt, error) {
	revision, perr := s.proof(ctx, d)
	switch {
	case perr != nil:
		return Receipt{}, perr // stays as it is, and is taken up by the next call
	case revision != 0:
		return s.settle(ctx, d, s.verify(ctx, d, revision))
	}
	return s.notSaved(ctx, d, err)
}

// atOnce saves the piece and ends the draft in one transaction: neither is ever there
// without the other. What was saved is read again before anybody is told.
func (s *Service) atOnce(ctx context.Context, d Draft, stamp store.Stamp) (Receipt, error) {
	var ended Draft
	saved, err := s.both.SaveDraft(ctx, s.proposed(d), stamp, d.Create, func(revision int64) Draft {
		ended = d
		ended.Rev++
		ended.Updated = store.Instant(s.clk.Now())
		ended.State, ended.Reason = Applied, verified(d.Proposed.Ref, revision)
		return ended
	})
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		r := s.verify(ctx, d, saved.Revision)
		if r.Outcome == Applied {
			return r, nil
		}
		return s.settle(ctx, ended, r)
	}
	if fault.CodeOf(err) == fault.Conflict {
		now, gerr := s.ds.GetDraft(ctx, d.ID)
		switch {
		case gerr != nil:
			return Receipt{}, gerr
		case now.Rev != d.Rev && now.State == Open:
			return Receipt{}, err // changed since the caller saw it: they must look again
		case now.Rev != d.Rev:
			return Receipt{}, decided(err, d.ID)
		}
	}
	return s.afterError(ctx, d, err)
}

// verified is what a receipt says of a piece that was saved and read again.
func verified(ref store.Ref, revision int64) string {
	return fmt.Sprintf("%q is at revision %d, read again and verified", ref, revision)
}

// proposed is what d saves.
func (s *Service) proposed(d Draft) store.Piece {
	p := d.Proposed
	if !d.Create {
		p.Revision = d.Baseline.Revision
	}
	return p
}

// claim keeps Compose and HandOver away from what is about to be saved. A draft
// that is claimed already is left to the store to arbitrate: one save wins.
func (s *Service) claim(ctx context.Context, d Draft) (Draft, error) {
	if d.State == Applying {
		return d, nil
	}
	d.State = Applying
	claimed, err := s.put(ctx, d)
	if fault.CodeOf(err) != fault.Conflict {
		return claimed, err
	}
	now, gerr := s.ds.GetDraft(ctx, d.ID)
	switch {
	case gerr != nil:
		return Draft{}, gerr
	case now.State == Open:
		return Draft{}, err // changed since the caller saw it: they must look again
	}
	return Draft{}, decided(err, d.ID)
}

// save is the one write.
func (s *Service) save(ctx context.Context, d Draft, stamp store.Stamp) (store.Piece, error) {
	if d.Create {
		return s.st.Create(ctx, d.Proposed, stamp)
	}
	return s.st.Update(ctx, s.proposed(d), stamp)
}

// notSaved closes a draft whose write was refused, or opens it again if the caller
// gave up before it was written.
func (s *Service) notSaved(ctx context.Context, d Draft, err error) (Receipt, error) {
	r := Receipt{Draft: d.ID, Target: d.Proposed.Ref}
	switch fault.CodeOf(err) {
	case fault.Cancelled:
		d.State = Open
		if _, perr := s.put(ctx, d); perr != nil {
			return Receipt{}, perr
		}
		return Receipt{}, err
	case fault.Stale, fault.Conflict, fault.NotFound:
		now, gerr := s.st.Get(ctx, d.Proposed.Ref, 0)
		if gerr != nil && fault.CodeOf(gerr) != fault.NotFound {
			return Receipt{}, gerr
		}
		r.Outcome, r.Detail = Stale, staleDetail(d, now.Revision)
	default:
		r.Outcome, r.Detail = Failed, "the save failed: "+err.Error()
	}
	return s.settle(ctx, d, r)
}

// staleDetail says how the store differs from what the draft starts from. stored is
// 0 where there is no piece.
func staleDetail(d Draft, stored int64) string {
	switch {
	case d.Create:
		return fmt.Sprintf("the id of %q was taken, by revision %d; nothing was written", d.Proposed.Ref, stored)
	case stored == 0:
		return fmt.Sprintf("%q was deleted after revision %d; nothing was written", d.Proposed.Ref, d.Baseline.Revision)
	}
	return fmt.Sprintf("%q is at revision %d, the draft starts from %d; nothing was written", d.Proposed.Ref, stored, d.Baseline.Revision)
}

// verify reads the saved revision and compares it with the proposal.
func (s *Service) verify(ctx context.Context, d Draft, revision int64) Receipt {
	r := Receipt{Draft: d.ID, Outcome: Failed, Target: d.Proposed.Ref, Revision: revision}
	got, err := s.st.Get(ctx, d.Proposed.Ref, revision)
	if err != nil {
		r.Detail = fmt.Sprintf("saved as revision %d, but reading it again failed: %v", revision, err)
		return r
	}
	same, err := equalContent(got, d.Proposed)
	switch {
	case err != nil:
		r.Detail = fmt.Sprintf("saved as revision %d, but what was read again is not readable: %v", revision, err)
	case got.Ref != d.Proposed.Ref || got.Revision != revision:
		r.Detail = fmt.Sprintf("saved as revision %d, but %q at revision %d was read again", revision, got.Ref, got.Revision)
	case !same:
		r.Detail = fmt.Sprintf("saved as revision %d, but what was read again differs from the proposal", revision)
	case !store.EqualEscrow(got.Escrow, d.Proposed.Escrow):
		r.Detail = fmt.Sprintf("saved as revision %d, but the escrow that was read again differs", revision)
	default:
		r.Outcome = Applied
		r.Detail = verified(d.Proposed.Ref, revision)
	}
	return r
}

// settle keeps the receipt's outcome as the draft's state. Where somebody else said
// the same meanwhile, they have the receipt; where they said something else, what
// was written outweighs it.
func (s *Service) settle(ctx context.Context, d Draft, r Receipt) (Receipt, error) {
	for {
		d.State, d.Reason = r.Outcome, r.Detail
		_, err := s.put(ctx, d)
		if fault.CodeOf(err) != fault.Conflict {
			return r, err
		}
		now, gerr := s.ds.GetDraft(ctx, d.ID)
		switch {
		case gerr != nil:
			return Receipt{}, gerr
		case r.Revision == 0 || now.State == r.Outcome && now.Reason == r.Detail:
			return Receipt{}, decided(err, d.ID)
		}
		d = now
	}
}

func decided(err error, id string) error {
	return fault.Wrap(err, CodeClosed, "draft.apply", "the draft %q was decided by somebody else meanwhile", id).
		WithHint("read the draft to see how it ended")
}

// seen is d as it stands: one that was being applied when its process died, and was
// saved, is shown as it ended. Reading changes nothing; Apply keeps the outcome.
func (s *Service) seen(ctx context.Context, d Draft) (Draft, error) {
	if d.State != Applying {
		return d, nil
	}
	revision, err := s.proof(ctx, d)
	if err != nil || revision == 0 {
		return d, err
	}
	r := s.verify(ctx, d, revision)
	d.State, d.Reason = r.Outcome, r.Detail
	return d, nil
}

// proof is the revision that applied the draft, by its own stamp; 0 if there is
// none.
func (s *Service) proof(ctx context.Context, d Draft) (int64, error) {
	history, err := s.st.History(ctx, d.Proposed.Ref)
	if fault.CodeOf(err) == fault.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, r := range history {
		if r.Revision > d.Baseline.Revision && !r.Deleted && r.Cause == Cause(d.ID) {
			return r.Revision, nil
		}
	}
	return 0, nil
}
