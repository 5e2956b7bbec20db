package script_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

func TestMain(m *testing.M) {
	denied := seam.DenyDefaultTransport()
	os.Exit(denied.Exit(script.Main(m, func() int {
		fmt.Println("a process of its own:", strings.Join(os.Args[1:], " "))
		return 0
	}), os.Stderr))
}

// prog is a small program that uses every door.
func prog(d script.Doors) int {
	if len(d.Args) == 0 {
		return 2
	}
	switch d.Args[0] {
	case "fail":
		fmt.Fprintln(d.Stderr, "no such thing")
		return 4
	case "panic":
		panic("lost")
	case "cat":
		b, _ := io.ReadAll(d.Stdin)
		_, _ = d.Stdout.Write(b)
	case "now":
		fmt.Fprintln(d.Stdout, d.Clock.Now().Format("2006-01-02T15:04:05Z"))
	case "env":
		fmt.Fprintln(d.Stdout, d.Env[d.Args[1]])
	case "signal":
		select {
		case s := <-d.Signals:
			fmt.Fprintln(d.Stdout, s)
		default:
			fmt.Fprintln(d.Stdout, "none")
		}
	case "read":
		b, err := os.ReadFile(filepath.Join(d.Dir, d.Args[1]))
		if err != nil {
			return 1
		}
		_, _ = d.Stdout.Write(b)
	case "ask":
		return ask(d)
	default:
		fmt.Fprintln(d.Stdout, strings.Join(d.Args, " "))
	}
	return 0
}

// ask sends one request through the scenario's seam, and prints the answer's text.
func ask(d script.Doors) int {
	body := `{"model":"m","messages":[{"role":"user","content":"` + d.Args[1] + `"}]}`
	req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 1
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: d.Seam.Transport()}).Do(req)
	if err != nil {
		fmt.Fprintln(d.Stderr, err)
		return 1
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	fmt.Fprintln(d.Stdout, string(b))
	if err != nil || res.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}

// tally is the value that the words of this test keep.
type tally struct{ n int }

func options(root string) script.Options[*tally] {
	return script.Options[*tally]{
		Root: root, Cassettes: filepath.Join(root, "..", "cassettes"), Program: "prog", Main: prog, Env: map[string]string{"GREETING": "hello"},
		New: func(*script.Script) *tally { return &tally{} },
		Commands: map[string]script.Command[*tally]{
			"count": {
				Args: "[-by=N] N", Help: "Counts.", Flags: []string{"-by="},
				Run: func(s *script.State[*tally], _ bool, args []string) {
					_, args = s.Flags("count", args, "-by=")
					s.Bag.n++
					if args[0] != fmt.Sprint(s.Bag.n) {
						s.Fatalf("count is %d", s.Bag.n)
					}
				},
			},
		},
	}
}

func TestWordsWork(t *testing.T) { script.Run(t, options("testdata/pass/scenarios")) }

// write lays out a tree of scenarios and cassettes, and returns the scenarios' folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	return writeTree(t, t.TempDir(), files)
}

func writeTree(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "scenarios")
}

