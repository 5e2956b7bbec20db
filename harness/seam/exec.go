package seam

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// A Command is a program to be run, and everything that its result depends on.
type Command struct {
	Args  []string          // the program and its arguments
	Stdin []byte            // nil: nothing
	Env   map[string]string // the whole environment; only names that the door allows
	Dir   string            // below the work folder, with slashes; "": the folder itself

	// Reads are files below the work folder whose content matters: it is a part of the
	// key. Writes are the files that the command may write or remove; one that ends in
	// a slash is a folder with everything below. Both with slashes, below the work
	// folder.
	Reads, Writes []string
}

// An Outcome is what a command did.
type Outcome struct {
	Stdout, Stderr []byte
	Exit           int
	Files          []Effect // by path; set by the door
}

// An Effect is a file as it was after a command.
type Effect struct {
	Path       string // below the work folder, with slashes
	Data       []byte
	Executable bool
	Gone       bool // it was there before, and is not any more
}

// A Runner runs commands: adapters/process does, and Scripted. Dir is absolute. An exit
// status is no error; that nothing could be run is. Files is left empty.
type Runner interface {
	Run(ctx context.Context, dir string, c Command) (Outcome, error)
}

// ExecOptions make a door for commands.
type ExecOptions struct {
	Work   string   // the folder that commands work in, absolute; written as $WORK
	Env    []string // names of variables that a Command may set
	Runner Runner   // in replay it is not looked at
}

// An ExecDoor runs commands, or plays back what they did.
type ExecDoor struct {
	s       *Seam
	o       ExecOptions
	folders *redact.Redactor
}

// Exec is a door for commands that work in one folder.
func (s *Seam) Exec(o ExecOptions) (*ExecDoor, error) {
	if !filepath.IsAbs(o.Work) {
		return nil, fault.New(fault.Invalid, "seam.exec", "the work folder %q is not absolute", o.Work)
	}
	if o.Runner == nil && s.o.Mode != Replay {
		return nil, fault.New(fault.Invalid, "seam.exec", "a runner is needed, but in replay")
	}
	return &ExecDoor{s: s, o: o, folders: redact.New(redact.Options{Work: filepath.Clean(o.Work)})}, nil
}

// Run runs a command. In replay its files are written as they were recorded.
func (d *ExecDoor) Run(ctx context.Context, c Command) (Outcome, error) {
	body, err := d.body(c)
	if err != nil {
		return Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	name := strings.ToLower(filepath.Base(filepath.FromSlash(c.Args[0])))
	res, t, err := d.s.ask(d.s.question(ctx, kindExec, "EXEC", kindExec+"://"+url.PathEscape(name), body))
	switch {
	case err != nil:
		return Outcome{}, err
	case res != nil:
		return d.replay(res, c)
	}
	return d.live(ctx, t, c)
}

func (d *ExecDoor) live(ctx context.Context, t *tape, c Command) (Outcome, error) {
	if _, scripted := d.o.Runner.(*Scripted); !scripted {
		if err := d.s.checkDoor("command " + c.Args[0]); err != nil {
			t.dropped()
			return Outcome{}, err
		}
	}
	w, err := openWork(d.o.Work)
	if err != nil {
		t.dropped()
		return Outcome{}, err
	}
	defer w.close()
	before, err := w.list(c.Writes)
	if err != nil {
		t.dropped()
		return Outcome{}, err
	}
	out, err := d.o.Runner.Run(ctx, filepath.Join(d.o.Work, filepath.FromSlash(c.Dir)), c)
	if err != nil {
		if t != nil {
			t.keepError(ctx, err)
		}
		return Outcome{}, err
	}
	if out.Files, err = w.effects(c.Writes, before); err == nil && t != nil {
		err = d.keep(t, out)
	}
	if err != nil && t != nil {
		t.rec.halt(err)
		t.drop()
	}
	return out, err
}

// keep hands an outcome in.
func (d *ExecDoor) keep(t *tape, out Outcome) error {
	text, err := canon.Marshal(outcomeOf(out))
	if err != nil {
		return fault.Wrap(err, CodeNotJSON, "seam.exec", "the outcome of a command")
	}
	t.keep(cassette.Response{Status: http.StatusOK, Header: jsonHeader(), Body: d.folders.Known(text, nil)})
	return nil
}

func (d *ExecDoor) replay(res *cassette.Response, c Command) (Outcome, error) {
	if err := keptError(res); err != nil {
		return Outcome{}, err
	}
	body, _ := d.folders.Expand(res.Body)
	var stored outcomeJSON
	if err := json.Unmarshal(body, &stored); err != nil {
		return Outcome{}, fault.Wrap(err, cassette.CodeDamaged, "seam.exec", "the recorded outcome of %q", c.Args[0])
	}
	out := stored.outcome()
	if len(out.Files) == 0 {
		return out, nil
	}
	w, err := openWork(d.o.Work)
	if err != nil {
		return Outcome{}, err
	}
	defer w.close()
	return out, w.apply(c.Writes, out.Files)
}

// maxArgs bounds a command's arguments and variables.
const maxArgs = 1 << 12

// body is a command as it is keyed: canonical JSON, with the work folder as $WORK.
func (d *ExecDoor) body(c Command) ([]byte, error) {
	const op = "seam.exec"
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, fault.New(fault.Invalid, op, "a command has no program")
	}
	if len(c.Args)+len(c.Env) > maxArgs {
		return nil, fault.New(fault.TooLarge, op, "command %q has %d arguments and variables, more than %d", c.Args[0], len(c.Args)+len(c.Env), maxArgs)
	}
	for name := range c.Env {
		if !slices.Contains(d.o.Env, name) {
			return nil, fault.New(fault.Denied, op, "command %q sets the variable %q, which the door does not allow", c.Args[0], name).
				WithHint("allow it by name where the door is made, or leave it out")
		}
	}
	for _, p := range slices.Concat(c.Reads, c.Writes, []string{path.Join(".", c.Dir)}) {
		if !isBelow(strings.TrimSuffix(p, "/")) {
			return nil, fault.New(CodeEffect, op, "command %q names %q, which is not a path below its folder", c.Args[0], p).
				WithHint("give a relative path with slashes, without ..")
		}
	}
	reads, err := d.digests(c.Reads)
	if err != nil {
		return nil, err
	}
	b, err := canon.Marshal(commandJSON{
		Args: c.Args, Dir: redact.WorkPlaceholder + strings.TrimSuffix("/"+path.Join(".", c.Dir), "/."), Env: c.Env,
		Reads: reads, Stdin: optional(c.Stdin), Writes: slices.Sorted(slices.Values(c.Writes)),
	})
	if err != nil {
		return nil, fault.Wrap(err, CodeNotJSON, op, "command %q", c.Args[0])
	}
	if len(b) > maxBody {
		return nil, fault.New(fault.TooLarge, op, "command %q has %d bytes, more than %d", c.Args[0], len(b), maxBody)
	}
	return d.folders.Known(b, nil), nil
}

