package script

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Run runs every scenario below o.Root, each area in a subtest of its own, so that
// -run 'Scenarios/^content$/^rename$' names one. An empty root fails.
func Run[X any](t *testing.T, o Options[X]) {
	areas, err := findAreas(o.Root)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range areas {
		t.Run(a.name, func(t *testing.T) { testscript.Run(t, params(o, a)) })
	}
}

// An area is a folder of scenarios.
type area struct {
	name  string
	files []string
}

// findAreas lists the scenarios, and refuses a root without any.
func findAreas(root string) ([]area, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fault.New(fault.NotFound, "script.find", "found no scenarios at %s", filepath.Join(root, "*", "*.txtar")).
			WithHint("write one: docs/howto/add-a-scenario.md says how")
	}
	slices.Sort(files)
	var areas []area
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f))
		if len(areas) == 0 || areas[len(areas)-1].name != name {
			areas = append(areas, area{name: name})
		}
		last := &areas[len(areas)-1]
		last.files = append(last.files, f)
	}
	return areas, nil
}

// stateKey is where testscript keeps a script's *State.
type stateKey struct{}

func params[X any](o Options[X], a area) testscript.Params {
	words := allWords(o)
	flags := map[string][]string{}
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, w := range words {
		flags[name] = w.Flags
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			s := ts.Value(stateKey{}).(*State[X])
			s.ts = ts
			w.Run(s, neg, args)
		}
	}
	cfg := &config{
		root: o.Root, cassettes: o.Cassettes, program: o.Program, main: o.Main,
		update: o.Update, record: o.Record, recording: o.Recording, outside: o.Outside, unused: o.Unused,
	}
	return testscript.Params{
		Files: a.files, Cmds: cmds, UpdateScripts: o.Update,
		RequireExplicitExec: true, RequireUniqueNames: true,
		Condition: func(name string) (bool, error) { return condition(o, name) },
		Setup: func(env *testscript.Env) error {
			s, err := setup(env, cfg, a.name, o.Env, flags)
			if err != nil {
				return err
			}
			st := &State[X]{Script: s}
			if o.New != nil {
				st.Bag = o.New(s)
			}
			env.Values[stateKey{}] = st
			return nil
		},
	}
}

// allWords are the package's words, the program's and the caller's. Two words of one
// name are a bug in wiring.
func allWords[X any](o Options[X]) map[string]Command[X] {
	own := ownWords()
	own[o.Program] = programWord(o.Program)
	words := make(map[string]Command[X], len(own)+len(o.Commands))
	for name, w := range own {
		words[name] = Command[X]{w.args, w.help, w.flags, func(s *State[X], neg bool, args []string) {
			w.run(s.Script, neg, args)
		}}
	}
	for name, c := range o.Commands {
		if _, taken := words[name]; taken || slices.Contains(builtin, name) {
			panic(fmt.Sprintf("script: the word %q is taken", name))
		}
		words[name] = c
	}
	return words
}

// setup makes a script's state, after its files were laid out and before it runs.
func setup(env *testscript.Env, cfg *config, area string, extra map[string]string, flags map[string][]string) (*Script, error) {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	archive, err := txtar.ParseFile(filepath.Join(cfg.root, area, name+".txtar"))
	if err != nil {
		return nil, err
	}
	text := string(archive.Comment)
	if err := lint(text, flags, cfg.program); err != nil {
		return nil, err
	}
	s := &Script{
		Clock: clock.NewFixed(clock.Epoch), Area: area, Name: name,
		cfg: cfg, work: env.WorkDir, signals: make(chan os.Signal, 1),
		pending: map[string]string{},
	}
	if err := s.setupEnv(env, extra); err != nil {
		return nil, err
	}
	for _, k := range envNames(text) {
		s.noteEnv(k)
	}
	env.Defer(func() {
		t, ok := env.T().(interface{ Failed() bool })
		failed := !ok || t.Failed()
		err := s.closeTapes(failed)
		if failed || s.cfg.recording.DryRun {
			return
		}
		if skip, ok := t.(interface{ Skipped() bool }); err == nil && (!ok || !skip.Skipped()) {
			err = s.unused()
		}
		if err == nil {
			err = s.install()
		}
		if err != nil {
			env.T().Fatal(reason(err))
		}
	})
	return s, nil
}

// reason is an error with its code and its hint, or several.
func reason(err error) string {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var lines []string
		for _, e := range all.Unwrap() {
			lines = append(lines, reason(e))
		}
		return strings.Join(lines, "\n")
	}
	text := err.Error()
	if code := fault.CodeOf(err); code != fault.Internal {
		text = fmt.Sprintf("%s: %s", code, text)
	}
	if hint := fault.HintOf(err); hint != "" {
		text += "\n  → " + hint
	}
	return text
}

// setupEnv replaces testscript's home by one below $WORK, and tells exec where the
// program is.
func (s *Script) setupEnv(env *testscript.Env, extra map[string]string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, kv := range env.Vars {
		if k, _, ok := strings.Cut(kv, "="); ok && len(k) > 1 {
			s.noteEnv(k)
		}
	}
	home := filepath.Join(env.WorkDir, "home")
	for _, k := range []string{"HOME", "USERPROFILE", "home"} {
		if env.Getenv(k) != "" {
			env.Setenv(k, home)
		}
	}
	env.Setenv("SOUNDSTAGE", self)
	env.Setenv(asProgram, "1")
	s.hidden = []string{"SOUNDSTAGE", asProgram, "PATH", "GOTRACEBACK", "GOCOVERDIR", "GORACE", "devnull", "exe"}
	for k, v := range extra {
		env.Setenv(k, v)
		s.noteEnv(k)
	}
	return nil
}
