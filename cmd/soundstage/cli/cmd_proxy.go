package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// codeUnused says that a replay left episodes that nobody asked for.
const codeUnused fault.Code = "SEAM_UNUSED"

// proxyGrace is how long requests may go on after the proxy was told to end.
const proxyGrace = 2 * time.Second

// A proxyEvent is one line of what the proxy prints with --json.
type proxyEvent struct {
	Event    string   `json:"event" jsonschema:"ready, then done"`
	Address  string   `json:"address" jsonschema:"the base URL"`
	Cassette string   `json:"cassette" jsonschema:"its name"`
	Mode     string   `json:"mode" jsonschema:"replay, record or fill"`
	Env      []string `json:"env,omitempty" jsonschema:"ready: what the client's environment should hold, as NAME=value"`
	Notes    []string `json:"notes,omitempty" jsonschema:"ready: what else the client needs"`
	Calls    int      `json:"calls,omitempty" jsonschema:"done: requests"`
	Misses   int      `json:"misses,omitempty" jsonschema:"done: requests that the cassette did not hold"`
	Unused   []int    `json:"unused,omitempty" jsonschema:"done: episodes that nobody asked for; 1 is the first"`
}

type proxyFlags struct {
	cassette, mode, listen, client, tokenEnv, origin, home, work string
	upstreams                                                    []string
	allowUnused, keepErrors, resume                              bool
	pace                                                         float64
}

