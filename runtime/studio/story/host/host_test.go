package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// memory is a disk of a test.
type memory = loadtest.Files

// into writes to one.
func into(m memory) func(context.Context, string, []byte) (bool, error) {
	return func(_ context.Context, name string, raw []byte) (bool, error) {
		m[name] = string(raw)
		return true, nil
	}
}

// program is a runner that says what it was started with, or fails.
type program struct {
	out host.Outcome
	err error
	got host.Command
}

func (p *program) Run(ctx context.Context, c host.Command) (host.Outcome, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		panic("a command without a bound on its time")
	}
	p.got = c
	return p.out, p.err
}

func call(t *testing.T, h engine.Handlers, handler, args string) (engine.Result, error) {
	t.Helper()
	v, err := value.Parse([]byte(args))
	if err != nil {
		t.Fatal(err)
	}
	return h.Call(t.Context(), engine.Request{Handler: handler, Args: v, Dir: "/w/story", World: value.NewMap(nil)})
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		args, argv, dir string
		out             host.Outcome
		data, problem   string
	}{
		{args: `{"cmd":"ls | wc"}`, argv: "bash -c ls | wc", dir: ".", out: host.Outcome{Stdout: "3\n"}, data: `{"exit_code":0,"ok":true,"stdout":"3\n"}`},
		{args: `{"cmd":"ls","args":["-l",3,true],"cwd":"sub"}`, argv: "ls -l 3 true", dir: "sub", data: `{"exit_code":0,"ok":true,"stdout":""}`},
		{args: `{"cmd":"x","cwd":"/w/a/b"}`, argv: "bash -c x", dir: "a/b", out: host.Outcome{Stderr: "no\n", Exit: 2}, data: `{"exit_code":2,"ok":false,"stderr":"no\n","stdout":"no\n"}`},
		{args: `{"cmd":"x","fail_on_error":true}`, argv: "bash -c x", dir: ".", out: host.Outcome{Exit: 2}, data: `{"exit_code":2,"ok":false,"stdout":""}`, problem: "host.run: command exited 2"},
		{args: `{"cmd":"x"}`, argv: "bash -c x", dir: ".", out: host.Outcome{Stdout: "log\n{\n  \"a\": [\n    {\"b\": 1}\n  ]\n}\n"}, data: `{"exit_code":0,"ok":true,"stdout":"log\n{\n  \"a\": [\n    {\"b\": 1}\n  ]\n}\n","stdout_json":{"a":[{"b":1}]}}`},
		{args: `{"cmd":"x"}`, argv: "bash -c x", dir: ".", out: host.Outcome{Stdout: "[1,2]"}, data: `{"exit_code":0,"ok":true,"stdout":"[1,2]","stdout_json":[1,2]}`},
		{args: `{}`, problem: "host.run: cmd argument is required"},
		{args: `{"cmd":"x","args":"y"}`, problem: "host.run: args is no list of up to 1024 texts"},
		{args: `{"cmd":"x","cwd":"../out"}`, problem: `host.run: cwd: story.host: "../out" lies outside of the folder that the story runs in`},
		{args: `{"cmd":"x","cwd":"/wide"}`, problem: `host.run: cwd: story.host: "/wide" lies outside of the folder that the story runs in`},
		{args: `{"cmd":"x","timeout":"2h"}`, problem: `host.run: timeout "2h" is no time of up to 10m0s: write one like 30s`},
		{args: `{"cmd":"x","timeout":"soon"}`, problem: `host.run: timeout "soon" is no time of up to 10m0s: write one like 30s`},
		{args: `{"cmd":"x","timeout":2.5}`, argv: "bash -c x", dir: ".", data: `{"exit_code":0,"ok":true,"stdout":""}`},
	} {
		p := &program{out: tt.out}
		res, err := call(t, host.New(host.Options{Files: memory{}, Runner: p, Work: "/w"}), "host.run", tt.args)
		if err != nil || res.Error != tt.problem {
			t.Errorf("%s: %q, %v, want %q", tt.args, res.Error, err, tt.problem)
		}
		if got := res.Data.JSON(); tt.data != "" && got != tt.data {
			t.Errorf("%s: %s\nwant %s", tt.args, got, tt.data)
		}
		if got := strings.Join(p.got.Args, " "); got != tt.argv || p.got.Dir != tt.dir {
			t.Errorf("%s: ran %q in %q, want %q in %q", tt.args, got, p.got.Dir, tt.argv, tt.dir)
		}
	}
}

