package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A progress shows on standard error what the loop is doing, one line each. The
// answer itself is printed when the turn has ended, because text that was shown
// cannot be taken back.
type progress struct{ w io.Writer }

func newProgress(w io.Writer, quiet bool) agent.Output {
	if quiet {
		w = io.Discard
	}
	return progress{w}
}

// Label implements agent.Output.
func (p progress) Label(l agent.Label) {
	if l.Phase == agent.Thinking {
		return // the line of the call that follows says more
	}
	fmt.Fprintf(p.w, "· %s %s\n", l.Phase, plain.Line(l.Detail, 200))
}

// Partial implements agent.Output.
func (progress) Partial(string) {}

// Withdraw implements agent.Output.
func (progress) Withdraw() {}

// Show implements agent.Output: a choice is a list, and the rest a line. A terminal has
// no composer: the person answers with the next message.
func (p progress) Show(s tool.Show) { writeShow(p.w, s) }

func writeShow(w io.Writer, s tool.Show) {
	if s.Kind != studio.ShowChoice {
		what := s.Target
		if s.Source != "" {
			what += ", " + strings.TrimSpace(s.MIME+" "+s.Source) + " at " + s.Path
		}
		fmt.Fprintf(w, "▸ %s %q (%s)\n", s.Kind, plain.Clip(s.Title, 80), plain.Line(what, 200))
		return
	}
	fmt.Fprintf(w, "▸ %s\n", plain.Line(s.Title, 200))
	for i, o := range s.Options {
		fmt.Fprintf(w, "  %d) %s\n", i+1, plain.Line(o.Label, 200))
		if o.Detail != "" {
			fmt.Fprintf(w, "     %s\n", plain.Line(o.Detail, 200))
		}
	}
}

// Text implements agent.Output.
func (progress) Text(string) {}
