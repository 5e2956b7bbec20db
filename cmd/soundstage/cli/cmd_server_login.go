package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// The result of server login: nothing of it is secret.
type serverSignedIn struct {
	Name   string   `json:"name" jsonschema:"the server"`
	Scopes []string `json:"scopes" jsonschema:"what it allows"`
	Until  string   `json:"until,omitempty" jsonschema:"when it ends; nothing where that is not known"`
	Renews bool     `json:"renews" jsonschema:"it is refreshed without a person"`
}

// How a server is told who asks, in listings.
const (
	asNobody  = "nobody"
	asHeader  = "header"
	asMachine = "machine"
	asPerson  = "person"
)

// logins are those of the person; nil where nobody has a home.
func (a *app) logins() *login.Logins {
	dir := a.configDir()
	if dir == "" {
		return nil
	}
	return login.New(login.Options{File: filepath.Join(dir, server.LoginsName), Below: network(a.doors.Env), Clock: a.serverClock()})
}

// serverClock is the one of the world: a program takes its time, and a login ends, also
// where a scenario's clock stands.
func (a *app) serverClock() clock.Clock {
	if _, still := a.doors.Clock.(*clock.Fixed); still {
		return clock.Real{}
	}
	return a.doors.Clock
}

// asks says who asks at an entry's address.
func (a *app) asks(e server.Entry) string {
	switch {
	case e.URL == "":
		return ""
	case login.Signed(e):
		return asHeader
	case e.OAuth != nil && e.OAuth.Grant == server.GrantMachine:
		return asMachine
	}
	if l := a.logins(); l != nil {
		if _, ok, err := l.Look(e); err == nil && ok {
			return asPerson
		}
	}
	return asNobody
}

func (a *app) cmdServerLogin() *cobra.Command {
	var port int
	c := &cobra.Command{
		Use: "login NAME", Short: "Sign in to a server that wants to know who asks", Args: cobra.ExactArgs(1),
		Long: `Login finds the issuer that the server names, prints an address to open in a browser, and
waits until you have signed in there. What it gets is in ` + server.LoginsName + ` beside mcp.json, for you
alone, and is refreshed when it ends; it is in no trace and no recording. A turn never asks for it:
it goes on without the server, and says so.

Where the issuer does not register clients by itself, name one that you registered:
server add --client-id, with --port where its address to come back to is fixed
(http://127.0.0.1:PORT/callback).`,
		Example: "  soundstage server login tracker",
		RunE:    func(c *cobra.Command, args []string) error { return a.signIn(c.Context(), args[0], port) },
	}
	c.Flags().IntVar(&port, "port", 0, "the `port` that the browser comes back to (default: a free one)")
	return c
}

func (a *app) signIn(ctx context.Context, name string, port int) error {
	const op = "server.login"
	e, err := a.server(name)
	if err != nil {
		return err
	}
	switch as := a.asks(e); {
	case port < 0 || port > 65535:
		return fault.New(fault.Invalid, op, "port is %d", port).WithHint("give 1 to 65535, or leave it out")
	case as == "":
		return fault.New(fault.Invalid, op, "server %q is a command, and has what it needs from its variables", name).WithHint("set them: soundstage server add %s --replace --env NAME -- …", name)
	case as == asHeader || as == asMachine:
		return fault.New(fault.Invalid, op, "server %q is asked as its entry says: by a %s", name, as).WithHint("look at it: soundstage server show %s", name)
	}
	if err := a.mayReach(name); err != nil {
		return err
	}
	k, err := a.logins().SignIn(ctx, e, login.Asking{Port: port, Show: func(address string) error {
		_, err := fmt.Fprintf(a.doors.Stderr, "Open this address, and sign in:\n%s\n", address)
		return err
	}})
	if err != nil {
		return err
	}
	out := serverSignedIn{Name: name, Scopes: append([]string{}, k.Scopes...), Renews: k.Refresh != ""}
	if !k.Until.IsZero() {
		out.Until = k.Until.Format(time.RFC3339)
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "signed in to server %s", name)
		if len(out.Scopes) > 0 {
			fmt.Fprintf(w, ", for %s", strings.Join(out.Scopes, " "))
		}
		fmt.Fprintln(w)
	})
}

// mayReach says why a server may not be reached now; nil: it may.
func (a *app) mayReach(name string) error {
	if err := a.barred(name); err != nil {
		return err
	}
	o := a.direct()
	return o.Allowed()
}

// direct is a seam that leads to the world and records nothing.
func (a *app) direct() seam.Options {
	env := a.doors.Env
	return seam.Options{Mode: seam.Live, Clock: a.doors.Clock, Transport: network(env), CI: isSet(env[envCI]), AllowLive: env[envLive] == "1"}
}

func (a *app) cmdServerLogout() *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Forget the login to a server", Args: cobra.ExactArgs(1),
		Long:    `Logout forgets what is kept here. The issuer may still hold it good until it ends.`,
		Example: "  soundstage server logout tracker",
		RunE: func(c *cobra.Command, args []string) error {
			had, err := a.forgetLogin(c.Context(), args[0])
			if err != nil {
				return err
			}
			if !had {
				return fault.New(server.CodeUnknown, "server.logout", "nobody is signed in to server %q", args[0]).WithHint("list them: soundstage server ls")
			}
			out := serverChanged{args[0], "signed out"}
			return a.print(out, func(w io.Writer) { fmt.Fprintf(w, "signed out of server %s\n", out.Name) })
		},
	}
}

// forgetLogin says whether there was one.
func (a *app) forgetLogin(ctx context.Context, name string) (bool, error) {
	l := a.logins()
	if l == nil {
		return false, nil
	}
	return l.Forget(ctx, name)
}
