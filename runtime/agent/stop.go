package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of a turn that the loop ended.
const (
	StopRounds    fault.Code = "STOP_ROUNDS"        // as many model replies as allowed
	StopCalls     fault.Code = "STOP_TOOL_CALLS"    // a batch that would go over the budget of calls
	StopElapsed   fault.Code = "STOP_ELAPSED"       // out of time
	StopIdle      fault.Code = "STOP_NO_PROGRESS"   // rounds that brought nothing new
	StopRepeat    fault.Code = "STOP_REPEATED_READ" // the same piece was read again, unchanged
	StopBudget    fault.Code = "STOP_BUDGET"        // the next request does not fit under a cap, or has no known price
	StopCancelled fault.Code = "STOP_CANCELLED"     // the person gave up
	StopNobody    fault.Code = "STOP_NOBODY"        // a review waits, and nobody answered
	StopDeclined  fault.Code = "STOP_DECLINED"      // a client or a policy declined; no person was asked
	StopRefused   fault.Code = "STOP_REFUSED"       // the model or its provider declined to answer
)

// codeMiss is the seam's: the cassette does not hold a request.
const codeMiss fault.Code = "SEAM_MISS"

// errElapsed is the cause of a context that the loop's own bound ended.
var errElapsed = errors.New("the turn's time is over")

// guidance is one line for each stop: what the person can do next.
var guidance = map[fault.Code]string{
	StopRounds:    "Say \"go on\" to continue where it stopped, or ask for a smaller step.",
	StopCalls:     "Ask for a smaller step, or raise the budget of tool calls.",
	StopElapsed:   "Say \"go on\" to continue where it stopped.",
	StopIdle:      "Say what is missing, or name the piece and the change you want.",
	StopRepeat:    "The piece was read twice and did not change: say what to do with it.",
	StopBudget:    "Raise the cap, or choose a cheaper model.",
	StopCancelled: "Nothing more was run. Say what to do instead.",
	StopNobody:    "Answer the open draft when you are back: apply or discard it.",
	StopDeclined:  "Check the permission settings of the client, then ask again.",
	StopRefused:   "Put the request in other words, or choose another model.",
}

// A halt is why a turn ends before the model is done.
type halt struct {
	label    string
	code     fault.Code // STOP_…, or "" for a failure
	guidance string
	err      error
}

// stopped is a halt by one of the loop's own bounds.
func stopped(code fault.Code, format string, args ...any) *halt {
	label := Stopped
	if code == StopCancelled {
		label = Cancelled
	}
	g := guidance[code]
	return &halt{label: label, code: code, guidance: g, err: fault.New(code, "agent.turn", format, args...).WithHint("%s", g)}
}

// failed is a halt by an error.
func failed(err error) *halt {
	return &halt{label: Failed, guidance: firstLine(fault.HintOf(err)), err: err}
}

// gone is the halt of a context that ended, and nil while it has not.
func gone(ctx context.Context) *halt {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(context.Cause(ctx), errElapsed):
		return stopped(StopElapsed, "the turn took longer than allowed")
	default:
		return stopped(StopCancelled, "the turn was cancelled")
	}
}

// firstLine keeps guidance to one line.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// words is an error without the operation, for people.
func words(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok && err == error(e) {
		if e.Err != nil {
			return e.Message + ": " + words(e.Err)
		}
		return e.Message
	}
	return err.Error()
}

// openNote is added to the guidance where drafts are left.
func openNote(g string, open []string) string {
	if len(open) == 0 {
		return g
	}
	note := fmt.Sprintf("Still open: draft %s.", strings.Join(open, ", "))
	if g == "" {
		return note
	}
	return g + " " + note
}
