package session

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// Rows rebuilds the ledger rows of a session, in order of reservation.
func Rows(events []trace.Event) ([]ledger.Row, error) {
	payloads, err := decodeAll(events)
	if err != nil {
		return nil, err
	}
	var rows []ledger.Row
	at := map[string]int{}
	put := func(r ledger.Row) {
		r.At = r.At.UTC()
		if i, ok := at[r.ID]; ok {
			rows[i] = r
			return
		}
		at[r.ID] = len(rows)
		rows = append(rows, r)
	}
	for _, p := range payloads {
		switch p := p.(type) {
		case trace.ModelRequested:
			if p.Row != nil {
				put(*p.Row)
			}
		case trace.CostSettled:
			put(p.Row)
		}
	}
	return rows, nil
}

// Receipts gathers what a session's trace says of drafts; the last word on each
// draft, in order.
func Receipts(events []trace.Event) ([]draft.Receipt, error) {
	payloads, err := decodeAll(events)
	if err != nil {
		return nil, err
	}
	var list []draft.Receipt
	at := map[string]int{}
	for _, p := range payloads {
		s, ok := p.(trace.DraftSettled)
		if !ok {
			continue
		}
		if i, ok := at[s.Receipt.Draft]; ok {
			list[i] = s.Receipt
			continue
		}
		at[s.Receipt.Draft] = len(list)
		list = append(list, s.Receipt)
	}
	return list, nil
}

// Books are what the sessions share, in the store.
type Books interface {
	ListRows(ctx context.Context, session string) ([]ledger.Row, error)
	ListDrafts(ctx context.Context, all bool) ([]draft.Draft, error)
	History(ctx context.Context, ref store.Ref) ([]store.Revision, error)
}

// A Difference is one place where store and traces do not agree.
type Difference struct {
	Session string `json:"session"`
	What    string `json:"what"` // "row s-1.t1r1a1", "draft d-0001"
	Trace   string `json:"trace"`
	Store   string `json:"store"`
	// Crash says that a process that died between two writes leaves exactly this:
	// the store is one step ahead of the trace, and nothing is lost or doubled.
	Crash bool `json:"crash"`
}

// An Audit is what Compare found.
type Audit struct {
	Sessions    int          `json:"sessions"`
	Rows        int          `json:"rows"`
	Receipts    int          `json:"receipts"`
	Differences []Difference `json:"differences"`
}

// Clean reports whether nothing differs but for what a crash explains.
func (a Audit) Clean() bool {
	for _, d := range a.Differences {
		if !d.Crash {
			return false
		}
	}
	return true
}

// Compare rebuilds ledger rows and receipts from every trace in dir and compares
// them with the store. It changes nothing. A trace that cannot be read is an error.
func Compare(ctx context.Context, dir string, books Books) (Audit, error) {
	ids, err := IDs(dir)
	if err != nil {
		return Audit{}, err
	}
	c := comparison{rows: map[string]ledger.Row{}, receipts: map[string]told{}, audit: Audit{Differences: []Difference{}}}
	for _, id := range ids {
		if err := c.read(dir, id); err != nil {
			return Audit{}, err
		}
	}
	rows, err := books.ListRows(ctx, "")
	if err != nil {
		return Audit{}, err
	}
	drafts, err := books.ListDrafts(ctx, true)
	if err != nil {
		return Audit{}, err
	}
	c.compareRows(rows)
	return c.audit, c.compareDrafts(ctx, drafts, books)
}

// told is a receipt and the session whose trace says so.
type told struct {
	session string
	receipt draft.Receipt
}

type comparison struct {
	audit    Audit
	sessions map[string]bool
	rows     map[string]ledger.Row
	order    []string // ids of rows, as traced
	receipts map[string]told
	drafts   []string // ids of drafts, as traced
}

