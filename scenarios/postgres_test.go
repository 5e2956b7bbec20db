package scenarios_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// onBoth are the areas whose scenarios are run a second time with their studios on a
// server: all that the store decides.
var onBoth = []string{"content", "draft", "gate", "ledger", "store"}

// onFile are those among them that cannot be.
var onFile = map[string]string{
	"content/import-taken":      "it shows an error with the store's own name",
	"ledger/spent-and-saved":    "it replaces the config, and with it the address",
	"ledger/unpriced-under-cap": "it replaces the config, and with it the address",
}

// The same journeys leave the same on both stores: no word of a scenario is changed, but
// that init makes a studio on a server.
func TestOnPostgres(t *testing.T) {
	server := os.Getenv("SOUNDSTAGE_TEST_POSTGRES")
	if server == "" {
		t.Skip("SOUNDSTAGE_TEST_POSTGRES names no server; run the tests with .ci/postgres, which starts one")
	}
	for _, area := range onBoth {
		files, err := filepath.Glob(filepath.Join(area, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d scenarios in %s, %v", len(files), area, err)
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.ToSlash(f), ".txtar")
			t.Run(name, func(t *testing.T) {
				if why := onFile[name]; why != "" {
					t.Skip(why)
				}
				address, password := newStudio(t, server)
				var log bytes.Buffer
				res, err := script.Execute(onServer(address, password), name, &log)
				if err != nil || res.Failed > 0 {
					t.Fatalf("%+v, %v\n%s", res, err, strings.ReplaceAll(log.String(), password, "***"))
				}
				if strings.Contains(log.String(), password) {
					t.Error("the password stands in the log")
				}
			})
		}
	}
}

// onServer is the options of a run whose studios are at address.
func onServer(address, password string) script.Options[*scenario.Bag] {
	o := options()
	o.Update, o.Record = false, false
	o.Env["STORE"], o.Env[stores.EnvPassword] = address, password
	postgres := o.Conditions["postgres"]
	postgres.Holds = func(string) (bool, error) { return true, nil }
	o.Conditions["postgres"] = postgres
	main := o.Main
	o.Main = func(d script.Doors) int {
		if len(d.Args) > 0 && d.Args[0] == "init" && !slices.Contains(d.Args, "--store") {
			d.Args = slices.Insert(slices.Clone(d.Args), 1, "--store", ofFolder(address, d.Args[len(d.Args)-1]))
		}
		return main(d)
	}
	return o
}

// ofFolder is the address of the studio in folder: a scenario's second studio is
// another one, so it has a schema of its own, its name the first's with the folder's.
func ofFolder(address, folder string) string {
	if folder == "." || folder == "init" {
		return address
	}
	return address + "_" + hex.EncodeToString([]byte(filepath.Base(folder)))
}

// newStudio is the address of a studio on the server, and the password on its own. After
// the test it is gone, and all whose schema's name begins with its schema's.
func newStudio(t *testing.T, server string) (address, password string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("SOUNDSTAGE_TEST_POSTGRES is not a URL")
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	schema := "t_" + hex.EncodeToString(random)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		c, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx) //nolint:errcheck // a test's own
		rows, _ := c.Query(ctx, "SELECT nspname FROM pg_namespace WHERE starts_with(nspname::text, $1)", schema)
		made, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made {
			if _, err := c.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{m}.Sanitize()+" CASCADE"); err != nil {
				t.Error(err)
			}
		}
	})
	password, _ = u.User.Password()
	u.User = url.User(u.User.Username())
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	return u.String(), password
}
