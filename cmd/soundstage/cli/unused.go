package cli

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// A playing is what the scenarios that play a cassette made of it.
type playing struct {
	scenarios []string // those that played it to their end
	failed    []string // those that did not, and so prove nothing
	left      []int    // episodes that none of them asked for, counted from 0
}

// unused runs the scenarios that play any of the cassettes, and says what they left.
func (a *app) unused(cassettes []string, log io.Writer) (map[string]*playing, error) {
	found := map[string]*playing{}
	if _, err := os.Stat(a.path(scenariosDir)); err != nil {
		return found, nil // no scenarios, nothing played
	}
	o := a.scenarios()
	o.Root, o.Cassettes, o.Clock = a.path(scenariosDir), a.path(cassettesDir), a.doors.Clock
	all, err := script.Names(o.Root, "")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range cassettes {
		files = append(files, cassettesDir+"/"+name+".yaml")
	}
	names, err := script.Touched(a.doors.Dir, scenariosDir, cassettesDir, all, files)
	if err != nil || len(names) == 0 {
		return found, err
	}
	var mu sync.Mutex
	o.Unused = func(scenario, cassette string, episodes []int) {
		mu.Lock()
		defer mu.Unlock()
		u := found[cassette]
		if u == nil {
			found[cassette] = &playing{scenarios: []string{scenario}, left: slices.Clone(episodes)}
			return
		}
		u.scenarios = append(u.scenarios, scenario)
		u.left = slices.DeleteFunc(u.left, func(i int) bool { return !slices.Contains(episodes, i) })
	}
	var failed []string
	_, err = script.ExecuteNames(o, names, log, func(end script.Outcome) {
		if end.Verdict != script.Passed {
			failed = append(failed, end.Name)
		}
	})
	if err != nil || len(failed) == 0 {
		return found, err
	}
	return found, a.markFailed(found, cassettes, failed)
}

// markFailed notes the cassettes of scenarios that did not get to their end.
func (a *app) markFailed(found map[string]*playing, cassettes, failed []string) error {
	for _, name := range cassettes {
		plays, err := script.Touched(a.doors.Dir, scenariosDir, cassettesDir, failed, []string{cassettesDir + "/" + name + ".yaml"})
		if err != nil {
			return err
		}
		if len(plays) == 0 {
			continue
		}
		if found[name] == nil {
			found[name] = &playing{}
		}
		found[name].failed = plays
	}
	return nil
}

// played is a cassette's name as scenarios have it.
func played(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), ".yaml")
	return strings.TrimPrefix(name, cassettesDir+"/")
}
