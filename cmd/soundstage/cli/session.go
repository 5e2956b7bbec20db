package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A conversation is a session that this run of the program has open.
type conversation struct {
	id         string
	turn       int // the one that begins now
	gate       trust.Mode
	log        *session.Session
	history    []model.Message
	remembered []string // tools that the person allowed for the whole session
}

// tracing are the doors of a session's log.
func (h *house) tracing(id string) trace.Options {
	return trace.Options{Session: id, Clock: h.clock, Mask: h.redactor().Mask}
}

// sessions is the folder of the traces.
func (h *house) sessions() string { return filepath.Join(h.dir, stateDir, sessionsDir) }

// claim takes the session that the person wants to go on in for this run alone,
// before anything else is set up. A session that begins has a name and nothing else
// yet: nobody can know it.
func (h *house) claim(ctx context.Context, id string) (*conversation, error) {
	c := &conversation{id: id, gate: trust.Mode(h.cfg.Gate)}
	if c.gate == "" {
		c.gate = trust.Guarded
	}
	if c.id == "" {
		c.id = h.clock.ID("s")
		return c, nil
	}
	path, err := session.Path(h.sessions(), c.id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, h.noSession(ctx, "run", id, "leave --session out to begin one")
	}
	return c, c.open(ctx, h)
}

// noSession is the error of a session that there is not, with those that there are.
func (h *house) noSession(ctx context.Context, op, id, hint string) error {
	const most = 5
	list, err := session.List(ctx, h.sessions())
	if err != nil {
		return err
	}
	var latest []string
	for _, s := range list[:min(len(list), most)] {
		latest = append(latest, s.ID)
	}
	if len(latest) > 0 {
		hint += "; the latest are " + strings.Join(latest, ", ")
	}
	return fault.New(fault.NotFound, op, "no session %q in this studio", id).WithHint("%s", hint)
}

// open opens the session's log, and closes it again on an error.
func (c *conversation) open(ctx context.Context, h *house) error {
	log, err := session.Open(ctx, h.sessions(), c.id, h.tracing(c.id))
	if err != nil {
		return err
	}
	c.log, c.turn = log, log.Turns+1
	var handles []string
	if c.history, err = session.History(log.Events); err == nil {
		c.remembered, err = session.Remembered(log.Events)
	}
	if err == nil {
		handles, err = session.Handles(log.Events)
	}
	if err != nil {
		c.close()
		return err
	}
	h.results.Resume(c.id, handles)
	h.resumeRail(c.id, log.Events)
	return nil
}

// resumeRail puts on the rail what a session had there when it ended.
func (h *house) resumeRail(id string, events []trace.Event) {
	shown, err := session.Shown(events, studio.ShowRail)
	kind, preset, ok := strings.Cut(shown.Target, "/")
	if err == nil && ok { // a trace that does not decode was told of before
		h.rail.Put(id, store.Ref{Kind: kind, ID: preset})
	}
}

// begin writes the first event of a session that has none.
func (c *conversation) begin(ctx context.Context, h *house, door *seam.Seam, f runFlags) error {
	if c.log == nil {
		if err := c.open(ctx, h); err != nil {
			return err
		}
	}
	if !c.log.New {
		return nil
	}
	opened := trace.SessionOpened{
		Skin: "cli", Mode: string(door.Mode()), Gate: string(c.gate), Model: h.cfg.Model, Cassette: f.cassette, Origin: "user",
	}
	if door.Mode() != seam.Live { // it may have been named by the environment
		opened.Cassette = door.Name()
	}
	_, err := c.log.Record(ctx, 0, opened)
	return err
}

// abort notes a turn that could not begin.
func (c *conversation) abort(ctx context.Context, text string, cause error) error {
	for _, p := range []trace.Payload{
		trace.TurnOpened{Input: text},
		trace.TurnClosed{Label: agent.Failed, Stop: string(fault.CodeOf(cause)), Guidance: fault.HintOf(cause)},
	} {
		if _, err := c.log.Record(ctx, c.turn, p); err != nil {
			return err
		}
	}
	return cause
}

func (c *conversation) close() {
	if c.log != nil {
		_ = c.log.Close() // the turn's end was synced
	}
}

// facts are what is so around a turn, one line each.
func (h *house) facts(ctx context.Context, session string) ([]string, error) {
	list, err := h.store.List(ctx, store.Query{})
	if err != nil {
		return nil, err
	}
	facts := []string{fmt.Sprintf("The studio holds %s.", count(len(list), "piece"))}
	drafts, err := h.drafts.List(ctx, false)
	if err != nil {
		return nil, err
	}
	if len(drafts) > 0 {
		facts = append(facts, fmt.Sprintf("%s waiting to be applied or discarded.", count(len(drafts), "draft")))
	}
	if ref, ok := h.rail.On(session); ok {
		facts = append(facts, fmt.Sprintf("On the rail beside the conversation: %s.", ref))
	}
	return facts, nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
