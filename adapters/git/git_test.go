package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/git"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// repo is a repository with one commit, in which things were done since.
func repo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("there is no git here: %v", err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main")
	write("sub/kept", "kept")
	write("sub/changed", "old")
	write("sub/gone", "gone")
	write("sub/é \"x\"", "odd name")
	write("outside", "old")
	write(".gitignore", "ignored\n")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	write("sub/changed", "new")
	write("sub/new", "new")
	write("sub/staged", "staged")
	write("sub/ignored", "x")
	write("sub/é \"x\"", "other")
	write("outside", "new")
	run("add", "sub/staged")
	if err := os.Remove(filepath.Join(dir, "sub", "gone")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sub")
}

func TestChanged(t *testing.T) {
	r := git.New(repo(t))
	got, err := r.Changed(t.Context(), "HEAD")
	if want := []string{"changed", "gone", "new", "staged", "é \"x\""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestShow(t *testing.T) {
	r := git.New(repo(t))
	for name, want := range map[string]string{"changed": "old", "gone": "gone", "é \"x\"": "odd name"} {
		if got, err := r.Show(t.Context(), "main", name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := r.Show(t.Context(), "main", "new"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a file that was not there: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	dir := repo(t)
	for ref, want := range map[string]fault.Code{
		"": fault.Invalid, "--output=x": fault.Invalid, "main:outside": fault.Invalid, "a b": fault.Invalid, "nosuch": git.CodeFailed,
	} {
		if _, err := git.New(dir).Changed(t.Context(), ref); fault.CodeOf(err) != want {
			t.Errorf("ref %q: %v, want %s", ref, err, want)
		}
		if _, err := git.New(dir).Show(t.Context(), ref, "kept"); fault.CodeOf(err) != want {
			t.Errorf("show at ref %q: %v, want %s", ref, err, want)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", t.TempDir())
	if _, err := git.New(t.TempDir()).Changed(t.Context(), "HEAD"); fault.CodeOf(err) != git.CodeMissing {
		t.Errorf("no repository: %v", err)
	}
}