func (d *ExecDoor) digests(files []string) (map[string]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	w, err := openWork(d.o.Work)
	if err != nil {
		return nil, err
	}
	defer w.close()
	out := map[string]string{}
	for _, f := range files {
		if out[f], err = w.digest(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isBelow reports whether a path with slashes stays in its folder, on every system.
func isBelow(p string) bool {
	return p != "" && utf8.ValidString(p) && !strings.ContainsAny(p, "\\:\x00") && path.Clean(p) == p && filepath.IsLocal(filepath.FromSlash(p))
}

// The forms in which commands and outcomes are kept.
type (
	commandJSON struct {
		Args   []string          `json:"argv"`
		Dir    string            `json:"dir"`
		Env    map[string]string `json:"env,omitempty"`
		Reads  map[string]string `json:"reads,omitempty"` // path to a digest of the content
		Stdin  *octets           `json:"stdin,omitempty"`
		Writes []string          `json:"writes,omitempty"`
	}
	outcomeJSON struct {
		Exit   int          `json:"exit"`
		Files  []effectJSON `json:"files,omitempty"`
		Stderr octets       `json:"stderr"`
		Stdout octets       `json:"stdout"`
	}
	effectJSON struct {
		Data       *octets `json:"data,omitempty"`
		Executable bool    `json:"executable,omitempty"`
		Gone       bool    `json:"gone,omitempty"`
		Path       string  `json:"path"`
	}
	// octets are a JSON string where they are UTF-8, and else {"base64": …}: text can be
	// reviewed, and is searched for secrets.
	octets []byte
)

type base64JSON struct {
	Base64 []byte `json:"base64"`
}

func optional(b []byte) *octets {
	if b == nil {
		return nil
	}
	return (*octets)(&b)
}

// MarshalJSON implements json.Marshaler.
func (o octets) MarshalJSON() ([]byte, error) {
	if utf8.Valid(o) {
		return json.Marshal(string(o))
	}
	return json.Marshal(base64JSON{o})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *octets) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte{'{'}) {
		var v base64JSON
		err := json.Unmarshal(b, &v)
		*o = v.Base64
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*o = []byte(s)
	return err
}

func outcomeOf(out Outcome) outcomeJSON {
	j := outcomeJSON{Exit: out.Exit, Stdout: out.Stdout, Stderr: out.Stderr}
	for _, f := range out.Files {
		e := effectJSON{Path: f.Path, Executable: f.Executable, Gone: f.Gone}
		if !f.Gone {
			data := octets(f.Data)
			e.Data = &data
		}
		j.Files = append(j.Files, e)
	}
	return j
}

func (j *outcomeJSON) outcome() Outcome {
	out := Outcome{Exit: j.Exit, Stdout: j.Stdout, Stderr: j.Stderr}
	for _, e := range j.Files {
		f := Effect{Path: e.Path, Executable: e.Executable, Gone: e.Gone}
		if e.Data != nil {
			f.Data = *e.Data
		}
		out.Files = append(out.Files, f)
	}
	return out
}
