package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
)

// RunDrawers checks a backend of [drawer.Rows]. Each call of open gives an empty one.
func RunDrawers(t *testing.T, open func(t *testing.T) drawer.Rows) {
	t.Run("put", func(t *testing.T) { testPutEntry(t, open(t)) })
	t.Run("list and drop", func(t *testing.T) { testListEntries(t, open(t)) })
	t.Run("bad input", func(t *testing.T) { testBadEntries(t, open(t)) })
	t.Run("one of many wins", func(t *testing.T) {
		rows := open(t)
		e := entry("a", 1)
		got := race(func(int) error { return rows.PutEntry(t.Context(), e) })
		if got[""] != 1 || got[fault.Conflict] != many-1 {
			t.Errorf("outcomes %v, want 1 success and %d %s", got, many-1, fault.Conflict)
		}
	})
}

func entry(id string, rev int64) drawer.Entry {
	return drawer.Entry{Drawer: "things", ID: id, Rev: rev, At: stamp(rev).At, Doc: []byte(fmt.Sprintf(`{"n":%d}`, rev))}
}

func testPutEntry(t *testing.T, rows drawer.Rows) {
	ctx := t.Context()
	_, err := rows.GetEntry(ctx, "things", "a")
	wantCode(t, "Get of none", err, drawer.CodeNone)
	wantCode(t, "Put over none", rows.PutEntry(ctx, entry("a", 2)), fault.Conflict)
	for rev := range int64(3) {
		if err := rows.PutEntry(ctx, entry("a", rev+1)); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "Put of the same revision", rows.PutEntry(ctx, entry("a", rev+1)), fault.Conflict)
	}
	want := entry("a", 3)
	want.At = stored(piece("k", "a"), 1, stamp(3)).Updated
	got, err := rows.GetEntry(ctx, "things", "a")
	if err != nil || !got.At.Equal(want.At) || string(got.Doc) != string(want.Doc) || got.Rev != 3 {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	got.Doc[0] = 'x'
	if again, _ := rows.GetEntry(ctx, "things", "a"); string(again.Doc) != string(want.Doc) {
		t.Errorf("the document is shared: %s", again.Doc)
	}
}

func testListEntries(t *testing.T, rows drawer.Rows) {
	ctx := t.Context()
	for _, id := range []string{"b", "é one", "a"} {
		if err := rows.PutEntry(ctx, entry(id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	other := entry("a", 1)
	other.Drawer = "others"
	if err := rows.PutEntry(ctx, other); err != nil {
		t.Fatal(err)
	}
	ids := func(of string) (ids []string) {
		list, err := rows.ListEntries(ctx, of)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		return ids
	}
	if got := ids("things"); !reflect.DeepEqual(got, []string{"a", "b", "é one"}) {
		t.Errorf("listed %q", got)
	}
	if got := ids("empty"); len(got) != 0 {
		t.Errorf("an empty drawer lists %q", got)
	}
	wantCode(t, "Drop of another revision", rows.DropEntry(ctx, "things", "a", 2), fault.Conflict)
	wantCode(t, "Drop of none", rows.DropEntry(ctx, "things", "z", 1), drawer.CodeNone)
	if err := rows.DropEntry(ctx, "things", "a", 1); err != nil {
		t.Fatal(err)
	}
	if things, others := ids("things"), ids("others"); len(things) != 2 || len(others) != 1 {
		t.Errorf("after the drop: %q and %q", things, others)
	}
	if err := rows.PutEntry(ctx, entry("a", 1)); err != nil {
		t.Errorf("a dropped id cannot be used again: %v", err)
	}
}

func testBadEntries(t *testing.T, rows drawer.Rows) {
	bad := map[string]func(*drawer.Entry){
		"no drawer": func(e *drawer.Entry) { e.Drawer = "" },
		"no id":     func(e *drawer.Entry) { e.ID = "" },
		"long id":   func(e *drawer.Entry) { e.ID = strings.Repeat("é", drawer.MaxID+1) },
		"no UTF-8":  func(e *drawer.Entry) { e.ID = "\xff" },
		"a NUL":     func(e *drawer.Entry) { e.ID = "a\x00" },
		"no JSON":   func(e *drawer.Entry) { e.Doc = []byte("{") },
		"too large": func(e *drawer.Entry) { e.Doc = []byte(`"` + strings.Repeat("x", drawer.MaxDoc) + `"`) },
	}
	for name, spoil := range bad {
		e := entry("a", 1)
		spoil(&e)
		wantCode(t, name, rows.PutEntry(t.Context(), e), drawer.CodeEntry)
	}
	longest := entry(strings.Repeat("é", drawer.MaxID), 1)
	if err := rows.PutEntry(t.Context(), longest); err != nil {
		t.Errorf("an id of %d characters: %v", drawer.MaxID, err)
	}
}
