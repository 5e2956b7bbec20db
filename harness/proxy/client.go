package proxy

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A Client is an agent that is known by name: how it is pointed here, and which rules
// its recordings need.
type Client struct {
	Name   string
	Preset string // of package seam
	env    []variable
	notes  []string // what cannot be said in the environment; {url} is the proxy's address
}

// A variable is set for a client. {url} in it is the proxy's address, {key} what it is
// to take for its key.
type variable struct{ name, value string }

var clients = []Client{
	{
		Name: "claude-code", Preset: "claude-code/1",
		env: []variable{
			{"ANTHROPIC_BASE_URL", "{url}"},
			{"ANTHROPIC_API_KEY", "{key}"},
			{"ENABLE_TOOL_SEARCH", "false"},
			{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
			{"DISABLE_TELEMETRY", "1"},
			{"DISABLE_AUTOUPDATER", "1"},
			{"DISABLE_ERROR_REPORTING", "1"},
		},
		notes: []string{"run it with --session-id UUID --no-session-persistence, so that nothing is resumed"},
	},
	{
		Name: "codex", Preset: "codex/1",
		env: []variable{{"OPENAI_BASE_URL", "{url}/v1"}, {"OPENAI_API_KEY", "{key}"}},
		notes: []string{
			"it reads its provider from config.toml: base_url = \"{url}/v1\", env_key = \"OPENAI_API_KEY\", wire_api = \"responses\", request_max_retries = 0",
		},
	},
	{
		Name: "opencode", Preset: "opencode/1",
		env: []variable{{"OPENAI_API_KEY", "{key}"}},
		notes: []string{
			"it reads its provider from opencode.json: options.baseURL = \"{url}/v1\"",
		},
	},
	{
		Name: "cline", Preset: "cline/1",
		env: []variable{{"OPENAI_API_KEY", "{key}"}},
		notes: []string{
			"point it here once: cline auth -p openai-compatible -k \"$OPENAI_API_KEY\" -m MODEL -b {url}/v1",
		},
	},
	{
		Name: "gemini", Preset: "gemini-cli/1",
		env: []variable{{"GOOGLE_GEMINI_BASE_URL", "{url}"}, {"GEMINI_API_KEY", "{key}"}},
	},
}

// anyClient is who is not known.
var anyClient = Client{env: []variable{
	{"ANTHROPIC_BASE_URL", "{url}"},
	{"OPENAI_BASE_URL", "{url}/v1"},
	{"GOOGLE_GEMINI_BASE_URL", "{url}"},
}}

// Clients are the agents that are known by name.
func Clients() []Client { return slices.Clone(clients) }

// ClientNamed finds a client; "" is any.
func ClientNamed(name string) (Client, error) {
	if name == "" {
		return anyClient, nil
	}
	var names []string
	for _, c := range clients {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Client{}, fault.New(fault.NotFound, "proxy.client", "no client is known as %q", name).
		WithHint("use %s, or leave it out", strings.Join(names, ", "))
}

// Rules are the presets that the client's recordings list.
func (c Client) Rules() []string {
	rules := seam.DefaultRules()
	if c.Preset != "" {
		rules = append(rules, c.Preset)
	}
	return rules
}

// Env is what the client's environment should hold, as NAME=value, in order. With key
// "" it keeps the key that it has.
func (c Client) Env(url, key string) []string {
	var out []string
	for _, v := range c.env {
		if v.value == "{key}" && key == "" {
			continue
		}
		out = append(out, v.name+"="+strings.NewReplacer("{url}", url, "{key}", key).Replace(v.value))
	}
	return out
}

// Notes say what else the client needs.
func (c Client) Notes(url string) []string {
	var out []string
	for _, n := range c.notes {
		out = append(out, strings.ReplaceAll(n, "{url}", url))
	}
	return out
}
