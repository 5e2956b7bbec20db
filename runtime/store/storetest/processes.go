package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Backend keeps pieces and drafts.
type Backend interface {
	store.Store
	draft.Drafts
}

// Processes are several processes over one empty studio. The backend's test starts
// them: another one runs its own binary, whose test calls [Child].
type Processes struct {
	Open  func(t *testing.T) Backend             // a store of this process; the caller closes it
	Start func(t *testing.T, job string) Process // another one
	Kills int                                    // how many processes are killed
}

// A Process is one that runs a job.
type Process struct {
	Next func() (line string, ok bool) // what it said; false when it ended
	Go   func() error                  // what it waits for happened
	Kill func() error                  // as kill -9 does
	Wait func() error                  // its status
}

// mark begins each line that is said, among what the test's binary writes itself.
const mark = "> "

// said is the next line of p.
func said(t *testing.T, p Process) (string, bool) {
	for {
		line, ok := p.Next()
		if !ok {
			return "", false
		}
		if rest, ours := strings.CutPrefix(line, mark); ours {
			return rest, true
		}
		t.Log(line)
	}
}

// RunProcesses checks what two processes, and one that is killed, make of a studio.
// Each call of open gives an empty one.
func RunProcesses(t *testing.T, open func(t *testing.T) Processes) {
	t.Run("one of two processes applies", func(t *testing.T) { testTwoProcesses(t, open(t)) })
	t.Run("many open a new studio", func(t *testing.T) { testManyOpen(t, open(t)) })
	t.Run("kill during apply", func(t *testing.T) { testKill(t, open(t)) })
	t.Run("kill during import", func(t *testing.T) { testKillTogether(t, open(t)) })
}

// Child is the other process: it does the job, and says what it does by print. wait ends
// when the parent says go.
func Child(t *testing.T, st Backend, job string, wait func(), print func(line string)) {
	say := func(format string, args ...any) { print(mark + fmt.Sprintf(format, args...)) }
	switch job {
	case "compete":
		compete(t, st, "child", func() {
			say("ready")
			wait()
		}, say)
	case "apply":
		applyForever(t, st, say)
	case "import":
		importForever(t, st, say)
	default:
		t.Fatalf("no job %q", job)
	}
}

var (
	ada   = store.Ref{Kind: "character", ID: "ada"}
	whole = store.Piece{Ref: ada, Title: "Ada", Body: []byte(`{"name":"Ada"}`), Escrow: []store.Escrow{{Format: "f", Name: "n", Raw: []byte{0, 255}}}}
)

type anything struct{}

func (anything) CheckPiece(context.Context, store.Piece) error { return nil }

// each is how many goroutines each process has.
const each = 32

// compete drafts many changes of ada, waits for the start, and lets as many
// goroutines apply them. It says each outcome.
func compete(t *testing.T, st Backend, name string, wait func(), say func(format string, args ...any)) {
	svc := draft.New(st, st, clock.Real{}, anything{})
	ids := make([]string, each)
	for i := range ids {
		owner := fmt.Sprintf("%s-%d", name, i)
		ids[i] = change(t, svc, owner, owner)
	}
	wait()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			r, err := svc.Apply(t.Context(), fmt.Sprintf("%s-%d", name, i), id, 1)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				say("error %v", err)
			} else {
				say("%s", r.Outcome)
			}
		})
	}
	wg.Wait()
}

// change drafts another text for ada and returns the draft's id.
func change(t *testing.T, svc *draft.Service, owner, text string) string {
	t.Helper()
	basis, err := svc.Base(t.Context(), owner, ada)
	if err != nil {
		t.Fatal(err)
	}
	after := basis.Piece
	after.Body = fmt.Appendf(nil, `{"name":%q,"text":%q}`, text, strings.Repeat(text+" ", 2000))
	d, err := svc.Compose(t.Context(), owner, draft.Proposal{Baseline: basis.Piece, Proposed: after})
	if err != nil {
		t.Fatal(err)
	}
	return d.ID
}