// JSON that does not parse is told of, and so is a command that takes too long or cannot start.
func TestRunTellsWhatWentWrong(t *testing.T) {
	p := &program{out: host.Outcome{Stdout: "{broken"}}
	h := host.New(host.Options{Files: memory{}, Runner: p, Work: "/w"})
	res, err := call(t, h, "host.run", `{"cmd":"x"}`)
	if why, _ := res.Data.Get("stdout_json_parse_error"); err != nil || why.Str() == "" {
		t.Errorf("%s, %v", res.Data.JSON(), err)
	}
	p.err = context.DeadlineExceeded
	if res, err = call(t, h, "host.run", `{"cmd":"x","timeout":5}`); err != nil || res.Error != "host.run: timed out after 5s" {
		t.Errorf("%q, %v", res.Error, err)
	}
	p.err = fault.New("NOT_THERE", "test", "no such program")
	if _, err = call(t, h, "host.run", `{"cmd":"x"}`); fault.CodeOf(err) != "NOT_THERE" {
		t.Errorf("%v", err)
	}
	if _, err = call(t, host.New(host.Options{Files: memory{}, Work: "/w"}), "host.run", `{"cmd":"x"}`); fault.CodeOf(err) != engine.CodeHandler {
		t.Errorf("without a runner: %v", err)
	}
	if _, err = call(t, h, "host.mail", `{}`); fault.CodeOf(err) != engine.CodeHandler {
		t.Errorf("a handler that there is none of: %v", err)
	}
}

// Scripts read below the folder of work, and only files that are asked for are written.
func TestFiles(t *testing.T) {
	m := memory{
		"/w/story/s.star":      "def main(ctx):\n    return {\"text\": ctx.fs.read(\"a.txt\"), \"there\": ctx.fs.exists(\"b.txt\"), \"all\": ctx.fs.glob(\"*.txt\")}\n",
		"/w/story/s.star.yaml": "outputs: {text: string, there: bool, all: list}\n", "/w/a.txt": "Ada",
		"/w/story/out.star":      "def main(ctx):\n    return {\"text\": ctx.fs.read(\"../secret\")}\n",
		"/w/story/out.star.yaml": "outputs: {text: string}\n", "/secret": "s",
		"/w/story/probe.star":      "def main(ctx):\n    return {\"text\": ctx.probe(\"git.status\", [])}\n",
		"/w/story/probe.star.yaml": "outputs: {text: any}\n",
	}
	h := host.New(host.Options{Files: m, Write: into(m), Work: "/w"})
	for args, want := range map[string]string{
		`{"script":"s.star"}`: `{"all":["a.txt"],"text":"Ada","there":false}`, `{"script":"out.star"}`: "lies outside", `{"script":"probe.star"}`: "STORY_SCRIPT_NO_DOOR|looks at files alone",
	} {
		res, err := call(t, h, "host.starlark.run", args)
		got := res.Data.JSON() + res.Error
		ok := false
		for w := range strings.SplitSeq(want, "|") {
			ok = ok || strings.Contains(got, w)
		}
		if err != nil || !ok {
			t.Errorf("%s: %s, %v, want %s", args, got, err, want)
		}
	}
	if _, err := call(t, h, "host.append_to_file", `{"thread":"notes.md","body":"hello"}`); err != nil || !strings.Contains(m["/w/notes.md"], "hello") {
		t.Errorf("%v, %q", err, m["/w/notes.md"])
	}
	if res, err := call(t, h, "host.artifacts_dir", `{"thread":"plan","body":"first"}`); err != nil || res.Error != "" || m["/w/artifacts/plan.md"] == "" {
		t.Errorf("%v, %v, %v", res.Error, err, m)
	}
	res, err := call(t, h, "host.append_to_file", `{"thread":"../notes.md","body":"hello"}`)
	if err != nil || !strings.Contains(res.Error, "lies outside") || m["/notes.md"] != "" {
		t.Errorf("%q, %v", res.Error, err)
	}
	if res, err = call(t, host.New(host.Options{Files: m, Work: "/w"}), "host.append_to_file", `{"thread":"more.md","body":"x"}`); err != nil || !strings.Contains(res.Error, "is not written") {
		t.Errorf("%q, %v", res.Error, err)
	}
}
