package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A past is what a studio's store held around a session, made of its history.
type past struct {
	given []scenario.Given // before it
	own   []scenario.Given // what it wrote
	open  []string         // its drafts that are still open
	notes []string
}

// before finds what the store held when a session began, and what the session wrote.
func (h *house) before(ctx context.Context, events []trace.Event) (past, error) {
	var p past
	refs, err := h.refs(ctx, events)
	if err != nil {
		return p, err
	}
	for _, ref := range refs {
		if err := h.pastOf(ctx, &p, ref, events[0]); err != nil {
			return p, err
		}
	}
	drafts, err := h.store.ListDrafts(ctx, true)
	if err != nil {
		return p, err
	}
	slices.SortFunc(drafts, func(a, b draft.Draft) int { return cmpText(a.ID, b.ID) })
	for _, d := range drafts {
		p.draft(d, drafts, events[0])
	}
	return p, nil
}

func cmpText(a, b string) int {
	switch {
	case len(a) != len(b):
		return len(a) - len(b)
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// refs are the pieces that there are, and those that the session's receipts name.
func (h *house) refs(ctx context.Context, events []trace.Event) ([]store.Ref, error) {
	var refs []store.Ref
	for s, err := range store.All(ctx, h.store, store.Query{}) {
		if err != nil {
			return nil, err
		}
		refs = append(refs, s.Ref)
	}
	for _, e := range events {
		if p, err := trace.Decode(e); err == nil {
			if s, ok := p.(trace.DraftSettled); ok && s.Receipt.Revision > 0 && !slices.Contains(refs, s.Receipt.Target) {
				refs = append(refs, s.Receipt.Target)
			}
		}
	}
	return refs, nil
}

// pastOf adds the revisions of one piece.
func (h *house) pastOf(ctx context.Context, p *past, ref store.Ref, began trace.Event) error {
	history, err := h.store.History(ctx, ref)
	if err != nil {
		return err
	}
	wrote, later := false, false
	for _, r := range history {
		own := r.Session == began.Session
		if !own && (wrote || r.At.After(began.At)) {
			later = true
			continue
		}
		if later {
			p.notes = append(p.notes, fmt.Sprintf("somebody else wrote %s while the session ran", ref))
		}
		g := scenario.Given{Deleted: r.Deleted, Stamp: &store.Stamp{At: r.At, Session: r.Session, Seq: r.Seq, Cause: r.Cause}}
		piece := store.Piece{Ref: ref, Revision: r.Revision}
		if !r.Deleted {
			if piece, err = h.store.Get(ctx, ref, r.Revision); err != nil {
				return err
			}
		}
		g.Piece = &piece
		if own {
			wrote = true
			p.own = append(p.own, g)
		} else {
			p.given = append(p.given, g)
		}
	}
	return nil
}

// draft adds a draft of before, or notes one that the session left open.
func (p *past) draft(d draft.Draft, all []draft.Draft, began trace.Event) {
	if d.Owner == began.Session {
		if d.State == draft.Open {
			p.open = append(p.open, d.ID)
		}
		return
	}
	first := slices.IndexFunc(all, func(o draft.Draft) bool { return o.Owner == began.Session })
	if d.Created.After(began.At) || first >= 0 && cmpText(d.ID, all[first].ID) > 0 {
		return
	}
	if d.State != draft.Open && d.Updated.After(began.At) {
		d.State, d.Reason = draft.Open, "" // it was decided on later
	}
	p.given = append(p.given, scenario.Given{Draft: &d})
}

// dump is the canonical dump of the store after the session.
func (p past) dump(ctx context.Context) ([]byte, error) {
	st := memory.New()
	if err := scenario.Put(ctx, st, slices.Concat(p.given, p.own)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := store.Dump(ctx, st, &b)
	return b.Bytes(), err
}

// settings are the studio's own, where they are not those that init writes.
func (h *house) settings() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(h.dir, configName))
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "trace.to-scenario", "read %s", configName)
	}
	if bytes.Equal(text, fmt.Appendf(nil, configText, defaultModel, defaultCap)) {
		return nil, nil
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return text, nil
}
