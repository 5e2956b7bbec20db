package repocheck

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

var (
	cassetteWord = regexp.MustCompile(`(?m)^[ \t]*(?:\[[^\]\n]*\][ \t]*)*cassette[ \t]+(-replay[ \t]+)?([^ \t\n#]+)`)
	goldenWord   = regexp.MustCompile(`(?m)^[ \t]*(?:\[[^\]\n]*\][ \t]*)*golden[ \t]+([^ \t\n#]+)`)
	execWord     = regexp.MustCompile(`(?m)^[ \t]*(?:\[[^\]\n]*\][ \t]*)*!?[ \t]*exec[ \t]`)
)

// journeys is what the scenarios name.
type journeys struct {
	scripts  map[string]string   // area/name to the words
	owners   map[string][]string // cassette to the scenarios that would record it
	players  map[string][]string // cassette to the scenarios that only replay it
	goldens  map[string]bool     // paths of golden files
	children []string            // scenarios that start a process
}

func readJourneys(tr *tree) journeys {
	j := journeys{map[string]string{}, map[string][]string{}, map[string][]string{}, map[string]bool{}, nil}
	for _, f := range tr.files {
		name, ok := strings.CutSuffix(f.path, ".txtar")
		name, below := strings.CutPrefix(name, "scenarios/")
		if !ok || !below {
			continue
		}
		words := string(txtar.Parse([]byte(f.text)).Comment)
		j.scripts[name] = words
		for _, m := range cassetteWord.FindAllStringSubmatch(words, -1) {
			if m[1] == "" {
				j.owners[m[2]] = append(j.owners[m[2]], name)
			} else {
				j.players[m[2]] = append(j.players[m[2]], name)
			}
		}
		for _, m := range goldenWord.FindAllStringSubmatch(words, -1) {
			j.goldens["scenarios/"+name+".golden/"+m[1]] = true
		}
		if execWord.MatchString(words) {
			j.children = append(j.children, name)
		}
	}
	return j
}

var scenarioRule = rule{
	name: "scenarios and cassettes belong together",
	find: func(tr *tree) []string {
		j := readJourneys(tr)
		if len(j.scripts) == 0 {
			return []string{"scenarios: found none, so nothing was checked"}
		}
		found := orphans(tr, j)
		for _, name := range slices.Sorted(maps.Keys(merge(j.owners, j.players))) {
			if _, ok := tr.get("cassettes/" + name + ".yaml"); !ok {
				found = append(found, fmt.Sprintf("cassettes/%s.yaml does not exist, and %v need it", name, append(j.owners[name], j.players[name]...)))
			}
			_, scripted := tr.get("scenarios/" + name + ".upstream.yaml")
			if users := j.owners[name]; scripted && len(users) > 1 {
				found = append(found, fmt.Sprintf("cassette %s would be recorded by each of %v; give all but one: cassette -replay", name, users))
			}
		}
		// A process of its own costs thirty times as much: 5 %, or two while they are few.
		if n := len(j.children); n > max(2, len(j.scripts)/20) {
			found = append(found, fmt.Sprintf("%d of %d scenarios use exec: %v", n, len(j.scripts), j.children))
		}
		return found
	},
	plant: `
-- scenarios/a/one.txtar --
# x
cassette a/one
golden out.txt
-- f --
cassette a/ignored
-- scenarios/a/one.upstream.yaml --
-- scenarios/a/one.golden/out.txt --
-- scenarios/a/one.golden/old.txt --
-- scenarios/a/two.txtar --
# x
[unix] cassette -replay a/one
cassette a/gone
-- scenarios/a/three.txtar --
# x
cassette a/one
exec $SOUNDSTAGE x
-- scenarios/a/four.txtar --
! exec $SOUNDSTAGE x
-- scenarios/a/five.txtar --
exec $SOUNDSTAGE x
-- scenarios/a/lost.upstream.yaml --
-- cassettes/a/one.yaml --
-- cassettes/a/orphan.yaml --
-- cassettes/README.md --
`,
	want: []string{
		"scenarios/a/one.golden/old.txt: no scenario compares anything with it",
		"scenarios/a/lost.upstream.yaml: no scenario records it",
		"cassettes/a/orphan.yaml: no scenario names it",
		"cassettes/a/gone.yaml does not exist",
		"cassette a/one would be recorded by each of [a/one a/three]",
		"3 of 5 scenarios use exec",
	},
}

// orphans are data files that no scenario names.
func orphans(tr *tree, j journeys) []string {
	var found []string
	for _, f := range tr.files {
		name, isCassette := strings.CutPrefix(f.path, "cassettes/")
		name, isYAML := strings.CutSuffix(name, ".yaml")
		if isCassette && isYAML && len(j.owners[name])+len(j.players[name]) == 0 {
			found = append(found, f.path+": no scenario names it")
		}
		name, below := strings.CutPrefix(f.path, "scenarios/")
		name, isScript := strings.CutSuffix(name, ".upstream.yaml")
		if below && isScript && len(j.owners[name]) == 0 {
			found = append(found, f.path+": no scenario records it")
		}
		if below && strings.Contains(path.Dir(f.path), ".golden") && !j.goldens[f.path] {
			found = append(found, f.path+": no scenario compares anything with it")
		}
	}
	return found
}

func merge(a, b map[string][]string) map[string][]string {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}
