package ledger

import (
	"context"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// Who pays for a row.
const (
	Metered = "metered" // by the token
	Plan    = "plan"    // a subscription: the list price is noted, nothing is paid
	Local   = "local"   // this machine
)

// What a row is for.
const (
	Lead    = "lead"     // the turn's own model
	Child   = "child"    // a run that another one started
	OneShot = "one-shot" // one request outside of a conversation
	Tool    = "tool"     // a tool's own request
	Compute = "compute"  // something else that costs: a render, a machine
)

// Options are the doors of a Ledger. Rows and Clock are needed.
type Options struct {
	Rows   Rows
	Clock  clock.Clock
	Prices PriceList // in replay those of the cassette's x-prices
	Saved  bool      // replay: rows are saved, not paid
}

// A Ledger reserves and settles for one session.
type Ledger struct{ o Options }

// New makes a ledger. It panics without rows or a clock.
func New(o Options) *Ledger {
	if o.Rows == nil || o.Clock == nil {
		panic("ledger: rows and clock are needed")
	}
	return &Ledger{o}
}

// A Want is a request that is about to be sent.
type Want struct {
	Session, Run, ParentRun string
	Turn, Round, Attempt    int
	Role                    string // "" is lead
	Billing                 string // "" is metered
	Ref                     string
	Origin                  string
	Input                   int64 // tokens, by EstimateInput
	MaxOutput               int64 // tokens
	Caps                    []Cap // every open one
}

// check refuses what the books have no column for.
func (w Want) check() error {
	const op = "ledger.reserve"
	switch w.Role {
	case "", Lead, Child, OneShot, Tool, Compute:
	default:
		return fault.New(fault.Invalid, op, "role is %q", w.Role).WithHint("Use lead, child, one-shot, tool or compute.")
	}
	switch w.Billing {
	case "", Metered, Plan, Local:
	default:
		return fault.New(fault.Invalid, op, "billing is %q", w.Billing).WithHint("Use metered, plan or local.")
	}
	if w.Input < 0 || w.MaxOutput < 0 {
		return fault.New(fault.Invalid, op, "%d tokens in and %d out are not counts", w.Input, w.MaxOutput).WithHint("Estimate the request before it is reserved.")
	}
	return nil
}

// Reserve sets aside the most that a request may cost, under every cap at once. A
// metered model without a known price does not run under a cap: CodeUnpriced.
func (l *Ledger) Reserve(ctx context.Context, w Want) (Row, error) {
	if err := w.check(); err != nil {
		return Row{}, err
	}
	r := Row{
		Session: w.Session, Run: w.Run, ParentRun: w.ParentRun, Turn: w.Turn, Round: w.Round, Attempt: w.Attempt,
		Role: or(w.Role, Lead), Billing: or(w.Billing, Metered), Ref: w.Ref, Origin: w.Origin, Saved: l.o.Saved,
		State: Reserved, At: l.o.Clock.Now(), Usage: model.Usage{State: model.UsageUnknown},
	}
	r.ID = l.id(r)
	price, known := l.o.Prices.Price(w.Ref)
	switch {
	case known:
		high, err := most(price, w.Input, w.MaxOutput)
		if err != nil {
			return Row{}, err
		}
		r.Priced = l.o.Prices.Digest()
		r.List = high
		if r.Billing == Metered {
			r.Reserve = high
		}
	case r.Billing == Metered && len(w.Caps) > 0:
		return Row{}, fault.New(CodeUnpriced, "ledger.reserve", "the price of model %q is not known, and the cap of the %s is open", w.Ref, w.Caps[0]).
			WithHint("Choose a model with a known price, or lift the cap.")
	}
	if err := l.o.Rows.ReserveRow(ctx, r, w.Caps); err != nil {
		return Row{}, err
	}
	return r, nil
}

// id is the row's place in the session where it has one, so that it is the same
// when the ledger is rebuilt from a trace.
func (l *Ledger) id(r Row) string {
	if r.Session == "" || r.Turn == 0 {
		return l.o.Clock.ID("cost")
	}
	id := fmt.Sprintf("%s.t%dr%da%d", r.Session, r.Turn, r.Round, r.Attempt)
	if r.Role != Lead {
		id += "." + r.Role
	}
	return id
}

// Settle replaces a reservation by what was used. Usage that is partial is priced
// as far as it is known; unknown usage settles at the reservation, and its state
// goes on saying unknown. No usage at all is Release.
func (l *Ledger) Settle(ctx context.Context, r Row, u model.Usage) (Row, error) {
	if u.State == model.None {
		return l.Release(ctx, r)
	}
	r.State, r.Usage = Settled, u
	price, known := l.o.Prices.Price(r.Ref)
	switch {
	case u.State != model.Exact && u.State != model.Partial:
		r.Usage.State = model.UsageUnknown
		r.Cost = r.Reserve // and List is the most that it can have been
	case !known:
		r.Cost, r.List = 0, 0
	default:
		list, err := cost(price, u)
		if err != nil {
			return Row{}, err
		}
		r.List, r.Cost = list, 0
		if r.Billing == Metered {
			r.Cost = list
		}
	}
	return r, l.o.Rows.SettleRow(ctx, r)
}

// Release gives a reservation back: nothing was sent, or nothing was billed.
func (l *Ledger) Release(ctx context.Context, r Row) (Row, error) {
	r.State, r.Usage, r.Cost, r.List = Released, model.Usage{State: model.None}, 0, 0
	return r, l.o.Rows.SettleRow(ctx, r)
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
