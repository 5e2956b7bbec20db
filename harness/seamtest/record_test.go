package seamtest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seamtest"
)

const oneTurn = "turns: [{say: {text: first}}]\n"

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A recording of a test that failed, or that left turns of the script, does not
// replace a cassette.
func TestFailedRecordingKeepsTheCassette(t *testing.T) {
	t.Setenv(seamtest.EnvRecord, "1")
	t.Setenv(seamtest.EnvCI, "true")
	root := t.TempDir()
	file := filepath.Join(root, "a.yaml")
	record := func(script string, fails bool) string {
		p := &probe{TB: t}
		p.run(func() {
			s := seamtest.ForTest(p, "a", seamtest.Root(root), seamtest.Scripted(write(t, "a.upstream.yaml", script)))
			get(t, s, `{"input":"hello"}`)
			if fails {
				p.Error("not what was wanted")
			}
		})
		return strings.Join(p.errs, "\n")
	}
	if got := record(oneTurn, false); got != "" {
		t.Fatal(got)
	}
	old, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(old), "x-origin: scripted") || !strings.Contains(string(old), "first") {
		t.Fatalf("%q, %v", old, err)
	}
	second := strings.ReplaceAll(oneTurn, "first", "second")
	for _, row := range []struct {
		script string
		fails  bool
		want   string
	}{
		{second, true, "the test failed, so cassette \"a\" stays"},
		{strings.ReplaceAll(second, "}}]", "}}, {say: {text: third}}]"), false, "1 of 2 turns were not asked for"},
		{strings.ReplaceAll(second, "{say", "{expect: {user: goodbye}, say"), false, "goodbye"},
	} {
		if got := record(row.script, row.fails); !strings.Contains(got, row.want) {
			t.Errorf("failure %q, want %q", got, row.want)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != string(old) {
			t.Errorf("%s: the cassette was replaced: %q, %v", row.want, now, err)
		}
	}
	if got := record(second, false); got != "" {
		t.Error(got)
	}
	if now, _ := os.ReadFile(file); !strings.Contains(string(now), "second") {
		t.Errorf("the cassette was not replaced: %q", now)
	}
}

// What the code under test has its secrets from may be something else than the
// environment; nothing of it reaches the file either way.
func TestSecretsOfTheTest(t *testing.T) {
	const secret = "plum-velvet-otter-41"
	t.Setenv(seamtest.EnvCI, "")
	t.Setenv(seamtest.EnvRecord, "a")
	for name, options := range map[string][]seamtest.Option{
		"environment": nil,
		"given":       {seamtest.Env(map[string]string{"MY_API_KEY": secret})},
	} {
		t.Run(name, func(t *testing.T) {
			if options == nil {
				t.Setenv("MY_API_KEY", secret)
			}
			root := t.TempDir()
			p := &probe{TB: t}
			p.run(func() {
				s := seamtest.ForTest(p, "a", append(options, seamtest.Root(root), seamtest.Scripted(write(t, "s.yaml", oneTurn)))...)
				get(t, s, `{"input":"my password is `+secret+`"}`)
			})
			b, err := os.ReadFile(filepath.Join(root, "a.yaml"))
			if len(p.errs) > 0 || err != nil || strings.Contains(string(b), secret) || !strings.Contains(string(b), "my password is") {
				t.Errorf("%v, %v: %s", p.errs, err, b)
			}
		})
	}
}

// A key is asked for only where a real provider will be called.
func TestKey(t *testing.T) {
	t.Setenv(seamtest.EnvCI, "")
	t.Setenv("SOME_API_KEY", "")
	answer := http.NewFileTransport(http.Dir(t.TempDir())) // the seam takes it for the world
	for _, row := range []struct {
		name, value string
		option      seamtest.Option
		want, err   string
	}{
		{"scripted", "", seamtest.Scripted(write(t, "s.yaml", "turns: [{say: {text: a}}]")), "not-a-key", ""},
		{"live", "abc", seamtest.Upstream(answer, cassette.Live), "abc", ""},
		{"live without", "", seamtest.Upstream(answer, cassette.Live), "", "recording needs SOME_API_KEY"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(seamtest.EnvRecord, "1")
			t.Setenv("SOME_API_KEY", row.value)
			got, p := "", &probe{TB: t}
			p.run(func() {
				s := seamtest.ForTest(p, "a", seamtest.Root(t.TempDir()), row.option)
				if got = s.Key("SOME_API_KEY"); !s.Recording() {
					t.Error("it is not a recording")
				}
				if !s.Clock().Now().Equal(clock.Epoch) {
					t.Error("the clock goes")
				}
				get(t, s, `{"input":"hello"}`)
			})
			errs := strings.Join(p.errs, "\n")
			if got != row.want || (errs == "") != (row.err == "") || !strings.Contains(errs, row.err) {
				t.Errorf("%q, %q; want %q, %q", got, errs, row.want, row.err)
			}
		})
	}
}
