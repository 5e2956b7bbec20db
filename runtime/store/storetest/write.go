package storetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

func testCreate(t *testing.T, st store.Store) {
	p := piece("character", "ada")
	p.Revision = 41 // ignored
	p.Body = []byte(` {"b": 1e2, "a": 12345678901234567890, "ü": "ü\u0041"} `)
	want := stored(p, 1, stamp(1))
	want.Body = []byte(`{"a":12345678901234567890,"b":1e2,"ü":"üA"}`)
	wantPiece(t, create(t, st, p, 1), want)
	for _, revision := range []int64{0, 1} {
		got, err := st.Get(t.Context(), p.Ref, revision)
		if err != nil {
			t.Fatalf("Get(%d): %v", revision, err)
		}
		wantPiece(t, got, want)
	}
	_, err := st.Create(t.Context(), piece("character", "ada"), stamp(2))
	wantCode(t, "second Create", err, fault.Conflict)
	if got, _ := st.Get(t.Context(), p.Ref, 0); got.Revision != 1 {
		t.Errorf("revision %d after a refused Create, want 1", got.Revision)
	}
	create(t, st, piece("lorebook", "ada"), 3) // another kind is another piece
	for _, revision := range []int64{-1, 2, 1 << 40} {
		_, err = st.Get(t.Context(), p.Ref, revision)
		wantCode(t, "Get of a revision that never was", err, fault.NotFound)
	}
	_, err = st.Get(t.Context(), store.Ref{Kind: "character", ID: "bob"}, 0)
	wantCode(t, "Get of nobody", err, fault.NotFound)
}

func testBadInput(t *testing.T, st store.Store) {
	tests := []struct {
		name string
		edit func(p *store.Piece)
		want fault.Code
	}{
		{"no kind", func(p *store.Piece) { p.Kind = "" }, store.CodeBadRef},
		{"upper case", func(p *store.Piece) { p.ID = "Ada" }, store.CodeBadRef},
		{"path", func(p *store.Piece) { p.ID = "../ada" }, store.CodeBadRef},
		{"NUL", func(p *store.Piece) { p.ID = "ada\x00" }, store.CodeBadRef},
		{"empty body", func(p *store.Piece) { p.Body = nil }, store.CodeBody},
		{"array", func(p *store.Piece) { p.Body = []byte(`[]`) }, store.CodeBody},
		{"half", func(p *store.Piece) { p.Body = []byte(`{"a":`) }, store.CodeBody},
		{"name twice", func(p *store.Piece) { p.Body = []byte(`{"a":1,"a":2}`) }, store.CodeBody},
		{"not UTF-8", func(p *store.Piece) { p.Body = []byte("{\"a\":\"\xff\"}") }, store.CodeBody},
		{"profiles", func(p *store.Piece) { p.Profiles = []byte(`1`) }, store.CodeBody},
		{"title", func(p *store.Piece) { p.Title = "\xff" }, store.CodeTitle},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := piece("character", "ada")
			tt.edit(&p)
			_, err := st.Create(t.Context(), p, stamp(1))
			wantCode(t, "Create", err, tt.want)
			_, err = st.Update(t.Context(), p, stamp(1))
			wantCode(t, "Update", err, tt.want)
		})
	}
	if list, err := st.List(t.Context(), store.Query{}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v after refused writes, want nothing", list, err)
	}
}

func testBounds(t *testing.T, st store.Store) {
	body := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n-8) + `"}`) }
	tests := []struct {
		name string
		edit func(p *store.Piece, over int)
		want fault.Code
	}{
		{"id", func(p *store.Piece, n int) { p.ID = strings.Repeat("a", store.MaxID+n) }, store.CodeBadRef},
		{"title", func(p *store.Piece, n int) { p.Title = strings.Repeat("😀", store.MaxTitle+n) }, store.CodeTitle},
		{"body", func(p *store.Piece, n int) { p.Body = body(store.MaxBody + n) }, store.CodeTooLarge},
		{"profiles", func(p *store.Piece, n int) { p.Profiles = body(store.MaxProfiles + n) }, store.CodeTooLarge},
		{"escrows", func(p *store.Piece, n int) { p.Escrow = make([]store.Escrow, store.MaxEscrows+n) }, store.CodeTooLarge},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for over := -1; over <= 1; over++ {
				p := piece("k"+string(rune('a'+i)), "id-"+string(rune('b'+over)))
				tt.edit(&p, over)
				want := fault.Code("")
				if over > 0 {
					want = tt.want
				}
				_, err := st.Create(t.Context(), p, stamp(1))
				if got := fault.CodeOf(err); got != want {
					t.Errorf("%+d: code %q, want %q", over, got, want)
				}
			}
		})
	}
	p := piece("character", "big")
	p.Escrow = []store.Escrow{{Raw: make([]byte, store.MaxEscrow)}, {Raw: make([]byte, 1)}}
	_, err := st.Create(t.Context(), p, stamp(1))
	wantCode(t, "escrow over its bound", err, store.CodeTooLarge)
	p = piece("character", "ada")
	_, err = st.Create(t.Context(), p, store.Stamp{Cause: strings.Repeat("x", store.MaxCause+1)})
	wantCode(t, "cause over its bound", err, store.CodeTooLarge)
}

