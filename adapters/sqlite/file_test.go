package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/sqlite"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

var (
	ada   = store.Ref{Kind: "character", ID: "ada"}
	piece = store.Piece{Ref: ada, Title: "Ada", Body: []byte(`{"name":"Ada"}`), Escrow: []store.Escrow{{Format: "f", Name: "n", Raw: []byte{0, 255}}}}
)

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func TestOpensOnFirstUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	st := open(t, path)
	if n := st.Opens(); n != 0 {
		t.Errorf("opened %d times before use, want 0", n)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there before use: %v", err)
	}
	for range 3 {
		if _, err := st.List(t.Context(), store.Query{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := st.Opens(); n != 1 {
		t.Errorf("opened %d times, want 1", n)
	}
	// What cannot work opens nothing.
	other := open(t, filepath.Join(t.TempDir(), "other.db"))
	_, err := other.Get(t.Context(), store.Ref{Kind: "Bad"}, 0)
	wantCode(t, "Get", err, store.CodeBadRef)
	_, err = other.Create(t.Context(), store.Piece{Ref: ada}, store.Stamp{})
	wantCode(t, "Create", err, store.CodeBody)
	if n := other.Opens(); n != 0 {
		t.Errorf("opened %d times for bad input, want 0", n)
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?name#%41 ü.db")
	st := open(t, path)
	if _, err := st.Create(t.Context(), piece, store.Stamp{Cause: "import"}); err != nil {
		t.Fatal(err)
	}
	if err := st.PutDraft(t.Context(), draft.Draft{ID: "d-1", Rev: 1, State: draft.Open, Proposed: piece}); err != nil {
		t.Fatal(err)
	}
	if err := st.ReserveRow(t.Context(), ledger.Row{ID: "r", State: ledger.Reserved}, nil); err != nil {
		t.Fatal(err)
	}
	var before, after bytes.Buffer
	if err := store.Dump(t.Context(), st, &before); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := st.Get(t.Context(), ada, 0)
	wantCode(t, "Get after Close", err, fault.Internal)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file has another name than it was given: %v", err)
	}
	st = open(t, path)
	if err := store.Dump(t.Context(), st, &after); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() || before.Len() == 0 {
		t.Errorf("dump after reopening:\n%s\nbefore:\n%s", &after, &before)
	}
	if d, err := st.GetDraft(t.Context(), "d-1"); err != nil || d.State != draft.Open {
		t.Errorf("draft %+v, %v", d, err)
	}
	if rows, err := st.ListRows(t.Context(), ""); err != nil || len(rows) != 1 {
		t.Errorf("rows %v, %v", rows, err)
	}
}

// raw runs SQL on the file from outside.
func raw(t *testing.T, path string, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func TestRefusesWhatIsNotItsOwn(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want fault.Code
	}{
		{"newer", func(t *testing.T, path string) {
			st := open(t, path)
			if _, err := st.List(t.Context(), store.Query{}); err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			raw(t, path, "PRAGMA user_version=6")
		}, store.CodeNewer},
		{"another program's", func(t *testing.T, path string) { raw(t, path, "CREATE TABLE x (a)") }, store.CodeDamaged},
		{"another program's, empty", func(t *testing.T, path string) { raw(t, path, "PRAGMA application_id=7") }, store.CodeDamaged},
		{"text", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, store.CodeDamaged},
		{"folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, store.CodeMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "studio.db")
			tt.make(t, path)
			before, _ := os.ReadFile(path)
			st := open(t, path)
			_, err := st.List(t.Context(), store.Query{})
			wantCode(t, "List", err, tt.want)
			if !strings.Contains(err.Error(), "studio.db") || fault.HintOf(err) == "" {
				t.Errorf("error %v, hint %q: want the file's name and a next step", err, fault.HintOf(err))
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the refused file was changed")
			}
		})
	}
	st := open(t, filepath.Join(t.TempDir(), "no", "folder.db"))
	_, err := st.List(t.Context(), store.Query{})
	wantCode(t, "List without a folder", err, store.CodeMissing)
	_, err = sqlite.Open(t.Context(), "")
	wantCode(t, "Open without a name", err, fault.Invalid)
}

func TestEscrowIsKeptOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "studio.db")
	st := open(t, path)
	p := piece
	p.Escrow = []store.Escrow{{Format: "f", Raw: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)}} // 1 MiB
	p, err := st.Create(t.Context(), p, store.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if p, err = st.Update(t.Context(), p, store.Stamp{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 2<<20 {
		t.Errorf("the file has %d bytes, %v after 20 updates, want about 1 MiB", info.Size(), err)
	}
}

// BenchmarkOpen is what the first use of a store costs: opening, and one read.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "studio.db")
	use := func() {
		st, err := sqlite.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := st.List(b.Context(), store.Query{Limit: 1}); err != nil {
			b.Fatal(err)
		}
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	}
	use()
	for b.Loop() {
		use()
	}
}

func BenchmarkUpdate(b *testing.B) {
	st := open(b, filepath.Join(b.TempDir(), "studio.db"))
	p, err := st.Create(b.Context(), piece, store.Stamp{})
	for b.Loop() {
		if err != nil {
			b.Fatal(err)
		}
		p, err = st.Update(b.Context(), p, store.Stamp{})
	}
}

// A file that was deleted or replaced under an open store is not written to: what is
// reported as saved would be gone.
func TestTheFileIsStillThere(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path+".other", path) },
	} {
		path := filepath.Join(t.TempDir(), "studio.db")
		st := open(t, path)
		if _, err := st.Create(t.Context(), piece, store.Stamp{}); err != nil {
			t.Fatal(err)
		}
		other := open(t, path+".other")
		if _, err := other.List(t.Context(), store.Query{}); err != nil {
			t.Fatal(err)
		}
		if err := harm(path); err != nil {
			t.Skip(err) // where an open file cannot be deleted, there is no harm
		}
		_, err := st.Update(t.Context(), store.Piece{Ref: ada, Revision: 1, Title: "Eda", Body: []byte(`{"name":"Eda"}`)}, store.Stamp{})
		wantCode(t, name+": Update", err, store.CodeMissing)
		_, err = st.Get(t.Context(), ada, 0)
		wantCode(t, name+": Get", err, store.CodeMissing)
	}
}

