package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/lock"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The results of the server commands. None holds the value of a variable or a header.
type (
	serverRow struct {
		Name    string   `json:"name" jsonschema:"as its tools and a cassette call it"`
		Where   string   `json:"where" jsonschema:"the command or the address, secrets masked"`
		Scope   string   `json:"scope" jsonschema:"all, or the folder of the one studio that uses it"`
		Enabled bool     `json:"enabled" jsonschema:"whether turns use it"`
		Env     []string `json:"env" jsonschema:"names of the variables that it gets"`
		Headers []string `json:"headers" jsonschema:"names of the headers that it gets"`
		Asks    string   `json:"asks,omitempty" jsonschema:"who asks at an address: nobody, header, machine, or person (who signed in)"`
		Timeout int      `json:"timeout" jsonschema:"seconds that a call may take"`
	}
	serverReject struct {
		Name    string `json:"name" jsonschema:"as the file calls it"`
		Code    string `json:"code" jsonschema:"SERVER_…"`
		Message string `json:"message" jsonschema:"why it is not used"`
	}
	serverList struct {
		Servers []serverRow    `json:"servers" jsonschema:"by name"`
		Rejects []serverReject `json:"rejects" jsonschema:"entries that are not used"`
	}
	serverChanged struct {
		Name string `json:"name" jsonschema:"the server"`
		Did  string `json:"did" jsonschema:"added, replaced, enabled, disabled, removed or signed out"`
	}
	serverTool struct {
		Tool     string      `json:"tool" jsonschema:"the id here"`
		Name     string      `json:"name" jsonschema:"what a model calls it"`
		Class    trust.Class `json:"class" jsonschema:"always egress"`
		Exposure string      `json:"exposure" jsonschema:"direct, or deferred: found by capability.find"`
		Findings []string    `json:"findings" jsonschema:"what some clients do not like in its schema"`
	}
	serverTested struct {
		Name    string       `json:"name" jsonschema:"the server"`
		Tools   []serverTool `json:"tools" jsonschema:"those that join the belt"`
		Dropped []string     `json:"dropped" jsonschema:"those that do not, each with why"`
	}
)

func (a *app) cmdServer() *cobra.Command {
	c := &cobra.Command{
		Use:   "server",
		Short: "Say which MCP servers of other people the model may use",
		Long: `A server's tools are on the model's belt as mcp_SERVER_TOOL, from the next turn on. Each call
leaves the machine as far as the gate is concerned: it asks, unless the gate is full.

The list is mcp.json in your configuration folder, for you alone, and never in a studio:
an entry is a command that this machine runs. Values of variables and headers go in and
are not printed again. No tool can change the list.`,
		Example: `  soundstage server add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  soundstage server add tracker --url https://mcp.example.com/mcp --header Authorization
  soundstage server test files
  soundstage server disable files`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdServerAdd(), a.cmdServerLs(), a.cmdServerShow(), a.cmdServerSwitch("enable", true), a.cmdServerSwitch("disable", false), a.cmdServerRm(), a.cmdServerTest(), a.cmdServerLogin(), a.cmdServerLogout())
	return c
}

// serverFlags are the flags of add.
type serverFlags struct {
	env, headers            []string
	url, scope, dir         string
	timeout                 int
	client, secret, issuer  string
	replace, disabled, bare bool
	machine                 bool
}

