//go:build unix

package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/folder"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// A pipe that nobody writes to, and a device, are named and never opened to wait.
func TestPipesAndDevices(t *testing.T) {
	w := newWorld(t)
	w.share()
	if err := syscall.Mkfifo(filepath.Join(w.cards, "pipe"), 0o644); err != nil {
		t.Skip("no pipes here: ", err)
	}
	w.link("/dev/zero", "cards/zero")
	got, _ := w.walk(".", 1, 10)
	if strings.Join(got, "|") != "other cards/pipe|link cards/zero links are not followed" {
		t.Errorf("walked %q", got)
	}
	w.reads("pipe", folder.CodeSpecial)
	w.reads("zero", folder.CodeEscapes)
	if os.Getuid() == 0 && syscall.Mknod(filepath.Join(w.cards, "null"), syscall.S_IFCHR|0o644, 1<<8|3) == nil {
		w.reads("null", folder.CodeSpecial)
	}
}

// What may not be read is named, and the walk goes on.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	w := newWorld(t)
	w.share()
	w.write("cards/closed/x", "1")
	w.write("cards/file", "1")
	for name, mode := range map[string]os.FileMode{"closed": 0, "file": 0} {
		if err := os.Chmod(filepath.Join(w.cards, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(w.cards, "closed"), 0o755) //nolint:errcheck // so that it can be removed
	if got, _ := w.walk(".", 3, 10); len(got) != 2 || !strings.Contains(got[0], "permission denied") {
		t.Errorf("walked %q", got)
	}
	w.reads("file", folder.CodeDenied)
}

// While somebody renames folders and puts links in their places, no walk and no read
// gives anything from outside.
func TestRenamesDuringTheWalk(t *testing.T) {
	w := newWorld(t)
	w.share()
	w.write("cards/sub/inside.txt", "inside")
	w.write("aside/secret.txt", "secret")
	sub, away := filepath.Join(w.cards, "sub"), filepath.Join(w.cards, "away")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 300 {
			_ = os.Rename(sub, away)
			_ = os.Symlink(w.aside, sub)
			_ = os.Remove(sub)
			_ = os.Rename(away, sub)
		}
	}()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		list, _, err := w.f.Walk(t.Context(), studio.Place{Grant: "cards", Path: "."}, 4, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if strings.Contains(e.Path, "secret") {
				t.Fatalf("the walk left the folder: %v", e)
			}
		}
		raw, err := w.f.Read(t.Context(), studio.Place{Grant: "cards", Path: "sub/secret.txt"}, 100)
		if err == nil || fault.CodeOf(err) == "" {
			t.Fatalf("read %q from outside, %v", raw, err)
		}
	}
	w.reads("sub/inside.txt", "")
}

// A file that grows while it is read gives what fits, or the error of what does not; it is
// not read for ever.
func TestAFileThatGrows(t *testing.T) {
	w := newWorld(t)
	w.share()
	w.write("cards/log.txt", "a line\n")
	file, err := os.OpenFile(filepath.Join(w.cards, "log.txt"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer file.Close()
		for line := []byte(strings.Repeat("another line\n", 5000)); ; {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := file.Write(line); err != nil {
				return
			}
		}
	}()
	const most = 1 << 20
	for {
		raw, err := w.f.Read(t.Context(), studio.Place{Grant: "cards", Path: "log.txt"}, most)
		if err == nil && len(raw) <= most {
			continue // not grown enough yet
		}
		if fault.CodeOf(err) != fault.TooLarge {
			t.Errorf("%d bytes, %v, want %s", len(raw), err, fault.TooLarge)
		}
		break
	}
	close(stop)
	<-done
}
