package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

func (a *app) cmdMCP() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Serve the studio's tools over MCP, on stdin and stdout or over HTTP",
		Long: `Mcp serves the studio in DIR (default: here or above) to an agent. What the gate asks goes
to the agent's person by elicitation, where the client can; else the question waits for a
person at a terminal (soundstage ask), and the agent makes its call again when it is answered.
No tool of the agent can answer. The agent's own permission settings are not relied on.

With --read-only the server is built without every tool that drafts or writes; --tools and
--studio leave out others. What is left out is unknown there, not refused. The belt says which
tools a client's list has; those that are not in it are found and called all the same.

Stories lie below --stories-dir, which is read, and in the --workspace, which is written too:
naming it is your yes to that. Without them it is the workspace of soundstage story open.

A session meets the world live. With --mode replay a cassette answers what would leave the
process; the studio is the real one.

With --record the session is kept as a cassette: what the client asked, what it was
answered, and all that left the process meanwhile. A file is never written over; in a
folder each session has a file of its own. A test replays it without a studio.

With --http many clients are served at the address that is printed first, on this machine
alone: beyond it a token is needed, and encryption by what stands in front. Interrupt it to
end: calls that run come to their end.`,
		Example: `  soundstage mcp install claude-code
  soundstage mcp --read-only
  soundstage mcp --gate autopilot --belt full
  soundstage mcp --tools 'studio.*,!studio.delete'
  soundstage mcp --record sessions/
  soundstage mcp --studio story --stories-dir stories --workspace stories/mine
  soundstage mcp --http --listen 127.0.0.1:7801
  soundstage mcp --http --listen 0.0.0.0:7801 --allow-host studio.example --token-env STUDIO_TOKEN`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.studio = args[0]
			}
			if err := f.http.check(c.Flags()); err != nil {
				return err
			}
			f.places.asked = slices.Contains(f.studios, "story")
			a.places = f.places
			return a.serve(c.Context(), f)
		},
	}
	f.register(c.Flags())
	c.AddCommand(a.cmdMCPInstall(), a.cmdMCPUninstall(), a.cmdMCPDoctor(), a.cmdMCPCall(), a.cmdMCPTap())
	return c
}

func (a *app) serve(ctx context.Context, f mcpFlags) error {
	if err := cmp.Or(f.check(), f.settle()); err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	registry, err := f.registry(h)
	if err != nil {
		return err
	}
	g := h.gate(registry, f.gateMode(h.cfg))
	full := f.posture
	full.belt = beltFull
	factory := mcp.NewFactory(mcp.Options{
		Registry: registry, Gate: g, Table: h.table, Clock: h.clock,
		Name: "soundstage", Version: Version(), Title: "Soundstage studio",
		Instructions:     f.instructions(registry, g.Mode(), seam.Mode(f.mode)),
		FullInstructions: full.instructions(registry, g.Mode(), seam.Mode(f.mode)),
		Elsewhere:        elsewhere, Questions: h.desk(), Where: where,
		Resources: h.resources(registry), Results: h.results, Prompts: studio.Prompts(registry),
	})
	opened := trace.SessionOpened{Skin: "mcp", Mode: f.mode, Gate: string(g.Mode()), Origin: "user", ReadOnly: f.readOnly}
	id := ""
	if !f.http.on {
		id = h.clock.ID("s")
	}
	door, err := a.openSession(h, f, id)
	if err != nil {
		return err
	}
	if door != nil {
		opened.Cassette, a.seam = door.Name(), door.Seam
	}
	if f.http.on {
		err := a.serveHTTP(ctx, h, factory, opened, f)
		return firstOf(err, door.close(a))
	}
	log := &lateLog{house: h, id: id, opened: opened}
	server := factory.Open(mcp.Session{ID: id, Recorder: log, Record: door.mcp(), FullBelt: f.belt == beltFull})
	err = server.Serve(ctx, a.doors.Stdin, a.doors.Stdout)
	return firstOf(err, log.close(), door.close(a))
}

// elsewhere is the command with which a person does what nobody could be asked about.
func elsewhere(tool string, input []byte) string {
	return fmt.Sprintf("A person can do it in the studio's folder: soundstage tool call %s '%s'", tool, strings.ReplaceAll(string(input), "'", `'\''`))
}

// where is the command with which a person answers a question.
func where(id string) string {
	return fmt.Sprintf("A person answers it in the studio's folder: soundstage ask allow %s, or deny.", id)
}

// A lateLog opens the trace of a session at its first event, so that a client that
// only lists tools leaves nothing behind and waits for no disk.
type lateLog struct {
	house  *house
	id     string
	opened trace.SessionOpened

	mu  sync.Mutex
	log *session.Session
}

// Record implements the server's Recorder.
func (l *lateLog) Record(ctx context.Context, turn int, p trace.Payload) (trace.Event, error) {
	log, err := l.begun(ctx)
	if err != nil {
		return trace.Event{}, err
	}
	return log.Record(ctx, turn, p) // without the lock: callers do not wait while another's event is made
}

// begun is the log, opened.
func (l *lateLog) begun(ctx context.Context) (*session.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log != nil {
		return l.log, nil
	}
	log, err := session.Open(ctx, l.house.sessions(), l.id, l.house.tracing(l.id))
	if err != nil {
		return nil, err
	}
	if _, err := log.Record(ctx, 0, l.opened); err != nil {
		_ = log.Close() // it said nothing yet
		return nil, err
	}
	l.log = log
	return log, nil
}

// Sync implements the server's Recorder.
func (l *lateLog) Sync() error { return l.ifOpen((*session.Session).Sync) }

func (l *lateLog) close() error { return l.ifOpen((*session.Session).Close) }

func (l *lateLog) ifOpen(do func(*session.Session) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	return do(l.log)
}