func (a *app) cmdServerAdd() *cobra.Command {
	var f serverFlags
	c := &cobra.Command{
		Use:   "add NAME [-- COMMAND [ARG…]]",
		Short: "Add a server, or replace one",
		Long: `Add stores how a server is started or reached; nothing is started yet. --env and --header
take NAME=VALUE, or NAME alone: the value is then the variable NAME of this environment, and
not in your shell's history (a header's is the variable with _ for each -, in upper case).
With --replace, variables and headers that are not given stay as they are stored.`,
		Example: `  soundstage server add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  soundstage server add tracker --url https://mcp.example.com/mcp --header Authorization
  soundstage server add files --replace --scope here -- files-server --root /srv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.addServer(c.Context(), args[0], args[1:], f) },
	}
	set := c.Flags()
	set.StringArrayVar(&f.env, "env", nil, "a `variable` that the command gets: NAME, or NAME=VALUE")
	set.StringArrayVar(&f.headers, "header", nil, "a `header` that the address gets: NAME, or NAME=VALUE")
	set.StringVar(&f.url, "url", "", "the `address` of a server over streamable HTTP")
	set.StringVar(&f.scope, "scope", server.Everywhere, "which studios use it: all, here, or a studio's `folder`")
	set.StringVar(&f.dir, "cwd", "", "the `folder` that the command runs in (default: your home)")
	set.IntVar(&f.timeout, "timeout", int(server.DefaultTimeout/time.Second), "the `seconds` that a call may take")
	set.StringVar(&f.client, "client-id", "", "the `client` that you registered with the address's issuer, for login")
	set.StringVar(&f.secret, "client-secret", "", "the `variable` of this environment that holds the client's secret")
	set.StringVar(&f.issuer, "issuer", "", "the `address` of the only issuer that may see the client and its secret")
	set.BoolVar(&f.machine, "machine", false, "the client signs in by itself, with its secret, and no person does")
	set.BoolVar(&f.replace, "replace", false, "replace the server of this name")
	set.BoolVar(&f.disabled, "disabled", false, "store it, and do not use it yet")
	set.BoolVar(&f.bare, "forget", false, "with --replace: forget the variables and headers that are stored")
	return c
}

func (a *app) addServer(ctx context.Context, name string, command []string, f serverFlags) error {
	e := server.Entry{Name: name, URL: f.url, Enabled: !f.disabled, Timeout: time.Duration(f.timeout) * time.Second}
	if f.timeout < 1 {
		return fault.New(fault.Invalid, "server.add", "timeout is %d", f.timeout).WithHint("give seconds, from 1 to %d", int(server.MaxTimeout/time.Second))
	}
	if len(command) > 0 {
		e.Command, e.Args = command[0], command[1:]
		if strings.ContainsAny(e.Command, `/\`) {
			e.Command = a.path(e.Command)
		}
	}
	if f.dir != "" {
		e.Dir = a.path(f.dir)
	}
	var err error
	if e.Scope, err = a.scope(f.scope); err != nil {
		return err
	}
	if e.Env, err = a.pairs("--env", f.env, f.bare, func(n string) string { return n }); err != nil {
		return err
	}
	e.Headers, err = a.pairs("--header", f.headers, f.bare, func(n string) string { return strings.ToUpper(strings.ReplaceAll(n, "-", "_")) })
	if err != nil {
		return err
	}
	if e.OAuth, err = a.clientOf(f); err != nil {
		return err
	}
	return a.changeServers(ctx, func(l *server.List) (serverChanged, error) {
		did := "added"
		if l.Has(name) {
			if did = "replaced"; !f.replace {
				return serverChanged{}, fault.New(server.CodeTaken, "server.add", "there is a server %q", name).WithHint("replace it with --replace, or give another name")
			}
		}
		return serverChanged{name, did}, l.Put(e)
	})
}

// clientOf is what the flags say of the client that signs in; nil where they say nothing,
// unless what is stored is to be forgotten.
func (a *app) clientOf(f serverFlags) (*server.OAuth, error) {
	o := server.OAuth{ClientID: f.client, Issuer: f.issuer}
	if f.machine {
		o.Grant = server.GrantMachine
	}
	if f.secret != "" {
		if o.ClientSecret = a.doors.Env[f.secret]; o.ClientSecret == "" {
			return nil, fault.New(fault.Invalid, "server.add", "--client-secret names %q, which is not set", f.secret).WithHint("export %s=…", f.secret)
		}
	}
	if o == (server.OAuth{}) && (f.url == "" || !f.bare) {
		return nil, nil
	}
	return &o, nil
}

// scope is what the flag means.
func (a *app) scope(flag string) (string, error) {
	switch flag {
	case server.Everywhere:
		return flag, nil
	case "here":
		return a.studioDir()
	}
	return a.path(flag), nil
}

// pairs are the values of a flag; nil where it was not given, unless none means none.
func (a *app) pairs(flag string, given []string, none bool, variable func(string) string) (map[string]string, error) {
	if len(given) == 0 && !none {
		return nil, nil
	}
	out := map[string]string{}
	for _, kv := range given {
		name, value, has := strings.Cut(kv, "=")
		if !has {
			if value, has = a.doors.Env[variable(name)]; !has {
				return nil, fault.New(fault.Invalid, "server.add", "%s %q has no value, and %s is not set", flag, name, variable(name)).
					WithHint("export %s=…, or write %s=VALUE", variable(name), name)
			}
		}
		out[name] = value
	}
	return out, nil
}

// changeServers reads the list, changes it and saves it. What another process does at the
// same time is not lost.
func (a *app) changeServers(ctx context.Context, do func(l *server.List) (serverChanged, error)) error {
	file, err := a.serversFile()
	if err != nil {
		return err
	}
	if in, err := findStudio(filepath.Dir(file)); err == nil {
		return fault.New(server.CodeFile, "server.file", "%s would lie in the studio %q", server.FileName, in).
			WithHint("let XDG_CONFIG_HOME name a folder outside of every studio")
	}
	unlock, err := lock.File(ctx, file+".lock")
	if err != nil {
		return fault.Wrap(err, server.CodeFile, "server.file", "take the lock of %s", server.FileName).
			WithHint("look who may write the folder of your settings")
	}
	defer unlock()
	list, err := a.readServers()
	if err != nil {
		return err
	}
	out, err := do(list)
	if err != nil {
		return err
	}
	if err := list.Save(file); err != nil {
		return err
	}
	return a.print(out, func(w io.Writer) { fmt.Fprintf(w, "%s server %s\n", out.Did, out.Name) })
}

func (a *app) cmdServerLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the servers, and the entries that are not used", Args: cobra.NoArgs,
		Example: "  soundstage server ls",
		RunE: func(*cobra.Command, []string) error {
			list, err := a.readServers()
			if err != nil {
				return err
			}
			out := serverList{Servers: []serverRow{}, Rejects: []serverReject{}}
			for _, e := range list.Entries() {
				out.Servers = append(out.Servers, a.serverRow(e))
			}
			for _, r := range list.Rejects() {
				out.Rejects = append(out.Rejects, serverReject{r.Name, string(fault.CodeOf(r.Err)), r.Err.Error()})
			}
			return a.print(out, func(w io.Writer) { writeServers(w, out) })
		},
	}
}

func writeServers(w io.Writer, l serverList) {
	if len(l.Servers)+len(l.Rejects) == 0 {
		fmt.Fprintln(w, "no servers; add one: soundstage server add NAME -- COMMAND")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SERVER\tSTATE\tSCOPE\tWHERE")
	for _, r := range l.Servers {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, onOff(r.Enabled), r.Scope, r.Where)
	}
	for _, r := range l.Rejects {
		fmt.Fprintf(t, "%s\trejected\t\t%s: %s\n", r.Name, r.Code, r.Message)
	}
	_ = t.Flush() // to a writer that was checked when it was opened
}

func onOff(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

// serverRow is an entry without secrets.
func (a *app) serverRow(e server.Entry) serverRow {
	return serverRow{
		Name: e.Name, Where: a.redactor("").MaskString(e.Shown()), Scope: e.Scope, Enabled: e.Enabled,
		Env: append([]string{}, e.EnvNames()...), Headers: append([]string{}, e.HeaderNames()...), Asks: a.asks(e),
		Timeout: int(e.Timeout / time.Second),
	}
}

func (a *app) cmdServerShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a server, without its secrets", Args: cobra.ExactArgs(1),
		Example: "  soundstage server show files",
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := a.server(args[0])
			if err != nil {
				return err
			}
			r := a.serverRow(e)
			return a.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s (%s, scope %s, %d s a call)\n%s\n", r.Name, onOff(r.Enabled), r.Scope, r.Timeout, r.Where)
				if len(r.Env) > 0 {
					fmt.Fprintf(w, "variables: %s\n", strings.Join(r.Env, ", "))
				}
				if len(r.Headers) > 0 {
					fmt.Fprintf(w, "headers: %s\n", strings.Join(r.Headers, ", "))
				}
				switch r.Asks {
				case asPerson:
					fmt.Fprintf(w, "signed in; to end that: soundstage server logout %s\n", r.Name)
				case asMachine:
					fmt.Fprintf(w, "signs in by itself, as client %s\n", e.OAuth.ClientID)
				}
			})
		},
	}
}

// server is one entry that can be used.
func (a *app) server(name string) (server.Entry, error) {
	list, err := a.readServers()
	if err != nil {
		return server.Entry{}, err
	}
	return list.Get(name)
}

func (a *app) cmdServerSwitch(word string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: word + " NAME", Short: map[bool]string{true: "Let turns use a server", false: "Keep a server, and let no turn use it"}[on], Args: cobra.ExactArgs(1),
		Example: "  soundstage server " + word + " files",
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeServers(c.Context(), func(l *server.List) (serverChanged, error) {
				e, err := l.Get(args[0])
				if err != nil {
					return serverChanged{}, err
				}
				e.Enabled = on
				return serverChanged{e.Name, word + "d"}, l.Put(e)
			})
		},
	}
}

func (a *app) cmdServerRm() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "Forget a server, with its secrets", Args: cobra.ExactArgs(1),
		Example: "  soundstage server rm files",
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeServers(c.Context(), func(l *server.List) (serverChanged, error) {
				if !l.Has(args[0]) {
					_, err := l.Get(args[0])
					return serverChanged{}, err
				}
				if _, err := a.forgetLogin(c.Context(), args[0]); err != nil {
					return serverChanged{}, err
				}
				l.Remove(args[0])
				return serverChanged{args[0], "removed"}, nil
			})
		},
	}
}

func (a *app) cmdServerTest() *cobra.Command {
	return &cobra.Command{
		Use: "test NAME", Short: "Start a server and list its tools as the model would get them", Args: cobra.ExactArgs(1),
		Long: `Test connects to a server, disabled or not, and ends it again. It calls no tool. What it
finds in schemas is for information: they reach the model as they are.`,
		Example: "  soundstage server test files",
		RunE:    func(c *cobra.Command, args []string) error { return a.testServer(c.Context(), args[0]) },
	}
}

// tested is err with a next step: a turn's is this command, which was just run.
func tested(name string, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "soundstage server test") {
		return err
	}
	return e.WithHint("look at the entry: soundstage server show %s; change it: soundstage server add %s --replace …", name, name)
}

func (a *app) testServer(ctx context.Context, name string) error {
	e, err := a.server(name)
	if err != nil {
		return err
	}
	if err := a.mayReach(name); err != nil {
		return err
	}
	door, err := seam.Open(a.direct())
	if err != nil {
		return err
	}
	manager := a.servers(door)
	defer manager.Close(ctx)
	joined, err := manager.Sync(ctx, []server.Entry{e})
	if err != nil {
		return err
	}
	state := joined.States[0]
	if state.Err != nil {
		if said := strings.TrimSpace(state.Stderr); said != "" && !a.json {
			fmt.Fprintf(a.doors.Stderr, "%s\n", a.redactor("").MaskString(said))
		}
		return tested(name, state.Err)
	}
	out := serverTested{Name: name, Tools: []serverTool{}, Dropped: []string{}}
	for _, t := range joined.Tools {
		out.Tools = append(out.Tools, serverTool{t.ID, t.Name(), trust.Egress, string(t.Exposure), append([]string{}, tool.Lint(t.Input())...)})
	}
	for _, d := range state.Dropped {
		out.Dropped = append(out.Dropped, d.Tool+": "+d.Why)
	}
	return a.print(out, func(w io.Writer) { writeTested(w, out) })
}

func writeTested(w io.Writer, r serverTested) {
	fmt.Fprintf(w, "server %s: %s\n", r.Name, count(len(r.Tools), "tool"))
	for _, t := range r.Tools {
		fmt.Fprintf(w, "  %s (%s)\n", t.Name, t.Exposure)
		for _, f := range t.Findings {
			fmt.Fprintf(w, "    schema: %s\n", f)
		}
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(w, "  left out: %s\n", d)
	}
}