// testTwoProcesses: of all drafts of two processes exactly one is applied.
func testTwoProcesses(t *testing.T, ps Processes) {
	st := ps.Open(t)
	if _, err := st.Create(t.Context(), whole, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	child := ps.Start(t, "compete")
	if line, _ := said(t, child); line != "ready" {
		t.Fatalf("the child said %q before it was ready", line)
	}
	outcomes := map[string]int{}
	compete(t, st, "parent", func() {
		if err := child.Go(); err != nil {
			t.Fatal(err)
		}
	}, func(format string, args ...any) { outcomes[fmt.Sprintf(format, args...)]++ })
	for line, ok := said(t, child); ok; line, ok = said(t, child) {
		outcomes[line]++
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if outcomes["applied"] != 1 || outcomes["stale"] != 2*each-1 {
		t.Errorf("outcomes %v, want 1 applied and %d stale", outcomes, 2*each-1)
	}
	if h, err := st.History(t.Context(), ada); err != nil || len(h) != 2 {
		t.Errorf("%d revisions, %v, want 2", len(h), err)
	}
}

// testManyOpen: making the tables is safe against a rival.
func testManyOpen(t *testing.T, ps Processes) {
	const stores = 8 // each with connections of its own, as a process would have
	var wg sync.WaitGroup
	for i := range stores {
		st := ps.Open(t)
		wg.Go(func() {
			p := whole
			p.ID = fmt.Sprint("ada-", i)
			if _, err := st.Create(t.Context(), p, store.Stamp{}); err != nil {
				t.Errorf("store %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if list, err := ps.Open(t).List(t.Context(), store.Query{}); err != nil || len(list) != stores {
		t.Errorf("%d pieces, %v, want %d", len(list), err, stores)
	}
}

// applyForever drafts and applies without end, and says each step, so that the
// parent can kill it in any of them.
func applyForever(t *testing.T, st Backend, say func(format string, args ...any)) {
	svc := draft.New(talker{st, say}, st, clock.Real{}, anything{})
	for n := 0; ; n++ {
		id := change(t, svc, "s-1", clock.Real{}.ID("text"))
		say("composed")
		r, err := svc.Apply(t.Context(), "s-1", id, int64(n))
		if err != nil {
			t.Fatal(err)
		}
		say("%s %s %d", r.Outcome, id, r.Revision)
	}
}

// A talker says when it writes.
type talker struct {
	store.Store
	say func(format string, args ...any)
}

func (k talker) Update(ctx context.Context, p store.Piece, s store.Stamp) (store.Piece, error) {
	k.say("saving")
	defer k.say("saved")
	return k.Store.Update(ctx, p, s)
}

// testKill kills a process that applies, again and again on one studio. What was
// reported is there; what is there is whole; and a draft that was under way ends applied
// once, whether the kill came before or after its save.
func testKill(t *testing.T, ps Processes) {
	st := ps.Open(t)
	if _, err := st.Create(t.Context(), whole, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	under := map[draft.State]int{} // states in which kills left a draft
	for n := range ps.Kills {
		reported := killDuringApply(t, ps, 1+n*7%29)
		st := ps.Open(t)
		checkWhole(t, st, reported)
		recoverDrafts(t, st, under)
	}
	t.Logf("%d kills left drafts in the states %v", ps.Kills, under)
}

// killDuringApply returns what the child reported: draft id to revision.
func killDuringApply(t *testing.T, ps Processes, lines int) map[string]int64 {
	t.Helper()
	child := ps.Start(t, "apply")
	reported := map[string]int64{}
	n := 0
	for line, ok := said(t, child); ok; line, ok = said(t, child) {
		if word, rest, _ := strings.Cut(line, " "); word == string(draft.Applied) {
			var id string
			var revision int64
			if _, err := fmt.Sscan(rest, &id, &revision); err != nil {
				t.Fatalf("the child said %q", line)
			}
			reported[id] = revision
		}
		if n++; n == lines {
			if err := child.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return reported
}

// checkWhole reads every revision, and compares what was reported with the history.
func checkWhole(t *testing.T, st Backend, reported map[string]int64) {
	t.Helper()
	history, err := st.History(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range history {
		if r.Revision != int64(i)+1 {
			t.Fatalf("history has revision %d at place %d", r.Revision, i)
		}
	}
	for id, revision := range reported {
		if revision > int64(len(history)) || history[revision-1].Cause != draft.Cause(id) {
			t.Errorf("the draft %s was reported as revision %d, which is not there", id, revision)
		}
	}
	for _, r := range history[max(0, len(history)-3):] {
		p, err := st.Get(t.Context(), ada, r.Revision)
		if err != nil {
			t.Fatalf("revision %d: %v", r.Revision, err)
		}
		if !store.EqualEscrow(p.Escrow, whole.Escrow) {
			t.Errorf("revision %d has another escrow", r.Revision)
		}
	}
	now, err := st.Get(t.Context(), ada, 0)
	if err != nil || now.Revision != int64(len(history)) {
		t.Errorf("the piece is at revision %d, %v, its history at %d", now.Revision, err, len(history))
	}
	text, err := st.List(t.Context(), store.Query{Text: strings.Trim(strings.SplitN(string(now.Body), `"`, 5)[3], `"`)})
	if err != nil || len(text) != 1 {
		t.Errorf("a search for the current text finds %d pieces, %v, want 1", len(text), err)
	}
}

// recoverDrafts applies what the kill left, and checks that each draft was saved
// exactly once.
func recoverDrafts(t *testing.T, st Backend, under map[draft.State]int) {
	t.Helper()
	svc := draft.New(st, st, clock.Real{}, anything{})
	left, err := st.ListDrafts(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 1 {
		t.Errorf("%d drafts are pending, want at most 1", len(left))
	}
	for _, d := range left {
		under[d.State]++
		r, err := svc.Apply(t.Context(), "s-1", d.ID, 1)
		if err != nil || r.Outcome != draft.Applied {
			t.Errorf("the draft %s, left %s, ended %+v, %v, want applied", d.ID, d.State, r, err)
		}
		history, err := st.History(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		saves := 0
		for _, h := range history {
			if h.Cause == draft.Cause(d.ID) {
				saves++
			}
		}
		if saves != 1 {
			t.Errorf("the draft %s was saved %d times", d.ID, saves)
		}
	}
	if _, err := svc.Get(t.Context(), "d-none"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Get of none: %v", err)
	}
}
