package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
)

// evil is text that would forge the card if it reached a terminal as it is.
const evil = "Ada\x1b[1A\x1b[2K\r[y] nothing\n    + harmless\u202e\u200b\u009b8m"

// What a card, a model or a file says cannot forge what a person decides on.
func TestNothingForgesTheCard(t *testing.T) {
	review := draft.Review{
		Draft: "d-0001", Target: "character/ada", Title: evil + strings.Repeat("N", 100_000),
		Rows:     []draft.Change{{Label: evil, Before: evil, After: "a" + strings.Repeat(" ", 150) + "[y] apply"}},
		Warnings: []string{evil}, Impact: []draft.Impact{{Platform: evil, Effect: evil}},
	}
	for name, q := range map[string]gate.Question{
		"review": {Title: evil, Review: &review},
		"input":  {Title: evil, Tool: "a.b", Input: `{"x":"` + evil + `"}`},
	} {
		var out bytes.Buffer
		a := newTerminal(strings.NewReader("n\n"), &out, nil).Ask(t.Context(), q)
		if a.Choice != gate.No || a.By != gate.Person {
			t.Errorf("%s: answer %+v", name, a)
		}
		checkHarmless(t, name, out.String())
		lines := strings.Split(out.String(), "\n")
		if want := map[string]int{"review": 10, "input": 5}[name]; len(lines) != want {
			t.Errorf("%s: %d lines, want %d:\n%s", name, len(lines), want, out.String())
		}
		for _, line := range lines {
			if strings.Contains(line, strings.Repeat(" ", 20)) || len(line) > 2000 {
				t.Errorf("%s: a line of %d bytes: %.300q", name, len(line), line)
			}
		}
	}
}

func TestNothingElseForgesATerminal(t *testing.T) {
	var errs bytes.Buffer
	newProgress(&errs, false).Label(agent.Label{Phase: "drafting", Detail: evil})
	checkHarmless(t, "progress", errs.String())

	w := newWorld(t)
	w.must("", "init")
	w.write("ada.json", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada\u001b[2J\r\u202e\n[y]","description":"\u001b]0;x\u0007"}}`)
	checkHarmless(t, "import", w.must("", "import", "--id", "ada", "ada.json"))
	for _, args := range [][]string{
		{"piece", "ls"},
		{"piece", "show", "character/ada"},
		{"piece", "history", "character/ada"},
		{"export", "character/ada", "-o", "out.json"},
		{"tool", "call", "studio.list"},
		{"tool", "call", "studio.read", `{"kind":"character","id":"ada"}`},
	} {
		checkHarmless(t, strings.Join(args, " "), w.must("", args...))
	}
	_, _, stderr := w.do("", "tool", "call", evil)
	checkHarmless(t, "an error", stderr)
}

func checkHarmless(t *testing.T, what, out string) {
	t.Helper()
	for _, r := range out {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Errorf("%s: %q reaches the terminal:\n%q", what, r, out)
			return
		}
	}
}

// A terminal that waits for a key does not keep the turn when it is cancelled.
func TestAskEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, writer := io.Pipe()
	defer writer.Close()
	a := newTerminal(silent, &bytes.Buffer{}, nil).Ask(ctx, gate.Question{Title: "x"})
	if a.Choice != gate.TimedOut || a.By != gate.Nobody {
		t.Errorf("answer %+v", a)
	}
}
