package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/script/author"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// scenarioMade is what trace to-scenario prints with --json.
type scenarioMade struct {
	Name     string   `json:"name" jsonschema:"area/name of the scenario"`
	Session  string   `json:"session" jsonschema:"whose trace it was made of"`
	Files    []string `json:"files" jsonschema:"what was written"`
	Origin   string   `json:"origin,omitempty" jsonschema:"of the cassette: live, imported or scripted; none where no model was asked"`
	Episodes int      `json:"episodes" jsonschema:"calls in the cassette"`
	Notes    []string `json:"notes" jsonschema:"what could not be carried over, and what was done instead"`
}

func (a *app) cmdTraceScenario() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "to-scenario TRACE",
		Short: "Make a scenario and its cassette of a session's trace",
		Long: `To-scenario writes scenarios/<area>/<name>.txtar with the asserts that a person would write
(what was called, drafts, receipts, cost, the store in the end), and the cassette with the
session's own recording. It runs the scenario first, and writes nothing unless it passes.

A session that was live and not recorded has no answers to replay: the model's words are
taken from the trace, a script says them, and the cassette tells that it is scripted.
TRACE is a session of this studio, or the file of its trace.`,
		Example: "  soundstage trace to-scenario s-… -o content/rename-again\n  soundstage test content/rename-again",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.traceScenario(c.Context(), args[0], out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`area/name` of the scenario (default: sessions/<session>)")
	return c
}

func (a *app) traceScenario(ctx context.Context, of, out string) error {
	id := strings.TrimSuffix(filepath.Base(of), ".jsonl")
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(out), scenariosDir+"/"), ".txtar")
	if name == "" {
		name = "sessions/" + id
	}
	if err := author.CheckName(name); err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	events, err := h.events(ctx, id)
	if err != nil {
		return err
	}
	m := &maker{app: a, house: h, name: name, made: scenarioMade{Name: name, Session: id, Files: []string{}, Notes: []string{}}}
	dir, err := os.MkdirTemp(a.doors.Env["TMPDIR"], "soundstage-scenario-")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "trace.to-scenario", "make a folder to try it in")
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of the system's temporary files
	m.dir = dir
	if err := m.write(ctx, events); err != nil {
		return err
	}
	if err := m.try(); err != nil {
		return err
	}
	if err := m.install(); err != nil {
		return err
	}
	return a.print(m.made, func(w io.Writer) {
		fmt.Fprintf(w, "%s from session %s, %s in the cassette; it passes\n", name, id, count(m.made.Episodes, "episode"))
		for _, f := range m.made.Files {
			fmt.Fprintf(w, "  %s\n", f)
		}
		for _, n := range m.made.Notes {
			fmt.Fprintf(w, "  note: %s\n", n)
		}
	})
}

// events are a session's, all of them.
func (h *house) events(ctx context.Context, id string) ([]trace.Event, error) {
	file, err := session.Path(h.sessions(), id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, h.noSession(ctx, "trace.to-scenario", id, "name one of this studio")
	}
	var events []trace.Event
	for e, err := range trace.Read(file) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil, fault.New(scenario.CodeTrace, "trace.to-scenario", "the trace of session %q is empty", id).WithHint("name another session")
	}
	return events, nil
}

// A maker makes one scenario in a folder where it is tried.
type maker struct {
	app   *app
	house *house
	name  string
	dir   string
	made  scenarioMade
}

func (m *maker) file(top, ext string) string {
	return filepath.Join(m.dir, top, filepath.FromSlash(m.name)+ext)
}

func (m *maker) note(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(m.made.Notes, t) {
			m.made.Notes = append(m.made.Notes, t)
		}
	}
}

