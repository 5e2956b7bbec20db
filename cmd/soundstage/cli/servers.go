package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/adapters/agentcli"
	"github.com/soundstage-dev/soundstage/adapters/mcp"
	program "github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// envServers, where it is set, names the servers that may be started, with commas; "none"
// is no name. The scenario engine sets it to that, so that a scenario opts in by name.
const envServers = "SOUNDSTAGE_SERVERS"

const codeServerBarred fault.Code = "SERVER_BARRED" // SOUNDSTAGE_SERVERS does not name it

// configDir is the folder of the person's configuration; "" where nobody has a home.
func (a *app) configDir() string {
	env := a.doors.Env
	switch home := either(env, "HOME", "USERPROFILE"); {
	case filepath.IsAbs(env["XDG_CONFIG_HOME"]):
		return filepath.Join(env["XDG_CONFIG_HOME"], "soundstage")
	case runtime.GOOS == "windows" && env["APPDATA"] != "":
		return filepath.Join(env["APPDATA"], "soundstage")
	case home != "":
		return filepath.Join(home, ".config", "soundstage")
	}
	return ""
}

// serversFile is where the list of servers is.
func (a *app) serversFile() (string, error) {
	dir := a.configDir()
	if dir == "" {
		return "", fault.New(server.CodeFile, "server.file", "neither HOME nor XDG_CONFIG_HOME is set, so there is no place for %s", server.FileName).
			WithHint("set one of them")
	}
	return filepath.Join(dir, server.FileName), nil
}

// readServers reads the list. One that lies in a studio is not used: a studio is passed
// on, and an entry is a command.
func (a *app) readServers() (*server.List, error) {
	file, err := a.serversFile()
	if err != nil {
		return nil, err
	}
	if err := outsideStudios(file); err != nil {
		return nil, err
	}
	return server.Read(file)
}

func outsideStudios(file string) error {
	if _, err := os.Lstat(file); err != nil {
		return nil
	}
	dir := filepath.Dir(file)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if in, err := findStudio(dir); err == nil {
		return fault.New(server.CodeFile, "server.file", "%s lies in the studio %q, and is not used there: an entry is a command that this machine runs", server.FileName, in).
			WithHint("let XDG_CONFIG_HOME name a folder outside of every studio")
	}
	return nil
}

// serverSecrets are what no disk but the list's may see.
func (a *app) serverSecrets() map[string]string {
	out := map[string]string{}
	if l, err := a.readServers(); err == nil { // else none is started
		for _, e := range l.Entries() {
			maps.Copy(out, e.Secrets())
		}
	}
	if dir := a.configDir(); dir != "" {
		if l, err := server.ReadLogins(filepath.Join(dir, server.LoginsName)); err == nil { // else none is used
			maps.Copy(out, l.Secrets())
		}
	}
	return out
}

// servers is the one manager of this process.
func (a *app) servers(door *seam.Seam) *mcp.Servers {
	c := a.serverClock()
	o := mcp.ServersOptions{
		Door: door.MCP, Clock: c, OneByOne: door.Mode() != seam.Live,
		// Not the true version: what is recorded must not change with each release.
		Name: "soundstage", Version: "1",
		Start: func(ctx context.Context, e server.Entry, stderr io.Writer) (io.ReadWriteCloser, error) {
			return program.Open(ctx, program.PipeOptions{
				Dir: a.serverDir(e), Stderr: stderr, Clock: c,
				Command: seam.Command{Args: append([]string{e.Command}, e.Args...), Env: a.serverEnv(e)},
			})
		},
		HTTP: func(server.Entry) http.RoundTripper { return network(a.doors.Env) },
	}
	if l := a.logins(); l != nil {
		o.Login = l.Handler
	}
	return mcp.NewServers(o)
}

// serverDir is where a server runs: in no studio, unless its entry says so.
func (a *app) serverDir(e server.Entry) string {
	home := either(a.doors.Env, "HOME", "USERPROFILE")
	for _, dir := range []string{e.Dir, home} {
		if info, err := os.Stat(dir); dir != "" && (dir == e.Dir || err == nil && info.IsDir()) {
			return dir
		}
	}
	return os.TempDir()
}

// inherited are the variables that a server gets of ours. Keys are none of them.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"SYSTEMROOT", "SYSTEMDRIVE", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "USERNAME", "TEMP", "TMP", "PATHEXT", "COMSPEC", "PROGRAMFILES",
}

func (a *app) serverEnv(e server.Entry) map[string]string {
	out := a.passedOn()
	maps.Copy(out, e.Env)
	return out
}

// passedOn are the variables of ours that a program of somebody else gets.
func (a *app) passedOn() map[string]string {
	out := map[string]string{}
	for _, name := range inherited {
		if v, ok := a.doors.Env[name]; ok {
			out[name] = v
		}
	}
	return out
}

// barred says why a server may not be started; nil: it may.
func (a *app) barred(name string) error {
	only := a.doors.Env[envServers]
	if only == "" || slices.Contains(strings.Split(only, ","), name) {
		return nil
	}
	return fault.New(codeServerBarred, "server.start", "%s is %q, and does not name server %q", envServers, only, name).WithHint("name it there, or unset the variable")
}