func (a *app) cmdProxy() *cobra.Command {
	var f proxyFlags
	c := &cobra.Command{
		Use:   "proxy --cassette NAME",
		Short: "Serve a cassette as an endpoint to any agent, or record one",
		Long: `Proxy listens on this machine and answers as Anthropic, OpenAI and Gemini do, from a
cassette. Point an agent's base URL at the address that it prints first; with --client it also
prints what that agent needs. A request that the cassette does not hold is answered 400 in the
provider's own error shape and explained on standard error.

With --mode record requests go on to the provider, or to --upstream, and are kept; with --mode
fill only those that the cassette does not hold. Keys come with the requests and are written
nowhere. Interrupt it to end: that commits the recording.

MCP servers are at /mcp/NAME, as streamable HTTP; a recording needs --upstream mcp/NAME=URL.

Agents that share a cassette each have a lane: the header ` + proxy.LaneHeader + `, or a base URL
that ends in /lane/NAME.`,
		Example: `  soundstage proxy --cassette clients/claude-code --client claude-code
  soundstage proxy --cassette ./mine.yaml --mode record
  soundstage proxy --cassette ./mine.yaml --mode record --upstream https://gateway.example
  soundstage proxy --cassette ./mine.yaml --mode record --upstream turns.upstream.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.proxy(c.Context(), f) },
	}
	set := c.Flags()
	set.StringVar(&f.cassette, "cassette", "", "the `file` or area/name to replay or record")
	set.StringVar(&f.mode, "mode", "", "the `mode`: replay, record or fill (default: replay)")
	set.StringVar(&f.listen, "listen", "127.0.0.1:0", "the `address`; port 0 is a free one")
	set.StringArrayVar(&f.upstreams, "upstream", nil, "record: a `URL` for all providers, NAME=URL for one or one more, mcp/NAME=URL, or a script")
	set.StringVar(&f.client, "client", "", "the `agent`: claude-code, codex, opencode, cline or gemini; its rules are recorded")
	set.StringVar(&f.tokenEnv, "token-env", "", "the `variable` that holds a token which every request must bring")
	set.StringVar(&f.origin, "origin", "", "record: where answers come from, live or scripted (default: live, or scripted with a script)")
	set.StringVar(&f.home, "home", "", "the client's home `folder`, written as $HOME (default: yours)")
	set.StringVar(&f.work, "work", "", "the client's work `folder`, written as $WORK (default: here)")
	set.BoolVar(&f.allowUnused, "allow-unused", false, "do not fail for episodes that nobody asked for")
	set.BoolVar(&f.keepErrors, "keep-errors", false, "record: keep answers such as 401, 429 and 5xx too")
	set.BoolVar(&f.resume, "continue", false, "record and fill: go on where a recording was broken off")
	set.Float64Var(&f.pace, "pace", 0, "replay: streams at once (0), as recorded (1), twice as fast (2)")
	return c
}

func (a *app) proxy(ctx context.Context, f proxyFlags) error {
	client, err := proxy.ClientNamed(f.client)
	if err != nil {
		return err
	}
	token, err := a.token("proxy.token", f.tokenEnv)
	if err != nil {
		return err
	}
	l, err := boundary.Listen(ctx, f.listen, token)
	if err != nil {
		return err
	}
	s, ups, owned, err := a.proxySeam(f, client)
	if err != nil {
		_ = l.Close()
		return err
	}
	out := proxyEvent{
		Event: "ready", Address: "http://" + l.Addr().String(), Cassette: s.Name(), Mode: string(s.Mode()),
	}
	out.Env, out.Notes = client.Env(out.Address, proxyKey(s, f.tokenEnv)), client.Notes(out.Address)
	if err := a.print(out, func(w io.Writer) { writeReady(w, out) }); err != nil {
		_ = l.Close()
		return closeSeam(s, owned, err)
	}
	var mu sync.Mutex
	p := proxy.New(proxy.Options{Seam: s, Upstreams: ups, MCP: a.mcpDial(ups), Missed: func(m *seam.Miss) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(a.doors.Stderr, "soundstage: %s\n", plain.Text(m.Error()))
	}})
	tokenHeaders := []string{proxy.TokenHeader}
	if s.Mode() == seam.Replay {
		tokenHeaders = append(tokenHeaders, "X-Api-Key", "X-Goog-Api-Key") // where the client has its key
	}
	guarded, err := boundary.Guard(boundary.Options{Token: token, TokenHeaders: tokenHeaders, Refuse: proxy.Refuse}, p)
	if err == nil {
		err = boundary.Serve(ctx, l, guarded, proxyGrace)
	}
	p.Close()
	if perr := a.keepPrices(s); err == nil {
		err = perr
	}
	return a.proxyDone(s, owned, out, f, err)
}

// proxyDone closes and says what came of it. What was missed was explained when it was.
func (a *app) proxyDone(s *seam.Seam, owned bool, out proxyEvent, f proxyFlags, err error) error {
	err = missedInShort(s, closeSeam(s, owned, err))
	out.Event, out.Env, out.Notes = "done", nil, nil
	out.Calls, out.Misses = len(s.Calls()), len(s.Misses())
	for _, i := range s.Unused() {
		out.Unused = append(out.Unused, i+1)
	}
	a.warnEmpty(s)
	unused := len(out.Unused) > 0 && !f.allowUnused && s.Mode() == seam.Replay
	if a.json || err == nil && !unused {
		if perr := a.print(out, func(w io.Writer) {
			fmt.Fprintf(w, "# %s, %d missed\n", count(out.Calls, "request"), out.Misses)
		}); err == nil {
			err = perr
		}
	}
	if err != nil || !unused {
		return err
	}
	return fault.New(codeUnused, "proxy", "nobody asked for %s of cassette %q: %v", count(len(out.Unused), "episode"), s.Name(), out.Unused).
		WithHint("the client did less than when it was recorded; if that is meant: --allow-unused")
}

// missedInShort stands for a miss that was explained when it came.
func missedInShort(s *seam.Seam, err error) error {
	n := len(s.Misses())
	if fault.CodeOf(err) != seam.CodeMiss || n == 0 {
		return err
	}
	return fault.New(seam.CodeMiss, "proxy", "cassette %q did not hold %s", s.Name(), count(n, "request")).WithHint("record it: %s", s.Misses()[0].Command)
}

func writeReady(w io.Writer, e proxyEvent) {
	fmt.Fprintf(w, "# soundstage proxy: %s %s on %s\n", e.Mode, e.Cassette, e.Address)
	for _, kv := range e.Env {
		name, value, _ := strings.Cut(kv, "=")
		fmt.Fprintf(w, "export %s=%s\n", name, quoteShell(value))
	}
	for _, n := range e.Notes {
		fmt.Fprintf(w, "# %s\n", n)
	}
}

// quoteShell leaves a reference to a variable one.
func quoteShell(v string) string {
	if strings.HasPrefix(v, "$") {
		return `"` + v + `"`
	}
	if !strings.ContainsFunc(v, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-", r)
	}) {
		return v
	}
	return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
}

// proxyKey is what a client is to take for its key: in replay anything but nothing will
// do, or the token. In a recording it has one of its own.
func proxyKey(s *seam.Seam, tokenEnv string) string {
	switch {
	case s.Mode() != seam.Replay && !s.Scripted():
		return ""
	case tokenEnv != "":
		return "$" + tokenEnv
	}
	return "replay"
}

// token is the value of a variable that must be there.
func (a *app) token(op, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if v := a.doors.Env[name]; v != "" {
		return v, nil
	}
	return "", fault.New(fault.Invalid, op, "the variable %q is not set", name).
		WithHint("set it to a long random text, and give it to the client as its key")
}

// proxySeam opens the seam that is served.
func (a *app) proxySeam(f proxyFlags, client proxy.Client) (s *seam.Seam, ups proxy.Upstreams, owned bool, err error) {
	script, urls := splitUpstreams(f.upstreams)
	if ups, err = proxy.ParseUpstreams(urls); err != nil || a.doors.Seam != nil {
		return a.doors.Seam, ups, false, err
	}
	o, err := a.proxyOptions(f, client)
	if err != nil {
		return nil, ups, false, err
	}
	if o.Mode != seam.Replay {
		o.Transport, o.Origin, err = a.proxyUpstream(f, ups, script)
		if err != nil {
			return nil, ups, false, err
		}
	}
	s, err = seam.Open(o)
	return s, ups, true, err
}

func (a *app) proxyOptions(f proxyFlags, client proxy.Client) (seam.Options, error) {
	env := a.doors.Env
	home, work := f.home, a.path(f.work)
	if home == "" {
		home = either(env, "HOME", "USERPROFILE")
	}
	o := seam.Options{
		Mode: seam.Mode(f.mode), Clock: a.doors.Clock, Rules: client.Rules(), Pace: f.pace, KeepErrors: f.keepErrors, Continue: f.resume,
		Redactor: redact.New(redact.Options{Env: env, Home: home, Work: work}),
		CI:       isSet(env[envCI]), AllowLive: env[envLive] == "1",
	}
	if f.mode == "" {
		o.Mode = seam.Replay
	}
	if slices.ContainsFunc(f.upstreams, func(u string) bool { return strings.HasPrefix(u, "mcp/") }) {
		o.Rules = append(o.Rules, seam.MCPRules()[len(seam.DefaultRules()):]...)
	}
	const op = "proxy.open"
	switch {
	case f.cassette == "":
		return o, fault.New(fault.Invalid, op, "a proxy needs a cassette").WithHint("name one with --cassette")
	case o.Mode != seam.Replay && o.Mode != seam.Record && o.Mode != seam.Fill:
		return o, fault.New(fault.Invalid, op, "mode is %q", f.mode).WithHint("use replay, record or fill")
	case f.resume && o.Mode == seam.Replay:
		return o, fault.New(fault.Invalid, op, "mode %q continues no recording", o.Mode).WithHint("use --continue with --mode record or fill")
	case o.Mode == seam.Replay && (len(f.upstreams) > 0 && !onlyNamed(f.upstreams) || f.origin != ""):
		return o, fault.New(fault.Invalid, op, "a replay asks no upstream").WithHint("leave --upstream and --origin out, or use --mode record")
	}
	o.Name, o.Cassette = strings.TrimSuffix(f.cassette, ".yaml"), a.cassetteFile(f.cassette)
	o.RecordCommand = "soundstage proxy --mode " + a.recordMode(f.cassette) + " --cassette " + f.cassette
	if f.client != "" {
		o.RecordCommand += " --client " + f.client
	}
	if _, err := os.Stat(a.path(filepath.Join(scenariosDir, filepath.FromSlash(f.cassette)+".txtar"))); err == nil {
		o.RecordCommand = "soundstage record " + f.cassette
	}
	return o, nil
}

// onlyNamed reports whether all upstreams are NAME=URL: those also name endpoints.
func onlyNamed(specs []string) bool {
	for _, s := range specs {
		if !strings.Contains(s, "=") {
			return false
		}
	}
	return true
}

// splitUpstreams tells a script from URLs.
func splitUpstreams(specs []string) (script string, urls []string) {
	for _, s := range specs {
		if strings.HasSuffix(s, ".yaml") && !strings.Contains(s, "://") {
			script = s
		} else {
			urls = append(urls, s)
		}
	}
	return script, urls
}

// proxyUpstream is what lies below a recording.
func (a *app) proxyUpstream(f proxyFlags, ups proxy.Upstreams, script string) (http.RoundTripper, cassette.Origin, error) {
	origin := cassette.Origin(f.origin)
	switch origin {
	case "", cassette.Live, cassette.Scripted:
	default:
		return nil, "", fault.New(fault.Invalid, "proxy.open", "origin is %q", f.origin).WithHint("use live or scripted")
	}
	if script == "" {
		if origin == "" {
			origin = cassette.Live
		}
		return ups.Transport(network(a.doors.Env), origin == cassette.Scripted), origin, nil
	}
	if others := slices.DeleteFunc(slices.Clone(f.upstreams), func(u string) bool { return strings.HasPrefix(u, "mcp/") }); len(others) > 1 || origin == cassette.Live {
		return nil, "", fault.New(fault.Invalid, "proxy.open", "the script %q answers for everybody, and its answers are scripted", script).
			WithHint("name the script alone")
	}
	said, err := upstream.Load(a.path(script))
	if err != nil {
		return nil, "", err
	}
	return upstream.NewTransport(upstream.New(said)), cassette.Scripted, nil
}