// write puts the scenario and its cassette into the folder.
func (m *maker) write(ctx context.Context, events []trace.Event) error {
	p, err := m.house.before(ctx, events)
	if err != nil {
		return err
	}
	m.note(p.notes...)
	j := scenario.Journey{Name: m.name, Events: events, Model: m.house.cfg.Model, Gate: m.house.cfg.Gate, Open: p.open}
	if j.Given, err = scenario.FormatGiven(p.given); err != nil {
		return err
	}
	if j.Dump, err = p.dump(ctx); err != nil {
		return err
	}
	if j.Config, err = m.house.settings(); err != nil {
		return err
	}
	s, notes, err := j.Steps()
	if err != nil {
		return err
	}
	m.note(notes...)
	text, err := s.Text()
	if err != nil {
		return err
	}
	text = m.house.redactor().Mask(text)
	if found := m.house.redactor().Find(text); len(found) > 0 {
		return fault.New(cassette.CodeNotSafe, "trace.to-scenario", "the scenario would hold what looks like a secret: %s at %s", found[0].Rule, found[0].Pointer).
			WithHint("take it out of the piece or the request; nothing was written")
	}
	files := []author.Output{{Path: m.file(scenariosDir, ".txtar"), Data: text}}
	if !j.Models() {
		return author.Write(files)
	}
	recorded, err := m.copyCassette(events)
	if err != nil {
		return err
	}
	if recorded && m.made.Origin != string(cassette.Scripted) {
		return author.Write(files)
	}
	script, notes, err := scenario.Upstream(m.name, events)
	switch {
	case err != nil && !recorded:
		return err
	case err != nil:
		m.note("no upstream script was made, so that the cassette cannot be recorded again: " + err.Error())
	default:
		m.note(notes...)
		files = append(files, author.Output{Path: m.file(scenariosDir, ".upstream.yaml"), Data: m.house.redactor().Mask(script)})
	}
	return author.Write(files)
}

// copyCassette copies the session's own recording, and reports whether there is one.
func (m *maker) copyCassette(events []trace.Event) (bool, error) {
	p, err := trace.Decode(events[0])
	if err != nil {
		return false, err
	}
	opened, ok := p.(trace.SessionOpened)
	if !ok || opened.Mode == string(seam.Live) || opened.Cassette == "" {
		m.note("the session was live and nothing recorded it, so its cassette cannot be made: what the provider really sent is gone; " +
			"the model's words were taken from the trace, and a script says them")
		return false, nil
	}
	c, err := m.openRecording(opened.Cassette)
	if err != nil {
		return false, err
	}
	defer c.Close() //nolint:errcheck // only read
	m.made.Origin = string(c.Header().Origin)
	return true, copyEpisodes(c, m.file(cassettesDir, ".yaml"))
}

// openRecording finds a cassette as the trace names it: by area/name, or by its file.
func (m *maker) openRecording(name string) (*cassette.Cassette, error) {
	candidates := []string{m.app.cassetteFile(name), m.app.path(name + ".yaml")}
	if env := m.app.doors.Env[script.EnvCassette]; env != "" && strings.HasSuffix(filepath.ToSlash(env), name+".yaml") {
		candidates = append(candidates, env)
	}
	for _, file := range candidates {
		if _, err := os.Stat(file); err == nil {
			return cassette.Open(file)
		}
	}
	return nil, fault.New(cassette.CodeMissing, "trace.to-scenario", "the session was recorded in cassette %q, and it is gone (file %q)", name, candidates[0]).
		WithHint("put it back, or start in the folder in which the session ran")
}

func copyEpisodes(c *cassette.Cassette, to string) error {
	w, err := cassette.Create(to, c.Header())
	if err != nil {
		return err
	}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			return err
		}
		if err := w.Append(e); err != nil {
			return err
		}
	}
	return w.Commit()
}

