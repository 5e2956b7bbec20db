package cli

import (
	"fmt"
	"io"

	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/plain"
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

// Text implements agent.Output.
func (progress) Text(string) {}
