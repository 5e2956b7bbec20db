package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// mcpGrace is how long calls may go on after the server was told to end.
const mcpGrace = 5 * time.Second

// An mcpEvent is one line of what mcp --http prints with --json.
type mcpEvent struct {
	Event    string `json:"event" jsonschema:"ready, then done"`
	URL      string `json:"url" jsonschema:"what a client is given"`
	Sessions int    `json:"sessions,omitempty" jsonschema:"done: how many there were"`
	Requests int    `json:"requests,omitempty" jsonschema:"done: how many came in"`
}

// httpFlags are the flags of mcp --http.
type httpFlags struct {
	on             bool
	listen         string
	tokenEnv       string
	hosts, origins []string
	sessions, rate int
	oauth          string
}

func (f *httpFlags) register(set *pflag.FlagSet) {
	set.BoolVar(&f.on, "http", false, "serve many clients over HTTP, at "+endpoint.Path)
	set.StringVar(&f.listen, "listen", "127.0.0.1:0", "with --http: the `address`; port 0 is a free one")
	set.StringVar(&f.tokenEnv, "token-env", "", "with --http: the `variable` that holds a token which every request must bring")
	set.StringArrayVar(&f.hosts, "allow-host", nil, "with --http: a `name` of this server beside localhost, without a port")
	set.StringArrayVar(&f.origins, "allow-origin", nil, "with --http: a page that may ask, as an `origin` like https://console.example")
	set.StringVar(&f.oauth, "oauth", "", "with --http: a `file` that says who issues tokens, with resource, issuer, keys and scopes")
	set.IntVar(&f.sessions, "max-sessions", endpoint.DefaultSessions, "with --http: how many sessions may be open")
	set.IntVar(&f.rate, "rate", 1000, "with --http: how many requests a second may come")
}

// reached is the address that a client is given: where the server listens on all of them,
// a name that it answers to.
func (f *httpFlags) reached(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return at.String()
	}
	if len(f.hosts) > 0 {
		return net.JoinHostPort(f.hosts[0], port)
	}
	return net.JoinHostPort("localhost", port)
}

// check finds what cannot be together.
func (f *httpFlags) check(set *pflag.FlagSet) error {
	const op = "mcp.http"
	switch {
	case f.on && set.Changed("record"):
		return fault.New(fault.Invalid, op, "--record keeps one session, and --http serves many").WithHint("record a client on stdio, or put soundstage proxy in front (docs/reference/mcp.md)")
	case !f.on:
		for _, name := range []string{"listen", "token-env", "allow-host", "allow-origin", "oauth", "max-sessions", "rate"} {
			if set.Changed(name) {
				return fault.New(fault.Invalid, op, "--%s is for HTTP, and this is stdio", name).WithHint("add --http, or leave it out")
			}
		}
	case f.oauth != "" && f.tokenEnv != "":
		return fault.New(fault.Invalid, op, "--oauth and --token-env are two ways to let somebody in").WithHint("take one of them")
	case f.sessions < 1:
		return fault.New(fault.Invalid, op, "--max-sessions is %d", f.sessions).WithHint("use a whole number from 1 up")
	case f.rate < 1:
		return fault.New(fault.Invalid, op, "--rate is %d", f.rate).WithHint("use a whole number from 1 up")
	}
	return nil
}

// serveHTTP answers many clients until the program is told to end. Each has a session
// and a trace of its own; opened is what the traces begin with.
func (a *app) serveHTTP(ctx context.Context, h *house, factory *mcp.Factory, opened trace.SessionOpened, m mcpFlags) error {
	f := m.http
	token, err := a.token("mcp.token", f.tokenEnv)
	if err != nil {
		return err
	}
	oauth, err := a.oauth(h, f.oauth)
	if err != nil {
		return err
	}
	b := boundary.Options{
		Token: token, Checked: oauth != nil, Hosts: f.hosts, Origins: f.origins,
		Rate: &boundary.Rate{PerSecond: f.rate, Clock: h.clock},
	}
	l, err := b.Listen(ctx, f.listen)
	if err != nil {
		return err
	}
	if host, _, err := net.SplitHostPort(f.listen); err == nil { // clients ask for it by this name
		b.Hosts = append(b.Hosts, host)
	}
	e := endpoint.New(ctx, endpoint.Options{
		Clock: h.clock, MaxSessions: f.sessions, OAuth: oauth,
		Open: factory.Over(func(endpoint.Visitor) (mcp.Session, func() error, error) {
			log := &lateLog{house: h, id: h.clock.ID("s"), opened: opened}
			return mcp.Session{ID: log.id, Recorder: log, FullBelt: m.belt == beltFull}, log.close, nil
		}),
	})
	out := mcpEvent{Event: "ready", URL: "http://" + f.reached(l.Addr()) + endpoint.Path}
	if err := a.print(out, func(w io.Writer) { fmt.Fprintf(w, "# soundstage mcp: %s\n", out.URL) }); err != nil {
		_ = l.Close()
		return err
	}
	if err := e.Serve(ctx, l, b, mcpGrace); err != nil {
		return err
	}
	out.Event = "done"
	out.Sessions, out.Requests = e.Served()
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "# %s, %s\n", count(out.Sessions, "session"), count(out.Requests, "request"))
	})
}
