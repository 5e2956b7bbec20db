package postgres

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

//go:embed schema.sql
var schema string

// schema2 makes version 2 of version 1.
//
//go:embed schema_2.sql
var schema2 string

// versions make each version of the one before. The table soundstage_studio says which
// one a schema has.
var versions = []string{schema, schema2}

// oldest is the first version of the server that can say whether a transaction happened.
const oldest = 130000

// migrate makes what the schema lacks, and refuses one that is not ours or newer without
// a change to it. Hosts that come at once wait for one another.
func (s *Store) migrate(ctx context.Context, pool *pgxpool.Pool) error {
	const op = "postgres.open"
	c, err := pool.Acquire(ctx)
	if err != nil {
		return s.broken(err, op)
	}
	defer c.Release()
	has, err := s.version(ctx, c.Conn())
	if err != nil || has == len(versions) {
		return s.broken(err, op)
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return s.broken(err, op)
	}
	err = s.create(ctx, tx)
	if err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // the first error says more
	}
	return s.broken(err, op)
}

// A querier is a connection, with or without a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version is what the schema has: 0 where it is not there, or empty.
func (s *Store) version(ctx context.Context, q querier) (int, error) {
	const op = "postgres.open"
	var server, relations int
	var ours bool
	err := q.QueryRow(ctx, `SELECT current_setting('server_version_num')::int,
		(SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)),
		to_regclass($1 || '.soundstage_studio') IS NOT NULL`, s.o.Address.Schema).Scan(&server, &relations, &ours)
	switch {
	case err != nil:
		return 0, err
	case server < oldest:
		return 0, fault.New(fault.Invalid, op, "the server of the store %q has version %d, the oldest that will do is 13", s.o.Address, server/10000).
			WithHint("use a newer server")
	case relations == 0:
		return 0, nil
	case !ours:
		return 0, fault.New(store.CodeDamaged, op, "the schema of the store %q holds tables of something else", s.o.Address).
			WithHint("name another schema in the address: ?schema=NAME")
	}
	var has int
	if err := q.QueryRow(ctx, "SELECT version FROM soundstage_studio").Scan(&has); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, fault.New(store.CodeDamaged, op, "the store %q does not say its version", s.o.Address).WithHint("restore the schema from a copy")
		}
		return 0, err
	}
	if has > len(versions) {
		return 0, fault.New(store.CodeNewer, op, "the store %q has schema %d, this program knows %d", s.o.Address, has, len(versions)).
			WithHint("update soundstage")
	}
	return has, nil
}

// create brings the schema up, unless another host did meanwhile.
func (s *Store) create(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", s.number("migrate")); err != nil {
		return err
	}
	has, err := s.version(ctx, tx)
	if err != nil || has == len(versions) {
		return err
	}
	name := pgx.Identifier{s.o.Address.Schema}.Sanitize()
	if has == 0 {
		// CREATE SCHEMA IF NOT EXISTS asks for the right to create even where it exists.
		var there bool
		if err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", s.o.Address.Schema).Scan(&there); err != nil {
			return err
		}
		sql := "CREATE TABLE soundstage_studio (version integer NOT NULL); INSERT INTO soundstage_studio VALUES (0);"
		if !there {
			sql = "CREATE SCHEMA " + name + "; " + sql
		}
		if err := run(ctx, tx, sql); err != nil {
			return err
		}
	}
	for _, sql := range versions[has:] {
		if err := run(ctx, tx, sql); err != nil {
			return err
		}
	}
	return run(ctx, tx, fmt.Sprintf("UPDATE soundstage_studio SET version = %d", len(versions)))
}

// run is several statements at once.
func run(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// number is the advisory lock of a name in this studio. Locks are of the whole database.
func (s *Store) number(name string) int64 {
	sum := sha256.Sum256([]byte("soundstage\x00" + s.o.Address.Schema + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}
