package script

import (
	"errors"
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A tape is the seam that one word cassette opened, and in record the provider
// below it.
type tape struct {
	seam      *seam.Seam
	upstream  *upstream.Server
	faults    *chaos.Plan
	forgiving bool // the script expects that it misses
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

func (s *Script) seamOptions(name, file string, faults *chaos.Plan) seam.Options {
	env := s.Environ()
	return seam.Options{
		Overlay: func(door http.RoundTripper) http.RoundTripper { return faults.Over(door, s.Clock) },
		Name:    name, Cassette: file, Clock: s.Clock, Rules: seam.DefaultRules(),
		Redactor:      redact.New(redact.Options{Env: env, Home: env["HOME"], Work: s.work}),
		RecordCommand: s.cfg.program + " record " + name,
	}
}

// replay answers from a cassette that is there.
func (s *Script) replay(name, file string) error {
	faults, err := s.plan()
	if err != nil {
		return err
	}
	o := s.seamOptions(name, file, faults)
	o.Mode = seam.Replay
	door, err := seam.Open(o)
	if err == nil {
		s.tapes = append(s.tapes, &tape{seam: door, faults: faults})
	}
	return err
}

// plan is the faults of the cassette that is being opened: those said so far, where it
// is the first.
func (s *Script) plan() (*chaos.Plan, error) {
	said := s.faults
	s.faults = nil
	return chaos.NewPlan(said...)
}

// record keeps what the scripted provider says.
func (s *Script) record(name, file, script string) error {
	said, err := upstream.Load(script)
	if err != nil {
		return err
	}
	t := &tape{upstream: upstream.New(said)}
	if t.faults, err = s.plan(); err != nil {
		return err
	}
	o := s.seamOptions(name, file, t.faults)
	o.Mode, o.Origin, o.KeepErrors, o.Replace = seam.Record, cassette.Scripted, true, true
	o.Transport = upstream.NewTransport(t.upstream)
	if t.seam, err = seam.Open(o); err == nil {
		s.tapes = append(s.tapes, t)
	}
	return err
}

// closeTapes commits recordings, and is the first miss that the script did not
// expect, what the scripted provider found wrong, or a fault that never fired.
func (s *Script) closeTapes() error {
	var errs []error
	for _, t := range s.tapes {
		err := t.seam.Close()
		if t.forgiving && fault.CodeOf(err) == seam.CodeMiss {
			err = nil
		}
		errs = append(errs, err, t.faults.Done())
		if t.upstream != nil {
			errs = append(errs, t.upstream.Done())
		}
	}
	return errors.Join(errs...)
}
