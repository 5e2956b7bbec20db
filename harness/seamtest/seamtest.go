// Package seamtest is the seam in somebody's Go test: it replays a cassette,
// fails the test on a miss and on an episode that nothing asked for, and records
// when it is told to.
//
// It belongs to harness, above seam, and is the one package here that reads the
// environment: the variables below, what is to be kept out of a cassette, and the key of
// a provider when one is called. It registers no test flag:
// one that the code under test has too would end the test binary, and go test stops at
// a package that does not know a flag. Only tests import it. It compares no golden
// files; package snapshot does.
package seamtest

import (
	"errors"
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
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// The variables that are read.
const (
	EnvCI       = "CI"
	EnvLive     = "SOUNDSTAGE_LIVE"     // 1: the world is meant, also in CI
	EnvRecord   = "SOUNDSTAGE_RECORD"   // 1: record every cassette anew; or one name
	EnvEpisode  = "SOUNDSTAGE_EPISODE"  // with one name: record this episode anew, by number or key
	EnvFill     = "SOUNDSTAGE_FILL"     // 1: keep what every cassette holds, and record what it lacks; or one name
	EnvContinue = "SOUNDSTAGE_CONTINUE" // 1: first use up the journal of a recording that failed
)

// The codes of this package.
const (
	CodeFailed fault.Code = "SEAMTEST_FAILED" // the test failed, so what it recorded is not kept
)

// An Option changes what ForTest does.
type Option func(*settings)

type settings struct {
	seam        seam.Options
	root        string
	env         map[string]string
	script      string
	faults      []string
	allowUnused bool
}

// Root is the folder of the cassettes, "cassettes" in the test's folder otherwise.
func Root(dir string) Option { return func(s *settings) { s.root = dir } }

// Upstream is what answers while recording: the world otherwise, by a transport of its
// own, with origin live.
func Upstream(t http.RoundTripper, origin cassette.Origin) Option {
	return func(s *settings) { s.seam.Transport, s.seam.Origin = t, origin }
}

// Scripted lets a scripted provider answer while recording, with origin scripted: the
// file's format is in docs/reference/upstream-scripts.md. A turn of it that the test
// did not ask for fails the recording.
func Scripted(file string) Option { return func(s *settings) { s.script = file } }

// Env is where secrets are looked for that must not reach the cassette: the values of
// variables whose names look like credentials. It is the whole environment of the
// process otherwise, which is the safe choice; provider keys are found by their form
// in any case. Name here what the code under test gets its secrets from, if that is
// something else.
func Env(env map[string]string) Option { return func(s *settings) { s.env = env } }

// KeepErrors stores answers like 429 and 500, and broken streams: see
// seam.Options.
func KeepErrors() Option { return func(s *settings) { s.seam.KeepErrors = true } }

// Rules are the presets to record with, seam.DefaultRules otherwise.
func Rules(names ...string) Option { return func(s *settings) { s.seam.Rules = names } }

// Clock is the clock to record and replay with; one that stands still otherwise.
func Clock(c clock.Clock) Option { return func(s *settings) { s.seam.Clock = c } }

// AllowUnused lets a test end without asking for every episode.
func AllowUnused() Option { return func(s *settings) { s.allowUnused = true } }

// A Stage is one test's seam, with what the code under test needs from it.
type Stage struct {
	*seam.Seam

	clock    clock.Clock
	env      map[string]string
	upstream *upstream.Server
	faults   *chaos.Plan
	file     string
	tb       testing.TB
}

// ForTest opens the cassette of that name, <root>/<name>.yaml, for the test and
// closes it when the test ends. A missing cassette fails the test at once: it is
// never skipped, and never recorded unless SOUNDSTAGE_RECORD says so.
//
// SOUNDSTAGE_FILL keeps what the cassette holds, and records what it lacks; with
// SOUNDSTAGE_EPISODE one episode is recorded anew, and behind it what no longer fits.
//
// A recording replaces the cassette only if the test passed. What a real provider has
// answered until then stays in the journal, <root>/<name>.yaml.part: SOUNDSTAGE_CONTINUE
// goes on with it, so that nothing is paid for twice.
func ForTest(t testing.TB, name string, options ...Option) *Stage {
	t.Helper()
	env := environment()
	s := settings{root: "cassettes", env: env, seam: seam.Options{
		Name: name, Rules: seam.DefaultRules(), Clock: clock.NewFixed(clock.Epoch),
		CI: isSet(env[EnvCI]), AllowLive: env[EnvLive] == "1",
		RecordCommand: EnvRecord + "=" + name + " go test -run '^" + t.Name() + "$' .",
	}}
	for _, o := range options {
		o(&s)
	}
	stage := &Stage{clock: s.seam.Clock, env: env, tb: t}
	s.seam.Redactor = redact.New(redact.Options{Env: s.env, Home: home(env)})
	stage.file = filepath.Join(s.root, filepath.FromSlash(name)+".yaml")
	s.seam.Cassette = stage.file
	stage.mode(&s, name)
	stage.lay(&s)
	opened, err := seam.Open(s.seam)
	if err != nil {
		t.Fatalf("cassette %q: %v\n%s", name, err, fault.HintOf(err))
	}
	stage.Seam = opened
	t.Cleanup(func() { stage.finish(s.allowUnused) })
	return stage
}

// Client is a client whose requests all go through the seam.
func (s *Stage) Client() *http.Client { return &http.Client{Transport: s.Transport()} }

// Clock is the seam's clock: one that stands still, unless the test gave another.
func (s *Stage) Clock() clock.Clock { return s.clock }

// Recording reports whether the provider may be asked, and the cassette written.
func (s *Stage) Recording() bool { return s.Mode() != seam.Replay }

// Key is the value of a variable while a real provider is recorded, and fails the test
// where it is not set. Otherwise it is a word that is no key: a replay needs none.
func (s *Stage) Key(variable string) string {
	s.tb.Helper()
	if !s.Recording() || s.Scripted() {
		return "not-a-key"
	}
	if s.env[variable] == "" {
		s.tb.Fatalf("recording needs %s in the environment", variable)
	}
	return s.env[variable]
}

// finish fails the test for what the seam remembers.
func (s *Stage) finish(allowUnused bool) {
	t := s.tb
	t.Helper()
	if s.Recording() {
		s.refuse()
	}
	err := s.Close()
	if err != nil && s.upstream != nil { // a script's answers are free
		err = errors.Join(err, cassette.Discard(s.file))
	}
	if err != nil {
		for _, m := range s.Misses() {
			t.Error(m)
		}
		if len(s.Misses()) == 0 {
			t.Errorf("%v\n%s", err, fault.HintOf(err))
		}
		return // what was not asked for follows from that
	}
	if err := s.faults.Done(); err != nil && !t.Failed() {
		t.Error(err)
	}
	if s.Recording() {
		return // the next replay says what a fill left over
	}
	if unused := s.Unused(); len(unused) > 0 && !allowUnused && !t.Failed() {
		t.Errorf("cassette %q: %d episodes were not asked for: %v", s.Name(), len(unused), unused)
	}
}

// Main runs the tests of a package with http.DefaultTransport closed, so that nothing
// leaves the process beside the seam. An attempt fails the tests, and names its line:
//
//	func TestMain(m *testing.M) { os.Exit(seamtest.Main(m)) }
func Main(m interface{ Run() int }) int {
	denied := seam.DenyDefaultTransport()
	return denied.Exit(m.Run(), os.Stderr)
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
