package engine

import (
	"context"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/proposal"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Status is how a job stands.
type Status string

// The statuses.
const (
	Running  Status = "running"
	Awaiting Status = "awaiting_input"
	Done     Status = "done"
	Failed   Status = "failed"
)

// A Job is a call in the background.
type Job struct {
	ID     string
	Kind   string // the handler
	Status Status
	Origin string // the state that submitted it
	Result Result
	Error  string
	due    time.Time
	effect *program.Effect

	resumed bool // it was answered
}

// A Notice is a line of the inbox.
type Notice struct {
	Severity string // info, success, warn, error, action_required
	Title    string
	Body     string
	State    string
	Job      string
	Read     bool
}

// Inbox is every notice.
func (s *Session) Inbox() []Notice { return s.inbox }

// Jobs is every job.
func (s *Session) Jobs() []*Job { return s.jobs }

// Ended are the jobs that ended, or began to wait for an answer, since it was last asked.
func (s *Session) Ended() []*Job {
	list := s.ended
	s.ended = nil
	return list
}

// jobID has the shape of a ULID, which is what stories and their readers expect: the time
// of the story's clock in milliseconds, then which job of the session it is.
func jobID(at time.Time, n int) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id := make([]byte, 26)
	for i, v := 25, uint64(n); i >= 10; i, v = i-1, v>>5 {
		id[i] = digits[v&31]
	}
	for i, v := 9, uint64(max(at.UnixMilli(), 0)); i >= 0; i, v = i-1, v>>5 {
		id[i] = digits[v&31]
	}
	return string(id)
}

// submit begins a job. Its handler answers at once, and what it says counts when its
// delay is over.
func (t *turn) submit(ctx context.Context, c machine.Call) error {
	e := c.Effect
	args, _ := t.args(machine.Call{Effect: e, Args: c.Args, World: t.at.World, Slots: c.Slots}, nil)
	j := &Job{ID: jobID(t.s.now, len(t.s.jobs)+1), Kind: e.Invoke, Status: Running, Origin: t.at.State, effect: e}
	res, err := t.s.handlers.Call(ctx, Request{Handler: e.Invoke, Args: args, State: t.at.State, World: t.at.World, Agent: e.Agent, Dir: dirOf(e), Background: true})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	j.Result, j.Error = res, res.Error
	if err != nil {
		j.Error = problemOf(err)
	}
	j.due = t.s.now.Add(res.Delay)
	t.s.jobs = append(t.s.jobs, j)
	key := "last_job_id"
	for _, b := range e.Bind {
		if b.Path == "job_id" {
			key = b.Key
			break
		}
	}
	t.set(key, value.Of(j.ID))
	if key != "last_job_id" {
		t.set("last_job_id", value.Of(j.ID))
	}
	t.event("scheduler.submitted", fields{"namespace": value.Of(e.Invoke), "job_id": value.Of(j.ID), "state": value.Of(t.at.State)})
	t.s.notify(Notice{Severity: "info", Title: "Job submitted: " + e.Invoke, State: t.at.State, Job: j.ID})
	return nil
}

func (s *Session) notify(n Notice) { s.inbox = append(s.inbox, n) }

