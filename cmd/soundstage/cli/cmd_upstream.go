package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// An upstreamEvent is one line of what upstream prints with --json.
type upstreamEvent struct {
	Event   string `json:"event" jsonschema:"ready, then done"`
	Address string `json:"address" jsonschema:"the base URL"`
	Script  string `json:"script" jsonschema:"the file"`
	Turns   int    `json:"turns" jsonschema:"what the script has to say"`
}

func (a *app) cmdUpstream() *cobra.Command {
	listen := ""
	c := &cobra.Command{
		Use:   "upstream SCRIPT",
		Short: "Serve a scripted provider to another process",
		Long: `Upstream listens on this machine and answers as the providers do, with what SCRIPT says
(docs/reference/upstream-scripts.md). It plays the script once and ends when it is interrupted;
a request that did not fit, or a turn that nobody asked for, is an error then. Its answers say that
a script gave them, and "soundstage proxy --mode record" takes them with --origin scripted only.`,
		Example: "  soundstage upstream turns.upstream.yaml\n  soundstage upstream turns.upstream.yaml --listen 127.0.0.1:4000 --json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.upstream(c.Context(), args[0], listen) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "the `address`; port 0 is a free one")
	return c
}

func (a *app) upstream(ctx context.Context, file, listen string) error {
	script, err := upstream.Load(a.path(file))
	if err != nil {
		return err
	}
	l, err := boundary.Listen(ctx, listen, "")
	if err != nil {
		return err
	}
	out := upstreamEvent{Event: "ready", Address: "http://" + l.Addr().String(), Script: file, Turns: script.Len()}
	if err := a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "# soundstage upstream: %s on %s\n", count(out.Turns, "turn"), out.Address)
	}); err != nil {
		_ = l.Close()
		return err
	}
	server := upstream.New(script)
	guarded, err := boundary.Guard(boundary.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(proxy.OriginHeader, "scripted")
		server.ServeHTTP(w, r)
	}))
	if err == nil {
		err = boundary.Serve(ctx, l, guarded, proxyGrace)
	}
	if err == nil {
		err = server.Done()
	}
	out.Event = "done"
	return cmp.Or(err, a.print(out, func(io.Writer) {}))
}