func testUpdate(t *testing.T, st store.Store) {
	p := create(t, st, piece("character", "ada"), 1)
	first := p
	p.Title, p.Body = "Ada L.", []byte(`{"name":"Ada L."}`)
	got, err := st.Update(t.Context(), p, stamp(2))
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, got, stored(p, 2, stamp(2)))
	_, err = st.Update(t.Context(), p, stamp(3)) // still says revision 1
	wantCode(t, "stale Update", err, fault.Stale)
	now, err := st.Get(t.Context(), p.Ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, now, stored(p, 2, stamp(2)))
	old, err := st.Get(t.Context(), p.Ref, 1)
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, old, first)
	_, err = st.Update(t.Context(), piece("character", "bob"), stamp(3))
	wantCode(t, "Update of nobody", err, fault.NotFound)
}

func testEscrow(t *testing.T, st store.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	p := piece("character", "ada")
	p.Escrow = []store.Escrow{
		{Format: "ccv3-json", Name: "Ada \"1\".json", Raw: []byte("{\"b\": 1,\r\n \"a\":2}\n")},
		{Format: "ccv2-png", Name: "ünï.png", Raw: every},
		{Format: "empty", Name: "", Raw: nil},
		{Format: "same", Name: "twice", Raw: every},
	}
	want := stored(p, 1, stamp(1))
	wantPiece(t, create(t, st, p, 1), want)
	got, err := st.Get(t.Context(), p.Ref, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, got, want)
	for name, edit := range map[string]func(e []store.Escrow) []store.Escrow{
		"dropped": func([]store.Escrow) []store.Escrow { return nil },
		"shorter": func(e []store.Escrow) []store.Escrow { return e[:3] },
		"byte": func(e []store.Escrow) []store.Escrow {
			e[1].Raw = append([]byte{1}, e[1].Raw[1:]...)
			return e
		},
		"format": func(e []store.Escrow) []store.Escrow { e[0].Format = "x"; return e },
	} {
		t.Run(name, func(t *testing.T) {
			u := got
			u.Escrow = edit(append([]store.Escrow(nil), got.Escrow...))
			_, err := st.Update(t.Context(), u, stamp(2))
			wantCode(t, "Update", err, store.CodeEscrow)
		})
	}
	got.Body = []byte(`{}`)
	got, err = st.Update(t.Context(), got, stamp(2))
	if err != nil {
		t.Fatal(err)
	}
	if !store.EqualEscrow(got.Escrow, p.Escrow) {
		t.Error("the escrow changed with an Update of the body")
	}
}

func testProfiles(t *testing.T, st store.Store) {
	p := piece("character", "ada")
	p.Profiles = []byte(`{"risu":{"b":1,"a":2}}`)
	got := create(t, st, p, 1)
	if want := `{"risu":{"a":2,"b":1}}`; string(got.Profiles) != want {
		t.Errorf("profiles %s, want %s", got.Profiles, want)
	}
	got.Profiles = nil
	if _, err := st.Update(t.Context(), got, stamp(2)); err != nil {
		t.Fatal(err)
	}
	now, err := st.Get(t.Context(), p.Ref, 0)
	if err != nil || now.Profiles != nil {
		t.Errorf("profiles %q, %v after they were removed, want none", now.Profiles, err)
	}
}

