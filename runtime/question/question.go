// Package question is the list of what the gate of a studio asked, across all of its
// processes: who asked, about what, until when, and who answered.
//
// It is part of the kernel, above gate and below the skins. A skin that cannot ask its
// own person puts a question here and leaves; a person answers it in another skin; the
// asker takes the answer when it comes again. It runs nothing: runtime/gate does, in the
// process that asked. No tool has a way to it, so that nobody approves their own wish.
package question

import (
	"context"
	"fmt"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
)

// The bounds of a studio.
const (
	MaxOpen    = 1_000 // questions that wait
	MaxSettled = 1_000 // that are kept when they wait no more; the oldest are forgotten
)

// Lifetime is how long a question waits for an answer.
const Lifetime = time.Hour

// The codes of this package.
const (
	CodeNone    fault.Code = "QUESTION_NONE"     // no such question in this studio
	CodeClosed  fault.Code = "QUESTION_CLOSED"   // it waits for nobody any more
	CodeTooMany fault.Code = "QUESTION_TOO_MANY" // too many wait
	CodeWaits   fault.Code = "GATE_PENDING"      // asked, and a person can answer it elsewhere
)

// A State is where a question is on its way.
type State string

// The states.
const (
	Open     State = "open"     // waits for a person
	Answered State = "answered" // a person answered; the asker has not come for it yet
	Settled  State = "settled"  // the asker has it
	Expired  State = "expired"  // nobody answered in time
)

// Pending says that the asker may still come for it.
func (s State) Pending() bool { return s == Open || s == Answered }

// A Question is one of a gate with who asked.
type Question struct {
	gate.Question
	Rev     int64        `json:"rev"`    // 1, then one more a write
	Client  string       `json:"client"` // what the asking program calls itself: it is not to be relied on
	State   State        `json:"state"`
	Expires time.Time    `json:"expires"`
	Answer  *gate.Answer `json:"answer,omitempty"`
	Updated time.Time    `json:"updated"`
}

// Rows keeps questions. Every method is one transaction, and what it reported as done is
// not lost by kill -9.
type Rows interface {
	// PutQuestion writes q if the stored revision is q.Rev-1, else it is fault.Conflict.
	// A first one is CodeTooMany where MaxOpen wait at now; settled ones over MaxSettled
	// are forgotten then.
	PutQuestion(ctx context.Context, q Question, now time.Time) error
	// GetQuestion is CodeNone where there is none.
	GetQuestion(ctx context.Context, id string) (Question, error)
	// ListQuestions returns the pending ones, or all, the newest first.
	ListQuestions(ctx context.Context, all bool) ([]Question, error)
}

// A Desk is where questions are laid down and answered. It is safe for concurrent use,
// and many may share the same rows.
type Desk struct {
	rows  Rows
	clock clock.Clock
}

// NewDesk makes a desk over rows.
func NewDesk(rows Rows, c clock.Clock) *Desk { return &Desk{rows, c} }

// Ask lays a question down.
func (d *Desk) Ask(ctx context.Context, q gate.Question, client string) error {
	now := d.clock.Now()
	return d.rows.PutQuestion(ctx, Question{
		Question: q, Rev: 1, Client: gate.Peek(client, 100), State: Open, Expires: now.Add(Lifetime), Updated: now,
	}, now)
}

// Get returns a question as it is now.
func (d *Desk) Get(ctx context.Context, id string) (Question, error) {
	q, err := d.rows.GetQuestion(ctx, id)
	return d.aged(q), err
}

// List returns the questions that wait, or all that are kept, the newest first.
func (d *Desk) List(ctx context.Context, all bool) ([]Question, error) {
	list, err := d.rows.ListQuestions(ctx, all)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, q := range list {
		if q = d.aged(q); all || q.State == Open {
			kept = append(kept, q)
		}
	}
	return kept, nil
}

// aged is a question with its time taken into account.
func (d *Desk) aged(q Question) Question {
	if q.State == Open && !d.clock.Now().Before(q.Expires) {
		q.State = Expired
	}
	return q
}

// Waiting finds the pending question of a session about one exact call. What a person
// answered before it expired counts also after.
func (d *Desk) Waiting(ctx context.Context, session, digest string) (Question, bool, error) {
	list, err := d.rows.ListQuestions(ctx, false)
	if err != nil {
		return Question{}, false, err
	}
	for _, q := range list {
		if q.Session == session && q.Digest == digest {
			return d.aged(q), true, nil
		}
	}
	return Question{}, false, nil
}

// Reply is a person's word on a question that is open.
func (d *Desk) Reply(ctx context.Context, id string, a gate.Answer) (Question, error) {
	const op = "question.reply"
	q, err := d.Get(ctx, id)
	if err != nil {
		return q, err
	}
	if q.State != Open {
		return q, closed(op, q)
	}
	if a.Choice == gate.ThisSession && !q.MayRemember {
		return q, fault.New(fault.Invalid, op, "%s is asked about each time, so a yes for the whole session is not offered", q.Tool).
			WithHint("say yes to this one alone")
	}
	q, err = d.put(ctx, q, Answered, &a)
	if fault.CodeOf(err) == fault.Conflict { // somebody was faster
		if now, gerr := d.Get(ctx, id); gerr == nil {
			return now, closed(op, now)
		}
	}
	return q, err
}

// Settle closes a question with the answer that its asker has of its own, and returns the
// one that counts: a person's who was faster elsewhere, where there is one.
func (d *Desk) Settle(ctx context.Context, id string, own gate.Answer) (gate.Answer, error) {
	for {
		q, err := d.Get(ctx, id)
		if err != nil {
			return own, err
		}
		switch q.State {
		case Answered:
			own = *q.Answer
		case Settled:
			return own, closed("question.settle", q)
		}
		if _, err = d.put(ctx, q, Settled, &own); fault.CodeOf(err) == fault.Conflict {
			continue // it was answered in between
		}
		return own, err
	}
}

func (d *Desk) put(ctx context.Context, q Question, s State, a *gate.Answer) (Question, error) {
	now := d.clock.Now()
	q.Rev, q.State, q.Answer, q.Updated = q.Rev+1, s, a, now
	return q, d.rows.PutQuestion(ctx, q, now)
}

// closed is the error of a question that waits no more.
func closed(op string, q Question) error {
	how := string(q.State)
	if q.Answer != nil {
		how = fmt.Sprintf("answered %s by %s", q.Answer.Choice, q.Answer.By)
	}
	return fault.New(CodeClosed, op, "question %s waits no more: %s", q.ID, how).WithHint("see what waits: soundstage ask ls")
}

// None is the error of a question that there is not.
func None(op, id string) error {
	return fault.New(CodeNone, op, "no question %q in this studio", id).WithHint("see what waits: soundstage ask ls")
}

// Changed is the error of a write that somebody else was ahead of.
func Changed(op, id string) error {
	return fault.New(fault.Conflict, op, "question %s was written by somebody else meanwhile", id).WithHint("read it again")
}

// TooMany is the error of a studio in which too many questions wait.
func TooMany(op string) error {
	return fault.New(CodeTooMany, op, "%d questions wait for an answer, which is the most", MaxOpen).
		WithHint("a person answers some: soundstage ask ls")
}
