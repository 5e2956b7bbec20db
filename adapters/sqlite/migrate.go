package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

//go:embed schema.sql
var schema string

// schema2 makes version 2 of version 1.
//
//go:embed schema_2.sql
var schema2 string

// schema3 makes version 3 of version 2.
//
//go:embed schema_3.sql
var schema3 string

// schema4 makes version 4 of version 3.
//
//go:embed schema_4.sql
var schema4 string

// schema5 makes version 5 of version 4.
//
//go:embed schema_5.sql
var schema5 string

const (
	// schemaVersion is what this package writes, in PRAGMA user_version.
	schemaVersion = 5
	// applicationID marks a SQLite file as a studio of ours: "SnSt".
	applicationID = 0x536e5374
)

// migrate makes the tables of an empty file and refuses what is not ours or newer,
// without a change to it.
func (s *Store) migrate(ctx context.Context, db *sql.DB) error {
	const op = "sqlite.open"
	made, err := s.ours(ctx, db)
	if err != nil {
		return s.broken(err, op)
	}
	if !made {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return s.broken(err, op)
		}
		if err := s.create(ctx, db, tx); err != nil {
			_ = tx.Rollback() // the first error says more
			return s.broken(err, op)
		}
		if err := tx.Commit(); err != nil {
			return s.broken(err, op)
		}
	}
	// Where the file is in WAL mode already this changes nothing and costs a read.
	// Where another process is just setting it, SQLite does not wait: the mode is the
	// file's, so that the other's try is ours too, and the next opening tries again.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil && !busy(err) {
		return s.broken(err, op)
	}
	return nil
}

// busy says that another connection has a lock that was not waited for.
func busy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// create makes the tables that the file has not, unless another process did meanwhile.
func (s *Store) create(ctx context.Context, db *sql.DB, tx *sql.Tx) error {
	if made, err := s.ours(ctx, tx); made || err != nil {
		return err
	}
	_, version, _, err := marks(ctx, tx)
	if err != nil {
		return err
	}
	missing := strings.Join([]string{schema, schema2, schema3, schema4, schema5}[version:], "")
	missing += fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, schemaVersion)
	if _, err = tx.ExecContext(ctx, missing); err != nil {
		return err
	}
	return seal(ctx, txn{tx, statements{db, new(sync.Map)}, new(backlog)}) // what older versions wrote
}

// ours says whether the file has all our tables; false is a file that is empty or of an
// older version, and an error one that is not for us.
func (s *Store) ours(ctx context.Context, q querier) (made bool, err error) {
	const op = "sqlite.open"
	app, version, tables, err := marks(ctx, q)
	switch {
	case err != nil:
		return false, err
	case app == applicationID && version == schemaVersion:
		return true, nil
	case app == applicationID && version > 0 && version < schemaVersion:
		return false, nil
	case app == applicationID && version > schemaVersion:
		return false, fault.New(store.CodeNewer, op, "the store %q has schema %d, this program knows %d", s.path, version, schemaVersion).
			WithHint("update soundstage")
	}
	if app != 0 || version != 0 || tables != 0 {
		return false, fault.New(store.CodeDamaged, op, "%q is a database of something else", s.path).
			WithHint("name another file, or move this one away")
	}
	return false, nil
}

// A querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// marks are the application id, the schema version and the number of tables of the
// file; 0 if new. It is one statement, and so one state of the file: between two,
// another process may make the tables.
func marks(ctx context.Context, q querier) (app, version, tables int, err error) {
	err = q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sqlite_schema),
		(SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)`).Scan(&tables, &app, &version)
	return app, version, tables, err
}