// A store of the first version gets the tables that it lacks, and keeps what it has.
func TestAnOlderStoreIsBroughtUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	first, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, string(first)+`
		INSERT INTO heads VALUES ('character', 'ada', 1, 0, 14, 1000000, 'Ada');
		INSERT INTO revisions VALUES ('character', 'ada', 1, 0, 14, 1000000, '', 0, 'import', 'Ada', '[]', NULL, '{"name":"Ada"}');
		INSERT INTO texts VALUES ('character', 'ada', CAST('ada'||char(10)||'ada' AS BLOB));
		INSERT INTO drafts VALUES ('d-0001', 1, 1, 5, '{"id":"d-0001","rev":1,"state":"open"}');
		PRAGMA application_id=1399739252; PRAGMA user_version=1`)
	st := open(t, path)
	if list, err := st.ListQuestions(t.Context(), true); err != nil || len(list) != 0 {
		t.Fatalf("%d questions, %v", len(list), err)
	}
	if list, err := st.ListEntries(t.Context(), drawer.Collections); err != nil || len(list) != 0 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	if got, err := st.Get(t.Context(), ada, 0); err != nil || string(got.Body) != `{"name":"Ada"}` {
		t.Errorf("the piece is %s, %v", got.Body, err)
	}
	if list, err := st.List(t.Context(), store.Query{Text: "DA"}); err != nil || len(list) != 1 {
		t.Errorf("a search finds %d pieces, %v", len(list), err)
	}
	if list, err := st.ListDrafts(t.Context(), false); err != nil || len(list) != 1 || list[0].ID != "d-0001" {
		t.Errorf("the drafts are %v, %v", list, err)
	}
}

// The texts of version 4 that are in no block are looked for among the pieces since 5.
func TestTheIndexOfVersion4IsBroughtUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var all strings.Builder
	for _, name := range []string{"schema.sql", "schema_2.sql", "schema_3.sql", "schema_4.sql"} {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(part)
	}
	for _, id := range []string{"ada", "bob", "eve"} {
		fmt.Fprintf(&all, `INSERT INTO heads VALUES ('character', '%[1]s', 1, 0, 14, 1000000, '%[1]s');
			INSERT INTO revisions VALUES ('character', '%[1]s', 1, 0, 14, 1000000, '', 0, 'import', '%[1]s', '[]', NULL, '{"name":"%[1]s"}');`, id)
	}
	// Three texts, of which the first is in a block that has no runs: a search finds it
	// by nothing, but does not look for it elsewhere either.
	raw(t, path, all.String()+`
		INSERT INTO texts VALUES (1, 'character', 'ada', 'ada'), (2, 'character', 'bob', 'bob'), (3, 'character', 'eve', 'eve');
		INSERT INTO blocks VALUES (1, x'01000000');
		PRAGMA application_id=1399739252; PRAGMA user_version=4`)
	st := open(t, path)
	for text, want := range map[string]int{"bob": 1, "eve": 1, "ada": 0} {
		if list, err := st.List(t.Context(), store.Query{Text: text}); err != nil || len(list) != want {
			t.Errorf("a search for %q finds %d pieces, %v, want %d", text, len(list), err, want)
		}
	}
	if n := count(t, path, "SELECT count(*) FROM texts"); n != 1 {
		t.Errorf("%d texts are left, want that of the block", n)
	}
	bob := store.Piece{Ref: store.Ref{Kind: "character", ID: "bob"}, Revision: 1, Title: "Bob", Body: []byte(`{"name":"Robert"}`)}
	if _, err := st.Update(t.Context(), bob, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	if list, err := st.List(t.Context(), store.Query{Text: "robert"}); err != nil || len(list) != 1 {
		t.Errorf("what was written since is found %d times, %v", len(list), err)
	}
}
