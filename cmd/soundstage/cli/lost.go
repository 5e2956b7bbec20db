package cli

import (
	"context"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// settleLost settles the reservations of sessions whose program died: their requests
// may have been answered and billed, so each costs what was set aside, with its usage
// unknown. Else they would hold a cap down for ever. A session that is alive is left
// alone.
func (h *house) settleLost(ctx context.Context) error {
	sum, err := h.store.SumRows(ctx, ledger.Cap{Scope: ledger.ScopeStudio})
	if err != nil || sum.Open == 0 {
		return err
	}
	rows, err := h.store.ListRows(ctx, "")
	if err != nil {
		return err
	}
	lost := map[string][]ledger.Row{}
	for _, r := range rows {
		if r.State == ledger.Reserved {
			lost[r.Session] = append(lost[r.Session], r)
		}
	}
	for id, rows := range lost {
		if err := h.settleSession(ctx, id, rows); err != nil && fault.CodeOf(err) != trace.CodeBusy {
			return err
		}
	}
	return nil
}

func (h *house) settleSession(ctx context.Context, id string, rows []ledger.Row) error {
	log, err := session.Open(ctx, h.sessions(), id, h.tracing(id))
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // synced below
	book := ledger.New(ledger.Options{Rows: h.store, Clock: h.clock})
	for _, r := range rows {
		r, err := book.Settle(ctx, r, model.Usage{State: model.UsageUnknown})
		if err != nil {
			return err
		}
		if _, err := log.Record(ctx, r.Turn, trace.CostSettled{Row: r}); err != nil {
			return err
		}
	}
	return log.Sync()
}
