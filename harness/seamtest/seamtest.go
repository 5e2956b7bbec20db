// Package seamtest is the seam in somebody's Go test: it replays a cassette,
// fails the test on a miss and on an episode that nothing asked for, and records
// when it is told to.
//
// It belongs to harness, above seam, and is the one package here that reads the
// environment: CI, SOUNDSTAGE_LIVE and SOUNDSTAGE_RECORD. Only tests import it. It
// compares no golden files; package snapshot does.
package seamtest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// The variables that are read.
const (
	EnvCI     = "CI"
	EnvLive   = "SOUNDSTAGE_LIVE"   // 1: the world is meant, also in CI
	EnvRecord = "SOUNDSTAGE_RECORD" // 1: record every cassette anew; or one name
)

// An Option changes what ForTest does.
type Option func(*settings)

type settings struct {
	seam        seam.Options
	root        string
	allowUnused bool
}

// Root is the folder of the cassettes, "cassettes" in the test's folder otherwise.
func Root(dir string) Option { return func(s *settings) { s.root = dir } }

// Upstream is what answers while recording: upstream.NewTransport(…) for a script,
// &http.Transport{} for the world. Without it recording fails.
func Upstream(t http.RoundTripper, origin cassette.Origin) Option {
	return func(s *settings) { s.seam.Transport, s.seam.Origin = t, origin }
}

// KeepErrors stores answers like 429 and 500, and broken streams: see
// seam.Options.
func KeepErrors() Option { return func(s *settings) { s.seam.KeepErrors = true } }

// Rules are the presets to record with, seam.DefaultRules otherwise.
func Rules(names ...string) Option { return func(s *settings) { s.seam.Rules = names } }

// Clock is the clock to record and replay with; one that stands still otherwise.
func Clock(c clock.Clock) Option { return func(s *settings) { s.seam.Clock = c } }

// AllowUnused lets a test end without asking for every episode.
func AllowUnused() Option { return func(s *settings) { s.allowUnused = true } }

// ForTest opens the cassette of that name, <root>/<name>.yaml, for the test and
// closes it when the test ends. A missing cassette fails the test at once: it is
// never skipped, and never recorded unless SOUNDSTAGE_RECORD says so.
func ForTest(t testing.TB, name string, options ...Option) *seam.Seam {
	t.Helper()
	env := environment()
	s := settings{root: "cassettes", seam: seam.Options{
		Mode: seam.Replay, Name: name, Rules: seam.DefaultRules(), Clock: clock.NewFixed(clock.Epoch),
		CI: isSet(env[EnvCI]), AllowLive: env[EnvLive] == "1",
		Redactor:      redact.New(redact.Options{Env: env, Home: home(env)}),
		RecordCommand: EnvRecord + "=" + name + " go test -run '^" + t.Name() + "$' .",
	}}
	for _, o := range options {
		o(&s)
	}
	s.seam.Cassette = filepath.Join(s.root, filepath.FromSlash(name)+".yaml")
	if env[EnvRecord] == "1" || env[EnvRecord] == name {
		s.seam.Mode, s.seam.Replace = seam.Record, true
	}
	opened, err := seam.Open(s.seam)
	if err != nil {
		t.Fatalf("cassette %q: %v\n%s", name, err, fault.HintOf(err))
	}
	t.Cleanup(func() { finish(t, opened, s.allowUnused) })
	return opened
}

// finish fails the test for what the seam remembers.
func finish(t testing.TB, s *seam.Seam, allowUnused bool) {
	t.Helper()
	if err := s.Close(); err != nil {
		for _, m := range s.Misses() {
			t.Error(m)
		}
		if len(s.Misses()) == 0 {
			t.Error(err)
		}
		return // what was not asked for follows from that
	}
	if unused := s.Unused(); len(unused) > 0 && !allowUnused && !t.Failed() {
		t.Errorf("cassette %q: %d episodes were not asked for: %v", s.Name(), len(unused), unused)
	}
}

func environment() map[string]string {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

func home(env map[string]string) string {
	if h := env["HOME"]; h != "" {
		return h
	}
	return env["USERPROFILE"]
}

// isSet reads a switch as CI systems write it.
func isSet(v string) bool { return v != "" && v != "0" && v != "false" }
