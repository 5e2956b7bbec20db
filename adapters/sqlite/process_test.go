package sqlite_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

var (
	kills = flag.Int("kills", 5, "how many processes the kill tests kill")
	child = flag.String("child", "", "job and file of a child process; set by the parent")
)

// TestChild is the other process of the tests below.
func TestChild(t *testing.T) {
	job, path, ok := strings.Cut(*child, ":")
	if !ok {
		t.Skip("it is run by other tests")
	}
	st := open(t, path)
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, "> "+format+"\n", args...) }
	switch job {
	case "compete":
		compete(t, st, "child", func() {
			say("ready")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}, say)
	case "apply":
		applyForever(t, st, say)
	case "hold":
		holdForever(t, path, say)
	default:
		t.Fatalf("no job %q", job)
	}
}

type anything struct{}

func (anything) CheckPiece(context.Context, store.Piece) error { return nil }

type backend interface {
	store.Store
	draft.Drafts
}

// many is how many goroutines each process has.
const many = 32

// compete drafts many changes of ada, waits for the start, and lets as many
// goroutines apply them. It says each outcome.
func compete(t *testing.T, st backend, name string, wait func(), say func(format string, args ...any)) {
	svc := draft.New(st, st, clock.Real{}, anything{})
	ids := make([]string, many)
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

func start(t *testing.T, job, path string) (*exec.Cmd, *bufio.Scanner, *os.File) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-child="+job+":"+path)
	in, inw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close() // the child has it
	t.Cleanup(func() { _ = inw.Close() })
	return cmd, bufio.NewScanner(out), inw
}

// TestTwoProcessesApplyToOnePiece: of all drafts of two processes exactly one is
// applied.
func TestTwoProcessesApplyToOnePiece(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	st := open(t, path)
	if _, err := st.Create(t.Context(), piece, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	cmd, out, in := start(t, "compete", path)
	outcomes := map[string]int{}
	var mu sync.Mutex
	count := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[line]++
	}
	done := make(chan struct{})
	ready := make(chan struct{})
	go func() {
		defer close(done)
		for out.Scan() {
			line, ours := strings.CutPrefix(out.Text(), "> ")
			switch {
			case !ours:
			case line == "ready":
				close(ready)
			default:
				count(line)
			}
		}
	}()
	compete(t, st, "parent", func() {
		select {
		case <-ready:
		case <-done:
			t.Fatal("the child ended before it was ready")
		}
		if _, err := in.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
	}, func(format string, args ...any) { count(fmt.Sprintf(format, args...)) })
	<-done
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if outcomes["applied"] != 1 || outcomes["stale"] != 2*many-1 {
		t.Errorf("outcomes %v, want 1 applied and %d stale", outcomes, 2*many-1)
	}
	if h, err := st.History(t.Context(), ada); err != nil || len(h) != 2 {
		t.Errorf("%d revisions, %v, want 2", len(h), err)
	}
}

// TestManyProcessesOpenANewFile: making the tables is safe against a rival.
func TestManyProcessesOpenANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	const stores = 8 // each with connections of its own, as a process would have
	var wg sync.WaitGroup
	for i := range stores {
		st := open(t, path)
		wg.Go(func() {
			p := piece
			p.ID = fmt.Sprint("ada-", i)
			if _, err := st.Create(t.Context(), p, store.Stamp{}); err != nil {
				t.Errorf("store %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if list, err := open(t, path).List(t.Context(), store.Query{}); err != nil || len(list) != stores {
		t.Errorf("%d pieces, %v, want %d", len(list), err, stores)
	}
}

// applyForever drafts and applies without end, and says each step, so that the
// parent can kill it in any of them.
func applyForever(t *testing.T, st backend, say func(format string, args ...any)) {
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

// TestKillDuringApply kills a process that applies, again and again on one store.
// What was reported is there; what is there is whole; and a draft that was under way
// ends applied once, whether the kill came before or after its save.
func TestKillDuringApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	first := open(t, path)
	if _, err := first.Create(t.Context(), piece, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	under := map[draft.State]int{} // states in which kills left a draft
	for n := range *kills {
		reported := killDuringApply(t, path, 1+n*7%29)
		st := open(t, path)
		checkWhole(t, st, reported)
		recoverDrafts(t, st, under)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills left drafts in the states %v", *kills, under)
}

// killDuringApply returns what the child reported: draft id to revision.
func killDuringApply(t *testing.T, path string, lines int) map[string]int64 {
	t.Helper()
	cmd, out, _ := start(t, "apply", path)
	reported := map[string]int64{}
	n := 0
	for out.Scan() {
		line, ours := strings.CutPrefix(out.Text(), "> ")
		if !ours {
			t.Log(out.Text())
			continue
		}
		if word, rest, _ := strings.Cut(line, " "); word == string(draft.Applied) {
			var id string
			var revision int64
			if _, err := fmt.Sscan(rest, &id, &revision); err != nil {
				t.Fatalf("the child said %q", line)
			}
			reported[id] = revision
		}
		if n++; n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return reported
}

// checkWhole reads every revision, and compares what was reported with the history.
func checkWhole(t *testing.T, st backend, reported map[string]int64) {
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
		if !store.EqualEscrow(p.Escrow, piece.Escrow) {
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
func recoverDrafts(t *testing.T, st backend, under map[draft.State]int) {
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
