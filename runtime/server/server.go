// Package server is the list of MCP servers of other people that this machine may use:
// mcp.json beside the person's configuration.
//
// It is part of the kernel, and only reads, checks and writes the list. An entry names a
// command that this machine runs, so the file is never in a studio and is its owner's
// alone; the values of variables and headers go in and are only given out to who starts
// the server. It starts nothing and connects to nothing: adapters/mcp does.
package server

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeFile    fault.Code = "SERVER_FILE"    // mcp.json cannot be read as a whole
	CodeEntry   fault.Code = "SERVER_ENTRY"   // one entry says what it must not
	CodeUnknown fault.Code = "SERVER_UNKNOWN" // no entry of that name
	CodeTaken   fault.Code = "SERVER_TAKEN"   // there is an entry of that name
)

// The bounds of the list.
const (
	MaxFile    = 1 << 20 // bytes
	MaxEntries = 64
	maxArgs    = 256
	maxText    = 16 << 10 // of one argument, value or header, in bytes
	maxName    = 32
)

// Everywhere is the scope of a server that all studios use.
const Everywhere = "all"

// How long a call may take.
const (
	DefaultTimeout = time.Minute
	MaxTimeout     = 10 * time.Minute
)

// An Entry is one server: a command that is run, or an address that is asked.
type Entry struct {
	Name    string
	Command string // a name that is looked up in PATH, or an absolute path
	Args    []string
	Env     map[string]string // secrets: never printed
	Dir     string            // where the command runs, absolute; "" is wherever
	URL     string            // of a server over streamable HTTP
	Headers map[string]string // secrets: never printed
	Scope   string            // Everywhere, or the absolute folder of one studio
	Enabled bool
	Timeout time.Duration // of a call
	OAuth   *OAuth        // of a URL: who asks there, beside or without Headers; may be nil
}

// A Reject is an entry that is not used, and why.
type Reject struct {
	Name string
	Err  error
}

// In reports whether the server is for the studio in this folder.
func (e Entry) In(studio string) bool {
	return e.Scope == Everywhere || filepath.Clean(e.Scope) == filepath.Clean(studio)
}

// Secrets are the values that must reach no disk but the list's own, by a name that says
// whose they are.
func (e Entry) Secrets() map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for name, value := range m {
			out[secretName(e.Name, name)] = value
		}
	}
	if e.OAuth != nil && e.OAuth.ClientSecret != "" {
		out[secretName(e.Name, "client")] = e.OAuth.ClientSecret
	}
	return out
}

func secretName(server, what string) string {
	return strings.ToUpper(strings.ReplaceAll(server+"_"+what, "-", "_")) + "_SECRET"
}

// Shown is what a listing says of where the server is: without secrets.
func (e Entry) Shown() string {
	if e.URL != "" {
		address, query, _ := strings.Cut(e.URL, "?")
		if query != "" {
			address += "?…"
		}
		return address
	}
	return strings.Join(append([]string{e.Command}, e.Args...), " ")
}

// EnvNames and HeaderNames are what a listing may say of them.
func (e Entry) EnvNames() []string { return slices.Sorted(maps.Keys(e.Env)) }

// HeaderNames are the names of the headers, in order.
func (e Entry) HeaderNames() []string { return slices.Sorted(maps.Keys(e.Headers)) }

// filled is an entry with its defaults.
func (e Entry) filled() Entry {
	if e.Scope == "" {
		e.Scope = Everywhere
	}
	if e.Timeout == 0 {
		e.Timeout = DefaultTimeout
	}
	return e
}

