package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// The results of trace show.
type (
	traceEvent struct {
		Seq  int64           `json:"seq" jsonschema:"1, 2, 3 … in the session"`
		At   string          `json:"at" jsonschema:"when, RFC 3339"`
		Turn int             `json:"turn" jsonschema:"0 before the first"`
		Type string          `json:"type" jsonschema:"what happened"`
		Data json.RawMessage `json:"data" jsonschema:"the payload of the type"`
	}
	traceShow struct {
		Session string       `json:"session" jsonschema:"its id"`
		Events  []traceEvent `json:"events" jsonschema:"in order"`
	}
)

func (a *app) cmdTrace() *cobra.Command {
	c := &cobra.Command{
		Use:     "trace",
		Short:   "Show what happened in a session, and make a scenario of it",
		Example: "  soundstage trace show\n  soundstage trace show s-… --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "show [SESSION]",
		Short:   "Print a session's events (default: the last one's)",
		Example: "  soundstage trace show\n  soundstage trace show s-… --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer h.close()
			return a.showTrace(c.Context(), h, args)
		},
	})
	c.AddCommand(a.cmdTraceScenario())
	return c
}

func (a *app) showTrace(ctx context.Context, h *house, args []string) error {
	dir := filepath.Join(h.dir, stateDir, sessionsDir)
	var id string
	var err error
	if len(args) == 1 {
		id = args[0]
	} else if id, err = session.Last(ctx, dir); err != nil {
		return err
	}
	file, err := session.Path(dir, id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return h.noSession(ctx, "trace.show", id, "name none for the last one")
	}
	out := traceShow{Session: id, Events: []traceEvent{}}
	var events []trace.Event
	for e, err := range trace.Read(file) {
		if err != nil {
			return err
		}
		events = append(events, e)
		out.Events = append(out.Events, traceEvent{e.Seq, e.At.Format("2006-01-02T15:04:05.000Z"), e.Turn, e.Type, e.Data})
	}
	lines, err := session.Transcript(events)
	if err != nil {
		return err
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "session %s\n", id)
		for _, l := range lines {
			fmt.Fprintf(w, "%4d  %s  %-8s %s\n", l.Seq, l.At.Format("15:04:05"), l.Who, oneLine(l.Text))
		}
	})
}
