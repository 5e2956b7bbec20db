package seamtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seamtest"
)

// A script of three turns; the word in the middle is the version's.
func threeTurns(word string) string {
	return "turns: [{say: {text: first}}, {say: {text: " + word + "}}, {say: {text: third}}]\n"
}

// A fill and one episode anew change nothing else: the other lines are the same bytes.
func TestFillAndOneEpisodeAnew(t *testing.T) {
	for _, row := range []struct {
		name       string
		env        map[string]string
		from, asks string // what is recorded before, and what the test asks
		kept       string // the numbers of the lines that stay
		has, err   string
	}{
		{"nothing is missing", map[string]string{seamtest.EnvFill: "1"}, "abc", "abc", "1 2 3", "old", ""},
		{"one is missing", map[string]string{seamtest.EnvFill: "a"}, "ab", "abc", "1 2", "third", ""},
		{"all is missing", map[string]string{seamtest.EnvFill: "a"}, "", "abc", "", "new", ""},
		{"another cassette", map[string]string{seamtest.EnvFill: "b"}, "ab", "abc", "1 2", "old", "does not hold this request"},
		{"one anew", map[string]string{seamtest.EnvRecord: "a", seamtest.EnvEpisode: "2"}, "abc", "abc", "1 3", "new", ""},
		{"its request changed", map[string]string{seamtest.EnvRecord: "a", seamtest.EnvEpisode: "2"}, "abc", "aXc", "1 3", "new", ""},
		{"before it the request changed", map[string]string{seamtest.EnvRecord: "a", seamtest.EnvEpisode: "2"}, "abc", "X", "1 2 3", "old", "does not hold this request"},
		{"no such episode", map[string]string{seamtest.EnvRecord: "a", seamtest.EnvEpisode: "7"}, "abc", "", "1 2 3", "old", "7"},
		{"an episode of no cassette", map[string]string{seamtest.EnvRecord: "1", seamtest.EnvEpisode: "2"}, "abc", "", "1 2 3", "old", "set SOUNDSTAGE_RECORD=a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(seamtest.EnvCI, "true")
			root := t.TempDir()
			stage := func(script, asks string, env map[string]string) string {
				for _, name := range []string{seamtest.EnvRecord, seamtest.EnvEpisode, seamtest.EnvFill} {
					t.Setenv(name, env[name])
				}
				p := &probe{TB: t}
				p.run(func() {
					s := seamtest.ForTest(p, "a", seamtest.Root(root), seamtest.Scripted(write(t, "a.upstream.yaml", script)))
					for _, c := range asks {
						get(t, s, fmt.Sprintf(`{"input":%q}`, string(c)))
					}
				})
				return strings.Join(p.errs, "\n")
			}
			old := threeTurns("old")
			if row.from == "ab" {
				old = strings.ReplaceAll(old, ", {say: {text: third}}", "")
			}
			if row.from != "" {
				if err := stage(old, row.from, map[string]string{seamtest.EnvRecord: "a"}); err != "" {
					t.Fatal(err)
				}
			}
			before := episodeLines(t, root)
			if err := stage(threeTurns("new"), row.asks, row.env); !strings.Contains(err, row.err) || (err == "") != (row.err == "") {
				t.Errorf("failure %q, want %q", err, row.err)
			}
			after := strings.Join(episodeLines(t, root), "\n")
			for _, n := range strings.Fields(row.kept) {
				if !strings.Contains(after, before[n[0]-'1']) {
					t.Errorf("episode %s is not byte for byte what it was", n)
				}
			}
			if !strings.Contains(after, row.has) {
				t.Errorf("the cassette does not say %q", row.has)
			}
			if row.err != "" {
				return
			}
			if err := stage("", row.asks, nil); err != "" {
				t.Errorf("replayed: %s", err)
			}
		})
	}
}

// episodeLines are the lines of the cassette's episodes; none where there is no cassette.
func episodeLines(t *testing.T, root string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "a.yaml"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, `"x-key"`) {
			lines = append(lines, line)
		}
	}
	return lines
}
