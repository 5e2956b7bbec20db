package storydir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/storydir"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// A place is folders of a test: stories to read, a workspace, and one outside of both.
type place struct {
	t                        *testing.T
	stories, work, elsewhere string
	*storydir.Disk
}

func open(t *testing.T) place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{t: t, stories: filepath.Join(base, "stories"), work: filepath.Join(base, "work"), elsewhere: filepath.Join(base, "elsewhere")}
	p.put("stories/hello/app.yaml", "app: {id: hello}\n")
	p.put("work/app.yaml", "app: {id: mine}\n")
	p.put("elsewhere/secret.txt", "secret")
	if p.Disk, err = storydir.Open(storydir.Options{Read: []string{p.stories}, Write: p.work}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (p place) put(name, text string) {
	p.t.Helper()
	name = filepath.Join(filepath.Dir(p.work), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) link(to, name string) {
	p.t.Helper()
	if err := os.Symlink(to, name); err != nil {
		p.t.Skip("no links here: ", err)
	}
}

func slash(parts ...string) string { return filepath.ToSlash(filepath.Join(parts...)) }

func wants(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%v, want the code %s", err, code)
	}
}

func TestReadStaysInside(t *testing.T) {
	p := open(t)
	if raw, err := p.Read(t.Context(), slash(p.stories, "hello/app.yaml")); err != nil || string(raw) != "app: {id: hello}\n" {
		t.Errorf("%q, %v", raw, err)
	}
	secret := filepath.Join(p.elsewhere, "secret.txt")
	p.link(secret, filepath.Join(p.work, "straight.txt"))
	p.link("../elsewhere/secret.txt", filepath.Join(p.work, "up.txt"))
	p.link(p.elsewhere, filepath.Join(p.work, "folder"))
	p.link(filepath.Join(p.work, "straight.txt"), filepath.Join(p.stories, "twice.txt"))
	for name, code := range map[string]fault.Code{
		slash(secret):                            storydir.CodeOutside,
		slash(p.work, "../elsewhere/secret.txt"): storydir.CodeOutside,
		slash(p.work, "straight.txt"):            storydir.CodeOutside,
		slash(p.work, "up.txt"):                  storydir.CodeOutside,
		slash(p.work, "folder/secret.txt"):       storydir.CodeOutside,
		slash(p.stories, "twice.txt"):            storydir.CodeOutside,
		"app.yaml":                               storydir.CodeOutside, // not absolute
		slash(p.work, "nothing.yaml"):            load.CodeNoFile,
		slash(p.stories, "hello"):                load.CodeNoFile, // a folder
	} {
		raw, err := p.Read(t.Context(), name)
		wants(t, err, code)
		if raw != nil {
			t.Errorf("%s: %q", name, raw)
		}
	}
}

// A link from one of the folders into another is followed: both may be read.
func TestReadFollowsLinksBetweenFolders(t *testing.T) {
	p := open(t)
	p.link(filepath.Join(p.stories, "hello"), filepath.Join(p.work, "imported"))
	p.link("app.yaml", filepath.Join(p.work, "again.yaml"))
	for _, name := range []string{"imported/app.yaml", "again.yaml"} {
		if _, err := p.Read(t.Context(), slash(p.work, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := p.Write(t.Context(), slash(p.work, "imported/app.yaml"), []byte("x"))
	if err == nil {
		t.Error("a link led a write out of the workspace")
	}
}

func TestReadTakesNoPipeNorGiant(t *testing.T) {
	p := open(t)
	p.put("work/big.yaml", strings.Repeat("x", storydir.MaxFile+1))
	_, err := p.Read(t.Context(), slash(p.work, "big.yaml"))
	wants(t, err, storydir.CodeTooLarge)
	pipe := filepath.Join(p.work, "pipe.yaml")
	if !fifo(pipe) {
		t.Skip("no pipes here")
	}
	_, err = p.Read(t.Context(), slash(pipe))
	wants(t, err, load.CodeNoFile)
	if names, err := p.Glob(t.Context(), slash(p.work), "*/x.yaml"); err != nil || len(names) > 0 { // would open the pipe as a folder
		t.Errorf("%v, %v", names, err)
	}
	if names, _, err := p.List(t.Context(), slash(p.work), 10); err != nil || slices.Contains(names, slash(pipe)) {
		t.Errorf("%v, %v", names, err)
	}
	if runtime.GOOS == "linux" {
		p.link("/dev/zero", filepath.Join(p.work, "zero.yaml"))
		_, err = p.Read(t.Context(), slash(p.work, "zero.yaml"))
		wants(t, err, storydir.CodeOutside)
	}
}

func TestGlobAndList(t *testing.T) {
	p := open(t)
	for _, name := range []string{"work/rooms/b.yaml", "work/rooms/a.yaml", "work/rooms/a.md", "work/.git/config"} {
		p.put(name, "x")
	}
	names, err := p.Glob(t.Context(), slash(p.work), "rooms/*.yaml")
	if want := []string{slash(p.work, "rooms/a.yaml"), slash(p.work, "rooms/b.yaml")}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	if names, err := p.Glob(t.Context(), slash(p.work, "flows"), "*.yaml"); err != nil || len(names) > 0 {
		t.Errorf("a folder that is not there: %v, %v", names, err)
	}
	_, err = p.Glob(t.Context(), slash(p.work), "../elsewhere/*")
	wants(t, err, storydir.CodeOutside)
	_, err = p.Glob(t.Context(), slash(p.elsewhere), "*")
	wants(t, err, storydir.CodeOutside)
	names, more, err := p.List(t.Context(), slash(p.work), 3)
	if err != nil || !more || len(names) != 3 {
		t.Errorf("%v, %v, %v", names, more, err)
	}
	if names, more, err = p.List(t.Context(), slash(p.work), 10); err != nil || more || len(names) != 4 || !slices.IsSorted(names) {
		t.Errorf("%v, %v, %v: .git is nothing of a story", names, more, err)
	}
}

func TestWrite(t *testing.T) {
	p := open(t)
	name := slash(p.work, "rooms/new.yaml")
	for i, text := range []string{"one", "two"} {
		created, err := p.Write(t.Context(), name, []byte(text))
		if err != nil || created != (i == 0) {
			t.Fatalf("%v, %v", created, err)
		}
		if raw, err := p.Read(t.Context(), name); err != nil || string(raw) != text {
			t.Errorf("%q, %v", raw, err)
		}
	}
	p.link(p.elsewhere, filepath.Join(p.work, "out"))
	p.link(filepath.Join(p.elsewhere, "secret.txt"), filepath.Join(p.work, "link.yaml"))
	for name, code := range map[string]fault.Code{
		slash(p.stories, "hello/app.yaml"):      storydir.CodeReadOnly,
		slash(p.elsewhere, "x.yaml"):            storydir.CodeOutside,
		slash(p.work, "../elsewhere/x.yaml"):    storydir.CodeOutside,
		slash(p.work, "out/x.yaml"):             storydir.CodeWrite,
		slash(p.work, "link.yaml"):              storydir.CodeName,
		slash(p.work, "rooms"):                  storydir.CodeName,
		slash(p.work, ".git/hooks/commit"):      storydir.CodeName,
		slash(p.work, "rooms/.hidden.yaml"):     storydir.CodeName,
		slash(p.work, "a\nb.yaml"):              storydir.CodeName,
		slash(p.work, strings.Repeat("n", 600)): storydir.CodeName,
		slash(p.work):                           storydir.CodeName,
	} {
		_, err := p.Write(t.Context(), name, []byte("x"))
		wants(t, err, code)
	}
	_, err := p.Write(t.Context(), name, make([]byte, storydir.MaxFile+1))
	wants(t, err, storydir.CodeTooLarge)
	if raw, _ := os.ReadFile(filepath.Join(p.elsewhere, "secret.txt")); string(raw) != "secret" {
		t.Errorf("the file outside is now %q", raw)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Write(ctx, name, []byte("late")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.work, "*", ".soundstage-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A folder that becomes a link while it is read gives what was in it, or nothing: never
// what lies outside.
func TestReadInARace(t *testing.T) {
	p := open(t)
	p.put("work/a/f.txt", "inside")
	p.put("elsewhere/f.txt", "outside")
	a, aside := filepath.Join(p.work, "a"), filepath.Join(p.work, "aside")
	p.link(p.elsewhere, filepath.Join(p.work, "probe"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(a, aside)
				_ = os.Symlink(p.elsewhere, a)
				_ = os.Remove(a)
				_ = os.Rename(aside, a)
			}
		}
	})
	for i := range 1_000 {
		if raw, err := p.Read(t.Context(), slash(a, "f.txt")); err == nil && string(raw) != "inside" {
			t.Errorf("read %q", raw)
			break
		}
		if i%50 > 0 { // it waits for the disk
			continue
		}
		if created, err := p.Write(t.Context(), slash(a, "new.txt"), []byte("x")); created && err == nil {
			_ = os.Remove(filepath.Join(a, "new.txt"))
		}
	}
	close(stop)
	wg.Wait()
	if _, err := os.Stat(filepath.Join(p.elsewhere, "new.txt")); err == nil {
		t.Error("a write left the workspace")
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := storydir.Open(storydir.Options{Read: []string{filepath.Join(t.TempDir(), "nowhere")}})
	wants(t, err, storydir.CodeFolder)
	_, err = storydir.Open(storydir.Options{Write: "relative"})
	wants(t, err, storydir.CodeFolder)
}