func testDelete(t *testing.T, st store.Store) {
	p := piece("character", "ada")
	p.Escrow = []store.Escrow{{Format: "f", Name: "n", Raw: []byte("first life")}}
	first := create(t, st, p, 1)
	wantCode(t, "Delete of another revision", st.Delete(t.Context(), p.Ref, 2, stamp(2)), fault.Stale)
	wantCode(t, "Delete of revision 0", st.Delete(t.Context(), p.Ref, 0, stamp(2)), fault.Stale)
	if err := st.Delete(t.Context(), p.Ref, 1, stamp(2)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "second Delete", st.Delete(t.Context(), p.Ref, 1, stamp(3)), fault.NotFound)
	_, err := st.Get(t.Context(), p.Ref, 0)
	wantCode(t, "Get of the deleted", err, fault.NotFound)
	_, err = st.Get(t.Context(), p.Ref, 2)
	wantCode(t, "Get of the removal", err, fault.NotFound)
	_, err = st.Update(t.Context(), first, stamp(3))
	wantCode(t, "Update of the deleted", err, fault.NotFound)
	if list, err := st.List(t.Context(), store.Query{Text: "ada"}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v, want nothing", list, err)
	}
	old, err := st.Get(t.Context(), p.Ref, 1)
	if err != nil {
		t.Fatal(err)
	}
	wantPiece(t, old, first)
	p.Escrow[0].Raw = []byte("second life")
	wantPiece(t, create(t, st, p, 3), stored(p, 3, stamp(3)))
}

func testHistory(t *testing.T, st store.Store) {
	p := create(t, st, piece("character", "ada"), 1)
	p, err := st.Update(t.Context(), p, stamp(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Delete(t.Context(), p.Ref, 2, stamp(3)); err != nil {
		t.Fatal(err)
	}
	create(t, st, p, 4)
	got, err := st.History(t.Context(), p.Ref)
	if err != nil || len(got) != 4 {
		t.Fatalf("History = %v, %v, want 4 revisions", got, err)
	}
	for i, r := range got {
		want := store.Revision{Revision: int64(i) + 1, Deleted: i == 2, Stamp: stamp(int64(i) + 1), Size: int64(len(p.Body))}
		if want.At = store.Instant(want.At); want.Deleted {
			want.Size = 0
		}
		if !r.At.Equal(want.At) {
			t.Errorf("revision %d is of %v, want %v", i+1, r.At, want.At)
		}
		if r.At = want.At; r != want {
			t.Errorf("revision %+v, want %+v", r, want)
		}
	}
	_, err = st.History(t.Context(), store.Ref{Kind: "character", ID: "bob"})
	wantCode(t, "History of nobody", err, fault.NotFound)
}

// many is how many goroutines race.
const many = 64

// race runs f in many goroutines at once and returns the codes of its errors.
func race(f func(i int) error) map[fault.Code]int {
	codes := make([]fault.Code, many)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			<-start
			codes[i] = fault.CodeOf(f(i))
		})
	}
	close(start)
	wg.Wait()
	counts := map[fault.Code]int{}
	for _, c := range codes {
		counts[c]++
	}
	return counts
}

func testOneUpdateWins(t *testing.T, st store.Store) {
	p := create(t, st, piece("character", "ada"), 1)
	got := race(func(i int) error {
		u := p
		u.Body = []byte(`{"by":` + strings.Repeat("1", i+1) + `}`)
		_, err := st.Update(context.WithoutCancel(t.Context()), u, stamp(int64(i)))
		return err
	})
	if got[""] != 1 || got[fault.Stale] != many-1 {
		t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Stale)
	}
	if h, err := st.History(t.Context(), p.Ref); err != nil || len(h) != 2 {
		t.Errorf("%d revisions, %v, want 2", len(h), err)
	}
}

func testOneCreateWins(t *testing.T, st store.Store) {
	got := race(func(i int) error {
		_, err := st.Create(t.Context(), piece("character", "ada"), stamp(int64(i)))
		return err
	})
	if got[""] != 1 || got[fault.Conflict] != many-1 {
		t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Conflict)
	}
}

func testCancelled(t *testing.T, st store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.Create(ctx, piece("character", "ada"), stamp(1)); err == nil {
		t.Error("Create succeeded with a cancelled context")
	}
	if list, err := st.List(t.Context(), store.Query{}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v, want nothing", list, err)
	}
}
