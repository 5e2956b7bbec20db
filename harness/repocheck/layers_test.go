package repocheck

import (
	"fmt"
	"strings"
)

// leaves are the parts of harness that runtime may use. They import nothing of ours
// but one another, downwards: fault is the shape of every error.
const leaves = "harness/canon harness/clock harness/fault harness/redact"

// layers says what a package may import of this module. The first match wins.
var layers = []struct{ pkg, may, test string }{
	{"cmd/...", "cmd/... adapters/... runtime/... harness/... cassettes docs scenarios", ""},
	{"adapters/...", "runtime/... harness/...", ""}, // and its own adapter, see mayImport
	{"runtime/...", leaves + " runtime/...", "harness/..."},
	{"harness/canon", "harness/fault", "harness/snapshot"},
	{"harness/clock", "", ""},
	{"harness/fault", "", ""},
	{"harness/redact", "harness/canon harness/fault", ""}, // finds a value by its pointer
	{"harness/...", "harness/...", ""},
	{"scenarios", "", "cmd/... harness/..."},
	{"cassettes", "", ""},
	{"docs", "", ""},
	{"docs/examples/...", "", "docs/examples/... harness/..."}, // other people's code: it only tests with us
}

var layerRule = rule{
	name: "layers",
	find: func(tr *tree) []string {
		var found []string
		for _, f := range tr.golang() {
			for _, imp := range importPaths(f) {
				imp, ours := strings.CutPrefix(imp, module)
				if !ours {
					continue
				}
				if why := mayImport(f.pkg(), imp, f.isTest()); why != "" {
					found = append(found, fmt.Sprintf("%s imports %s: %s", f.path, imp, why))
				}
			}
			if layerOf(f.pkg()) < 0 {
				found = append(found, f.path+": no line in layers covers it")
			}
		}
		return found
	},
	plant: `
-- cmd/soundstage/cli/a.go --
package cli
import _ "github.com/soundstage-dev/soundstage/adapters/mcp"
-- adapters/mcp/a.go --
package mcp
import (
	_ "github.com/soundstage-dev/soundstage/adapters/sqlite"
	_ "github.com/soundstage-dev/soundstage/adapters/mcp/wire"
)
-- adapters/format/risu/a.go --
package risu
import _ "github.com/soundstage-dev/soundstage/adapters/format/agnai"
-- runtime/gate/a.go --
package gate
import (
	_ "github.com/soundstage-dev/soundstage/adapters/mcp"
	_ "github.com/soundstage-dev/soundstage/harness/cassette"
	_ "github.com/soundstage-dev/soundstage/harness/clock"
	_ "github.com/soundstage-dev/soundstage/runtime/studio/content"
)
-- runtime/gate/a_test.go --
package gate
import _ "github.com/soundstage-dev/soundstage/harness/snapshot"
-- runtime/studio/story/a.go --
package story
import _ "github.com/soundstage-dev/soundstage/runtime/studio/content"
import _ "github.com/soundstage-dev/soundstage/runtime/studio"
-- runtime/studio/a.go --
package studio
import _ "github.com/soundstage-dev/soundstage/runtime/studio/content"
import _ "github.com/soundstage-dev/soundstage/runtime/studio/merge"
-- harness/seam/a.go --
package seam
import _ "github.com/soundstage-dev/soundstage/runtime/tool"
-- harness/clock/a.go --
package clock
import _ "github.com/soundstage-dev/soundstage/harness/fault"
-- tools/a.go --
package tools
-- harness/cassette/a.go --
package cassette
import _ "github.com/soundstage-dev/soundstage/harness/snapshot"
`,
	want: []string{
		"adapters/mcp/a.go imports adapters/sqlite: adapters never import one another",
		"adapters/format/risu/a.go imports adapters/format/agnai: adapters never",
		"runtime/gate/a.go imports adapters/mcp",
		"runtime/gate/a.go imports harness/cassette",
		"runtime/gate/a.go imports runtime/studio/content: the kernel",
		"runtime/studio/story/a.go imports runtime/studio/content: studios never",
		"runtime/studio/a.go imports runtime/studio/content: studios never",
		"harness/seam/a.go imports runtime/tool",
		"harness/clock/a.go imports harness/fault",
		"tools/a.go: no line in layers covers it",
		"harness/cassette/a.go imports harness/snapshot: only tests",
	},
}

func layerOf(pkg string) int {
	for i, l := range layers {
		if match(l.pkg, pkg) {
			return i
		}
	}
	return -1
}