// A wornServer is how it stood with a server at the beginning of a turn.
type wornServer struct {
	Name    string   `json:"name" jsonschema:"as mcp.json calls it"`
	Reached bool     `json:"reached" jsonschema:"something could be said to it"`
	Tools   int      `json:"tools" jsonschema:"that the model has"`
	Dropped []string `json:"dropped,omitempty" jsonschema:"tools that it does not have, each with why"`
	Error   string   `json:"error,omitempty" jsonschema:"why the server has no tools, with a code"`
}

// A wornQuery is the question whose recorded answer says which servers a turn had.
type wornQuery struct {
	Turn int    `json:"turn"`
	Text string `json:"text"`
}

// wear puts the tools of other servers on the belt of a turn. What mcp.json says counts
// from the next turn on; in replay the recording alone says which there are, and none is
// started. close ends them.
func (a *app) wear(ctx context.Context, h *house, door *seam.Seam, turn int, text string) (worn []wornServer, end func(), err error) {
	manager := a.servers(door)
	end = func() { manager.Close(ctx) }
	entries, refused := a.wanted(h, door)
	var joined *mcp.Joined
	live := func(ctx context.Context, _ wornQuery) ([]wornServer, error) {
		j, err := manager.Sync(ctx, entries)
		joined = &j
		return append(refused, worns(j.States)...), err
	}
	if len(entries)+len(refused) == 0 {
		live = nil
	}
	worn, ok, err := seam.CallIf(ctx, door, "mcp-servers", wornQuery{turn, text}, live)
	if err != nil || !ok {
		return nil, end, err
	}
	if joined == nil { // they are recorded
		var known []server.Entry
		for _, w := range worn {
			if w.Reached {
				known = append(known, recordedEntry(w.Name, entries))
			}
		}
		j, err := manager.Sync(ctx, known)
		if err != nil {
			return nil, end, err
		}
		joined = &j
	}
	return worn, end, h.wear(*joined)
}

// recordedEntry is the entry of a server that a cassette knows; without a recipe where
// there is none any more.
func recordedEntry(name string, entries []server.Entry) server.Entry {
	for _, e := range entries {
		if e.Name == name {
			return e
		}
	}
	return server.Entry{Name: name, Timeout: server.DefaultTimeout}
}

// wanted are the servers that a turn in the studio may have, and those that it may not.
func (a *app) wanted(h *house, door *seam.Seam) (entries []server.Entry, refused []wornServer) {
	env := a.doors.Env
	if !door.Sends() || agentcli.Is(h.cfg.Model) || isSet(env[envCI]) && env[envLive] != "1" {
		return nil, nil
	}
	refuse := func(name string, err error) {
		refused = append(refused, wornServer{Name: name, Error: fmt.Sprintf("%s: %v", fault.CodeOf(err), err)})
	}
	file, err := a.serversFile()
	if err != nil {
		return nil, nil // nobody can have set one up
	}
	if _, err := os.Lstat(file); err != nil {
		return nil, nil
	}
	list, err := a.readServers()
	if err != nil {
		refuse(server.FileName, err)
		return nil, refused
	}
	for _, r := range list.Rejects() {
		refuse(r.Name, r.Err)
	}
	for _, e := range list.Entries() {
		if !e.Enabled || !e.In(h.dir) {
			continue
		}
		if err := a.barred(e.Name); err != nil {
			refuse(e.Name, err)
			continue
		}
		entries = append(entries, e)
	}
	return entries, refused
}

func worns(states []mcp.State) []wornServer {
	out := []wornServer{}
	for _, s := range states {
		w := wornServer{Name: s.Name, Reached: s.Reached, Tools: s.Tools}
		if s.Err != nil {
			w.Error = fmt.Sprintf("%s: %v", fault.CodeOf(s.Err), s.Err)
		}
		for _, d := range s.Dropped {
			w.Dropped = append(w.Dropped, d.Tool+": "+d.Why)
		}
		out = append(out, w)
	}
	return out
}

// traced is what the trace says of them.
func traced(worn []wornServer) (out []trace.Server) {
	for _, w := range worn {
		code, _, _ := strings.Cut(w.Error, ":")
		out = append(out, trace.Server{Name: w.Name, Tools: w.Tools, Dropped: len(w.Dropped), Code: code})
	}
	return out
}

// wear makes the registry and the table those of the turn. Both get the same tools.
func (h *house) wear(j mcp.Joined) error {
	all, dropped := tool.NewRegistry(h.tools...).Join(j.Tools...)
	if len(dropped) > 0 {
		return fault.New(fault.Internal, "server.wear", "tools of servers have names of ours: %s", strings.Join(dropped, ", "))
	}
	h.registry = newRegistry(all.All())
	h.table = h.table.With(j.Rows...)
	return nil
}

// tellServers says on stderr which servers a turn is without.
func (a *app) tellServers(worn []wornServer) {
	for _, w := range worn {
		switch {
		case a.json:
		case w.Error != "":
			fmt.Fprintf(a.doors.Stderr, "server %s is left out: %s\n", w.Name, w.Error)
		case len(w.Dropped) > 0:
			fmt.Fprintf(a.doors.Stderr, "server %s: %s left out: %s\n", w.Name, count(len(w.Dropped), "tool"), strings.Join(w.Dropped, "; "))
		}
	}
}
