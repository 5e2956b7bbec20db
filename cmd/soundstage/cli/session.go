package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// A conversation is a session that this run of the program has open.
type conversation struct {
	id      string
	turn    int // the one that begins now
	gate    trust.Mode
	log     *session.Session
	history []model.Message
}

// tracing are the doors of a session's log.
func (h *house) tracing(id string) trace.Options {
	return trace.Options{Session: id, Clock: h.clock, Mask: h.redactor.Mask}
}

// sessions is the folder of the traces.
func (h *house) sessions() string { return filepath.Join(h.dir, stateDir, sessionsDir) }

// openSession opens a new session, or the one that the person wants to go on in.
func (a *app) openSession(ctx context.Context, h *house, door *seam.Seam, f runFlags) (*conversation, error) {
	c := &conversation{id: f.session, gate: trust.Mode(h.cfg.Gate)}
	if c.gate == "" {
		c.gate = trust.Guarded
	}
	if c.id == "" {
		c.id = h.clock.ID("s")
	}
	log, err := session.Open(ctx, h.sessions(), c.id, h.tracing(c.id))
	if err != nil {
		return nil, err
	}
	c.log, c.turn = log, log.Turns+1
	if log.New && f.session != "" {
		_ = log.Close() // nothing was written
		return nil, fault.New(fault.NotFound, "run", "no session %q in this studio", f.session).
			WithHint("leave --session out to begin one")
	}
	if log.New {
		_, err = log.Record(ctx, 0, trace.SessionOpened{
			Skin: "cli", Mode: string(door.Mode()), Gate: string(c.gate), Model: h.cfg.Model, Cassette: f.cassette, Origin: "user",
		})
	} else {
		c.history, err = session.History(log.Events)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
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

func (c *conversation) close() { _ = c.log.Close() } // the turn's end was synced

// facts are what is so around a turn, one line each.
func (h *house) facts(ctx context.Context) ([]string, error) {
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
	return facts, nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
