package script

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

// builtin are testscript's own words.
var builtin = strings.Fields(`cd chmod cmp cmpenv cp env exec exists grep kill mkdir mv rm skip
	stderr stdin stdout stop symlink ttyin ttyout unix2dos unquote wait`)

// A line is one word of a script with what follows it, as far as can be known
// before variables are expanded.
type line struct {
	no   int
	word string
	args []string
}

// parseLines splits the words of a script, without conditions and negation.
func parseLines(script string) []line {
	var lines []line
	no := 0
	for text := range strings.SplitSeq(script, "\n") {
		no++
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Fields(text)
		for len(fields) > 0 && (fields[0] == "!" || strings.HasPrefix(fields[0], "[")) {
			fields = fields[1:]
		}
		if len(fields) > 0 {
			lines = append(lines, line{no, fields[0], fields[1:]})
		}
	}
	return lines
}

// lint finds what is wrong in a script before it runs.
func lint(script string, flags map[string][]string, program string) error {
	if !strings.HasPrefix(script, "# ") {
		return fmt.Errorf("line 1: a scenario begins with a line \"# what it shows, and why\"")
	}
	known := slices.Concat(slices.Collect(maps.Keys(flags)), builtin)
	lines := parseLines(script)
	if err := lintFaults(lines); err != nil {
		return err
	}
	for i, l := range lines {
		if !slices.Contains(known, l.word) {
			return fmt.Errorf("line %d: unknown word %q%s", l.no, l.word, didYouMean(l.word, known))
		}
		if own, ok := flags[l.word]; ok && l.word != program {
			if _, _, err := parseFlags(l.args, own); err != nil {
				return fmt.Errorf("line %d: %s: %w", l.no, l.word, err)
			}
		}
		// testscript keeps the text of its stdin to itself, for exec.
		if l.word == "stdin" && (i+1 == len(lines) || lines[i+1].word != "exec") {
			return fmt.Errorf("line %d: stdin is for exec only; use: input", l.no)
		}
		if l.word == "env" && slices.ContainsFunc(l.args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return strings.Contains(name, "$")
		}) {
			return fmt.Errorf("line %d: env: the name of a variable is written out", l.no)
		}
	}
	return nil
}

// lintFaults reads the faults, so that one behind a condition is read as well.
func lintFaults(lines []line) error {
	first, cassette := 0, false
	for _, l := range lines {
		switch l.word {
		case "cassette":
			cassette = true
		case "fault":
			first = cmp.Or(first, l.no)
			if _, err := chaos.Parse(strings.Join(l.args, " ")); err != nil {
				return fmt.Errorf("line %d: %w\n→ %s", l.no, err, fault.HintOf(err))
			}
		}
	}
	if first > 0 && !cassette {
		return fmt.Errorf("line %d: fault: no cassette is played that it could be laid over", first)
	}
	return nil
}

// envNames are the variables that a script sets with the word env.
func envNames(script string) []string {
	var names []string
	for _, l := range parseLines(script) {
		if l.word != "env" {
			continue
		}
		for _, a := range l.args {
			if name, _, ok := strings.Cut(strings.TrimPrefix(a, "'"), "="); ok {
				names = append(names, name)
			}
		}
	}
	return names
}