// TestScriptsThatMustFail is the proof that a scenario can fail.
func TestScriptsThatMustFail(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown word", "# x\nstop\nclok +1h\n", `line 3: unknown word "clok" (did you mean "clock"?)`},
		{"unknown flag", "# x\ncassette -reply a/b\n", `unknown flag "-reply" (did you mean "-replay"?)`},
		{"flag of a caller's word", "# x\ncount -bye=1 1\n", `unknown flag "-bye" (did you mean "-by"?)`},
		{"no first line", "prog a\n", "a scenario begins with a line"},
		{"stdin", "# x\nstdin f\nprog cat\n-- f --\nx\n", "stdin is for exec only; use: input"},
		{"status", "# x\nprog fail\n", "exit status 4"},
		{"success", "# x\n! prog a\n", "unexpected success"},
		{"wrong status", "# x\n! prog fail\nexit 5\n", "exit status is 4"},
		{"panic", "# x\nprog panic\n", "panic: lost"},
		{"no cassette", "# x\ncassette a/b\n", "record it with: make record"},
		{"cassette outside", "# x\ncassette ../../b\n", "usage: cassette"},
		{"no fault", "# x\ncassette a/b\n[replay] fault 1 200\n", `line 3: chaos.parse: status "200"`},
		{"a lane in a comment", "# x\ncassette a/b\nfault writer#1 429\n", "line 3: chaos.parse: "},
		{"a fault over nothing", "# x\nfault 1 500\n", "line 2: fault: no cassette"},
		{"no golden", "# x\nprog a\ngolden g\n", "write it with: make update"},
		{"bad time", "# x\nclock tomorrow\n", `"tomorrow" is not a time`},
		{"stdout", "# x\nprog a\nstdout b\n", "no match"},
		{"exec by bare name", "# x\nexec prog a\n", "executable file not found"},
		{"two files of one name", "# x\n-- f --\n-- f --\n", "RequireUniqueNames"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := write(t, map[string]string{"scenarios/a/one.txtar": tt.text})
			var out bytes.Buffer
			res, err := script.Execute(options(root), "", &out)
			if err != nil {
				t.Fatal(err)
			}
			if res.Failed != 1 || !strings.Contains(out.String(), tt.want) {
				t.Errorf("Execute = %+v, want one failure with %q in:\n%s", res, tt.want, out.String())
			}
		})
	}
}

func TestEmptyRootFails(t *testing.T) {
	if _, err := script.Execute(options(t.TempDir()), "", io.Discard); err == nil {
		t.Error("Execute of a root without scenarios: no error")
	}
	root := write(t, map[string]string{"scenarios/a/one.txtar": "# x\n"})
	if _, err := script.Execute(options(root), "a/tow", io.Discard); err == nil || !strings.Contains(err.Error(), "a/one") {
		t.Errorf("Execute of a pattern that matches nothing: %v, want an error that lists a/one", err)
	}
}

func TestUpdate(t *testing.T) {
	root := write(t, map[string]string{
		"scenarios/a/one.txtar": "# x\nprog hello\ngolden out/hello.txt\ncmp stdout want\n-- want --\nold\n",
	})
	o := options(root)
	o.Update = true
	for _, update := range []bool{true, false} { // the second run is the check
		o.Update = update
		var out bytes.Buffer
		if res, err := script.Execute(o, "", &out); err != nil || res.Passed != 1 {
			t.Fatalf("update %v: %+v, %v\n%s", update, res, err, out.String())
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "a", "one.golden", "out", "hello.txt"))
	if err != nil || string(b) != "hello\n" {
		t.Errorf("golden is %q, %v", b, err)
	}
}

const (
	upstreamHi = "turns:\n  - expect: {user: hi}\n    say: {text: hello there}\n"
	scenarioHi = "# x\ncassette a/one\nprog ask hi\nstdout 'hello there'\n"
)

// execute runs all scenarios of root and wants them to pass.
func execute(t *testing.T, root string, record bool) {
	t.Helper()
	o := options(root)
	o.Record = record
	var out bytes.Buffer
	if res, err := script.Execute(o, "", &out); err != nil || res.Failed != 0 || res.Passed == 0 {
		t.Fatalf("record %v: %+v, %v\n%s", record, res, err, out.String())
	}
}

