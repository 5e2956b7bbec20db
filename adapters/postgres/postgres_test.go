package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/adapters/postgres"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/ledger/ledgertest"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/storetest"
)

// server is the address of the server that the tests may use, with its password.
func server(t testing.TB) string {
	t.Helper()
	s := os.Getenv("SOUNDSTAGE_TEST_POSTGRES")
	if s == "" {
		t.Skip("SOUNDSTAGE_TEST_POSTGRES names no server; run the tests with .ci/postgres, which starts one")
	}
	return s
}

// studio is the address of a new studio on the server, gone after the test.
func studio(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal("SOUNDSTAGE_TEST_POSTGRES is not a URL")
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	schema := "t_" + hex.EncodeToString(random)
	t.Cleanup(func() { raw(t, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// raw runs SQL on the server from outside.
func raw(t testing.TB, sql string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	c, err := pgx.Connect(ctx, server(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx) //nolint:errcheck // a test's own
	if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, address string) *postgres.Store {
	t.Helper()
	a, password, err := postgres.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	st, err := postgres.Open(postgres.Options{Address: a, Password: password})
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

func fresh(t *testing.T) *postgres.Store { return open(t, studio(t)) }

func TestStore(t *testing.T) {
	server(t)
	storetest.Run(t, func(t *testing.T) store.Store { return fresh(t) })
}

func TestDrafts(t *testing.T) {
	server(t)
	storetest.RunDrafts(t, func(t *testing.T) draft.Drafts { return fresh(t) })
	storetest.RunQuestions(t, func(t *testing.T) question.Rows { return fresh(t) })
	storetest.RunDrawers(t, func(t *testing.T) drawer.Rows { return fresh(t) })
}

func TestRows(t *testing.T) {
	server(t)
	ledgertest.Run(t, func(t *testing.T) ledger.Rows { return fresh(t) })
}
