package postgres

import (
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeAddress says that the address of a store is not well formed.
const CodeAddress fault.Code = "STORE_ADDRESS"

// DefaultSchema is the studio's schema where the address names none.
const DefaultSchema = "soundstage"

// An Address says where a studio's store is. It holds no password.
type Address struct {
	Host     string // a name, an IP address, or the folder of a socket
	Port     uint16
	User     string
	Database string
	Schema   string // of this studio: a database may hold many
	SSLMode  string // disable, prefer, require, verify-ca, verify-full
	RootCert string // the file of the authority that signed the server's certificate, or ""
}

// Is says whether s is the address of a store of this package, well formed or not.
func Is(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// Parse reads postgres://USER@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE. Only the
// user and the database must be there. A password in it is given back on its own: the
// caller decides whether the address came from where one may stand. No error of Parse
// quotes more of s than the part that is wrong, and never a password.
func Parse(s string) (a Address, password string, err error) {
	u, err := url.Parse(s)
	if err != nil || !Is(s) || u.Opaque != "" || u.Fragment != "" {
		return Address{}, "", bad("the address of the store is not a URL of PostgreSQL")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, "", bad("what follows the ? in the address of the store is not name=value&name=value")
	}
	if _, ok := q["password"]; ok {
		return Address{}, "", bad("the address of the store holds a parameter %q", "password")
	}
	password, _ = u.User.Password()
	a = Address{
		Host: u.Hostname(), User: u.User.Username(), Database: strings.TrimPrefix(u.Path, "/"),
		Schema: DefaultSchema, Port: 5432,
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 { // the port is not quoted: it may be a part of a password
			return Address{}, "", bad("the port in the address of the store is not a number from 1 to 65535")
		}
		a.Port = uint16(n)
	}
	if err := a.parameters(q); err != nil {
		return Address{}, "", err
	}
	return a, password, a.check()
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(CodeAddress, "postgres.address", format, args...).
		WithHint("write it like postgres://ada@db.example/studios?schema=mine; the password comes from the environment")
}

// parameters takes what follows the question mark.
func (a *Address) parameters(q url.Values) error {
	for _, name := range slices.Sorted(keys(q)) {
		value := q.Get(name)
		if len(q[name]) > 1 {
			return bad("the address of the store says %q twice", name)
		}
		switch name {
		case "host":
			a.Host = value
		case "schema":
			a.Schema = value
		case "sslmode":
			a.SSLMode = value
		case "sslrootcert":
			a.RootCert = value
		default:
			return bad("the address of the store holds %q, which is none of host, schema, sslmode, sslrootcert", name)
		}
	}
	return nil
}

func keys(q url.Values) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range q {
			if !yield(k) {
				return
			}
		}
	}
}

// modes are what a person may ask of the connection. There is no "allow": it is a
// plain connection that looks like another thing.
var modes = []string{"disable", "prefer", "require", "verify-ca", "verify-full"}

// schemaName is what names a schema without quotes, which is also safe in SQL.
var schemaName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`) })

// check fills what was left out and refuses what cannot be.
func (a *Address) check() error {
	if a.Host == "" {
		a.Host = "localhost"
	}
	if a.SSLMode == "" {
		a.SSLMode = "require" // what leaves this machine is not sent in the clear unless somebody says so
		if a.near() {
			a.SSLMode = "prefer"
		}
	}
	switch {
	case a.User == "":
		return bad("the address of the store names no user")
	case a.Database == "" || strings.Contains(a.Database, "/"):
		return bad("the address of the store names no database, or more than one")
	case !schemaName().MatchString(a.Schema) || strings.HasPrefix(a.Schema, "pg_"):
		return bad("the schema %q is not a name of lower case letters, digits and _", a.Schema)
	case !slices.Contains(modes, a.SSLMode):
		return bad("sslmode is %q, which is none of %s", a.SSLMode, strings.Join(modes, ", "))
	}
	for _, s := range []string{a.Host, a.User, a.Database, a.RootCert} {
		if strings.ContainsRune(s, 0) || len(s) > 1024 {
			return bad("a part of the address of the store is longer than 1024 bytes or holds NUL")
		}
	}
	return nil
}

// near says whether the server is on this machine.
func (a *Address) near() bool {
	ip := net.ParseIP(a.Host)
	return filepath.IsAbs(a.Host) || a.Host == "localhost" || ip != nil && ip.IsLoopback()
}

// String is the address as [Parse] reads it, without a password.
func (a Address) String() string {
	u := url.URL{Scheme: "postgres", User: url.User(a.User), Path: "/" + a.Database}
	q := url.Values{"schema": {a.Schema}, "sslmode": {a.SSLMode}}
	port := strconv.Itoa(int(a.Port))
	if filepath.IsAbs(a.Host) {
		q.Set("host", a.Host)
		u.Host = ":" + port
	} else {
		u.Host = net.JoinHostPort(a.Host, port)
	}
	if a.RootCert != "" {
		q.Set("sslrootcert", a.RootCert)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
