package repocheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// doors are ways out of the process, and where each may be used. Everybody else
// takes a value: a clock, an environment, a client, a writer.
var doors = []struct {
	pkg, names, in string
	tests          bool // tests are bound too
	instead        string
}{
	{"time", "Now Since Until After AfterFunc Sleep NewTimer NewTicker Tick", "harness/clock", false, "take a clock.Clock"},
	{"time", "Sleep Tick", "harness/clock", true, "a test waits for something, never for a while"},
	{"os", "Getenv LookupEnv Environ ExpandEnv Setenv Unsetenv Clearenv", envHomes, false, "cmd/soundstage/cli gives the environment as a map"},
	{"os", "Setenv Chdir", "", true, "scripts and tests run side by side; t.Setenv and t.Chdir undo it"},
	{"os", "Exit Args Stdin Stdout Getwd", "cmd/soundstage/...", false, "main has doors for it"},
	{"os", "Stderr", "cmd/soundstage/... harness/seamtest", false, "main has doors for it"}, // seamtest.Main is a main
	{"net/http", "DefaultClient DefaultTransport Get Head Post PostForm", "harness/seam cmd/soundstage/...", false, "take the client that was built on the seam"},
	{"net/http", "DefaultClient Get Head Post PostForm", "harness/seam", true, "no test reaches the network; seam proves that these are denied"},
	{"os/exec", "Command CommandContext LookPath", "adapters/...", false, "programs are started by adapters"},
	{"fmt", "Print Printf Println", "", false, "write to the writer you were given"},
	{"context", "Background TO" + "DO", "cmd/soundstage/...", false, "ctx comes from main"},
}

// envHomes read the environment: the program's main, and what exists for tests.
const envHomes = "cmd/soundstage/... harness/script harness/seamtest harness/snapshot"

var doorRule = rule{
	name: "doors",
	find: func(tr *tree) []string {
		var found []string
		for _, f := range tr.golang() {
			selectors(f, func(pos token.Pos, pkg, name string) {
				for _, d := range doors {
					if d.pkg != pkg || !slices.Contains(strings.Fields(d.names), name) || f.isTest() != d.tests || covered(d.in, f.pkg()) {
						continue
					}
					// In a bubble of testing/synctest time is not real.
					if slices.Contains(importPaths(f), "testing/synctest") && pkg == "time" {
						continue
					}
					if excused(f, pkg, name) {
						continue
					}
					found = append(found, fmt.Sprintf("%s%s.%s: %s", tr.at(pos), pkg, name, d.instead))
				}
			})
		}
		return found
	},
	plant: `
-- harness/clock/a.go --
package clock
import "time"
var _ = time.Now
-- harness/seam/a.go --
package seam
import (
	stdtime "time"
	"net/http"
	"context"
)
var _ = stdtime.Now
var _ = http.DefaultTransport
func f(time t) { time.Now() }
func g(ctx context.Context) { context.Background() }
-- runtime/gate/a.go --
package gate
import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
)
func f() {
	fmt.Println(os.Getenv("HOME"), rand.Int())
	http.Get("")
	exec.Command("ls")
}
-- runtime/gate/a_test.go --
package gate
import (
	"os"
	"time"
)
func f() {
	time.Now()
	time.Sleep(1)
	os.Getenv("X")
	os.Chdir("")
}
`,
	want: []string{
		"harness/seam/a.go:7: time.Now", "harness/seam/a.go:10: context.Background",
		"runtime/gate/a.go:10: fmt.Println", "runtime/gate/a.go:10: os.Getenv", "runtime/gate/a.go:11: net/http.Get",
		"runtime/gate/a.go:12: os/exec.Command",
		"runtime/gate/a_test.go:8: time.Sleep", "runtime/gate/a_test.go:10: os.Chdir",
	},
}

// excuses are single uses of a door outside of its home, each with its reason.
var excuses = []struct{ file, use, why string }{}

func excused(f *file, pkg, name string) bool {
	for _, e := range excuses {
		if e.file == f.path && e.use == pkg+"."+name {
			return true
		}
	}
	return false
}

