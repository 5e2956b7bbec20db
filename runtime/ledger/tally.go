package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// What a tally is grouped by.
const (
	BySession = "session"
	ByDay     = "day" // in UTC
	ByModel   = "model"
)

// A Group is what the rows of one session, day or model add up to, in pico-dollars.
type Group struct {
	Name     string
	Requests int64 // rows of every state
	Spent    int64 // paid
	Saved    int64 // answered by a recording or a script: not paid
	Reserved int64 // set aside and not settled
	Unpriced int64 // rows without a known price: what they cost is not in any sum
	In, Out  int64 // tokens; those of the cache are part of In
}

// Tally groups rows, in the order of names. What does not fit into an int64 stays at the
// most that does.
func Tally(rows []Row, by string) ([]Group, error) {
	var groups []*Group
	for _, r := range rows {
		name := ""
		switch by {
		case BySession:
			name = r.Session
		case ByDay:
			name = r.At.UTC().Format(time.DateOnly)
		case ByModel:
			name = r.Ref
		default:
			return nil, fault.New(fault.Invalid, "ledger.tally", "rows cannot be grouped by %q", by).
				WithHint("use %s, %s or %s", BySession, ByDay, ByModel)
		}
		i := slices.IndexFunc(groups, func(g *Group) bool { return g.Name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &Group{Name: name})
		}
		groups[i].add(r)
	}
	slices.SortFunc(groups, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
	out := make([]Group, 0, len(groups))
	for _, g := range groups {
		out = append(out, *g)
	}
	return out, nil
}

func (g *Group) add(r Row) {
	g.Requests++
	switch {
	case r.State == Reserved:
		g.Reserved = sum(g.Reserved, r.Reserve)
	case r.Saved:
		g.Saved = sum(g.Saved, r.Cost)
	default:
		g.Spent = sum(g.Spent, r.Cost)
	}
	if r.State == Settled && r.Priced == "" && r.Billing == Metered {
		g.Unpriced++
	}
	g.In = sum(g.In, tokensIn(r.Usage))
	g.Out = sum(g.Out, r.Usage.Output)
}

func tokensIn(u model.Usage) int64 { return sum(u.Input, sum(u.CacheRead, u.CacheWrite)) }

// Total is a group of all groups.
func Total(groups []Group) Group {
	t := Group{Name: "total"}
	for _, g := range groups {
		t.Requests = sum(t.Requests, g.Requests)
		t.Spent, t.Saved, t.Reserved = sum(t.Spent, g.Spent), sum(t.Saved, g.Saved), sum(t.Reserved, g.Reserved)
		t.Unpriced, t.In, t.Out = sum(t.Unpriced, g.Unpriced), sum(t.In, g.In), sum(t.Out, g.Out)
	}
	return t
}

// sum is a + b, or as far as that can be told.
func sum(a, b int64) int64 {
	const most = 1<<63 - 1
	s, ok := add(a, b)
	if !ok {
		return most
	}
	return s
}
