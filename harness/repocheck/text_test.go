package repocheck

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// isText reports whether a file is one that people read and write.
func isText(f *file) bool {
	if strings.Contains("/"+f.path, "/cassettes/") || strings.Contains(f.path, "/testdata/") {
		return false
	}
	return !strings.ContainsRune(f.text, 0)
}

// grep reports each line of the text files that pattern matches. The words in the
// patterns of this file are split, so that it does not find itself.
func grep(tr *tree, pattern *regexp.Regexp, why string, but ...string) []string {
	var found []string
	for _, f := range tr.files {
		if !isText(f) || slices.Contains(but, f.path) {
			continue
		}
		for i, text := range strings.Split(f.text, "\n") {
			if m := pattern.FindString(text); m != "" {
				found = append(found, fmt.Sprintf("%s:%d: %q: %s", f.path, i+1, strings.TrimSpace(m), why))
			}
		}
	}
	return found
}

var unfinishedRule = rule{
	name: "nothing unfinished",
	find: func(tr *tree) []string {
		words := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
		return grep(tr, words, "finish it, or open an issue")
	},
	plant: "-- a/a.go --\npackage a\n\n// TO" + "DO: later\n-- b.md --\nautodomain\nFIX" + "ME\n",
	want:  []string{"a/a.go:3:", "b.md:2:"},
}

// machineRule keeps out what is only true on the machine where something was
// written: paths, and the hosts of package registries and their mirrors.
var machineRule = rule{
	name: "no machine or registry",
	find: func(tr *tree) []string {
		hosts := regexp.MustCompile(strings.Join([]string{
			`proxy\.gol` + `ang\.org`, `sum\.gol` + `ang\.org`, `registry\.np` + `mjs`, `py` + `pi\.org`, `deb\.deb` + `ian\.org`, `vuln\.go\.d` + `ev`,
		}, "|"))
		paths := regexp.MustCompile("(^|[\\s\"'`(=:])/(ro" + "ot|wo" + "rk|ho" + "me/[a-z]+|Us" + "ers/[a-z]+)/")
		return append(grep(tr, hosts, "a registry's host"), grep(tr, paths, "a path of one machine", homeExamples...)...)
	},
	plant: "-- a.md --\nsee /wo" + "rk/main\n$WORK/x and a/wo" + "rk/b are fine\n-- b.go --\npackage b\n\n// from proxy.gol" + "ang.org\n",
	want:  []string{"b.go:3:", "a.md:1:"},
}

// homeExamples are files whose subject is what a path of a machine looks like.
var homeExamples = []string{"harness/redact/redact_test.go"}

// Documents stay short enough to be read.
var documentRule = rule{
	name: "documents",
	find: func(tr *tree) []string {
		var found []string
		for _, d := range []struct {
			name string
			max  int
		}{{"README.md", 120}, {"CONTRIBUTING.md", 80}} {
			f, ok := tr.get(d.name)
			if !ok {
				found = append(found, d.name+" is missing")
			} else if f.lines() > d.max {
				found = append(found, fmt.Sprintf("%s has %d lines, more than %d", d.name, f.lines(), d.max))
			}
		}
		return found
	},
	plant: "-- README.md --\n" + strings.Repeat("x\n", 121),
	want:  []string{"README.md has 121 lines", "CONTRIBUTING.md is missing"},
}

// link is a Markdown link or image; what is in a code block is none.
var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```[^\n]*$")
	inline = regexp.MustCompile("`[^`\n]*`")
)

// A link of a document leads to a file or folder of this repository, or away from it.
var linkRule = rule{
	name: "links of documents",
	find: func(tr *tree) []string {
		there := map[string]bool{".": true}
		for _, f := range tr.files {
			for p := f.path; p != "." && !there[p]; p = path.Dir(p) {
				there[p] = true
			}
		}
		var found []string
		for _, f := range tr.files {
			if path.Ext(f.path) != ".md" {
				continue
			}
			text := fenced.ReplaceAllStringFunc(f.text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
			for i, row := range strings.Split(text, "\n") {
				for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(row, "code"), -1) {
					to, anchor, _ := strings.Cut(m[1], "#")
					switch {
					case strings.Contains(m[1], "://"), to == "" && anchor != "":
					case strings.HasPrefix(to, "/"), !there[path.Join(path.Dir(f.path), to)]:
						found = append(found, fmt.Sprintf("%s:%d: link to %s leads nowhere", f.path, i+1, m[1]))
					}
				}
			}
		}
		return found
	},
	plant: "-- README.md --\n[a](docs/a.md) [b](docs) [c](docs/gone.md) [d](https://example.com/x) [e](#x)\n`[f](gone)`\n```\n[g](gone)\n```\n[h](/etc)\n" +
		"-- docs/a.md --\n[a](../README.md#top) [b](../src/x.go) [c](README.md)\n-- src/x.go --\npackage src\n",
	want: []string{"README.md:1: link to docs/gone.md", "README.md:6: link to /etc", "docs/a.md:1: link to README.md"},
}
