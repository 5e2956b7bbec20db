package question_test

import (
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
)

// TestDesk walks the states of a question, from two desks over the same rows: the asker's
// and a person's.
func TestDesk(t *testing.T) {
	ctx := t.Context()
	rows, at := memory.New(), clock.NewFixed(clock.Epoch)
	asker, person := question.NewDesk(rows, at), question.NewDesk(rows, at)
	ask := func(id string) {
		t.Helper()
		q := gate.Question{}
		q.ID, q.Tool, q.Session, q.Digest = id, "studio.delete", "s-1", "digest of "+id
		if err := asker.Ask(ctx, q, "a client"); err != nil {
			t.Fatal(err)
		}
	}
	reply := func(id string, choice gate.Choice, code fault.Code) {
		t.Helper()
		if _, err := person.Reply(ctx, id, gate.Answer{Choice: choice, By: gate.Person}); fault.CodeOf(err) != code {
			t.Errorf("reply %s to %s: %v, want code %q", choice, id, err, code)
		}
	}
	open := func(want int) {
		t.Helper()
		if list, err := person.List(ctx, false); err != nil || len(list) != want {
			t.Errorf("%d questions wait, %v; want %d", len(list), err, want)
		}
	}

	ask("q-1")
	open(1)
	reply("q-0", gate.Once, question.CodeNone)
	reply("q-1", gate.ThisSession, fault.Invalid) // one that is asked each time
	reply("q-1", gate.Once, "")
	reply("q-1", gate.No, question.CodeClosed) // too late
	open(0)
	if q, found, err := asker.Waiting(ctx, "s-1", "digest of q-1"); err != nil || !found || q.State != question.Answered {
		t.Errorf("the asker finds %v, %v, %v", q.State, found, err)
	}
	if _, found, _ := asker.Waiting(ctx, "s-2", "digest of q-1"); found {
		t.Error("another session finds the answer")
	}
	own := gate.Answer{Choice: gate.No, By: gate.Nobody}
	if a, err := asker.Settle(ctx, "q-1", own); err != nil || a.Choice != gate.Once || a.By != gate.Person {
		t.Errorf("settled with %+v, %v: the person was faster", a, err)
	}
	if _, err := asker.Settle(ctx, "q-1", own); fault.CodeOf(err) != question.CodeClosed {
		t.Errorf("settled twice: %v", err)
	}

	ask("q-2")
	at.Advance(question.Lifetime - time.Second)
	open(1)
	at.Advance(time.Second)
	open(0)
	reply("q-2", gate.Once, question.CodeClosed) // expired
}