// banned are packages that no code imports, but for their homes.
var banned = []struct{ path, in, instead string }{
	{"math/rand", "", "take a seed from the clock"},
	{"math/rand/v2", "", "take a seed from the clock"},
	{"crypto/rand", "harness/clock", "take ids from the clock"},
	{"github.com/google/uuid", "", "take ids from the clock"},
	{"log", "cmd/soundstage/cli", "take a *slog.Logger"}, // its process silences what libraries say there
	{"io/ioutil", "", "use io and os"},
}

var importRule = rule{
	name: "banned imports",
	find: func(tr *tree) []string {
		var found []string
		for _, f := range tr.code() {
			for _, imp := range importPaths(f) {
				for _, b := range banned {
					if b.path == imp && !covered(b.in, f.pkg()) && !seeded(f, b.path) {
						found = append(found, fmt.Sprintf("%s imports %s: %s", f.path, b.path, b.instead))
					}
				}
			}
		}
		return found
	},
	plant: `
-- a/a.go --
package a
import "log"
import "crypto/rand"
-- b/b.go --
package b
import "math/rand/v2"
var x = rand.IntN(3)
-- c/c.go --
package c
import "math/rand/v2"
func f(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
-- harness/clock/a.go --
package clock
import "crypto/rand"
-- b/b_test.go --
package b
import "math/rand/v2"
`,
	want: []string{"a/a.go imports log", "a/a.go imports crypto/rand", "b/b.go imports math/rand/v2"},
}

// seeded reports whether a file uses math/rand/v2 with a given seed only.
func seeded(f *file, imp string) bool {
	if imp != "math/rand/v2" {
		return false
	}
	ok := true
	selectors(f, func(_ token.Pos, pkg, name string) {
		if pkg == imp && !slices.Contains([]string{"New", "NewPCG", "NewChaCha8", "Rand", "Source"}, name) {
			ok = false
		}
	})
	return ok
}

// A library that is handed no client falls back to the process's own, and a test
// would leave the machine beside the seam. So tests that speak HTTP close it first.
var denyRule = rule{
	name: "tests deny the default transport",
	find: func(tr *tree) []string {
		speaks, denies := map[string]string{}, map[string]bool{}
		for _, f := range tr.golang() {
			if !f.isTest() {
				continue
			}
			main := slices.ContainsFunc(f.ast.Decls, func(d ast.Decl) bool {
				fn, ok := d.(*ast.FuncDecl)
				return ok && fn.Name.Name == "TestMain"
			})
			selectors(f, func(pos token.Pos, pkg, name string) {
				switch {
				case pkg == "net/http" && (name == "Client" || strings.HasPrefix(name, "NewRequest")) && speaks[f.pkg()] == "":
					speaks[f.pkg()] = tr.at(pos) + "http." + name
				case main && pkg == module+"harness/seam" && name == "DenyDefaultTransport", main && pkg == module+"harness/seamtest" && name == "Main",
					main && pkg == "net/http" && name == "DefaultTransport":
					denies[f.pkg()] = true
				}
			})
		}
		var found []string
		for _, pkg := range slices.Sorted(maps.Keys(speaks)) {
			if !denies[pkg] {
				found = append(found, speaks[pkg]+": no TestMain of "+pkg+" calls seam.DenyDefaultTransport")
			}
		}
		return found
	},
	plant: `
-- a/a_test.go --
package a
import "net/http"
var c = http.Client{}
-- b/b_test.go --
package b
import "net/http"
var r, _ = http.NewRequest("", "", nil)
-- b/main_test.go --
package b
import "github.com/soundstage-dev/soundstage/harness/seam"
func TestMain() { seam.DenyDefaultTransport() }
-- c/c_test.go --
package c
import "net/http"
import "github.com/soundstage-dev/soundstage/harness/seam"
var c = http.Client{}
func TestDeny() { seam.DenyDefaultTransport() }
-- d/d.go --
package d
import "net/http"
var c = http.Client{}
`,
	want: []string{"a/a_test.go:3: http.Client: no TestMain of a", "c/c_test.go:4: http.Client: no TestMain of c"},
}
