package seam_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// runner is a function as a Runner.
type runner func(dir string, c seam.Command) (seam.Outcome, error)

func (f runner) Run(_ context.Context, dir string, c seam.Command) (seam.Outcome, error) {
	return f(dir, c)
}

func nowhere(t *testing.T) runner {
	return func(string, seam.Command) (seam.Outcome, error) {
		t.Error("a command ran in replay")
		return seam.Outcome{}, nil
	}
}

func execDoor(t *testing.T, s *seam.Seam, work string, r seam.Runner) *seam.ExecDoor {
	t.Helper()
	d, err := s.Exec(seam.ExecOptions{Work: work, Env: []string{"LANG"}, Runner: r})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// files are the regular files of a folder with their texts.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a command said and wrote is there again in replay, in another folder and with
// nothing that could run.
func TestExecRecordAndReplay(t *testing.T) {
	o := options(t, seam.Record, echo)
	render := func(work string) seam.Command {
		return seam.Command{
			Args: []string{"/usr/bin/Render", "--out", filepath.Join(work, "out")}, Stdin: []byte{0xff, 0}, Env: map[string]string{"LANG": "C"},
			Dir: "sub", Reads: []string{"in.txt"}, Writes: []string{"log.txt", "out/", "old.txt", "never.txt"},
		}
	}
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		write(t, dir, "in.txt", "input")
		write(t, dir, "old.txt", "old")
		write(t, dir, "sub/keep.txt", "kept")
	}
	s := open(t, o)
	ran, err := execDoor(t, s, first, runner(func(dir string, c seam.Command) (seam.Outcome, error) {
		if dir != filepath.Join(first, "sub") || c.Stdin[0] != 0xff {
			t.Errorf("ran in %q with %v", dir, c)
		}
		write(t, first, "log.txt", "done in "+first)
		write(t, first, "out/deep/a.bin", "\xff\x00")
		write(t, first, "undeclared.txt", "x")
		if err := os.Remove(filepath.Join(first, "old.txt")); err != nil {
			t.Error(err)
		}
		return seam.Outcome{Stdout: []byte("wrote " + first), Stderr: []byte("warned"), Exit: 2}, nil
	})).Run(t.Context(), render(first))
	if err != nil {
		t.Fatal(err)
	}
	closeSeam(t, s)
	for range 2 {
		s = replay(t, o)
		again, err := execDoor(t, s, second, nowhere(t)).Run(t.Context(), render(second))
		if err != nil {
			t.Fatal(err)
		}
		closeSeam(t, s)
		want := ran
		want.Stdout = []byte("wrote " + second)
		want.Files = nil
		for _, f := range ran.Files {
			f.Data = bytes.ReplaceAll(f.Data, []byte(first), []byte(second))
			want.Files = append(want.Files, f)
		}
		if !reflect.DeepEqual(again, want) {
			t.Errorf("replay gives\n%+v\nwant\n%+v", again, want)
		}
		if got, want := files(t, second), map[string]string{
			"in.txt": "input", "sub/keep.txt": "kept", "log.txt": "done in " + second, "out/deep/a.bin": "\xff\x00",
		}; !reflect.DeepEqual(got, want) {
			t.Errorf("replay leaves %v, want %v", got, want)
		}
	}
	e := episodes(t, o.Cassette)[0]
	if e.Kind != "exec" || e.Request.URL != "exec://render" || strings.Contains(string(e.Request.Body)+string(e.Response.Body), first) {
		t.Errorf("episode %+v", e)
	}
	key, raw, err := seam.KeyOf(o.Rules, e.Lane, e.Kind, e.Request)
	if err != nil || key != e.Key || raw != e.Raw {
		t.Errorf("rekeyed to %s %s, %v; the episode has %s %s", key, raw, err, e.Key, e.Raw)
	}
}

