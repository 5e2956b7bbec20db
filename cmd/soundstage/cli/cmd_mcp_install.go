package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/adapters/clientfile"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An installResult is what install and uninstall did, or would write.
type installResult struct {
	Client  string   `json:"client" jsonschema:"the agent"`
	Scope   string   `json:"scope" jsonschema:"user or project"`
	File    string   `json:"file" jsonschema:"its configuration"`
	State   string   `json:"state" jsonschema:"added, replaced, unchanged, removed (the entry alone), restored (the file as it was), deleted (the file that install made), absent, or not written (--print)"`
	Command []string `json:"command,omitempty" jsonschema:"what the client starts"`
	Entry   string   `json:"entry,omitempty" jsonschema:"--print: a file that holds nothing but the entry"`
	// Also are the other files of a client that reads two.
	Also []installedAt `json:"also,omitempty" jsonschema:"uninstall: other files of the client that it was in"`
}

// An installedAt is what was done in another file.
type installedAt struct {
	File  string `json:"file" jsonschema:"its configuration"`
	State string `json:"state" jsonschema:"as above"`
}

type installFlags struct {
	scope, name, program string
	print                bool
}

func (f *installFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.scope, "scope", string(clientfile.User), "whose sessions see it, the `scope`: user, or project for those in this folder")
	set.StringVar(&f.name, "name", "soundstage", "what the client calls the server")
}

func clientNames() string {
	var names []string
	for _, c := range clientfile.Clients() {
		names = append(names, c.Name)
	}
	return strings.Join(names, "|")
}

func (a *app) cmdMCPInstall() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install CLIENT [-- MCP-FLAG...]",
		Short: "Put the server into the configuration of an agent",
		Long: `Install writes an entry into the file where CLIENT looks for its servers, one of
` + clientNames() + `.
All else in that file stays as it is, byte for byte, comments too; a file that cannot be
read is not written. Installing again changes nothing; with other flags it changes the
entry. An entry of that name which starts something else is left alone.

The flags of mcp are passed on: those that are listed here, and any behind --. With --scope
user the entry names this program and the studio by their whole paths. With --scope project
it names neither, so that others can have the file: soundstage must be in their PATH.

A link is followed within the home or the project's folder, and not out of it.`,
		Example: `  soundstage mcp install claude-code
  soundstage mcp install codex --studio ~/studio --read-only
  soundstage mcp install vscode --scope project
  soundstage mcp install zed --print`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.install(c.Flags(), f, args) },
	}
	set := c.Flags()
	f.register(set)
	set.BoolVar(&f.print, "print", false, "print the entry and its file, and write nothing")
	set.StringVar(&f.program, "command", "", "the `program` that the entry starts (default: this one)")
	new(mcpFlags).passOn(set)
	return c
}

func (a *app) cmdMCPUninstall() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Take the server out of the configuration of an agent",
		Long: `Uninstall takes out what install put in. A file that nobody wrote since is afterwards what
it was before, to the byte; one that install made is gone. In a file that was written since,
the entry alone goes. An entry that starts something else is left alone.`,
		Example: `  soundstage mcp uninstall claude-code
  soundstage mcp uninstall vscode --scope project`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.place(args[0], f.scope)
			if err != nil {
				return err
			}
			return a.uninstall(p, f)
		},
	}
	f.register(c.Flags())
	return c
}

// uninstall takes the entry out of every file that the client reads.
func (a *app) uninstall(p clientfile.Place, f installFlags) error {
	at := p.Holding(f.name)
	if len(at) == 0 {
		at = []clientfile.Place{p}
	}
	out := installResult{Client: p.Client.Name, Scope: f.scope}
	for i, one := range at {
		state, err := one.Uninstall(f.name)
		if err != nil {
			return err
		}
		if i == 0 {
			out.File, out.State = one.File, string(state)
			continue
		}
		out.Also = append(out.Also, installedAt{one.File, string(state)})
	}
	return a.installed(out)
}

// where is what the places of clients' files depend on.
func (a *app) where() clientfile.Where {
	return clientfile.Where{Env: a.doors.Env, GOOS: runtime.GOOS, Project: a.doors.Dir}
}

func (a *app) place(client, scope string) (clientfile.Place, error) {
	c, err := clientfile.Find(client)
	if err != nil {
		return clientfile.Place{}, err
	}
	return c.Place(a.where(), clientfile.Scope(scope))
}

func (a *app) install(set *pflag.FlagSet, f installFlags, args []string) error {
	p, err := a.place(args[0], f.scope)
	if err != nil {
		return err
	}
	flags, err := a.passed(set, args[1:])
	if err != nil {
		return err
	}
	for i := range flags {
		if p.Scope == clientfile.User {
			flags[i] = a.kept(flags[i])
		}
	}
	e := clientfile.Entry{Name: f.name, Command: f.program}
	if e.Command == "" {
		e.Command = thisProgram(p.Scope)
	}
	folder, err := a.entryFolder(p)
	if err != nil {
		return err
	}
	e.Args = append(append([]string{"mcp"}, flags...), folder...)
	out := installResult{Client: p.Client.Name, Scope: f.scope, File: p.File, State: string(clientfile.WouldWrite), Command: append([]string{e.Command}, e.Args...)}
	if f.print {
		out.Entry, err = p.Snippet(e)
	} else {
		var state clientfile.State
		if at := p.Holding(e.Name); len(at) > 0 { // it is in the client's other file already
			p, out.File = at[0], at[0].File
		}
		state, err = p.Install(e)
		out.State = string(state)
	}
	if err != nil {
		return err
	}
	return a.installed(out)
}

