package script

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// CodeFailed says that a recording is not kept, because its scenario failed.
const CodeFailed fault.Code = "SCENARIO_NOT_KEPT"

// A Recording says how the word cassette records. The zero Recording records anew.
type Recording struct {
	Fill       bool   // keep what the cassette holds, and add what it does not
	Episode    string // fill, but record this one anew: its number, or the beginning of its key
	DryRun     bool   // send nothing; Done is told what would be sent
	KeepErrors bool   // keep errors of a real provider that pass; those of a script are always kept
	Continue   bool   // a recording of a real provider goes on where it was broken off

	// World is the real provider, for cassettes without a script. Nil: they are replayed.
	World *World
	// Done is told of each recording when its script has ended; may be nil.
	Done func(Recorded)
}

// A World is what lies outside, for a recording of a real provider.
type World struct {
	Transport     func() (http.RoundTripper, error)
	Env           map[string]string // of the person, whose secrets stay out of the recording
	Clock         clock.Clock       // that waits before a busy provider is asked again
	CI, AllowLive bool              // as in seam.Options
}

// Recorded is one recording, or dry run, that has ended.
type Recorded struct {
	Name string // area/name
	// File holds the answers: the new cassette, or what of it is in the journal where
	// Err is set; in a dry run the cassette that there is, or none.
	File     string
	Mode     seam.Mode
	Scripted bool // a script answers: nothing is paid
	Sent     []seam.Sent
	Err      error // why it was not kept, or why the dry run saw no end
}

// recordCassette prepares a recording and reports whether the cassette is one that
// can be recorded here.
func (s *Script) recordCassette(name, file string) bool {
	script, err := filepath.Abs(filepath.Join(s.cfg.root, filepath.FromSlash(name)+".upstream.yaml"))
	s.Check(err)
	r := &s.cfg.recording
	if _, err := os.Stat(script); err != nil {
		script = ""
	}
	if (script == "" && r.World == nil) || (r.Episode != "" && name != s.Area+"/"+s.Name) {
		return false
	}
	o, err := s.recordOptions(name, file)
	s.Check(err)
	t := &tape{name: name, isScripted: script != ""}
	t.faults, err = s.plan()
	s.Check(err)
	s.overlay(&o, t.faults)
	switch {
	case r.DryRun: // nothing lies below it
	case script != "":
		s.checkHint("cassette", s.scripted(&o, t, file, script))
	default:
		s.checkHint("cassette", s.real(&o, t))
	}
	t.file = o.Cassette
	s.Setenv(EnvCassette, o.Cassette)
	s.Setenv(EnvMode, string(o.Mode))
	s.Setenv(EnvUpstream, script)
	if t.seam, err = seam.Open(o); err == nil {
		s.tapes = append(s.tapes, t)
	}
	s.checkHint("cassette", err)
	return true
}

// recordOptions are those that do not depend on who answers.
func (s *Script) recordOptions(name, file string) (seam.Options, error) {
	r := &s.cfg.recording
	o := s.seamOptions(name, file)
	o.Mode, o.Replace = seam.Record, true
	o.DryRun, o.KeepErrors = r.DryRun, r.KeepErrors
	if !r.Fill && r.Episode == "" {
		return o, nil
	}
	_, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) && r.Episode == "" {
		return o, nil // all of it is missing
	}
	o.Mode, o.Episode, o.Prune = seam.Fill, r.Episode, r.Episode != ""
	return o, err
}

// scripted puts the scripted provider below. The recording is a copy, which takes the
// cassette's place when the script has passed.
func (s *Script) scripted(o *seam.Options, t *tape, file, script string) error {
	said, err := upstream.Load(script)
	if err != nil {
		return err
	}
	t.upstream = upstream.New(said)
	below := upstream.NewTransport(t.upstream)
	o.Transport, o.Origin, o.KeepErrors = below, cassette.Scripted, true
	o.Answered = below.Pass
	o.Cassette = filepath.Join(s.work, ".record", filepath.FromSlash(o.Name)+".yaml")
	if err := os.MkdirAll(filepath.Dir(o.Cassette), 0o755); err != nil {
		return err
	}
	s.pending[file] = o.Cassette
	if o.Mode != seam.Fill {
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(o.Cassette, old, 0o644)
}

// real puts the world below. It costs money, so that the journal is beside the cassette
// and outlives a failure.
func (s *Script) real(o *seam.Options, t *tape) error {
	w := s.cfg.recording.World
	o.CI, o.AllowLive, o.Clock, o.Origin = w.CI, w.AllowLive, w.Clock, cassette.Live
	o.Continue = s.cfg.recording.Continue
	t.inPlace = true
	if err := o.Allowed(); err != nil {
		return err
	}
	o.Redactor = s.careful(w)
	var err error
	o.Transport, err = w.Transport()
	return err
}

// careful knows the person's secrets too.
func (s *Script) careful(w *World) *redact.Redactor {
	env := s.Environ()
	home := env["HOME"]
	for k, v := range w.Env {
		if _, own := env[k]; !own {
			env[k] = v
		}
	}
	return redact.New(redact.Options{Env: env, Home: home, Work: s.work})
}

// closeTapes commits recordings, and is the first miss that the script did not
// expect, what the scripted provider found wrong, or a fault that never fired.
func (s *Script) closeTapes(failed bool) error {
	var errs []error
	for _, t := range s.tapes {
		if failed && t.inPlace {
			t.seam.Refuse(fault.New(CodeFailed, "script.record", "the scenario failed, so cassette %q stays as it was", t.name).
				WithHint("what was recorded is in %q", t.file+".part"))
		}
		err := t.seam.Close()
		if t.forgiving && fault.CodeOf(err) == seam.CodeMiss {
			err = nil
		}
		if done := s.cfg.recording.Done; done != nil && t.seam.Mode() != seam.Replay {
			done(Recorded{Name: t.name, File: t.file, Mode: t.seam.Mode(), Scripted: t.isScripted, Sent: t.seam.Sent(), Err: err})
		}
		errs = append(errs, err, t.faults.Done())
		if t.upstream != nil {
			errs = append(errs, t.upstream.Done())
		}
	}
	return errors.Join(errs...)
}

// wordKeeps compares the lines of two cassettes.
func (s *Script) wordKeeps(neg bool, args []string) {
	if len(args) < 2 {
		s.Fatalf("usage: keeps FILE OLD [N…]")
	}
	have, old := episodeLines(s.ReadFile(args[0])), episodeLines(s.ReadFile(args[1]))
	for _, n := range args[2:] {
		i, err := strconv.Atoi(n)
		if err != nil || i < 1 || i > len(old) {
			s.Fatalf("keeps: %q is no episode of %s, which has %d", n, args[1], len(old))
		}
		old[i-1] = ""
	}
	at := 0
	for i, line := range old {
		if line == "" {
			continue
		}
		for at < len(have) && have[at] != line {
			at++
		}
		if kept := at < len(have); !kept {
			if neg {
				return
			}
			s.Fatalf("keeps: episode %d of %s is not in %s, or not in its order: %.200s", i+1, args[1], args[0], line)
		}
		at++
	}
	if neg {
		s.Fatalf("keeps: %s holds all that %s does", args[0], args[1])
	}
}

// episodeLines are the lines of a cassette that are episodes.
func episodeLines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- {") {
			out = append(out, line)
		}
	}
	return out
}
