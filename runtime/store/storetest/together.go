package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// testTogether: several pieces are made at once, or none of them.
func testTogether(t *testing.T, st store.Store) {
	all, ok := st.(store.Together)
	if !ok {
		t.Fatalf("%T makes no pieces together", st)
	}
	a, b := piece("lorebook", "harbour"), piece("character", "ada")
	b.Escrow = []store.Escrow{{Format: "f", Name: "n", Raw: []byte{0, 255}}}
	made, err := all.CreateAll(t.Context(), []store.Piece{a, b}, stamp(1))
	if err != nil || len(made) != 2 || made[0].Revision != 1 || made[1].Ref != b.Ref {
		t.Fatalf("%+v, %v", made, err)
	}
	made[1].Escrow[0].Raw[0] = 7 // the caller's own
	if got, err := st.Get(t.Context(), b.Ref, 0); err != nil || !store.EqualEscrow(got.Escrow, b.Escrow) {
		t.Errorf("%+v, %v", got.Escrow, err)
	}
	bad := piece("character", "cy")
	bad.Body = []byte("[]")
	for what, tt := range map[string]struct {
		ps   []store.Piece
		code fault.Code
	}{
		"the last is taken":  {[]store.Piece{piece("character", "bea"), piece("character", "cy"), a}, fault.Conflict},
		"one is there twice": {[]store.Piece{piece("character", "bea"), piece("character", "bea")}, fault.Conflict},
		"the last is bad":    {[]store.Piece{piece("character", "bea"), bad}, store.CodeBody},
	} {
		_, err := all.CreateAll(t.Context(), tt.ps, stamp(2))
		wantCode(t, what, err, tt.code)
		if list, err := st.List(t.Context(), store.Query{}); err != nil || len(list) != 2 {
			t.Errorf("%s: %d pieces, %v, want those of before", what, len(list), err)
		}
		if h, err := st.History(t.Context(), store.Ref{Kind: "character", ID: "bea"}); err == nil && len(h) > 0 {
			t.Errorf("%s: a history of %+v", what, h)
		}
	}
	if made, err := all.CreateAll(t.Context(), nil, stamp(3)); err != nil || len(made) > 0 {
		t.Errorf("of none: %+v, %v", made, err)
	}
}

// batch is how many pieces belong together in the tests below.
const batch = 5

// batchOf are the pieces of a batch, some of them long.
func batchOf(kind, name string) []store.Piece {
	var ps []store.Piece
	for i := range batch {
		p := piece(kind, fmt.Sprintf("%s-%d", name, i))
		p.Body = fmt.Appendf(nil, `{"name":%q,"text":%q}`, p.ID, strings.Repeat(p.ID+" ", 4000*(i%2)))
		p.Escrow = []store.Escrow{{Format: "f", Name: p.ID, Raw: []byte(strings.Repeat(p.ID, 3000))}}
		ps = append(ps, p)
	}
	return ps
}

// importForever makes batches of pieces, and drafts and applies others, without end, and
// says each step before and after.
func importForever(t *testing.T, st Backend, say func(format string, args ...any)) {
	all := st.(store.Together)
	svc := draft.New(st, st, clock.Real{}, anything{})
	for {
		n := clock.Real{}.ID("b")
		say("making %s", n)
		if _, err := all.CreateAll(within{t.Context(), say}, batchOf("lorebook", n), store.Stamp{Cause: "import"}); err != nil {
			t.Fatal(err)
		}
		say("made %s", n)
		var ps []draft.Proposal
		for _, p := range batchOf("character", n) {
			ps = append(ps, draft.Proposal{Baseline: store.Piece{Ref: p.Ref}, Create: true, Proposed: p})
		}
		ds, err := svc.ComposeAll(t.Context(), n, ps)
		if err != nil {
			t.Fatal(err)
		}
		say("drafted %s", n)
		for i, d := range ds {
			if r, err := svc.Apply(t.Context(), d.Owner, d.ID, 1); err != nil || r.Outcome != draft.Applied {
				t.Fatal(r, err)
			}
			say("applied %s %d", n, i)
		}
	}
}

// within is a context that says whenever the store looks at it, which it does at each
// statement: so the parent can kill in the middle of a transaction.
type within struct {
	context.Context
	say func(format string, args ...any)
}

func (w within) Done() <-chan struct{} {
	w.say("within")
	return w.Context.Done()
}

// testKillTogether kills a process that imports, again and again on one studio: of what
// belongs together all is there or none, what was reported is there, and what is there
// is whole.
func testKillTogether(t *testing.T, ps Processes) {
	wholes, none := 0, 0
	for n := range ps.Kills {
		child := ps.Start(t, "import")
		var lines []string
		steps, most := 0, 1+n*11%41
		if n%2 == 0 { // in the middle of a transaction
			most = 1 + n*37%211
		}
		for line, ok := said(t, child); ok; line, ok = said(t, child) {
			lines = append(lines, line)
			if n%2 == 0 || line != "within" {
				steps++
			}
			if steps == most {
				if err := child.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		st := ps.Open(t)
		drafts, err := st.ListDrafts(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		drafted := map[string]int{}
		for _, d := range drafts {
			drafted[d.Owner]++
		}
		for _, line := range lines {
			word, rest, _ := strings.Cut(line, " ")
			name, item, _ := strings.Cut(rest, " ")
			have := 0
			if word == "making" || word == "made" {
				have = checkBatch(t, st, name)
			}
			switch {
			case word == "making" && have == 0:
				none++
			case word == "making":
				wholes++
			case word == "made" && have == 0, word == "drafted" && drafted[name] == 0:
				t.Errorf("%q was said, and nothing of it is there", line)
			case drafted[name] != 0 && drafted[name] != batch:
				t.Errorf("of batch %s there are %d drafts", name, drafted[name])
			case word == "applied":
				if _, err := st.Get(t.Context(), store.Ref{Kind: "character", ID: name + "-" + item}, 0); err != nil {
					t.Errorf("%q was said: %v", line, err)
				}
			}
		}
	}
	t.Logf("%d batches were there whole, %d that were begun not at all", wholes, none)
}

// checkBatch wants all pieces of a batch, or none, each as it was given. It gives how
// many are there.
func checkBatch(t *testing.T, st Backend, name string) (have int) {
	t.Helper()
	for _, p := range batchOf("lorebook", name) {
		got, err := st.Get(t.Context(), p.Ref, 0)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		have++
		if err != nil || got.Revision != 1 || !store.EqualEscrow(got.Escrow, p.Escrow) || len(got.Body) != len(p.Body) {
			t.Errorf("%s is not what was given: revision %d, %v", p.Ref, got.Revision, err)
		}
	}
	if have != 0 && have != batch {
		t.Errorf("of batch %s there are %d pieces", name, have)
	}
	return have
}