// Check says what is wrong with an entry; every reason is a [CodeEntry].
func (e Entry) Check() error {
	bad := func(format string, args ...any) error {
		return fault.New(CodeEntry, "server.check", "server %q: %s", clip(e.Name), fmt.Sprintf(format, args...)).
			WithHint("docs/reference/mcp-json.md says what an entry holds")
	}
	switch {
	case !isName(e.Name):
		return bad("the name %q is not 1 to %d of a to z, 0 to 9, - and _ that begin with a letter", clip(e.Name), maxName)
	case e.Command == "" && e.URL == "":
		return bad("it has either a command or a url, and here is none")
	case e.Command != "" && e.URL != "":
		return bad("it has either a command or a url, and here are %q and %q", clip(e.Command), address(e.URL))
	case e.Scope != Everywhere && e.Scope != "" && !filepath.IsAbs(e.Scope):
		return bad("scope %q is neither %q nor the absolute folder of a studio", clip(e.Scope), Everywhere)
	case e.Timeout < 0 || e.Timeout > MaxTimeout || e.Timeout%time.Second != 0:
		return bad("timeout is %s, and not 1 to %d seconds", e.Timeout, int(MaxTimeout/time.Second))
	}
	if e.URL != "" {
		return e.checkURL(bad)
	}
	return e.checkCommand(bad)
}

func (e Entry) checkCommand(bad func(string, ...any) error) error {
	switch {
	case len(e.Headers) > 0 || e.OAuth != nil:
		return bad("headers and oauth are for a url")
	case strings.ContainsAny(e.Command, `/\`) && !filepath.IsAbs(e.Command):
		return bad("command %q is neither a name nor an absolute path", clip(e.Command))
	case e.Dir != "" && !filepath.IsAbs(e.Dir):
		return bad("cwd %q is not absolute", clip(e.Dir))
	case len(e.Args) > maxArgs || len(e.Env) > maxArgs:
		return bad("it has %d arguments and %d variables, and %d of each is the most", len(e.Args), len(e.Env), maxArgs)
	}
	for _, a := range append([]string{e.Command, e.Dir}, e.Args...) {
		if len(a) > maxText || strings.ContainsRune(a, 0) {
			return bad("an argument is longer than %d bytes, or holds a zero byte", maxText)
		}
	}
	for _, name := range e.EnvNames() {
		if name == "" || strings.ContainsAny(name, "=\x00") || len(e.Env[name]) > maxText || strings.ContainsRune(e.Env[name], 0) {
			return bad("variable %q has no name that a variable can have, or a value that is too long", clip(name))
		}
	}
	return nil
}

func (e Entry) checkURL(bad func(string, ...any) error) error {
	u, err := url.Parse(e.URL)
	switch {
	case len(e.Args) > 0 || len(e.Env) > 0 || e.Dir != "":
		return bad("args, env and cwd are for a command, and it has the url %q", address(e.URL))
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.Fragment != "" || len(e.URL) > maxText:
		return bad("url %q is no address of http or https of at most %d bytes", address(e.URL), maxText)
	case u.User != nil:
		return bad("url %q holds a name or a password; use headers", address(e.URL))
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return bad("url %q is http, and leaves this machine; use https", address(e.URL))
	}
	if len(e.Headers) > maxArgs {
		return bad("it has %d headers, and %d is the most", len(e.Headers), maxArgs)
	}
	for _, name := range e.HeaderNames() {
		v := e.Headers[name]
		if !isHeader(name) || len(v) > maxText || strings.ContainsAny(v, "\r\n\x00") {
			return bad("header %q is not a header that an entry may set", clip(name))
		}
	}
	if why := e.OAuth.wrong(); why != "" {
		return bad("%s", why)
	}
	return nil
}

// address is an address for people to read: what may be a password or a key is left out.
func address(text string) string {
	where, _, more := strings.Cut(text, "?")
	where, _, _ = strings.Cut(where, "#")
	scheme, rest, ok := strings.Cut(where, "://")
	if !ok {
		scheme, rest = "", where
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	if more {
		rest += "?…"
	}
	if ok {
		rest = scheme + "://" + rest
	}
	return clip(rest)
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// isName says whether a server can be called s: also as a part of a tool's name, and in
// a cassette.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// isHeader refuses what the protocol sets by itself.
func isHeader(name string) bool {
	low := strings.ToLower(name)
	if name == "" || strings.Trim(low, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.HasPrefix(low, "mcp-") {
		return false
	}
	return !slices.Contains([]string{"host", "accept", "content-type", "content-length", "transfer-encoding", "connection", "last-event-id"}, low)
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