// An input that changed is another question.
func TestExecMiss(t *testing.T) {
	o := options(t, seam.Record, echo)
	work := t.TempDir()
	write(t, work, "in.txt", "input")
	c := seam.Command{Args: []string{"cat", "in.txt"}, Reads: []string{"in.txt"}}
	s := open(t, o)
	if _, err := execDoor(t, s, work, &seam.Scripted{Runs: []seam.ScriptedRun{{Args: c.Args, Outcome: seam.Outcome{Stdout: []byte("x")}}}}).Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	closeSeam(t, s)
	s = replay(t, o)
	write(t, work, "in.txt", "changed")
	_, err := execDoor(t, s, work, nil).Run(t.Context(), c)
	wantCode(t, err, seam.CodeMiss)
	wantCode(t, s.Close(), seam.CodeMiss)
	if text := err.Error(); !strings.Contains(text, "/reads/in.txt: recorded") {
		t.Errorf("the miss does not say where: %s", text)
	}
	if u := s.Unused(); len(u) != 1 || len(s.Misses()) != 1 || len(s.Calls()) != 1 {
		t.Errorf("unused %v, misses %v, calls %v", u, s.Misses(), s.Calls())
	}
}

func TestExecRefuses(t *testing.T) {
	s := open(t, options(t, seam.Record, echo))
	work := t.TempDir()
	d := execDoor(t, s, work, &seam.Scripted{})
	many := make([]string, 5000)
	for name, c := range map[string]struct {
		c    seam.Command
		code fault.Code
	}{
		"nothing":      {seam.Command{}, fault.Invalid},
		"variable":     {seam.Command{Args: []string{"a"}, Env: map[string]string{"PATH": "x"}}, fault.Denied},
		"parent":       {seam.Command{Args: []string{"a"}, Writes: []string{"../x"}}, seam.CodeEffect},
		"parent in":    {seam.Command{Args: []string{"a"}, Reads: []string{"a/../../x"}}, seam.CodeEffect},
		"absolute":     {seam.Command{Args: []string{"a"}, Writes: []string{"/etc/x"}}, seam.CodeEffect},
		"drive":        {seam.Command{Args: []string{"a"}, Writes: []string{`c:\x`}}, seam.CodeEffect},
		"dir":          {seam.Command{Args: []string{"a"}, Dir: "../x"}, seam.CodeEffect},
		"many":         {seam.Command{Args: append([]string{"a"}, many...)}, fault.TooLarge},
		"not scripted": {seam.Command{Args: []string{"a"}}, seam.CodeNoScript},
	} {
		if _, err := d.Run(t.Context(), c.c); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := s.Exec(seam.ExecOptions{Work: "relative", Runner: &seam.Scripted{}}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("relative folder: %v", err)
	}
}

// No link leads a command's files anywhere, neither while recording nor in replay.
func TestExecThroughLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret.txt", "outside")
	link := func(t *testing.T, work, name, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(work, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	for name, c := range map[string]struct{ place, link, to string }{
		"file":          {"out.txt", "out.txt", filepath.Join(outside, "secret.txt")},
		"folder":        {"out/a.txt", "out", outside},
		"tree":          {"out/", "out", outside},
		"within":        {"out.txt", "out.txt", "sub/in.txt"},
		"within a tree": {"sub/", "sub/l.txt", "in.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, seam.Record, echo)
			work := t.TempDir()
			write(t, work, "sub/in.txt", "in")
			cmd := seam.Command{Args: []string{"x"}, Writes: []string{c.place}}
			s := open(t, o)
			_, err := execDoor(t, s, work, runner(func(string, seam.Command) (seam.Outcome, error) {
				link(t, work, c.link, c.to)
				return seam.Outcome{}, nil
			})).Run(t.Context(), cmd)
			wantCode(t, err, seam.CodeEffect)
			wantCode(t, s.Close(), seam.CodeEffect)

			o = options(t, seam.Record, echo)
			clean := t.TempDir()
			file := strings.TrimSuffix(c.place, "/")
			if file != c.place {
				file += "/l.txt"
			}
			s = open(t, o)
			_, err = execDoor(t, s, clean, runner(func(string, seam.Command) (seam.Outcome, error) {
				write(t, clean, file, "new")
				return seam.Outcome{}, nil
			})).Run(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			closeSeam(t, s)
			s = replay(t, o)
			_, err = execDoor(t, s, work, nil).Run(t.Context(), cmd)
			wantCode(t, err, seam.CodeEffect)
			if got := files(t, outside); !reflect.DeepEqual(got, map[string]string{"secret.txt": "outside"}) {
				t.Errorf("outside there is %v", got)
			}
		})
	}
}

func TestExecBounds(t *testing.T) {
	s := open(t, options(t, seam.Record, echo))
	work := t.TempDir()
	d := execDoor(t, s, work, runner(func(string, seam.Command) (seam.Outcome, error) {
		f, err := os.Create(filepath.Join(work, "big"))
		if err != nil {
			return seam.Outcome{}, err
		}
		defer f.Close()
		return seam.Outcome{}, f.Truncate(17 << 20)
	}))
	_, err := d.Run(t.Context(), seam.Command{Args: []string{"x"}, Writes: []string{"big"}})
	wantCode(t, err, fault.TooLarge)
	wantCode(t, s.Close(), fault.TooLarge)
}

// A secret that a command says stays out of the file.
func TestExecSecret(t *testing.T) {
	o := options(t, seam.Record, echo)
	o.Redactor = redact.New(redact.Options{Env: map[string]string{"MY_TOKEN": "hunter2-hunter2"}})
	s := open(t, o)
	out, err := execDoor(t, s, t.TempDir(), runner(func(string, seam.Command) (seam.Outcome, error) {
		return seam.Outcome{Stdout: []byte("token hunter2-hunter2")}, nil
	})).Run(t.Context(), seam.Command{Args: []string{"x", "hunter2-hunter2"}})
	if err != nil || string(out.Stdout) != "token hunter2-hunter2" {
		t.Fatalf("%q %v", out.Stdout, err)
	}
	closeSeam(t, s)
	b, err := os.ReadFile(o.Cassette)
	if err != nil || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("%v\n%s", err, b)
	}
}

// Where CI is set only a scripted runner is not the world.
func TestDoorsInCI(t *testing.T) {
	o := options(t, seam.Record, echo)
	o.CI = true
	s := open(t, o)
	_, err := execDoor(t, s, t.TempDir(), nowhere(t)).Run(t.Context(), seam.Command{Args: []string{"x"}})
	wantCode(t, err, seam.CodeNotLive)
	_, err = seam.Call(t.Context(), s, "search", "q", func(context.Context, string) (string, error) { return "", nil })
	wantCode(t, err, seam.CodeNotLive)
	_, err = s.MCP("a").Connect(t.Context(), nil)
	wantCode(t, err, seam.CodeNotLive)
	script := &seam.Scripted{Runs: []seam.ScriptedRun{{Args: []string{"x"}}}}
	if _, err := execDoor(t, s, t.TempDir(), script).Run(t.Context(), seam.Command{Args: []string{"x"}}); err != nil {
		t.Error(err)
	}
	closeSeam(t, s)
}

// Pictures and sound are noise, and noise holds no secret: they come back as they were.
func TestExecBinaryFiles(t *testing.T) {
	o := options(t, seam.Record, echo)
	noise := make([]byte, 3<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint64())
	}
	c := seam.Command{Args: []string{"x"}, Writes: []string{"a.png"}}
	work := t.TempDir()
	s := open(t, o)
	if _, err := execDoor(t, s, work, runner(func(string, seam.Command) (seam.Outcome, error) {
		write(t, work, "a.png", string(noise))
		return seam.Outcome{Stdout: noise[:1000]}, nil
	})).Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	closeSeam(t, s)
	s = replay(t, o)
	again := t.TempDir()
	out, err := execDoor(t, s, again, nil).Run(t.Context(), c)
	if err != nil || !bytes.Equal(out.Stdout, noise[:1000]) || files(t, again)["a.png"] != string(noise) {
		t.Errorf("replay gives other bytes: %v", err)
	}
}
