package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// handshake is what a client says until it has the list of tools.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// Store, catalogue and providers are opened when they are first used, and by nothing
// that only tells what there is.
func TestNothingIsOpenedToBeListed(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"tool", "ls"}, {"tool", "show", "studio.list"}, {"mcp"}, {"mcp", "--read-only"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			w := newWorld(t)
			w.write(configName, "model: anthropic/claude-sonnet-4-5\n")
			var out, errs bytes.Buffer
			a := &app{doors: Doors{Args: args, Env: w.env, Dir: w.dir, Clock: w.clock, Stdin: strings.NewReader(handshake), Stdout: &out, Stderr: &errs}}
			root := a.root()
			root.SetArgs(args)
			if err := root.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "studio.list") && args[0] != "version" {
				t.Errorf("it lists nothing:\n%s%s", out.String(), errs.String())
			}
			if a.models != nil && a.models.Opened() != 0 {
				t.Error("the catalogue of models was read")
			}
			if err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && d.Name() != configName {
					t.Errorf("it left %s", path)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheHouseIsOpenedOnFirstUse(t *testing.T) {
	w := journey(t)
	a := &app{doors: Doors{Env: w.env, Dir: w.dir, Clock: w.clock}}
	h, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if len(h.registry.All()) == 0 || h.store.Opens() != 0 || a.models != nil {
		t.Errorf("%d tools, the store was opened %d times, catalogue %v", len(h.registry.All()), h.store.Opens(), a.models)
	}
	for range 2 {
		if _, err := h.facts(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := a.catalog().Find("anthropic/claude-sonnet-4-5"); err != nil {
			t.Fatal(err)
		}
	}
	if h.store.Opens() != 1 || a.catalog().Opened() != 1 {
		t.Errorf("used twice: the store was opened %d times, the catalogue %d times", h.store.Opens(), a.catalog().Opened())
	}
}

// maxInit is what one package may allocate before main begins. Reading the catalogue
// of models takes some megabytes.
const maxInit = 256 << 10

// Nothing is parsed because a package is imported: the runtime says what each
// package's init allocates.
func TestNothingIsReadAtInit(t *testing.T) {
	w := newWorld(t)
	w.env["GODEBUG"] = "inittrace=1"
	p := w.start("version")
	raw := new(bytes.Buffer)
	if _, err := raw.ReadFrom(p.err); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^init (\S+) @.*?, (\d+) bytes`).FindAllStringSubmatch(raw.String(), -1)
	if len(rows) < 50 {
		t.Fatalf("the runtime named %d packages:\n%s", len(rows), raw.String())
	}
	for _, row := range rows {
		if n, err := strconv.Atoi(row[2]); err != nil || n > maxInit {
			t.Errorf("init of %s allocates %s bytes (%v)", row[1], row[2], err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, stateDir)); err == nil {
		t.Error("version made a studio's state")
	}
}
