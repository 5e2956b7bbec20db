package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// Whole says what is half done in the studio in dir, when no program works in it:
// every line of a trace is whole, every turn is closed, every request has one end and
// every call one result, each draft that was shown is in the store and settled once,
// nothing is set aside any more, and the store holds what the traces say.
func Whole(ctx context.Context, dir string, env map[string]string) error {
	sessions := filepath.Join(dir, ".soundstage", "sessions")
	files, err := filepath.Glob(filepath.Join(sessions, "*.jsonl"))
	if err != nil {
		return err
	}
	var errs []error
	shown := map[string]bool{}
	for _, f := range files {
		if err := wholeTrace(f, shown); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(f), err))
		}
	}
	return errors.Join(append(errs, wholeBooks(ctx, dir, env, sessions, shown))...)
}

// wholeTrace reads one trace as a list of things that are begun and ended, and notes
// the drafts that it shows.
func wholeTrace(file string, shown map[string]bool) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		return errors.New("the last line is torn")
	}
	open := begun{}
	for e, err := range trace.ReadFrom(bytes.NewReader(b)) {
		if err != nil {
			return err
		}
		p, err := trace.Decode(e)
		if err != nil {
			return err
		}
		if f, ok := p.(trace.ToolFinished); ok && f.Review != nil {
			shown[f.Review.Draft] = true
		}
		if err := open.take(e.Turn, p); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, err)
		}
	}
	return open.none()
}

// begun is what has no end yet.
type begun map[string]bool

func (b begun) begin(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if b[what] {
		return fmt.Errorf("%s was begun before and has no end", what)
	}
	b[what] = true
	return nil
}

func (b begun) end(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if !b[what] {
		return fmt.Errorf("%s has no beginning, or two ends", what)
	}
	delete(b, what)
	return nil
}

// none is an error for what was not ended. What must happen at most once stays.
func (b begun) none() error {
	var errs []error
	for what := range b {
		if what[0] != '=' {
			errs = append(errs, fmt.Errorf("%s has no end", what))
		}
	}
	return errors.Join(errs...)
}

func (b begun) take(turn int, p trace.Payload) error {
	switch p := p.(type) {
	case trace.TurnOpened:
		return b.begin("turn %d", turn)
	case trace.TurnClosed:
		delete(b, fmt.Sprintf("turn %d", turn))
		return b.none()
	case trace.ModelRequested:
		if p.Row != nil {
			if err := b.begin("row %s", p.Row.ID); err != nil {
				return err
			}
		}
		return b.begin("request of round %d", p.Round)
	case trace.CostSettled:
		return b.end("row %s", p.Row.ID)
	case trace.ModelReplied:
		return b.end("request of round %d", p.Round)
	case trace.ModelRetried:
		return b.end("request of round %d", p.Round)
	case trace.ToolCalled:
		return b.begin("call %s", p.Call)
	case trace.ToolFinished:
		return b.end("call %s", p.Call)
	case trace.GateAsked:
		return b.begin("question %s", p.Question)
	case trace.GateAnswered:
		return b.end("question %s", p.Question)
	case trace.DraftSettled:
		return b.begin("=draft %s", p.Receipt.Draft)
	}
	return nil
}

// wholeBooks looks at the store, and compares it with the traces.
func wholeBooks(ctx context.Context, dir string, env map[string]string, sessions string, shown map[string]bool) (err error) {
	st, err := stored(ctx, dir, env)
	if err != nil {
		return err
	}
	if st == nil {
		if len(shown) == 0 {
			return nil
		}
		return errors.New("a draft was shown, and there is no store")
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sum, err := st.SumRows(ctx, ledger.Cap{Scope: ledger.ScopeStudio})
	if err != nil {
		return err
	}
	var errs []error
	if sum.Open != 0 {
		errs = append(errs, fmt.Errorf("%s is still set aside", ledger.Format(sum.Open)))
	}
	audit, err := session.Compare(ctx, sessions, st)
	for _, d := range audit.Differences {
		errs = append(errs, fmt.Errorf("%s is %q in the trace and %q in the store", d.What, d.Trace, d.Store))
	}
	errs = append(errs, err)
	drafts, err := st.ListDrafts(ctx, true)
	for _, d := range drafts {
		delete(shown, d.ID)
		if d.State == draft.Applying {
			errs = append(errs, fmt.Errorf("draft %s is neither open nor applied", d.ID))
		}
	}
	for id := range shown {
		errs = append(errs, fmt.Errorf("draft %s was shown and is not in the store", id))
	}
	return errors.Join(append(errs, err)...)
}

func wordWhole(s *state, neg bool, args []string) {
	if neg || len(args) != 0 {
		s.Fatalf("usage: whole")
	}
	s.Check(Whole(context.Background(), s.Dir(), s.Environ()))
}

// wordLedger prints a line for each row: its place, how it ended, how sure its usage is,
// and what it cost.
func wordLedger(s *state, neg bool, args []string) {
	if neg || len(args) != 0 {
		s.Fatalf("usage: ledger")
	}
	st := open(s)
	defer st.Close() //nolint:errcheck // only read
	rows, err := st.ListRows(context.Background(), "")
	s.Check(err)
	var b bytes.Buffer
	for _, r := range rows {
		paid := "spent"
		if r.Saved {
			paid = "saved"
		}
		fmt.Fprintf(&b, "%s %s %s %s %s\n", r.ID, r.State, r.Usage.State, ledger.Format(r.Cost), paid)
	}
	s.Output(b.Bytes(), nil)
}
