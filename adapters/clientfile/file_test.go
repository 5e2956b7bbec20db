package clientfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// a person with a home and a project.
func person(t *testing.T) Where {
	t.Helper()
	dir := t.TempDir()
	w := Where{Env: map[string]string{"HOME": filepath.Join(dir, "home")}, GOOS: runtime.GOOS, Project: filepath.Join(dir, "project")}
	for _, d := range []string{w.home(), w.Project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func place(t *testing.T, w Where, name string, s Scope) Place {
	t.Helper()
	p, err := client(t, name).Place(w, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, file, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree is every name below a folder.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func expect(t *testing.T, what string, got, want State, err error) {
	t.Helper()
	if err != nil || got != want {
		t.Fatalf("%s: %q, %v, want %q", what, got, err, want)
	}
}

func TestEveryClientThereAndBack(t *testing.T) {
	for _, c := range Clients() {
		for _, scope := range []Scope{User, Project} {
			if scope == Project && c.project == nil {
				continue
			}
			t.Run(c.Name+" "+string(scope), func(t *testing.T) {
				w := person(t)
				p := place(t, w, c.Name, scope)
				before := tree(t, w.home())
				s, err := p.Install(server)
				expect(t, "install", s, Added, err)
				if s, is, err := p.Look("soundstage"); err != nil || s != Installed || strings.Join(is, " ") != "/opt/bin/soundstage mcp /srv/ada/studio" {
					t.Errorf("look: %v %q %v", s, is, err)
				}
				first := text(t, p.File)
				if want, _ := p.Snippet(server); first != want {
					t.Errorf("got\n%s\nwant\n%s", first, want)
				}
				s, err = p.Install(server)
				expect(t, "again", s, Unchanged, err)
				other := server
				other.Args = []string{"mcp", "--read-only"}
				s, err = p.Install(other)
				expect(t, "with a flag", s, Replaced, err)
				s, err = p.Uninstall("soundstage")
				expect(t, "uninstall", s, Deleted, err)
				if _, err := os.Lstat(p.File); err == nil {
					t.Error("the file is still there")
				}
				s, err = p.Uninstall("soundstage")
				expect(t, "uninstall again", s, Absent, err)
				if err := os.RemoveAll(filepath.Join(w.home(), ".local")); err != nil { // the notes' folder stays
					t.Fatal(err)
				}
				if after := tree(t, w.home()); scope == User && len(after) != len(before) {
					t.Errorf("left behind: %q", after)
				}
			})
		}
	}
}

// What was there is there afterwards, byte for byte, with its mode.
func TestAFileIsAsBefore(t *testing.T) {
	for _, src := range []string{"", "{}", "{\n}", "{\"servers\":{}}", "{ // x\n \"servers\": { /* y */ },\n}\n"} {
		w := person(t)
		p := place(t, w, "vscode", Project)
		write(t, p.File, src, 0o640)
		s, err := p.Install(server)
		expect(t, "install", s, Added, err)
		s, err = p.Uninstall("soundstage")
		expect(t, "uninstall", s, Restored, err)
		if got := text(t, p.File); got != src {
			t.Errorf("%q became %q", src, got)
		}
		if info, err := os.Stat(p.File); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// A client that writes its file meanwhile loses nothing: the entry alone goes.
func TestAFileThatWasWrittenSince(t *testing.T) {
	w := person(t)
	p := place(t, w, "claude-code", User)
	write(t, p.File, "{\n  \"mcpServers\": {\n    \"x\": {\n    }\n  }\n}\n", 0o600)
	s, err := p.Install(server)
	expect(t, "install", s, Added, err)
	changed := strings.Replace(text(t, p.File), "{", "{\n  \"numStartups\": 2,", 1)
	write(t, p.File, changed, 0o600)
	s, err = p.Uninstall("soundstage")
	expect(t, "uninstall", s, Removed, err)
	if got, want := text(t, p.File), "{\n  \"numStartups\": 2,\n  \"mcpServers\": {\n    \"x\": {\n    }\n  }\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Two servers of ours in one file come out in any order.
func TestTwoNames(t *testing.T) {
	w := person(t)
	p := place(t, w, "codex", User)
	write(t, p.File, "model = \"m\"\n", 0o600)
	second := server
	second.Name = "drafts"
	for _, e := range []Entry{server, second} {
		s, err := p.Install(e)
		expect(t, e.Name, s, Added, err)
	}
	s, err := p.Uninstall("soundstage")
	expect(t, "first", s, Removed, err)
	s, err = p.Uninstall("drafts")
	expect(t, "second", s, Removed, err)
	if got := text(t, p.File); got != "model = \"m\"\n" {
		t.Errorf("%q", got)
	}
}

// A link is followed at home, and not out of it; nothing takes its place.
func TestLinks(t *testing.T) {
	w := person(t)
	p := place(t, w, "cursor", User)
	inside := filepath.Join(w.home(), "dotfiles", "mcp.json")
	write(t, inside, "{}\n", 0o644)
	if err := os.MkdirAll(filepath.Dir(p.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(inside, p.File); err != nil {
		t.Skip(err)
	}
	s, err := p.Install(server)
	expect(t, "a link at home", s, Added, err)
	if info, err := os.Lstat(p.File); err != nil || info.Mode()&fs.ModeSymlink == 0 || !strings.Contains(text(t, inside), "soundstage") {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	outside := filepath.Join(w.Project, "mcp.json")
	write(t, outside, "{}\n", 0o644)
	for name, to := range map[string]string{"file": outside, "nowhere": filepath.Join(w.Project, "none")} {
		if err := os.Remove(p.File); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, p.File); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Install(server); err == nil || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := text(t, outside); got != "{}\n" {
		t.Errorf("written through a link: %q", got)
	}
	if err := os.RemoveAll(filepath.Dir(p.File)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.Project, filepath.Dir(p.File)); err != nil { // a folder that is a link
		t.Fatal(err)
	}
	if _, err := p.Install(server); fault.CodeOf(err) != CodeOutside {
		t.Errorf("a folder: %v", err)
	}
}

// What cannot be read is not written, and nothing lies beside it.
func TestNothingIsWritten(t *testing.T) {
	w := person(t)
	p := place(t, w, "zed", Project)
	write(t, p.File, "{\n  \"a\": 1\n  \"b\": 2\n}\n", 0o644)
	before := tree(t, filepath.Dir(w.Project))
	_, err := p.Install(server)
	if fault.CodeOf(err) != CodeMalformed || !strings.Contains(err.Error(), "line 3, column 3") || !strings.Contains(err.Error(), p.File) {
		t.Errorf("%v", err)
	}
	if _, err := p.Uninstall("soundstage"); fault.CodeOf(err) != CodeMalformed {
		t.Errorf("%v", err)
	}
	if after := tree(t, filepath.Dir(w.Project)); len(after) != len(before) || text(t, p.File) != "{\n  \"a\": 1\n  \"b\": 2\n}\n" {
		t.Errorf("%q", after)
	}
	if s, _, err := p.Look("soundstage"); s != Unreadable || err == nil {
		t.Errorf("%v %v", s, err)
	}
}

func TestStoreSeesAChange(t *testing.T) {
	w := person(t)
	p := place(t, w, "zed", Project)
	write(t, p.File, "{}", 0o644)
	_, info, err := p.load(p.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.store(p.File, []byte("{ }"), []byte("{}\n"), info); fault.CodeOf(err) != CodeChanged {
		t.Errorf("%v", err)
	}
	if got := text(t, p.File); got != "{}" {
		t.Errorf("%q", got)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "Über", "a.b", "a]", strings.Repeat("a", maxName+1)} {
		e := server
		e.Name = name
		if _, err := place(t, person(t), "codex", Project).Snippet(e); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if _, err := Find("emacs"); fault.CodeOf(err) != CodeUnknown {
		t.Errorf("%v", err)
	}
	if _, err := client(t, "cline").Place(person(t), Project); fault.CodeOf(err) != CodeUnknown {
		t.Errorf("%v", err)
	}
}
