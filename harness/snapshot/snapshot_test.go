package snapshot

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// catcher is a test that notes its failures in place of failing.
type catcher struct {
	*testing.T
	said string
}

func (c *catcher) Error(args ...any)            { c.said += fmt.Sprintln(args...) }
func (c *catcher) Errorf(f string, args ...any) { c.said += fmt.Sprintf(f+"\n", args...) }
func (c *catcher) FailNow()                     { c.said += "FailNow\n" }
func (c *catcher) Fatal(args ...any)            { c.said += fmt.Sprintln(args...) }

func TestWrites(t *testing.T) {
	tests := []struct {
		name   string
		update bool
		env    map[string]string
		want   bool
		err    string
	}{
		{"no flag", false, nil, false, ""},
		{"flag", true, nil, true, ""},
		{"flag and CI", true, map[string]string{"CI": "true"}, false, "CI is set"},
		{"flag and CI=false", true, map[string]string{"CI": "false"}, true, ""},
		{"CI alone", false, map[string]string{"CI": "1"}, false, ""},
		{"UPDATE_SNAPS", false, map[string]string{"UPDATE_SNAPS": "true"}, false, "UPDATE_SNAPS is set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := writes(tt.update, func(k string) string { return tt.env[k] })
			if got != tt.want || (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("writes(%v, %v) = %v, %v; want %v, %q", tt.update, tt.env, got, err, tt.want, tt.err)
			}
		})
	}
}

// setUpdate sets goldie's flag for one test.
func setUpdate(t *testing.T, v string) {
	t.Helper()
	old := flag.Lookup("update").Value.String()
	if err := flag.Set("update", v); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("update", old) })
}

// skipInCI skips what go-snaps cannot do after it saw CI when the process began.
func skipInCI(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Skip("CI is set, so go-snaps writes nothing in this process")
	}
}

// TestUpdateThenCompare walks through what happens to a snapshot: written when
// asked for, equal, different, and left alone in CI.
func TestUpdateThenCompare(t *testing.T) {
	skipInCI(t)
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	all := func(t *testing.T, text string) string {
		c := &catcher{T: t}
		Golden(c, "sub/hello", []byte(text+"\n"))
		File(c, "docs/errors.md", []byte(text+"\n"))
		JSON(c, "tools", []byte(`{"b":1.50,"a":"`+text+`"}`))
		return c.said
	}
	step := func(name, update, text string, wants ...string) {
		t.Run(name, func(t *testing.T) {
			setUpdate(t, update)
			said := all(t, text)
			for _, want := range wants {
				if !strings.Contains(said, want) {
					t.Errorf("want %q in %q", want, said)
				}
			}
			if len(wants) == 0 && said != "" {
				t.Errorf("it failed: %s", said)
			}
		})
	}
	step("missing", "false", "one", "snapshot not found", "Golden fixture not found")
	if files, _ := os.ReadDir("."); len(files) > 0 {
		t.Fatalf("something was written: %v", files)
	}
	step("written", "true", "one")
	step("equal", "false", "one")
	step("different", "false", "two", "-one", "+two", "two")
	t.Setenv("CI", "1")
	step("refused", "true", "two", "CI is set")
	for _, f := range []string{"testdata/sub/hello.golden", "docs/errors.md", "testdata/tools_1.snap.json"} {
		b, err := os.ReadFile(filepath.FromSlash(f))
		if err != nil || !strings.Contains(string(b), "one") {
			t.Errorf("%s is %q, %v", f, b, err)
		}
	}
	b, _ := os.ReadFile("testdata/tools_1.snap.json")
	if !strings.Contains(string(b), "1.50") {
		t.Errorf("a number changed its spelling: %s", b)
	}
}

func TestVaryingValues(t *testing.T) {
	skipInCI(t)
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	for _, update := range []string{"true", "false"} {
		t.Run(update, func(t *testing.T) {
			setUpdate(t, update)
			c := &catcher{T: t}
			JSON(c, "x", []byte(`{"id":"`+update+`"}`), "id")
			if c.said != "" {
				t.Error(c.said)
			}
		})
	}
}
