package seamtest

import (
	"errors"
	"net/http"
	"os"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// mode is what the environment asks of a cassette.
func (s *Stage) mode(o *settings, name string) {
	s.tb.Helper()
	named := func(variable string) bool { return s.env[variable] == "1" || s.env[variable] == name }
	o.seam.Mode, o.seam.Continue = seam.Replay, s.env[EnvContinue] == "1"
	switch episode := s.env[EnvEpisode]; {
	case episode != "" && s.env[EnvRecord] == name:
		o.seam.Mode, o.seam.Episode, o.seam.Prune = seam.Fill, episode, true
	case episode != "" && named(EnvRecord):
		s.tb.Fatalf("%s=%s is of one cassette, and %s names none\nset %s=%s", EnvEpisode, episode, EnvRecord, EnvRecord, name)
	case named(EnvRecord):
		o.seam.Mode, o.seam.Replace = seam.Record, true
	case named(EnvFill):
		o.seam.Mode = seam.Fill
		if _, err := os.Stat(s.file); errors.Is(err, os.ErrNotExist) {
			o.seam.Mode = seam.Record // all of it is missing
		}
	default:
		o.seam.Continue = false
		return
	}
	s.provider(o)
}

// provider is what answers a recording.
func (s *Stage) provider(o *settings) {
	s.tb.Helper()
	switch {
	case o.script != "":
		script, err := upstream.Load(o.script)
		if err != nil {
			s.tb.Fatalf("%v\n%s", err, fault.HintOf(err))
		}
		s.upstream = upstream.New(script)
		below := upstream.NewTransport(s.upstream)
		o.seam.Transport, o.seam.Origin, o.seam.Answered = below, cassette.Scripted, below.Pass
		o.seam.KeepErrors = true // a script means its errors
	case o.seam.Transport == nil:
		o.seam.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	}
	if s.upstream == nil {
		o.seam.Waits = clock.Real{} // a busy provider is not helped by a clock that stands still
	}
}

// refuse keeps the old cassette where the new one would be of a test that failed.
func (s *Stage) refuse() {
	if s.upstream != nil {
		if err := s.upstream.Done(); err != nil {
			s.Refuse(err)
			return
		}
	}
	if s.tb.Failed() && s.Err() == nil {
		s.Refuse(fault.New(CodeFailed, "seamtest.record", "the test failed, so cassette %q stays as it was", s.Name()).
			WithHint("let the test pass, and record again; %s=1 uses the answers that came", EnvContinue))
	}
}