func (c *comparison) read(dir, id string) error {
	var events []trace.Event
	for e, err := range trace.Read(filepath.Join(dir, id+suffix)) {
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	rows, err := Rows(events)
	if err != nil {
		return err
	}
	receipts, err := Receipts(events)
	if err != nil {
		return err
	}
	if c.sessions == nil {
		c.sessions = map[string]bool{}
	}
	c.sessions[id] = true
	c.audit.Sessions++
	c.audit.Rows += len(rows)
	c.audit.Receipts += len(receipts)
	for _, r := range rows {
		c.rows[r.ID] = r
		c.order = append(c.order, r.ID)
	}
	for _, r := range receipts {
		c.receipts[r.Draft] = told{id, r}
		c.drafts = append(c.drafts, r.Draft)
	}
	return nil
}

func (c *comparison) differ(session, what, inTrace, inStore string, crash bool) {
	c.audit.Differences = append(c.audit.Differences, Difference{session, what, inTrace, inStore, crash})
}

func (c *comparison) compareRows(stored []ledger.Row) {
	seen := map[string]bool{}
	for _, s := range stored {
		s.At = s.At.UTC()
		seen[s.ID] = true
		t, ok := c.rows[s.ID]
		switch {
		case !ok && !c.sessions[s.Session]:
			c.differ(s.Session, "row "+s.ID, "no trace of the session", string(s.State), false)
		case !ok: // reserved, and the process died before the event
			c.differ(s.Session, "row "+s.ID, "nothing", string(s.State), s.State == ledger.Reserved)
		case !reflect.DeepEqual(s, t):
			ahead := t.State == ledger.Reserved && s.State != ledger.Reserved && s.Reserve == t.Reserve
			c.differ(s.Session, "row "+s.ID, describeRow(t), describeRow(s), ahead)
		}
	}
	for _, id := range c.order {
		if !seen[id] {
			c.differ(c.rows[id].Session, "row "+id, describeRow(c.rows[id]), "nothing", false)
		}
	}
}

func describeRow(r ledger.Row) string {
	return fmt.Sprintf("%s, reserve %d, cost %d, list %d, usage %+v, at %s", r.State, r.Reserve, r.Cost, r.List, r.Usage, r.At.Format("2006-01-02T15:04:05.999999999Z07:00"))
}

func (c *comparison) compareDrafts(ctx context.Context, stored []draft.Draft, books Books) error {
	seen := map[string]bool{}
	for _, d := range stored {
		seen[d.ID] = true
		t, ok := c.receipts[d.ID]
		saved, err := savedBy(ctx, books, d)
		if err != nil {
			return err
		}
		switch {
		case !ok && !c.sessions[d.Owner], !ok && d.State == draft.Open, !ok && d.State == draft.Discarded:
			// Nobody's trace would say so, or there is nothing to say.
		case !ok:
			c.differ(d.Owner, "draft "+d.ID, "nothing", describeDraft(d), true)
		case d.State == draft.Applying && t.receipt.Outcome != draft.Applied,
			d.State != draft.Applying && d.State != t.receipt.Outcome:
			c.differ(t.session, "draft "+d.ID, string(t.receipt.Outcome), describeDraft(d), false)
		}
		if applied := d.State == draft.Applied; applied != (saved != 0) && d.State != draft.Failed && d.State != draft.Applying {
			c.differ(d.Owner, "draft "+d.ID, "", fmt.Sprintf("%s, and the piece's history has it as revision %d", d.State, saved), false)
		}
		if ok && t.receipt.Outcome == draft.Applied && saved != t.receipt.Revision {
			c.differ(t.session, "draft "+d.ID, fmt.Sprintf("revision %d", t.receipt.Revision), fmt.Sprintf("revision %d", saved), false)
		}
	}
	for _, id := range c.drafts {
		if !seen[id] {
			c.differ(c.receipts[id].session, "draft "+id, string(c.receipts[id].receipt.Outcome), "nothing", false)
		}
	}
	return nil
}

func describeDraft(d draft.Draft) string {
	if d.Reason == "" {
		return string(d.State)
	}
	return string(d.State) + ": " + d.Reason
}

// savedBy is the revision that the draft's apply wrote, by its stamp; 0 if none.
func savedBy(ctx context.Context, books Books, d draft.Draft) (int64, error) {
	history, err := books.History(ctx, d.Proposed.Ref)
	if fault.CodeOf(err) == fault.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, r := range history {
		if r.Cause == draft.Cause(d.ID) && !r.Deleted {
			return r.Revision, nil
		}
	}
	return 0, nil
}
