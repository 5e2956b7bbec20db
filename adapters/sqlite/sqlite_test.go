package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/sqlite"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/ledger/ledgertest"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/storetest"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func fresh(t *testing.T) *sqlite.Store { return open(t, filepath.Join(t.TempDir(), "studio.db")) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return fresh(t) })
}

func TestDrafts(t *testing.T) {
	storetest.RunDrafts(t, func(t *testing.T) draft.Drafts { return fresh(t) })
	storetest.RunQuestions(t, func(t *testing.T) question.Rows { return fresh(t) })
	storetest.RunDrawers(t, func(t *testing.T) drawer.Rows { return fresh(t) })
}

func TestRows(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Rows { return fresh(t) })
}
