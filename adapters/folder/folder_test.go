package folder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/folder"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// A world is a machine: a studio, settings, and a folder to share.
type world struct {
	t                     *testing.T
	dir, state, cards     string
	config, export, aside string
	f                     *folder.Folders
}

func newWorld(t *testing.T) *world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	for p, name := range map[*string]string{&w.state: "studio/.soundstage", &w.cards: "cards", &w.config: "config", &w.aside: "aside"} {
		*p = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(*p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.export = filepath.Join(dir, "studio", "Export")
	w.f = w.open()
	return w
}

func (w *world) open() *folder.Folders {
	return folder.New(folder.Options{File: filepath.Join(w.state, "folders.json"), Export: w.export, Protected: []string{w.state, w.config, filepath.Join(w.dir, "absent")}})
}

func (w *world) write(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Skip("no links here: ", err)
	}
}

func (w *world) share() {
	w.t.Helper()
	if _, err := w.f.Share(w.t.Context(), "cards", w.cards); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) walk(at string, depth, most int) (lines []string, more bool) {
	w.t.Helper()
	list, more, err := w.f.Walk(w.t.Context(), studio.Place{Grant: "cards", Path: at}, depth, most)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Type, e.Path, e.Note)))
	}
	return lines, more
}

func (w *world) refused(what string, err error, code fault.Code) {
	w.t.Helper()
	if fault.CodeOf(err) != code {
		w.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (w *world) reads(name string, code fault.Code) {
	w.t.Helper()
	raw, err := w.f.Read(w.t.Context(), studio.Place{Grant: "cards", Path: name}, 1000)
	if fault.CodeOf(err) != code {
		w.t.Errorf("read %s: %q, %v, want %s", name, raw, err, code)
	}
}

func TestShare(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.link(w.cards, "way")
	g, err := w.f.Share(ctx, "", filepath.Join(w.dir, "way"))
	if err != nil || g.Path != w.cards || g.Name != "cards" {
		t.Fatalf("shared %+v, %v", g, err)
	}
	_, err = w.f.Share(ctx, "other", w.cards)
	w.refused("the same folder", err, folder.CodeTaken)
	_, err = w.f.Share(ctx, "cards", w.aside)
	w.refused("the same name", err, folder.CodeTaken)
	for _, name := range []string{"studio", ".x", "a/b", "..", "A", "a b", strings.Repeat("a", 65)} {
		_, err = w.f.Share(ctx, name, w.aside)
		w.refused(name, err, fault.Invalid)
	}
	for _, dir := range []string{w.state, w.dir, filepath.Dir(w.state), w.config, string(filepath.Separator)} {
		_, err = w.f.Share(ctx, "x", dir)
		w.refused(dir, err, folder.CodeProtected)
	}
	w.write("file.txt", "x")
	for _, dir := range []string{"nowhere", "file.txt"} {
		_, err = w.f.Share(ctx, "x", filepath.Join(w.dir, dir))
		w.refused(dir, err, fault.Invalid)
	}
	// Another process sees the same, and nobody else may read the list.
	if list, err := w.open().Grants(ctx); err != nil || len(list) != 1 || list[0] != g {
		t.Errorf("list %v, %v", list, err)
	}
	if info, err := os.Stat(filepath.Join(w.state, "folders.json")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the list has %v, %v", info.Mode(), err)
	}
	if _, err := w.f.Unshare(ctx, "cards"); err != nil {
		t.Error(err)
	}
	_, err = w.f.Unshare(ctx, "cards")
	w.refused("unshared twice", err, folder.CodeNoGrant)
	_, _, err = w.f.Walk(ctx, studio.Place{Grant: "cards", Path: "."}, 1, 10)
	w.refused("a walk in what is not shared", err, folder.CodeNoGrant)
}

// What many processes share at one time is all shared.
func TestManyShareAtOnce(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 16 {
		dir := filepath.Join(w.cards, fmt.Sprintf("n%d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if _, err := w.open().Share(t.Context(), "", dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := w.f.Grants(t.Context()); len(list) != 16 || err != nil {
		t.Errorf("%d of 16, %v", len(list), err)
	}
}

func TestADamagedListSharesNothing(t *testing.T) {
	w := newWorld(t)
	w.share()
	for _, text := range []string{"{", `{"version":2,"folders":[]}`, `{"version":1,"folders":[{"name":"x","path":"relative"}]}`, `{"version":1,"folders":[{"name":"../x","path":"/"}]}`} {
		w.write("studio/.soundstage/folders.json", text)
		w.reads("a", folder.CodeGrants)
		_, err := w.f.Share(t.Context(), "y", w.aside)
		w.refused("share over "+text, err, folder.CodeGrants)
	}
	// A list written by hand does not lift the protection.
	w.write("studio/.soundstage/folders.json", fmt.Sprintf(`{"version":1,"folders":[{"name":"cards","path":%q}]}`, w.state))
	w.reads("folders.json", folder.CodeProtected)
}

func TestWalk(t *testing.T) {
	w := newWorld(t)
	w.share()
	w.write("cards/b.json", "12")
	w.write("cards/sub/deep/x.txt", "1")
	w.write("cards/.hidden/secret", "1")
	w.write("aside/secret.txt", "1")
	w.link(w.aside, "cards/out")
	w.link("sub", "cards/round")
	got, more := w.walk(".", 8, 100)
	want := []string{
		"file cards/b.json", "link cards/out links are not followed", "link cards/round links are not followed",
		"folder cards/sub", "folder cards/sub/deep", "file cards/sub/deep/x.txt",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || more {
		t.Errorf("walked\n%s\nmore %v", strings.Join(got, "\n"), more)
	}
	if got, _ := w.walk(".", 2, 100); len(got) != 5 {
		t.Errorf("two levels: %q", got)
	}
	if got, more := w.walk(".", 8, 3); len(got) != 3 || !more {
		t.Errorf("three entries: %q, %v", got, more)
	}
	if got, _ := w.walk("sub/deep", 1, 100); len(got) != 1 || got[0] != "file cards/sub/deep/x.txt" {
		t.Errorf("below: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := w.f.Walk(ctx, studio.Place{Grant: "cards", Path: "."}, 1, 10)
	w.refused("a walk that was given up", err, fault.Cancelled)
}

func TestRead(t *testing.T) {
	w := newWorld(t)
	w.share()
	w.write("cards/a.json", "text")
	w.write("cards/big", strings.Repeat("x", 1001))
	w.write("cards/sub/x", "1")
	w.write("aside/secret.txt", "secret")
	w.link(filepath.Join(w.aside, "secret.txt"), "cards/out.txt")
	w.link(w.aside, "cards/out")
	w.link("../aside/secret.txt", "cards/up.txt")
	w.link("a.json", "cards/in.json")
	raw, err := w.f.Read(t.Context(), studio.Place{Grant: "cards", Path: "a.json"}, 4)
	if err != nil || string(raw) != "text" {
		t.Errorf("read %q, %v", raw, err)
	}
	w.reads("in.json", "") // a link that stays inside
	for name, code := range map[string]fault.Code{
		"out.txt": folder.CodeEscapes, "out/secret.txt": folder.CodeEscapes, "up.txt": folder.CodeEscapes, "../aside/secret.txt": folder.CodeEscapes,
		"none": folder.CodeNoFile, "sub": folder.CodeSpecial, ".": folder.CodeSpecial, "big": fault.TooLarge,
	} {
		w.reads(name, code)
	}
	w.reads("../aside/secret.txt", folder.CodeEscapes)
}

func TestTheExportFolderStands(t *testing.T) {
	w := newWorld(t)
	list, _, err := w.f.Walk(t.Context(), studio.Place{Path: "."}, 1, 10)
	if err != nil || len(list) != 0 {
		t.Errorf("before the first export %v, %v", list, err)
	}
	w.write("studio/Export/x/a.json", "1")
	list, _, err = w.f.Walk(t.Context(), studio.Place{Path: "."}, 2, 10)
	if err != nil || len(list) != 2 || list[1].Path != "studio/Export/x/a.json" {
		t.Errorf("after it %v, %v", list, err)
	}
	// A link in its place leads nowhere.
	if err := os.Rename(w.export, filepath.Join(w.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	w.link(w.state, "studio/Export")
	_, err = w.f.Read(t.Context(), studio.Place{Path: "folders.json"}, 10)
	w.refused("a link in its place", err, folder.CodeNoFile)
}

func TestAMovedFolderIsNotShared(t *testing.T) {
	w := newWorld(t)
	w.share()
	w.write("cards/a.json", "1")
	w.write("aside/a.json", "secret")
	w.reads("a.json", "")
	if err := os.Rename(w.cards, w.cards+"-away"); err != nil {
		t.Fatal(err)
	}
	w.reads("a.json", folder.CodeMoved)
	w.link(w.aside, "cards")
	w.reads("a.json", folder.CodeMoved)
	if err := os.Remove(w.cards); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.cards+"-away", w.cards); err != nil {
		t.Fatal(err)
	}
	w.reads("a.json", "")

	// A studio that moves into a shared folder takes the right away.
	if err := os.Rename(filepath.Dir(w.state), filepath.Join(w.cards, "studio")); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(w.cards, "studio", ".soundstage")
	w.f = folder.New(folder.Options{File: filepath.Join(inside, "folders.json"), Export: w.export, Protected: []string{inside}})
	w.reads("a.json", folder.CodeProtected)
}
