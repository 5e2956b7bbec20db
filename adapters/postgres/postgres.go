// Package postgres keeps a studio in one schema of a PostgreSQL database, so that
// several hosts work on it: pieces, drafts, ledger rows, the questions of the gate, what
// is kept beside the pieces, and the locks between processes.
//
// It is an adapter, beside adapters/sqlite: it fills the same ports and passes the same
// suites. The server is connected to on first use. Every write is one serializable
// transaction, repeated where the server says that another one came between. It does not
// make databases and users, and holds no copy of anything: without the server there is
// no studio.
package postgres

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The connections that one process may have at once.
const (
	maxWorking = 8  // for reads and writes
	maxLocking = 16 // one a lock that is held or waited for
)

// patience bounds what must be ended although the caller gave up: a commit, the return
// of a lock, the cancelling of a query.
const patience = 10 * time.Second

// Options are the doors of a store.
type Options struct {
	Address  Address
	Password string // "" where the server asks for none
	Passfile string // in the form of .pgpass, looked into where there is no password; or ""
}

// A Store is one studio on a server. It is safe for concurrent use. Make one with Open.
type Store struct {
	o     Options
	opens atomic.Int64

	// again orders this process's repeated writes: those that lost a race once do not
	// race one another a second time.
	again sync.Mutex

	mu      sync.Mutex
	db      *pgxpool.Pool // nil until first use
	locking *pgxpool.Pool // nil until the first lock
	closed  bool
}

var (
	_ store.Store   = (*Store)(nil)
	_ draft.Drafts  = (*Store)(nil)
	_ ledger.Rows   = (*Store)(nil)
	_ question.Rows = (*Store)(nil)
	_ drawer.Rows   = (*Store)(nil)
	_ gate.Between  = (*Store)(nil)
)

// Open names a store. It connects to nothing: that is done, and the schema made if it is
// not there, by the first method that needs it.
func Open(o Options) (*Store, error) {
	if err := o.Address.check(); err != nil {
		return nil, err
	}
	return &Store{o: o}, nil
}

// Opens counts how often the store was connected to: 0 before first use, 1 after.
func (s *Store) Opens() int64 { return s.opens.Load() }

// Close ends the store. What was written stays written, with or without it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, pool := range []*pgxpool.Pool{s.db, s.locking} {
		if pool != nil {
			pool.Close()
		}
	}
	s.db, s.locking = nil, nil
	return nil
}

// use returns the connections, with the schema at our version. A failed opening is tried
// anew by the next call.
func (s *Store) use(ctx context.Context, op string) (*pgxpool.Pool, error) {
	if err := ctx.Err(); err != nil {
		return nil, cancelled(err, op)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, s.ended(op)
	case s.db != nil:
		return s.db, nil
	}
	pool, err := s.pool(ctx, maxWorking)
	if err != nil {
		return nil, err
	}
	s.opens.Add(1)
	if err := s.migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	s.db = pool
	return pool, nil
}

func (s *Store) ended(op string) error {
	return fault.New(fault.Internal, op, "the store %q is closed", s.o.Address)
}

// pool makes connections of one kind. It connects to nothing.
func (s *Store) pool(ctx context.Context, most int32) (*pgxpool.Pool, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = most
	// A pool lives as long as the store, not as long as the call that needed it first.
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return nil, fault.New(fault.Internal, "postgres.open", "the store %q", s.o.Address)
	}
	return pool, nil
}

// config says all that the library would else take from its own environment. Its errors
// quote what it was given, and so are not passed on.
func (s *Store) config() (*pgxpool.Config, error) {
	a := s.o.Address
	q := url.Values{
		"host": {a.Host}, "port": {strconv.Itoa(int(a.Port))}, "user": {a.User}, "password": {s.o.Password},
		"dbname": {a.Database}, "sslmode": {a.SSLMode}, "passfile": {s.o.Passfile}, "connect_timeout": {"10"},
	}
	if a.RootCert != "" {
		q.Set("sslrootcert", a.RootCert)
	}
	cfg, err := pgxpool.ParseConfig("postgres://?" + q.Encode())
	if err != nil {
		return nil, fault.New(CodeAddress, "postgres.open", "the store %q cannot be connected to so", a).
			WithHint("check its sslmode, and that the files of certificates are there")
	}
	c := cfg.ConnConfig
	// The settings of a session are ours; they are all that the server is told.
	c.RuntimeParams = map[string]string{"application_name": "soundstage", "client_encoding": "UTF8"}
	// A query that nobody waits for is cancelled on the server too: a backend that waits
	// for a lock does not see that its client went away.
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: patience}
	}
	c.AfterConnect = s.settings
	return cfg, nil
}

// settings are those of every connection. Commits wait for the disk, also where the
// server's default is that they do not: "applied" means on disk. Connections of a host
// that is gone are ended within a minute, with what they hold.
func (s *Store) settings(ctx context.Context, c *pgconn.PgConn) error {
	sql := `SELECT set_config('search_path', '` + s.o.Address.Schema + `', false),
		set_config('idle_in_transaction_session_timeout', '60000', false),
		set_config('tcp_keepalives_idle', '20', false), set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false),
		CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`
	_, err := c.Exec(ctx, sql).ReadAll()
	return err
}

// broken gives an error of the server or of the connection a code and words. Errors of
// ours pass.
func (s *Store) broken(err error, op string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return cancelled(err, op)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.refused(err, e, op)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return cancelled(err, op)
	}
	return fault.Wrap(err, store.CodeUnreachable, op, "the store %q cannot be reached", s.o.Address).
		WithHint("check that the server runs and that this machine may connect to it; what was reported as done is kept there")
}

// refused is what the server says, in our words.
func (s *Store) refused(err error, e *pgconn.PgError, op string) error {
	wrap := func(code fault.Code, what, hint string) error {
		return fault.Wrap(err, code, op, "the store %q %s", s.o.Address, what).WithHint("%s", hint)
	}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case class == "28":
		return wrap(store.CodeDenied, "lets this user not in", "check the user in the address and the password in the environment (docs/howto/share-a-studio.md)")
	case e.Code == "42501":
		return wrap(store.CodeDenied, "does not let this user do that", "the user needs the right to create in the database, or to use the schema and its tables")
	case e.Code == "25006":
		return wrap(store.CodeDenied, "may only be read", "name the server that takes writes")
	case e.Code == "3D000":
		return wrap(store.CodeMissing, "is in a database that is not there", "make the database (createdb), or correct the address")
	case e.Code == "3F000" || e.Code == "42P01":
		return wrap(store.CodeMissing, "was deleted while it was open", "put the schema back from a copy, then start this program anew")
	case e.Code == "42703" || class == "XX":
		return wrap(store.CodeDamaged, "is damaged or not a store", "restore the schema from a copy")
	case class == "53" && e.Code != "53300":
		return wrap(store.CodeFull, "has no room left", "make room on the server and repeat")
	case class == "40" || e.Code == "55P03" || e.Code == "57014":
		return wrap(fault.Timeout, "is kept busy by others", "repeat when they have finished")
	case class == "08" || class == "57" || class == "53":
		return wrap(store.CodeUnreachable, "takes no connection now", "repeat when the server is up and has connections left")
	}
	return fault.Wrap(err, fault.Internal, op, "the store %q", s.o.Address)
}

func cancelled(err error, op string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.Timeout, op, "no time was left")
	}
	return fault.Wrap(err, fault.Cancelled, op, "the caller gave up")
}
