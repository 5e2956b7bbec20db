package sqlite_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A bare is a database with the two tables that a piece is in, without anything of ours
// around it: what a benchmark compares with.
type bare struct{ db *sql.DB }

func newBare(b *testing.B, path string) bare {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=30000&_synchronous=FULL&_txlock=immediate&_defensive=1&_dqs=0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(b.Context(), `PRAGMA journal_mode=WAL;
		CREATE TABLE heads (kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, deleted INTEGER NOT NULL, size INTEGER NOT NULL,
			updated INTEGER NOT NULL, title TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
		CREATE TABLE revisions (kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, deleted INTEGER NOT NULL, size INTEGER NOT NULL,
			at INTEGER NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, cause TEXT NOT NULL, title TEXT NOT NULL, escrow TEXT NOT NULL, profiles BLOB, body BLOB);
		CREATE UNIQUE INDEX revisions_by_piece ON revisions (kind, id, revision)`); err != nil {
		b.Fatal(err)
	}
	return bare{db}
}

// write is one transaction with the rows of a revision.
func (d bare) write(b *testing.B, p store.Piece, revision int64) {
	b.Helper()
	ctx := b.Context()
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO revisions VALUES (?, ?, ?, 0, ?, 1, 's-1', 1, 'draft d-0001', ?, '[]', NULL, ?)`,
		p.Kind, p.ID, revision, len(p.Body), p.Title, p.Body); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO heads VALUES (?, ?, ?, 0, ?, 1, ?)
		ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, size = excluded.size, updated = excluded.updated, title = excluded.title`,
		p.Kind, p.ID, revision, len(p.Body), p.Title); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

type anything struct{}

func (anything) CheckPiece(context.Context, store.Piece) error { return nil }

// outside is a connection of somebody else to the file of a studio.
func outside(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