// try runs the scenario: once to see what it asks for, so that nothing else stays in the
// cassette, and once as everybody will.
func (m *maker) try() error {
	file := m.file(cassettesDir, ".yaml")
	upstream := m.file(scenariosDir, ".upstream.yaml")
	if _, err := os.Stat(file); err != nil {
		if _, err := os.Stat(upstream); err == nil {
			if log, ok := m.run(func(o *scenarioOptions) { o.Record = true }); !ok {
				return m.failed("recorded from what the model said in the trace, the scenario does not pass", log)
			}
		}
		return m.tryOnce()
	}
	var unused []int
	if log, ok := m.run(func(o *scenarioOptions) {
		o.Unused = func(_, _ string, episodes []int) { unused = append(unused, episodes...) }
	}); !ok {
		return m.failed("the scenario does not pass", log)
	}
	if err := drop(file, unused); err != nil {
		return err
	}
	if _, err := os.Stat(upstream); err == nil {
		m.tryUpstream(file, upstream)
	}
	return m.tryOnce()
}

func (m *maker) tryOnce() error {
	if log, ok := m.run(func(*scenarioOptions) {}); !ok {
		return m.failed("the scenario does not pass", log)
	}
	if c, err := cassette.Open(m.file(cassettesDir, ".yaml")); err == nil {
		m.made.Origin, m.made.Episodes = string(c.Header().Origin), c.Len()
		_ = c.Close() // only read
	}
	return nil
}

// tryUpstream records with the script, and takes it away where that does not work. The
// cassette stays what it was.
func (m *maker) tryUpstream(file, script string) {
	kept, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if log, ok := m.run(func(o *scenarioOptions) { o.Record = true }); !ok {
		m.note("no upstream script was made: recorded with it, the scenario did not pass: " + lastLine(log))
		_ = os.Remove(script) // it is a try
	}
	_ = os.WriteFile(file, kept, 0o644) // as above
}

// scenarioOptions are how a scenario is run.
type scenarioOptions = script.Options[*scenario.Bag]

func (m *maker) run(change func(*scenarioOptions)) (log string, ok bool) {
	var b bytes.Buffer
	o := m.app.scenarios()
	o.Root, o.Cassettes = filepath.Join(m.dir, scenariosDir), filepath.Join(m.dir, cassettesDir)
	change(&o)
	res, err := script.Execute(o, m.name, &b)
	if err != nil {
		return err.Error(), false
	}
	return b.String(), res == script.Result{Passed: 1}
}

func (m *maker) failed(what, log string) error {
	text := what + "; nothing was written. " + lastLine(log)
	for _, n := range m.made.Notes {
		text += "; " + n
	}
	return fault.New(scenario.CodeTrace, "trace.to-scenario", "%s", text).
		WithHint("the program, the studio or the cassette is not what it was when the session ran; make it with the version that ran it")
}

// lastLine is what a failed scenario's log says of why: the line that failed, and the
// last thing that the program complained of.
func lastLine(log string) string {
	failed, said := "", ""
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if _, text, ok := strings.Cut(line, "FAIL: "); ok {
			failed = text
		}
		if text, ok := strings.CutPrefix(line, "soundstage: "); ok {
			said = text
		}
	}
	if i := strings.LastIndex(failed, scenariosDir+"/"); i >= 0 { // the folder of the try says nothing
		failed = failed[i:]
	}
	return strings.TrimSpace(strings.Join([]string{failed, said}, " "))
}

// drop leaves episodes out of a cassette.
func drop(file string, unused []int) error {
	if len(unused) == 0 {
		return nil
	}
	c, err := cassette.Open(file)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	_, err = cassette.Rewrite(c, c.Header(), func(i int) (cassette.Change, error) {
		return cassette.Change{Drop: slices.Contains(unused, i)}, nil
	})
	return err
}

// install puts what passed where scenarios and cassettes live.
func (m *maker) install() error {
	var files []author.Output
	for _, f := range []struct{ top, ext string }{{cassettesDir, ".yaml"}, {scenariosDir, ".upstream.yaml"}, {scenariosDir, ".txtar"}} {
		data, err := os.ReadFile(m.file(f.top, f.ext))
		if err != nil {
			continue // this one was not needed
		}
		files = append(files, author.Output{Path: m.app.path(filepath.Join(f.top, filepath.FromSlash(m.name)+f.ext)), Data: data})
		m.made.Files = append(m.made.Files, f.top+"/"+m.name+f.ext)
	}
	return author.Write(files)
}
