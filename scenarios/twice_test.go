package scenarios_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// Every journey with a cassette, run again in another folder, leaves the same store and
// the same traces, byte for byte, after each of its commands.
func TestTwiceGivesTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("each journey runs twice more")
	}
	names := withCassette(t)
	if len(names) < 50 {
		t.Fatalf("only %d scenarios have a cassette", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, skipped := journey(t, name)
			if skipped {
				t.Skip("the scenario cannot run here")
			}
			second, _ := journey(t, name)
			for i := range max(len(first), len(second)) {
				if i >= len(first) || i >= len(second) {
					t.Fatalf("%d commands, and the second time %d", len(first), len(second))
				}
				if first[i].what != second[i].what || first[i].left != second[i].left {
					t.Fatalf("after command %d:\n%s", i+1, differ(first[i], second[i]))
				}
			}
		})
	}
}

// withCassette are the scenarios that replay something, as area/name.
func withCassette(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`(?m)^(\[[^\]]*\] *)*cassette `)
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		if word.MatchString(script) {
			names = append(names, strings.TrimSuffix(filepath.ToSlash(f), ".txtar"))
		}
	}
	return names
}

// A state is what there was after one command.
type state struct {
	what string // the command and its exit status
	left string // the dump and the traces
}

// journey runs a scenario and tells what there was after each of its commands.
func journey(t *testing.T, name string) (states []state, skipped bool) {
	o := options()
	o.Update, o.Record = false, false
	main := o.Main
	var mu sync.Mutex // a server runs beside the script
	o.Main = func(d script.Doors) int {
		code := main(d)
		left := leftIn(t, d.Dir)
		mu.Lock()
		defer mu.Unlock()
		states = append(states, state{fmt.Sprintf("%s: exit %d", strings.Join(d.Args, " "), code), left})
		return code
	}
	var log bytes.Buffer
	res, err := script.Execute(o, name, &log)
	if err != nil || res.Failed > 0 {
		t.Fatalf("%+v, %v\n%s", res, err, log.Bytes())
	}
	for i := range states { // the folder is another one each time
		states[i].what = workFolder().ReplaceAllString(states[i].what, "$$WORK")
	}
	return states, res.Passed == 0
}

func workFolder() *regexp.Regexp { return regexp.MustCompile(`/\S*script-[^/\s]+`) }

// leftIn is the canonical dump and the traces of the studio in dir.
func leftIn(t *testing.T, dir string) string {
	var b bytes.Buffer
	files, err := filepath.Glob(filepath.Join(dir, ".soundstage", "sessions", "*.jsonl"))
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "%s\n%s", filepath.Base(f), text)
	}
	fmt.Fprintln(&b, "the store")
	_ = scenario.Dump(t.Context(), dir, nil, &b) // some journeys damage it on purpose
	return b.String()
}

// differ says what is another thing the second time: in which event of which trace, or
// in which piece, and where in it.
func differ(a, b state) string {
	if a.what != b.what {
		return fmt.Sprintf("%s\nand the second time %s", a.what, b.what)
	}
	one, two, part := strings.Split(a.left, "\n"), strings.Split(b.left, "\n"), ""
	for i := range max(len(one), len(two)) {
		if i >= len(one) || i >= len(two) {
			return fmt.Sprintf("%s: %s ends sooner one time than the other", a.what, part)
		}
		if !strings.HasPrefix(one[i], "{") {
			part = one[i]
		}
		if one[i] == two[i] {
			continue
		}
		var x, y any
		if json.Unmarshal([]byte(one[i]), &x) != nil || json.Unmarshal([]byte(two[i]), &y) != nil {
			return fmt.Sprintf("%s: in %s\n%s\nand the second time\n%s", a.what, part, one[i], two[i])
		}
		return fmt.Sprintf("%s: in %s, %s: %s", a.what, part, title(x), firstDifference("", x, y))
	}
	return "nothing differs"
}

// title names an event or a piece.
func title(v any) string {
	m, _ := v.(map[string]any)
	if m["seq"] != nil {
		return fmt.Sprintf("event %v, %v", m["seq"], m["type"])
	}
	return fmt.Sprintf("piece %v/%v", m["kind"], m["id"])
}

// firstDifference is where two values differ, as a JSON pointer, with both.
func firstDifference(at string, a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			names := slices.Sorted(maps.Keys(x))
			for name := range y {
				if _, both := x[name]; !both {
					names = append(names, name)
				}
			}
			for _, name := range names {
				if d := firstDifference(at+"/"+name, x[name], y[name]); d != "" {
					return d
				}
			}
			return ""
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				if i >= len(x) || i >= len(y) {
					return fmt.Sprintf("%s has %d items, and the second time %d", at, len(x), len(y))
				}
				if d := firstDifference(fmt.Sprintf("%s/%d", at, i), x[i], y[i]); d != "" {
					return d
				}
			}
			return ""
		}
	}
	if one, two := fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b); one != two {
		return fmt.Sprintf("%s is %.300s, and the second time %.300s", at, one, two)
	}
	return ""
}

// The check can fail, and says where.
func TestDifferNames(t *testing.T) {
	event := `{"seq":3,"type":"turn.closed","data":{"list":[1,{"text":"one"}]}}`
	a := state{"run x: exit 0", "s-0001.jsonl\n" + event + "\nthe store\n" + `{"id":"ada","kind":"character","revision":1}`}
	for want, b := range map[string]state{
		`in s-0001.jsonl, event 3, turn.closed: /data/list/1/text is "one", and the second time "two"`: {a.what, strings.Replace(a.left, "one", "two", 1)},
		`in the store, piece character/ada: /revision is 1, and the second time 2`:                     {a.what, strings.Replace(a.left, `"revision":1`, `"revision":2`, 1)},
		"and the second time run x: exit 1":                                                            {"run x: exit 1", a.left},
		"ends sooner":                                                                                  {a.what, a.left + "\n{}"},
	} {
		if got := differ(a, b); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
