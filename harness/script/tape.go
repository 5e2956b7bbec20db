package script

import (
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A tape is the seam that one word cassette opened, and in record the provider
// below it.
type tape struct {
	name       string
	file       string // of the recording
	seam       *seam.Seam
	upstream   *upstream.Server
	faults     *chaos.Plan
	forgiving  bool // the script expects that it misses
	inPlace    bool // the recording is no copy
	isScripted bool
	spare      bool // the script allows episodes that nothing asks for
}

// seam is the door of the last word cassette; nil before the first.
func (s *Script) seam() *seam.Seam {
	if len(s.tapes) == 0 {
		return nil
	}
	return s.tapes[len(s.tapes)-1].seam
}

// ForgiveMisses says that the script expects the misses of its cassette so far, and
// does not fail for them at the end.
func (s *Script) ForgiveMisses() {
	if len(s.tapes) > 0 {
		s.tapes[len(s.tapes)-1].forgiving = true
	}
}

func (s *Script) seamOptions(name, file string) seam.Options {
	env := s.Environ()
	return seam.Options{
		Name: name, Cassette: file, Clock: s.Clock, Rules: seam.DefaultRules(),
		Redactor:      redact.New(redact.Options{Env: env, Home: env["HOME"], Work: s.work}),
		RecordCommand: s.cfg.program + " record " + name,
	}
}

// overlay lays faults over the door for HTTP.
func (s *Script) overlay(o *seam.Options, faults *chaos.Plan) {
	o.Overlay = func(door http.RoundTripper) http.RoundTripper { return faults.Over(door, s.Clock) }
}

// replay answers from a cassette that is there.
func (s *Script) replay(name, file string, spare bool) error {
	faults, err := s.plan()
	if err != nil {
		return err
	}
	o := s.seamOptions(name, file)
	s.overlay(&o, faults)
	o.Mode = seam.Replay
	door, err := seam.Open(o)
	if err == nil {
		s.tapes = append(s.tapes, &tape{name: name, file: file, seam: door, faults: faults, spare: spare})
	}
	return err
}

// outside asks what the caller put in the cassette's place.
func (s *Script) outside(name, file string) error {
	t := &tape{name: name}
	var err error
	if t.faults, err = s.plan(); err != nil {
		return err
	}
	o := s.seamOptions(name, file)
	s.overlay(&o, t.faults)
	o.Mode = seam.Replay
	if w := s.cfg.recording.World; w != nil {
		o.Redactor = s.careful(w)
	}
	if err := s.cfg.outside(name, &o); err != nil {
		return err
	}
	if t.seam, err = seam.Open(o); err != nil {
		return err
	}
	t.file = o.Cassette
	s.tapes = append(s.tapes, t)
	s.Setenv(EnvCassette, o.Cassette)
	s.Setenv(EnvMode, string(o.Mode))
	s.Setenv(EnvUpstream, "")
	return nil
}

// plan is the faults of the cassette that is being opened: those said so far, where it
// is the first.
func (s *Script) plan() (*chaos.Plan, error) {
	said := s.faults
	s.faults = nil
	return chaos.NewPlan(said...)
}
