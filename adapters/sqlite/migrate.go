package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

//go:embed schema.sql
var schema string

const (
	// schemaVersion is what this package writes, in PRAGMA user_version.
	schemaVersion = 1
	// applicationID marks a SQLite file as a studio of ours: "SnSt".
	applicationID = 0x536e5374
)

// migrate makes the tables of an empty file and refuses what is not ours or newer.
func (s *Store) migrate(ctx context.Context, db *sql.DB) error {
	const op = "sqlite.open"
	app, version, err := marks(ctx, db)
	if err != nil {
		return s.broken(err, op)
	}
	if app == applicationID && version == schemaVersion {
		return nil // the common case costs two reads
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return s.broken(err, op)
	}
	if err := s.create(ctx, tx); err != nil {
		_ = tx.Rollback() // the first error says more
		return s.broken(err, op)
	}
	return s.broken(tx.Commit(), op)
}

// create looks again inside the transaction: two processes may open a new file at
// once.
func (s *Store) create(ctx context.Context, tx *sql.Tx) error {
	const op = "sqlite.open"
	app, version, err := marks(ctx, tx)
	if err != nil {
		return err
	}
	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	switch {
	case app == applicationID && version == schemaVersion:
		return nil
	case app == applicationID && version > schemaVersion:
		return fault.New(store.CodeNewer, op, "the store %q has schema %d, this program knows %d", s.path, version, schemaVersion).
			WithHint("update soundstage")
	case app != 0 || version != 0 || tables != 0:
		return fault.New(store.CodeDamaged, op, "%q is a database of something else", s.path).
			WithHint("name another file, or move this one away")
	}
	_, err = tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, schemaVersion))
	return err
}

// A querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// marks are the application id and the schema version of the file; 0 if new.
func marks(ctx context.Context, q querier) (app, version int, err error) {
	err = q.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)").Scan(&app, &version)
	return app, version, err
}
