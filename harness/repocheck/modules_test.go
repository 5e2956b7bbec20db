package repocheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// heavy is what a module that other people's agents import must not require, not
// even for its tests: it would move the versions of the code under test.
var heavy = []string{
	"charm.land/", "github.com/anthropics/", "github.com/openai/", "google.golang.org/genai", "cloud.google.com/",
	"github.com/aws/", "github.com/modelcontextprotocol/", "modernc.org/", "github.com/spf13/",
	"github.com/tidwall/", // theirs: go-snaps would move it
}

// The harness is a module of its own: it requires little, and what it shares with the
// product has one version, so that its tests run with what is shipped.
var moduleRule = rule{
	name: "modules",
	find: func(tr *tree) []string {
		top, there := tr.get("go.mod")
		nested, both := tr.get("harness/go.mod")
		if !there || !both {
			return []string{"go.mod and harness/go.mod are not both there, so nothing was checked"}
		}
		product, harness := required(top.text), required(nested.text)
		var found []string
		for _, m := range slices.Sorted(maps.Keys(harness)) {
			if slices.ContainsFunc(heavy, func(h string) bool { return strings.HasPrefix(m, h) }) {
				found = append(found, fmt.Sprintf("harness/go.mod requires %s: move what needs it to adapters", m))
			}
			if v, shared := product[m]; shared && direct(nested.text, m) && v != harness[m] {
				found = append(found, fmt.Sprintf("harness/go.mod requires %s %s, and go.mod %s", m, harness[m], v))
			}
		}
		if here, _ := tr.get("LICENSE"); here != nil {
			if its, ok := tr.get("harness/LICENSE"); !ok || its.text != here.text {
				found = append(found, "harness/LICENSE is not a copy of LICENSE")
			}
		}
		return found
	},
	plant: `
-- go.mod --
module example.com/a

require example.com/b v1.2.0
require (
	example.com/c v1.0.0 // indirect
	example.com/d v1.0.0
)
-- LICENSE --
a
-- harness/go.mod --
module example.com/a/harness

require (
	example.com/b v1.1.0
	example.com/c v1.0.0
	example.com/d v0.9.0 // indirect
	github.com/openai/openai-go/v3 v3.8.1 // indirect
)
-- harness/LICENSE --
b
`,
	want: []string{
		"harness/go.mod requires example.com/b v1.1.0, and go.mod v1.2.0",
		"harness/go.mod requires github.com/openai/openai-go/v3",
		"harness/LICENSE is not a copy",
	},
}

// required are the modules of a go.mod with their versions.
func required(mod string) map[string]string {
	versions := map[string]string{}
	for row := range strings.Lines(mod) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(row), "require "))
		if len(words) > 1 && strings.Contains(words[0], ".") && strings.HasPrefix(words[1], "v") {
			versions[words[0]] = words[1]
		}
	}
	return versions
}

// direct reports whether a go.mod requires a module for its own imports.
func direct(mod, name string) bool {
	for row := range strings.Lines(mod) {
		if slices.Contains(strings.Fields(row), name) {
			return !strings.Contains(row, "// indirect")
		}
	}
	return false
}
