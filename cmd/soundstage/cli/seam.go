package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpproxy"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// Variables of the environment that say how a session meets the world.
const (
	envCI   = "CI"
	envLive = "SOUNDSTAGE_LIVE" // 1: record and live are meant, also in CI
)

// seamFlags say how a session meets the world; flags win over the environment.
type seamFlags struct {
	mode, cassette, upstream string
	resume, keepErrors       bool
}

func (f *seamFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.mode, "mode", "", "the `mode`: live, replay, record, or fill: replay, and record what is missing (default: live, or replay with --cassette)")
	set.StringVar(&f.cassette, "cassette", "", "the `file` or area/name to replay or record")
	set.BoolVar(&f.keepErrors, "keep-errors", false, "record errors that pass too (429, 5xx, no connection), in place of asking again")
	set.BoolVar(&f.resume, "continue", false, "record on where a recording was broken off")
	set.StringVar(&f.upstream, "upstream", "", "let a script, this `file`, answer as the provider, without a key (docs/reference/upstream-scripts.md)")
}

// openSeam opens the session's one door to the outside. The seam of a scenario comes
// in through the doors and is not ours to close.
func (a *app) openSeam(h *house, f seamFlags) (s *seam.Seam, owned bool, err error) {
	if a.doors.Seam != nil {
		return a.doors.Seam, false, nil
	}
	env := a.doors.Env
	if f.cassette == "" {
		f.cassette = env[script.EnvCassette]
	}
	if f.mode == "" {
		f.mode = env[script.EnvMode]
	}
	if f.upstream == "" {
		f.upstream = env[script.EnvUpstream]
	}
	if f.mode == "" && f.cassette != "" {
		f.mode = string(seam.Replay)
	}
	if f.mode == "" {
		f.mode = string(seam.Live)
	}
	o := seam.Options{
		Mode: seam.Mode(f.mode), Clock: a.doors.Clock, Redactor: h.redactor(), Rules: seam.DefaultRules(),
		CI: isSet(env[envCI]), AllowLive: env[envLive] == "1", Origin: cassette.Live,
		Continue: f.resume, KeepErrors: f.keepErrors,
	}
	if err := checkSeam(o.Mode, f); err != nil {
		return nil, false, err
	}
	if f.cassette != "" {
		o.Name, o.Cassette = strings.TrimSuffix(f.cassette, ".yaml"), a.cassetteFile(f.cassette)
		o.RecordCommand = a.recordCommand(f.cassette)
	}
	if o.Mode != seam.Replay {
		if f.upstream == "" { // before a key is looked for
			if err := o.Allowed(); err != nil {
				return nil, false, err
			}
		}
		if o.Transport, o.Origin, err = a.outside(h, f.upstream); err != nil {
			return nil, false, err
		}
	}
	s, err = seam.Open(o)
	return s, true, err
}

// recordCommand is what would record a cassette: its scenario, where there is one.
func (a *app) recordCommand(name string) string {
	if _, err := os.Stat(a.path(filepath.Join(scenariosDir, filepath.FromSlash(name)+".txtar"))); err == nil {
		return "soundstage record " + name
	}
	return "soundstage run --mode " + a.recordMode(name) + " --cassette " + name + " …"
}

// recordMode is how what a cassette lacks is recorded: record makes new files only.
func (a *app) recordMode(name string) string {
	if _, err := os.Stat(a.cassetteFile(name)); err != nil {
		return string(seam.Record)
	}
	return string(seam.Fill)
}

func checkSeam(mode seam.Mode, f seamFlags) error {
	const op = "seam.open"
	records := mode == seam.Record || mode == seam.Fill
	if f.resume && !records {
		return fault.New(fault.Invalid, op, "mode %q continues no recording", mode).WithHint("use --continue with --mode record or fill")
	}
	if f.keepErrors && !records {
		return fault.New(fault.Invalid, op, "mode %q keeps no errors", mode).WithHint("use --keep-errors with --mode record or fill")
	}
	switch mode {
	case seam.Live:
		if f.cassette != "" {
			return fault.New(fault.Invalid, op, "mode %q uses no cassette, and %q is named", mode, f.cassette).
				WithHint("leave --cassette out, or use --mode record")
		}
		return nil
	case seam.Replay, seam.Record, seam.Fill:
		if f.cassette == "" {
			return fault.New(fault.Invalid, op, "mode %q needs a cassette", mode).WithHint("name one with --cassette")
		}
		return nil
	}
	return fault.New(fault.Invalid, op, "mode is %q", mode).WithHint("use live, replay, record or fill")
}

// outside is what lies below the seam when it is not replaying: the scripted provider
// that the file said tells of, in this process, or the network. Keys are put on there, below the recording.
func (a *app) outside(h *house, said string) (http.RoundTripper, cassette.Origin, error) {
	env := a.doors.Env
	if said != "" {
		s, err := upstream.Load(a.path(said))
		if err != nil {
			return nil, "", err
		}
		return upstream.NewTransport(upstream.New(s)), cassette.Scripted, nil
	}
	access, err := a.access(h.cfg)
	if err != nil {
		return nil, "", err
	}
	return model.Outside(network(env), a.catalog(), access, h.clock), cassette.Live, nil
}

// network is the way to the world, with the proxies that the environment names.
func network(env map[string]string) *http.Transport {
	proxy := (&httpproxy.Config{
		HTTPProxy: either(env, "HTTP_PROXY", "http_proxy"), HTTPSProxy: either(env, "HTTPS_PROXY", "https_proxy"),
		NoProxy: either(env, "NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return &http.Transport{
		Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConns:        16,
	}
}

func either(env map[string]string, names ...string) string {
	for _, n := range names {
		if env[n] != "" {
			return env[n]
		}
	}
	return ""
}

// isSet reads a switch of the environment as CI systems write it.
func isSet(v string) bool { return v != "" && v != "0" && v != "false" }

// closeSeam commits a recording and reports a miss that nothing above reported.
func closeSeam(s *seam.Seam, owned bool, err error) error {
	e := s.Err()
	if owned {
		e = s.Close()
	}
	return cmp.Or(err, e)
}

// warnEmpty says that a recording which was closed wrote no cassette.
func (a *app) warnEmpty(s *seam.Seam) {
	if s.Empty() {
		fmt.Fprintf(a.doors.Stderr, "soundstage: warning: nothing was recorded, so cassette %q was not written\n", s.Name())
	}
}

// client is an HTTP client that leaves through the seam and no other way.
func client(s *seam.Seam) *http.Client { return &http.Client{Transport: s.Transport()} }
