// Package sqlite keeps a studio in one SQLite file: pieces, drafts, ledger rows, the
// questions of the gate, and what is kept beside the pieces.
//
// It is an adapter: it fills the ports store.Store, draft.Drafts, ledger.Rows,
// question.Rows and drawer.Rows of the runtime, and is the only home of SQL and of the driver. The file is opened
// on first use, so that a program that only lists its tools never pays for it.
// Several processes may use one file at once: every write is one immediate
// transaction, in WAL mode with full synchronisation, so that nothing reported as
// done is lost by kill -9 or by a power cut.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Store is one file. It is safe for concurrent use. Make one with Open.
type Store struct {
	path  string
	opens atomic.Int64

	// writing orders this process's writers: SQLite would make them wait by
	// sleeping, which is slower and not in turn.
	writing sync.Mutex
	behind  backlog // of the writer's
	seals   sealer

	mu     sync.Mutex
	db     statements  // without a database until first use
	file   os.FileInfo // what was opened
	closed bool
}

var (
	_ store.Store   = (*Store)(nil)
	_ draft.Drafts  = (*Store)(nil)
	_ draft.Saver   = (*Store)(nil)
	_ ledger.Rows   = (*Store)(nil)
	_ question.Rows = (*Store)(nil)
	_ drawer.Rows   = (*Store)(nil)
)

// Open names the file of a store. It touches no disk: the file is opened, and made
// if it is not there, by the first method that needs it. Its folder must exist by
// then.
func Open(_ context.Context, path string) (*Store, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, fault.New(fault.Invalid, "sqlite.open", "%q is not a file name", path)
	}
	return &Store{path: path}, nil
}

// Opens counts how often the file was opened: 0 before first use, 1 after.
func (s *Store) Opens() int64 { return s.opens.Load() }

// Close ends the store. What was written stays written, with or without it.
func (s *Store) Close() error {
	s.seals.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.db.db == nil {
		return nil
	}
	db := s.db.db
	s.db = statements{}
	if err := db.Close(); err != nil {
		return s.broken(err, "sqlite.close")
	}
	return nil
}

// use returns the database, opened and at our schema. A failed opening is tried
// anew by the next call.
func (s *Store) use(ctx context.Context, op string) (statements, error) {
	if err := ctx.Err(); err != nil {
		return statements{}, cancelled(err, op)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return statements{}, fault.New(fault.Internal, op, "the store %q is closed", s.path)
	case s.db.db != nil:
		return s.db, s.still(op)
	}
	db, err := sql.Open("sqlite", dsn(s.path))
	if err != nil {
		return statements{}, s.broken(err, op)
	}
	// More readers than processors only make SQLite's locks busier.
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	s.opens.Add(1)
	if err := s.migrate(ctx, db); err != nil {
		_ = db.Close() // the first error says more
		return statements{}, err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		_ = db.Close() // the first error says more
		return statements{}, fault.Wrap(err, store.CodeMissing, op, "the store %q is gone", s.path)
	}
	s.db = statements{db, new(sync.Map)}
	return s.db, nil
}

// still is an error where the file that is open is not the one of that name any more.
// The system keeps a deleted file until it is closed: what is written then is lost.
func (s *Store) still(op string) error {
	if now, err := os.Stat(s.path); err == nil && os.SameFile(now, s.file) {
		return nil
	}
	return fault.New(store.CodeMissing, op, "the store %q was deleted or replaced while it was open", s.path).
		WithHint("put the file back, then start this program anew")
}

// dsn is the file as a URI, so that a path may hold '?', '#' and '%', with the
// settings of every connection. WAL is a setting of the file: migrate makes it, once
// it knows that the file is ours.
func dsn(path string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x is /C:/x in a URI
	}
	q := url.Values{
		"_busy_timeout": {"30000"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
	}
	return "file:" + (&url.URL{Path: p}).EscapedPath() + "?" + q.Encode()
}

// write runs f in one immediate transaction. An error of f undoes all of it.
func (s *Store) write(ctx context.Context, op string, f func(tx txn) error) error {
	db, err := s.use(ctx, op)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := db.db.BeginTx(ctx, nil)
	if err != nil {
		return s.broken(err, op)
	}
	if err := f(txn{tx, db, &s.behind}); err != nil {
		_ = tx.Rollback() // the first error says more
		return s.broken(err, op)
	}
	if err := tx.Commit(); err != nil {
		return s.broken(err, op)
	}
	if s.behind.due() {
		s.seals.start(func(stop func() bool) { s.seal(context.WithoutCancel(ctx), stop) })
	}
	return nil
}

// broken gives an error of the driver a code and words. Errors of ours pass.
func (s *Store) broken(err error, op string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cancelled(err, op)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return fault.Wrap(err, fault.Internal, op, "the store %q", s.path)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fault.Wrap(err, store.CodeDamaged, op, "the store %q is damaged or not a store", s.path).
			WithHint("restore the file from a copy")
	case sqlite3.SQLITE_CANTOPEN:
		e := fault.Wrap(err, store.CodeMissing, op, "the store %q cannot be opened", s.path)
		if _, err := os.Stat(s.path); err == nil {
			return e.WithHint("check that it is a file, and who may write it and its folder: reading needs that too")
		}
		return e.WithHint("create the studio with soundstage init, or check who may write its folder")
	case sqlite3.SQLITE_READONLY:
		return fault.Wrap(err, store.CodeDenied, op, "the store %q may not be written", s.path).
			WithHint("check who may write the file and its folder")
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return fault.Wrap(err, store.CodeFull, op, "the disk of the store %q is full or broken", s.path).
			WithHint("make room on the disk and repeat")
	case sqlite3.SQLITE_BUSY:
		return fault.Wrap(err, fault.Timeout, op, "the store %q is kept busy by another process", s.path).
			WithHint("repeat when the other process has finished")
	}
	return fault.Wrap(err, fault.Internal, op, "the store %q", s.path)
}

func cancelled(err error, op string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.Timeout, op, "no time was left")
	}
	return fault.Wrap(err, fault.Cancelled, op, "the caller gave up")
}
