// Package clientfile puts the entry of an MCP server into the configuration of the agents
// that people use, and takes it out again.
//
// It is an adapter to formats of others: JSON, JSON with comments, and TOML. It changes the
// text of a file and never writes it anew: every byte that is not of the entry stays as it
// is, comments and trailing commas too. What it makes is read again and compared before it
// is written, and a file that cannot be read is not written. It keeps a note of what it put
// where (positions and a hash, none of the file's text), so that taking out gives the file
// as it was; without the note, or where the file has changed since, only the entry goes.
//
// It starts no client, makes no backup, and puts no secret into an entry: an entry is a
// command with its arguments.
package clientfile

import (
	stdjson "encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeUnknown   fault.Code = "UNKNOWN_CLIENT"       // no agent of this name is known, or it has no such scope
	CodeMalformed fault.Code = "CLIENTFILE_MALFORMED" // a client's file is not what its format says
	CodeForeign   fault.Code = "CLIENTFILE_TAKEN"     // the name is that of another server
	CodeOutside   fault.Code = "CLIENTFILE_OUTSIDE"   // a link leads out of the folder, or the file is somebody else's
	CodeChanged   fault.Code = "CLIENTFILE_CHANGED"   // somebody wrote the file meanwhile
	CodeFile      fault.Code = "CLIENTFILE_IO"        // it cannot be read or written
)

// A Scope is whose sessions see an entry.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // all of one person's
	Project Scope = "project" // those in one folder, of everybody who has it
)

// An Entry is a server as a client starts it.
type Entry struct {
	Name    string // "soundstage"
	Command string
	Args    []string
}

// A Client is an agent whose configuration is known.
type Client struct {
	Name  string // as on the command line
	Title string
	// Folder is what such a client calls the project's folder in a project's entry; ""
	// where it starts servers in that folder.
	Folder    string
	container string // the member that holds the servers
	toml      bool
	strict    bool // its own reader takes neither comments nor trailing commas
	user      func(w Where) string
	also      string   // another name of the user's file, which is read too
	project   []string // in the project's folder; of several the first that is there
	value     func(e Entry) string
}

// Where is what the places of files depend on.
type Where struct {
	Env     map[string]string
	GOOS    string
	Project string // absolute
}

// clients are in order of name.
var clients = []Client{
	{
		Name: "claude-code", Title: "Claude Code", container: "mcpServers", strict: true,
		user: func(w Where) string {
			return filepath.Join(w.or("CLAUDE_CONFIG_DIR", w.home()), ".claude.json")
		},
		project: []string{".mcp.json"}, value: typed,
	},
	{
		Name: "cline", Title: "Cline (command line)", container: "mcpServers", strict: true,
		user: func(w Where) string {
			return w.or("CLINE_MCP_SETTINGS_PATH", filepath.Join(w.home(), ".cline", "data", "settings", "cline_mcp_settings.json"))
		},
		value: func(e Entry) string { return `{"transport":` + typed(e) + `}` },
	},
	{
		Name: "codex", Title: "Codex", container: "mcp_servers", toml: true,
		user: func(w Where) string {
			return filepath.Join(w.or("CODEX_HOME", filepath.Join(w.home(), ".codex")), "config.toml")
		},
		project: []string{".codex/config.toml"}, value: plain,
	},
	{
		Name: "cursor", Title: "Cursor", Folder: "${workspaceFolder}", container: "mcpServers",
		user:    func(w Where) string { return filepath.Join(w.home(), ".cursor", "mcp.json") },
		project: []string{".cursor/mcp.json"}, value: typed,
	},
	{
		Name: "gemini", Title: "Gemini CLI", container: "mcpServers",
		user:    func(w Where) string { return filepath.Join(w.home(), ".gemini", "settings.json") },
		project: []string{".gemini/settings.json"}, value: plain,
	},
	{
		Name: "opencode", Title: "OpenCode", container: "mcp",
		user: func(w Where) string {
			return filepath.Join(w.or("XDG_CONFIG_HOME", filepath.Join(w.home(), ".config")), "opencode", "opencode.json")
		},
		also:    "opencode.jsonc",
		project: []string{"opencode.jsonc", "opencode.json"},
		value: func(e Entry) string {
			return `{"type":"local","command":` + list(append([]string{e.Command}, e.Args...)) + `,"enabled":true}`
		},
	},
	{
		Name: "vscode", Title: "VS Code", Folder: "${workspaceFolder}", container: "servers",
		user:    func(w Where) string { return filepath.Join(w.config(), "Code", "User", "mcp.json") },
		project: []string{".vscode/mcp.json"}, value: typed,
	},
	{
		Name: "zed", Title: "Zed", container: "context_servers",
		user: func(w Where) string {
			if w.GOOS == "windows" {
				return filepath.Join(w.config(), "Zed", "settings.json")
			}
			return filepath.Join(w.or("XDG_CONFIG_HOME", filepath.Join(w.home(), ".config")), "zed", "settings.json")
		},
		project: []string{".zed/settings.json"}, value: plain,
	},
}

// Clients are the agents that are known, in order of name.
func Clients() []Client { return slices.Clone(clients) }

// Find is the client of a name.
func Find(name string) (Client, error) {
	names := make([]string, 0, len(clients))
	for _, c := range clients {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Client{}, fault.New(CodeUnknown, "mcp.install", "no client %q is known", name).
		WithHint("the clients are %s; for another one see what --print says for claude-code: most read the same", strings.Join(names, ", "))
}

func plain(e Entry) string {
	return `{"command":` + quote(e.Command) + `,"args":` + list(e.Args) + `}`
}

func typed(e Entry) string { return `{"type":"stdio",` + plain(e)[1:] }

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func quote(s string) string {
	b, _ := jsontext.AppendQuote(nil, s) // what is not UTF-8 was refused before
	return string(b)
}

func (w Where) home() string { return w.or("HOME", w.Env["USERPROFILE"]) }

// config is where programs with windows keep their settings.
func (w Where) config() string {
	switch w.GOOS {
	case "windows":
		return w.or("APPDATA", filepath.Join(w.home(), "AppData", "Roaming"))
	case "darwin":
		return filepath.Join(w.home(), "Library", "Application Support")
	}
	return w.or("XDG_CONFIG_HOME", filepath.Join(w.home(), ".config"))
}

// or is a variable of the environment, or what holds without it.
func (w Where) or(name, otherwise string) string {
	if v := w.Env[name]; filepath.IsAbs(v) {
		return v
	}
	return otherwise
}

// A command is what an entry of any client starts.
type command struct {
	Command   stdjson.RawMessage `json:"command"` // a text, or all the words
	Args      []string           `json:"args"`
	Transport *command           `json:"transport"`
}

// words are the command of an entry; nil where it starts none.
func words(raw []byte) []string {
	var c command
	if stdjson.Unmarshal(raw, &c) != nil {
		return nil
	}
	if c.Transport != nil {
		c = *c.Transport
	}
	var all []string
	if stdjson.Unmarshal(c.Command, &all) == nil {
		return all
	}
	var one string
	if stdjson.Unmarshal(c.Command, &one) != nil {
		return nil
	}
	return append([]string{one}, c.Args...)
}

// ours says whether an entry starts this program's server.
func ours(words []string) bool {
	if len(words) < 2 || words[1] != "mcp" {
		return false
	}
	name := words[0][strings.LastIndexAny(words[0], `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "soundstage"
}