// mayImport says why pkg must not import imp, or "".
func mayImport(pkg, imp string, test bool) string {
	if pkg == imp { // a package's external test
		return ""
	}
	if imp == "harness/snapshot" && !test {
		return "only tests import snapshot"
	}
	if match("adapters/...", pkg) && match("adapters/...", imp) {
		if room(pkg) == room(imp) {
			return ""
		}
		return "adapters never import one another"
	}
	if (imp == "runtime/studio" || imp == "runtime/studio/merge") && match("runtime/studio/...", pkg) {
		return "" // what all studios stand on
	}
	if match("runtime/studio/...", imp) && match("runtime/...", pkg) && room(pkg) != room(imp) {
		if match("runtime/studio/...", pkg) {
			return "studios never import one another"
		}
		return "the kernel does not know what is built on it"
	}
	i := layerOf(pkg)
	if i < 0 || covered(layers[i].may, imp) || (test && covered(layers[i].test, imp)) {
		return ""
	}
	return "its layer may import only: " + layers[i].may
}

// room is the adapter or the studio that a package belongs to: adapters/mcp,
// adapters/format/risu, runtime/studio/content.
func room(pkg string) string {
	depth := 2
	if match("adapters/format/...", pkg) || match("runtime/studio/...", pkg) {
		depth = 3
	}
	parts := strings.Split(pkg, "/")
	return strings.Join(parts[:min(depth, len(parts))], "/")
}

// homes says where a foreign package may be imported. With test set, tests may
// import it anywhere.
var homes = []struct {
	prefix, in string
	test       bool
	why        string
}{
	{"charm.land/", "adapters/model/...", false, "providers live behind runtime/model"},
	{"github.com/anthropics/", "adapters/model/... docs/examples/...", true, "providers live behind runtime/model"},
	{"github.com/openai/", "adapters/model/... docs/examples/...", true, "providers live behind runtime/model"},
	{"google.golang.org/genai", "adapters/model/...", true, "providers live behind runtime/model"},
	{"github.com/modelcontextprotocol/", "adapters/mcp/... cmd/soundstage/scenario", true, "MCP lives behind the registry"},
	{"modernc.org/sqlite", "adapters/sqlite/...", true, "SQL lives behind runtime/store"},
	{"github.com/jackc/", "adapters/postgres/...", true, "SQL lives behind runtime/store"},
	{"database/sql", "adapters/sqlite/... adapters/postgres/...", true, "SQL lives behind runtime/store"},
	{"os/exec", "adapters/...", true, "programs are started by adapters"},
	{"github.com/spf13/cobra", "cmd/soundstage/...", false, "the command line is one skin"},
	{"github.com/rogpeppe/go-internal/testscript", "harness/script", false, "one engine"},
	{"github.com/sebdah/goldie", "harness/snapshot", false, "it registers flags on import"},
	{"github.com/gkampitakis/go-snaps", "harness/snapshot", false, "one update flag"},
	{"github.com/dnaeon/go-vcr", "", true, "the independent reader, not the engine"},
}

var sdkRule = rule{
	name: "libraries",
	find: func(tr *tree) []string {
		var found []string
		for _, f := range tr.golang() {
			for _, imp := range importPaths(f) {
				for _, h := range homes {
					if strings.HasPrefix(imp, h.prefix) && !covered(h.in, f.pkg()) && (!h.test || !f.isTest()) {
						found = append(found, fmt.Sprintf("%s imports %s: %s (%s)", f.path, imp, h.why, h.in))
					}
				}
			}
		}
		return found
	},
	plant: `
-- adapters/mcp/a.go --
package mcp
import _ "github.com/modelcontextprotocol/go-sdk/mcp"
-- runtime/tool/a.go --
package tool
import _ "github.com/modelcontextprotocol/go-sdk/mcp"
-- runtime/tool/a_test.go --
package tool
import (
	_ "github.com/sebdah/goldie/v2"
	_ "os/exec"
)
-- runtime/draft/a.go --
package draft
import _ "github.com/jackc/pgx/v5"
-- runtime/agent/a.go --
package agent
import fan "charm.land/fantasy"
import "os/exec"
`,
	want: []string{
		"runtime/tool/a.go imports github.com/modelcontextprotocol/go-sdk/mcp",
		"runtime/tool/a_test.go imports github.com/sebdah/goldie/v2",
		"runtime/draft/a.go imports github.com/jackc/pgx/v5",
		"runtime/agent/a.go imports charm.land/fantasy",
		"runtime/agent/a.go imports os/exec",
	},
}
