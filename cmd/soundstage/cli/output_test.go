package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// full is a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Output that is lost is an error: a script would take half a list for the whole.
func TestLostOutputIsAnError(t *testing.T) {
	w := newWorld(t)
	w.must("", "init")
	for _, args := range [][]string{{"piece", "ls"}, {"piece", "ls", "--json"}, {"tool", "ls"}, {"version"}, {"--help"}, {"piece", "--help"}, {"help", "run"}, {"completion", "bash"}} {
		var errs strings.Builder
		code := Main(Doors{Args: args, Env: w.env, Dir: w.dir, Clock: w.clock, Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &errs})
		if code == exitOK || !strings.Contains(errs.String(), "standard output") {
			t.Errorf("%q with a full standard output: exit status %d, %q", args, code, errs.String())
		}
	}
}

// What cannot be written says why, and its hint is about that.
func TestExportSaysWhyNot(t *testing.T) {
	w := newWorld(t)
	w.must("", "init")
	w.write("ada.json", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada"}}`)
	w.must("", "import", "ada.json")
	long := strings.Repeat("n", 5000)
	for out, want := range map[string]string{
		"none/ada.json": "make the folder first", "ada.json": "never replaces", "ada.json/x": "check the name", long: "check the name",
	} {
		if runtime.GOOS == "windows" && out != "ada.json" {
			continue // its errors are its own
		}
		code, _, errs := w.do("", "export", "character/ada", "-o", out)
		if code == exitOK || !strings.Contains(errs, want) {
			t.Errorf("export to %.40q: exit status %d, %q, want %q", out, code, errs, want)
		}
	}
	if err := os.Symlink(filepath.Join(w.dir, "target"), filepath.Join(w.dir, "link")); err != nil {
		t.Skip(err)
	}
	if code, _, _ := w.do("", "export", "character/ada", "-o", "link"); code != exitConflict {
		t.Errorf("export over a link: exit status %d", code)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "target")); err == nil {
		t.Error("the export went through a link")
	}
}

// A file that never ends, such as a pipe without a writer, is not waited for.
func TestImportIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.must("", "init")
	fifo(t, filepath.Join(w.dir, "pipe.json"))
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	code := Main(Doors{Args: []string{"import", "pipe.json"}, Env: w.env, Dir: w.dir, Clock: w.clock, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Signals: signals})
	if code != exitCancelled {
		t.Errorf("exit status %d", code)
	}
}

// A full disk leaves no file that looks like a studio or an export.
func TestNewFilesAreWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := writeNew(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if err := writePlain(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file, without links: %v", err)
	}
	if err := writeNew(filepath.Join(dir, "none", "a.json"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}
