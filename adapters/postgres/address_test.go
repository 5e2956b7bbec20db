package postgres_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/postgres"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"postgres://ada@db.example/studios":                     "postgres://ada@db.example:5432/studios?schema=soundstage&sslmode=require",
		"postgresql://ada:se%3Acret@[::1]:6000/s?schema=mine":   "postgres://ada@[::1]:6000/s?schema=mine&sslmode=prefer",
		"postgres://ada@/s?host=/run/pg":                        "postgres://ada@:5432/s?host=%2Frun%2Fpg&schema=soundstage&sslmode=prefer",
		"postgres://ada@db/s?sslmode=verify-full&sslrootcert=c": "postgres://ada@db:5432/s?schema=soundstage&sslmode=verify-full&sslrootcert=c",
	} {
		a, _, err := postgres.Parse(in)
		if err != nil || a.String() != want {
			t.Errorf("%s: %s, %v, want %s", in, a, err, want)
		}
		if b, _, err := postgres.Parse(a.String()); err != nil || a != b {
			t.Errorf("%s read again is %+v, %v", a, b, err)
		}
	}
	for _, in := range []string{
		"", "mysql://a@b/c", "postgres://ada@db", "postgres://db/s", "postgres://ada@db/s/t", "postgres://ada@db:0/s", "postgres://ada:hunter22:x@db:y/s",
		"postgres://ada@db/s?schema=A", "postgres://ada@db/s?schema=pg_x", "postgres://ada@db/s?schema=a%22b", "postgres://ada@db/s?sslmode=allow",
		"postgres://ada@db/s?options=hunter22", "postgres://ada@db/s?password=hunter22", "postgres://ada@db/s?schema=a&schema=b",
		"postgres://ada:hunter 22@db/s", "postgres://ada:hunter22@db/s#x", "postgres://ada@db/%00",
	} {
		_, _, err := postgres.Parse(in)
		if fault.CodeOf(err) != postgres.CodeAddress || fault.HintOf(err) == "" || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("postgres://ada:secret@[::1]:6000/s?schema=mine")
	f.Fuzz(func(t *testing.T, in string) {
		a, _, err := postgres.Parse(in)
		if err != nil {
			return
		}
		if b, password, err := postgres.Parse(a.String()); err != nil || a != b || password != "" {
			t.Errorf("%q is %+v, and read again %+v, %v", in, a, b, err)
		}
	})
}