func (a *app) installed(out installResult) error {
	return a.print(out, func(w io.Writer) {
		if out.Entry != "" {
			fmt.Fprintf(w, "# %s\n%s", out.File, out.Entry)
			return
		}
		fmt.Fprintf(w, "%s: %s\n", out.State, out.File)
		for _, at := range out.Also {
			fmt.Fprintf(w, "%s: %s\n", at.State, at.File)
		}
		if len(out.Command) > 0 {
			fmt.Fprintf(w, "  it starts: %s\n", strings.Join(out.Command, " "))
		}
	})
}

// thisProgram is what an entry starts. Programs with windows have no PATH of a shell, so
// that a person's own entry names the file.
func thisProgram(s clientfile.Scope) string {
	const name = "soundstage"
	if s == clientfile.Project {
		return name
	}
	path, err := os.Executable()
	if base := strings.TrimSuffix(filepath.Base(path), ".exe"); err != nil || base != name {
		return name // a test's, or one that go run made
	}
	return path
}

// entryFolder is the argument that says where the studio is; none where it is found
// from the folder that the client starts servers in.
func (a *app) entryFolder(p clientfile.Place) ([]string, error) {
	if stores.Remote(a.studio) {
		return []string{a.studio}, stores.Check(a.studio)
	}
	dir, err := a.studioDir()
	if err != nil {
		return nil, err
	}
	if _, err := readConfig(dir, a.studio); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(a.doors.Dir, dir)
	switch {
	case p.Scope == clientfile.User || err != nil || !filepath.IsLocal(rel):
		return []string{dir}, nil
	case rel == "." && p.Client.Folder == "":
		return nil, nil
	case rel == ".":
		return []string{p.Client.Folder}, nil
	case p.Client.Folder == "":
		return []string{"./" + filepath.ToSlash(rel)}, nil
	}
	return []string{p.Client.Folder + "/" + filepath.ToSlash(rel)}, nil
}

// passOn adds the flags of mcp that make sense for a client that starts the server. Where
// a flag of ours has the same name, mcp's is behind --.
func (f *mcpFlags) passOn(set *pflag.FlagSet) {
	all, web := pflag.NewFlagSet("mcp", pflag.ContinueOnError), pflag.NewFlagSet("http", pflag.ContinueOnError)
	f.register(all)
	new(httpFlags).register(web)
	all.VisitAll(func(flag *pflag.Flag) {
		if web.Lookup(flag.Name) == nil && set.Lookup(flag.Name) == nil && flag.Name != "studio" {
			set.AddFlag(flag)
		}
	})
}

// passed are the flags for mcp that were given, as it takes them.
func (a *app) passed(set *pflag.FlagSet, behind []string) ([]string, error) {
	const op = "mcp.install"
	known := pflag.NewFlagSet("mcp", pflag.ContinueOnError)
	new(mcpFlags).register(known)
	web := pflag.NewFlagSet("http", pflag.ContinueOnError)
	new(httpFlags).register(web)
	if err := known.Parse(behind); err != nil {
		return nil, fault.New(fault.Invalid, op, "behind --: %v", err).WithHint("see: soundstage mcp --help")
	}
	if known.NArg() > 0 {
		return nil, fault.New(fault.Invalid, op, "%q is no flag of mcp", known.Arg(0)).WithHint("name the studio's folder with --studio, before --")
	}
	var out []string
	var err error
	add := func(flag *pflag.Flag) {
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch {
		case web.Lookup(flag.Name) != nil:
			err = fault.New(fault.Invalid, op, "--%s is for HTTP, and a client that starts a server speaks on stdio", flag.Name)
		case flag.Value.Type() == "bool" && value == "true":
			out = append(out, "--"+flag.Name)
		default:
			out = append(out, "--"+flag.Name+"="+value)
		}
	}
	set.Visit(func(flag *pflag.Flag) {
		if flag.Name != "studio" && known.Lookup(flag.Name) != nil && !known.Changed(flag.Name) {
			add(flag)
		}
	})
	known.Visit(add)
	return out, err
}

// kept is a flag that means the same in whatever folder a client starts the server.
func (a *app) kept(flag string) string {
	name, value, _ := strings.Cut(flag, "=")
	if name != "--record" && name != "--cassette" {
		return flag
	}
	file, folder := a.sessionFile(value, "s")
	if folder {
		file = filepath.Dir(file) + string(filepath.Separator)
	}
	return name + "=" + file
}
