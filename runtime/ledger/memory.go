package ledger

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Memory keeps rows until the process ends. It is safe for concurrent use.
type Memory struct {
	mu   sync.Mutex
	rows []Row
}

var _ Rows = (*Memory)(nil)

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{} }

// ReserveRow implements Rows.
func (m *Memory) ReserveRow(_ context.Context, row Row, caps []Cap) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(row.ID) >= 0 {
		return fault.New(fault.Conflict, "ledger.reserve", "row %q is there already", row.ID)
	}
	for _, c := range caps {
		if spent := m.spent(c, row.Session); !c.Fits(spent, row.Reserve) {
			return OverCap(c, spent, row.Reserve)
		}
	}
	m.rows = append(m.rows, row)
	return nil
}

// spent is what a cap counts for a session: everything but what others saved.
func (m *Memory) spent(c Cap, session string) int64 {
	var sum int64
	for _, r := range m.rows {
		if !c.Covers(r) || r.Saved && r.Session != session {
			continue
		}
		n := r.Cost
		if r.State == Reserved {
			n = r.Reserve
		}
		var ok bool
		if sum, ok = add(sum, n); !ok {
			return math.MaxInt64
		}
	}
	return sum
}

// SettleRow implements Rows.
func (m *Memory) SettleRow(_ context.Context, row Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(row.ID)
	if i < 0 || m.rows[i].State != Reserved {
		return fault.New(fault.Conflict, "ledger.settle", "row %q is not reserved", row.ID)
	}
	m.rows[i] = row
	return nil
}

func (m *Memory) find(id string) int {
	return slices.IndexFunc(m.rows, func(r Row) bool { return r.ID == id })
}

// SumRows implements Rows.
func (m *Memory) SumRows(_ context.Context, c Cap) (Sum, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s Sum
	for _, r := range m.rows {
		if !c.Covers(r) {
			continue
		}
		s.Rows++
		switch {
		case r.State == Reserved:
			s.Open += r.Reserve
		case r.Saved:
			s.Saved += r.Cost
		default:
			s.Cost += r.Cost
		}
	}
	return s, nil
}

// ListRows implements Rows.
func (m *Memory) ListRows(_ context.Context, session string) ([]Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.rows), func(r Row) bool { return session != "" && r.Session != session }), nil
}