func TestRecordThenReplay(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/one.upstream.yaml": upstreamHi})
	file := filepath.Join(root, "..", "cassettes", "a", "one.yaml")
	execute(t, root, true)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, root, false)
	execute(t, root, true) // once more leaves no diff
	if again, _ := os.ReadFile(file); !bytes.Equal(first, again) {
		t.Errorf("recorded again, the cassette differs:\n%s\n%s", first, again)
	}

	t.Run("a failed scenario keeps the old cassette", func(t *testing.T) {
		write := func(text string) {
			if err := os.WriteFile(filepath.Join(root, "a", "one.txtar"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(strings.Replace(scenarioHi, "ask hi", "ask 'hi again'", 1) + "prog fail\n")
		defer write(scenarioHi)
		o := options(root)
		o.Record = true
		if res, err := script.Execute(o, "", io.Discard); err != nil || res.Failed != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		if now, _ := os.ReadFile(file); !bytes.Equal(first, now) {
			t.Errorf("the cassette is %q", now)
		}
	})
	t.Run("a player and a live one are not recorded", func(t *testing.T) {
		live := filepath.Join(filepath.Dir(file), "live.yaml")
		if err := os.WriteFile(live, first, 0o644); err != nil {
			t.Fatal(err)
		}
		text := "# x\ncassette -replay a/one\nprog env SOUNDSTAGE_MODE\nstdout replay\ncassette a/live\nprog ask hi\nstdout there\n"
		if err := os.WriteFile(filepath.Join(root, "a", "two.txtar"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		execute(t, root, true)
	})
}

// A fault is laid over the cassette, leaves it as it is, and must fire.
func TestFaults(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/one.upstream.yaml": upstreamHi})
	file := filepath.Join(root, "..", "cassettes", "a", "one.yaml")
	execute(t, root, true)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"# x\nfault 1 503\ncassette a/one\nfault 2 slow 1s\n! prog ask hi\nstdout 'HTTP 503'\nprog ask hi\nstdout there\n", ""},
		{"# x\ncassette a/one\nfault 2 503\nprog ask hi\n", `fault "2 503" never fired: 1 such calls were made, 1 in all`},
		{"# x\ncassette a/one\nprog ask hi\nfault 1 503\n", `fault "1 503" comes too late`},
	} {
		if err := os.WriteFile(filepath.Join(root, "a", "one.txtar"), []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, record := range []bool{true, false} {
			o := options(root)
			o.Record = record
			var out bytes.Buffer
			res, err := script.Execute(o, "", &out)
			if err != nil || (res.Failed == 0) != (tt.want == "") || !strings.Contains(out.String(), tt.want) {
				t.Errorf("%q, record %v: %+v, %v\n%s", tt.text, record, res, err, out.String())
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, first) {
				t.Errorf("%q, record %v: the cassette is another, %v", tt.text, record, err)
			}
		}
	}
}

// TestMissFails is the rule that a miss cannot be swallowed: not by a program that
// goes on, and not by a script that looks away.
func TestMissFails(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": scenarioHi, "scenarios/a/one.upstream.yaml": upstreamHi})
	execute(t, root, true)
	text := "# x\ncassette a/one\n! prog ask bye\nstdout SEAM_MISS\n"
	if err := os.WriteFile(filepath.Join(root, "a", "one.txtar"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if res, err := script.Execute(options(root), "", &out); err != nil || res.Failed != 1 || !strings.Contains(out.String(), "messages") {
		t.Errorf("%+v, %v\n%s", res, err, out.String())
	}
}

func TestReadme(t *testing.T) {
	got := string(script.Readme(options("x"), "# Scenarios\n"))
	for _, want := range []string{"# Scenarios\n", "| `count [-by=N] N` | Counts. |", "| `clock TIME\\|+DURATION` |", "| `prog ARGS…` |", "`cmpenv`"} {
		if !strings.Contains(got, want) {
			t.Errorf("Readme lacks %q:\n%s", want, got)
		}
	}
}

func TestTakenWordPanics(t *testing.T) {
	o := options("testdata/pass/scenarios")
	for _, name := range []string{"cmp", "clock", "prog"} {
		o.Commands = map[string]script.Command[*tally]{name: {}}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a word %q was taken over without a panic", name)
				}
			}()
			script.Words(o)
		}()
	}
}