// Drain ends every job that is due.
func (s *Session) Drain(ctx context.Context) error {
	for _, j := range s.jobs {
		if j.Status != Running || j.due.After(s.now) {
			continue
		}
		if j.Result.Asks != nil {
			j.Status = Awaiting
			s.ended = append(s.ended, j)
			s.notify(Notice{Severity: "action_required", Title: j.Result.Asks.Prompt, State: j.Origin, Job: j.ID})
			continue
		}
		if err := s.complete(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// answerTick is how soon a job sees that it was answered.
const answerTick = 200 * time.Millisecond

// Answer lets a job that waits for an answer go on, when the clock next moves.
func (s *Session) Answer(id string) bool {
	for _, j := range s.jobs {
		if j.ID == id && j.Status == Awaiting {
			j.Result.Asks, j.Status, j.due, j.resumed = nil, Running, s.now.Add(answerTick), true
			return true
		}
	}
	return false
}

// complete ends a job: a turn of its own, with what the story does on it.
func (s *Session) complete(ctx context.Context, j *Job) error {
	j.Status = Done
	if j.Error != "" {
		j.Status = Failed
	}
	s.ended = append(s.ended, j)
	t := s.begin(s.at.State)
	world := t.at.World.Merge(value.Owned(fields{"last_job_id": value.Of(j.ID), "last_job_status": value.Of(string(j.Status))}))
	if !j.Result.Data.IsNil() {
		world = world.With("last_job_result", j.Result.Data)
	}
	t.at.World = world
	t.event("turn.start", fields{"turn": value.Of(t.turn), "kind": value.Of("background_completion"), "job_id": value.Of(j.ID)})
	if list := j.effect.OnComplete; len(list) > 0 && s.at.State == j.Origin {
		if err := t.onComplete(ctx, list); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			t.abandon(err)
		}
	}
	if p := proposal.From(t.at.World); p.Job == j.ID && p.Status == proposal.Executing {
		t.set(proposal.Key, p.Ended(j.Result.Data, j.Error).Value())
	}
	done := fields{"job_id": value.Of(j.ID), "status": value.Of(string(j.Status))}
	if j.Error != "" {
		done["error"] = value.Of(j.Error)
	}
	t.event("scheduler.completed", done)
	t.set("$inbox", s.summary())
	t.event("turn.end", fields{"outcome": value.Of("background_completion"), "job_status": value.Of(string(j.Status))})
	s.finish(t)
	if j.Status == Failed {
		s.notify(Notice{Severity: "error", Title: "Job failed: " + j.Kind, Body: j.Error, State: j.Origin, Job: j.ID})
		return nil
	}
	s.notify(finished(j))
	return nil
}

func finished(j *Job) Notice {
	n := Notice{Severity: "success", Title: "Job done: " + j.Kind, State: j.Origin, Job: j.ID}
	if chat, _ := j.Result.Data.Get("chat_id"); chat.Str() != "" {
		n.Title = "Reply ready"
		if answer, _ := j.Result.Data.Get("answer"); answer.Str() != "" {
			n.Title, n.Body = "Reply ready — "+shortened(answer.Str(), 60), shortened(answer.Str(), 200)
		}
	}
	return n
}

func shortened(s string, n int) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func (s *Session) summary() value.Value {
	unread, needs := 0, 0
	for _, n := range s.inbox {
		if !n.Read {
			unread++
			if n.Severity == "action_required" {
				needs++
			}
		}
	}
	return value.Owned(fields{"unread": value.Of(unread), "needs_attention": value.Of(needs)})
}

// onComplete runs what a story does when a job of it ends.
func (t *turn) onComplete(ctx context.Context, list []*program.Effect) error {
	step, err := t.s.machine.Apply(t.at, list, machine.Application{})
	if err != nil {
		return err
	}
	t.add(step.Events)
	t.at = step.Situation
	led := t.at.State
	t.at.State = t.s.at.State // the calls are those of where the job began
	redirected, err := t.callsOrNone(ctx, step.Calls)
	if err != nil || redirected {
		return err
	}
	t.at.State = led
	for _, e := range list {
		if e.Target == nil {
			continue
		}
		if e.When != nil {
			ok, err := e.When.Bool(t.s.machine.Env(t.at, e.Scope, value.Value{}))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		return t.arrive(ctx, e.Target, e.Scope, "__on_complete_target__")
	}
	return nil
}

// arrive goes to a state by itself: nobody's intent led there.
func (t *turn) arrive(ctx context.Context, target *program.Target, scope *program.Scope, intent string) error {
	from, path := t.at.State, target.Path
	if path == "" {
		raw := target.Raw
		if target.Small != nil {
			text, err := target.Small.Text(t.s.machine.Env(t.at, scope, value.Value{}))
			if err != nil {
				return err
			}
			raw = strings.TrimSpace(text)
		}
		if owner := t.s.story.States[from]; owner != nil {
			path = machine.Resolve(owner, raw)
		}
	}
	to := t.s.story.States[path]
	if to == nil {
		return nil // said at load time where it is no template
	}
	t.event("machine.transition", fields{"from": value.Of(from), "to": value.Of(path), "intent": value.Of(intent)})
	t.event("machine.state_exited", fields{"state": value.Of(from)})
	t.event("machine.state_entered", fields{"state": value.Of(path)})
	t.at.State = path
	if len(to.OnEnter) == 0 {
		return nil
	}
	step, err := t.s.machine.Apply(t.at, to.OnEnter, machine.Application{})
	if err != nil {
		return err
	}
	t.add(step.Events)
	t.at = step.Situation
	_, err = t.callsOrNone(ctx, step.Calls)
	return err
}

// callsOrNone makes the calls of a step that nobody's intent led to. Where one of them
// cannot be followed, what they did counts as not done.
func (t *turn) callsOrNone(ctx context.Context, list []machine.Call) (redirected bool, err error) {
	n := len(t.events)
	t.problem = ""
	redirected, err = t.calls(ctx, list, 0)
	if t.problem != "" && !redirected {
		t.events = t.events[:n]
		t.event("harness.error", fields{"phase": value.Of("calls"), "error": value.Of(t.problem)})
	}
	return redirected, err
}

// abandon gives up a turn of nobody's intent: what it did counts as not done, but for why.
func (t *turn) abandon(err error) {
	t.events = t.events[:1]
	t.event("harness.error", fields{"phase": value.Of("effects"), "error": value.Of(problemOf(err))})
}

type timer struct {
	state  string
	due    time.Time
	target *program.Timeout
}

// arm starts the timeout of a state, and stops that of any other.
func (s *Session) arm(state string) {
	s.timer = nil
	if st := s.story.States[state]; st != nil && st.Timeout != nil && st.Timeout.After > 0 {
		s.timer = &timer{state: state, due: s.now.Add(st.Timeout.After), target: st.Timeout}
	}
}

// Advance moves the story's clock, and lets jobs end and states time out, in order.
func (s *Session) Advance(ctx context.Context, by time.Duration) error {
	until := s.now.Add(by)
	for {
		if err := s.Drain(ctx); err != nil {
			return err
		}
		next, ok := s.next(until)
		if !ok {
			break
		}
		s.now = next
		if s.timer != nil && !s.timer.due.After(s.now) {
			if err := s.fire(ctx); err != nil {
				return err
			}
		}
	}
	s.now = until
	return s.resume(ctx)
}

// resume lets jobs that were answered see it, wherever the clock was moved to: whoever
// waits for them should not have to know how soon they look.
func (s *Session) resume(ctx context.Context) error {
	for _, j := range s.jobs {
		if j.Status == Running && j.resumed && j.due.After(s.now) {
			s.now = j.due
		}
	}
	return s.Drain(ctx)
}

// next is when something is due, up to until.
func (s *Session) next(until time.Time) (at time.Time, ok bool) {
	consider := func(due time.Time) {
		if !due.After(until) && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	if s.timer != nil {
		consider(s.timer.due)
	}
	for _, j := range s.jobs {
		if j.Status == Running {
			consider(j.due)
		}
	}
	return at, ok
}

// fire leaves a state whose time is over.
func (s *Session) fire(ctx context.Context) error {
	tm := s.timer
	s.timer = nil
	if s.at.State != tm.state {
		return nil
	}
	t := s.begin(tm.state)
	to := tm.target.Target.Path
	t.event("turn.start", fields{"turn": value.Of(t.turn), "kind": value.Of("timeout"), "source": value.Of(tm.state)})
	t.event("machine.timeout", fields{"from": value.Of(tm.state), "to": value.Of(to)})
	if err := t.arrive(ctx, &tm.target.Target, nil, "__timeout__"); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		t.abandon(err)
	}
	t.event("turn.end", fields{"outcome": value.Of("timeout"), "to": value.Of(t.at.State)})
	s.finish(t)
	s.arm(s.at.State)
	return nil
}
