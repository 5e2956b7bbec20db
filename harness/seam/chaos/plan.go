package chaos

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of a plan.
const (
	CodeUnfired fault.Code = "CHAOS_UNFIRED" // a fault met no call, and so shows nothing
	CodePast    fault.Code = "CHAOS_PAST"    // the call of a fault was made before the fault was added
)

// Bounds of a plan.
const (
	maxFaults = 1000
	maxCalls  = 1 << 16
)

// A Plan is the faults of one seam, and the calls that were made so far. It is safe for
// concurrent use: calls are numbered in the order in which they come.
type Plan struct {
	mu     sync.Mutex
	calls  []call
	faults []*planned
}

type call struct{ lane, url string }

// planned is a fault that waits for its call. Its fields belong to the plan's lock.
type planned struct {
	Fault
	seen  int // calls that are counted for it
	met   int // the number of the last call that it was meant for, of all
	fired bool
	short string // why it met its call and did not fire
}

// NewPlan makes a plan of faults. Of two that take the place of the same answer the
// first one counts.
func NewPlan(faults ...Fault) (*Plan, error) {
	p := &Plan{}
	for _, f := range faults {
		if err := p.Add(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Add adds a fault, whose call must be still to come.
func (p *Plan) Add(f Fault) error {
	const op = "chaos.add"
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) == maxFaults {
		return fault.New(fault.TooLarge, op, "fault %q is one more than %d", f, maxFaults).WithHint("use * for each call")
	}
	add := &planned{Fault: f}
	for _, c := range p.calls {
		if f.Where.among(c.lane, c.url) {
			add.seen++
		}
	}
	if f.Where.N > 0 && add.seen >= f.Where.N {
		return fault.New(CodePast, op, "fault %q comes too late: %d such calls were made", f, add.seen).
			WithHint("say it before the program that makes the call")
	}
	p.faults = append(p.faults, add)
	return nil
}

// take numbers a call and is what is planned for it, of the kinds that its door knows.
func (p *Plan) take(lane, url string, kinds ...Kind) ([]*planned, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) == maxCalls {
		return nil, fault.New(fault.TooLarge, "chaos.roundtrip", "a seam with faults takes %d calls, and no more", maxCalls).
			WithHint("leave the faults out")
	}
	p.calls = append(p.calls, call{lane, url})
	var hit []*planned
	for _, f := range p.faults {
		if !f.Where.among(lane, url) {
			continue
		}
		f.seen++
		if f.Where.N == 0 || f.Where.N == f.seen {
			f.met = len(p.calls)
			if slices.Contains(kinds, f.Kind) {
				hit = append(hit, f)
			} else {
				f.short = fmt.Sprintf("call %d is %q, for which %s is nothing", f.met, url, f.Kind)
			}
		}
	}
	return hit, nil
}

// fire notes that a fault did what it says.
func (p *Plan) fire(f *planned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.fired = true
}

// missed notes why a fault found nothing to do.
func (p *Plan) missed(f *planned, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.short = fmt.Sprintf(format, args...)
}

// Fired are the faults that did what they say, in the order in which they were added.
func (p *Plan) Fired() []Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Fault
	for _, f := range p.faults {
		if f.fired {
			out = append(out, f.Fault)
		}
	}
	return out
}

// Done is an error for each fault that did not fire: what it should show was not
// shown.
func (p *Plan) Done() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, f := range p.faults {
		if f.fired {
			continue
		}
		why := f.short
		switch {
		case why != "":
		case f.met > 0:
			why = fmt.Sprintf("call %d was answered by another fault, or its answer was not read so far", f.met)
		default:
			why = fmt.Sprintf("%d such calls were made, %d in all", f.seen, len(p.calls))
		}
		errs = append(errs, fault.New(CodeUnfired, "chaos.done", "fault %q never fired: %s", f.Fault, why).
			WithHint("count the calls again, retries too, or take the fault out"))
	}
	return errors.Join(errs...)
}

// instead picks the fault that takes the place of the answer, nil for none.
func instead(hit []*planned) *planned {
	if i := slices.IndexFunc(hit, func(f *planned) bool { return f.Kind.instead() }); i >= 0 {
		return hit[i]
	}
	return nil
}
