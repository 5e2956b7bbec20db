package export_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/export"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func newFolder(t *testing.T) (*export.Folder, string) {
	dir := t.TempDir()
	return export.New(export.Options{Studio: dir, Name: "Export", Clock: clock.NewFixed(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}), dir
}

// files are all that is in a folder, from it on.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && p != dir {
			rel, _ := filepath.Rel(dir, p)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func TestSave(t *testing.T) {
	f, dir := newFolder(t)
	const in = "Export/2026-01-02 03.04.05 s-0001/"
	for i, want := range []string{in + "ada.json", in + "ada-2.json", in + "ada-3.json"} {
		got, err := f.Save(t.Context(), "s-0001", "ada.json", []byte(fmt.Sprint(i)))
		if err != nil || got != want {
			t.Errorf("saved as %q, %v, want %q", got, err, want)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, got)); err != nil || string(raw) != fmt.Sprint(i) {
			t.Errorf("%s holds %q, %v", got, raw, err)
		}
	}
	if got, err := f.Save(t.Context(), "", "ada.charx.jpg", nil); err != nil || got != "Export/2026-01-02 03.04.05 cli/ada.charx.jpg" {
		t.Errorf("a person's: %q, %v", got, err)
	}
	if strings.Contains(files(t, dir), ".part") {
		t.Errorf("something is left: %s", files(t, dir))
	}
}

// Whatever a name is, the file is one part of a path that every system takes for a file.
func TestNames(t *testing.T) {
	f, dir := newFolder(t)
	for name, want := range map[string]string{
		"a/b.json": "a-b.json", "..": "piece", "../../x.json": "piece...-x.json", "a\x00b.json": "a-b.json", "con.json": "_con.json",
		"NUL": "_NUL", "com1.charx": "_com1.charx", ".json": "piece.json", "": "piece", "a b\n.json": "a-b.json", `c:\x.png`: "c--x.png",
		strings.Repeat("ä", 300) + ".json": "piece.json", strings.Repeat("a", 300) + ".json": strings.Repeat("a", 120) + ".json",
		"a./../b": "a.b", "-rf.json": "rf.json",
	} {
		got, err := f.Save(t.Context(), "../../"+name, name, []byte("x"))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if filepath.Base(got) != want && !strings.HasPrefix(filepath.Base(got), strings.TrimSuffix(want, filepath.Ext(want))) {
			t.Errorf("%q became %q, want %q", name, filepath.Base(got), want)
		}
		if parts := strings.Split(got, "/"); len(parts) != 3 || parts[0] != "Export" || !filepath.IsLocal(got) {
			t.Errorf("%q lies at %q", name, got)
		}
	}
	if outside, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(outside) != 1 {
		t.Errorf("beside the studio: %v, %v", outside, err)
	}
}

// A link in the place of the folder leads nowhere, and what is there is never replaced.
func TestNothingOutsideAndNothingReplaced(t *testing.T) {
	f, dir := newFolder(t)
	other := t.TempDir()
	if err := os.Symlink(other, filepath.Join(dir, "Export")); err != nil {
		t.Skip("no links here: ", err)
	}
	if _, err := f.Save(t.Context(), "s", "ada.json", []byte("x")); fault.CodeOf(err) != export.CodeFolder {
		t.Errorf("through a link: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "Export")); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "Export", "2026-01-02 03.04.05 s")
	if err := os.MkdirAll(in, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "made"), filepath.Join(in, "ada.json")); err != nil {
		t.Fatal(err)
	}
	got, err := f.Save(t.Context(), "s", "ada.json", []byte("x"))
	if err != nil || filepath.Base(got) != "ada-2.json" || files(t, other) != "" {
		t.Errorf("beside a dead link: %q, %v, and there %q", got, err, files(t, other))
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	blocked := export.New(export.Options{Studio: dir, Name: "file", Clock: clock.NewFixed(time.Unix(0, 0))})
	if _, err := blocked.Save(t.Context(), "s", "a", nil); fault.CodeOf(err) != export.CodeFolder {
		t.Errorf("a file in its place: %v", err)
	}
	if _, err := export.New(export.Options{Studio: filepath.Join(dir, "none"), Name: "Export", Clock: clock.NewFixed(time.Unix(0, 0))}).Save(t.Context(), "s", "a", nil); fault.CodeOf(err) != export.CodeFolder {
		t.Errorf("no studio: %v", err)
	}
}

// dying is a context that ends when it was looked at so many times.
type dying struct {
	context.Context
	left int
}

func (d *dying) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

// An export that fails in the middle leaves no part of a file, and no empty folder.
func TestAFailureLeavesNothing(t *testing.T) {
	f, dir := newFolder(t)
	for left := range 3 {
		_, err := f.Save(&dying{t.Context(), left}, "s", "ada.json", make([]byte, 3<<20))
		if fault.CodeOf(err) != fault.Cancelled {
			t.Errorf("after %d looks: %v", left, err)
		}
		if got := files(t, dir); got != "Export" {
			t.Errorf("after %d looks there is %q", left, got)
		}
	}
}

// What is in a folder stays when a later export into it fails.
func TestAFailureTakesNothingElse(t *testing.T) {
	f, dir := newFolder(t)
	if _, err := f.Save(t.Context(), "s", "ada.json", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(&dying{t.Context(), 0}, "s", "ada.json", []byte("y")); err == nil {
		t.Error("it did not fail")
	}
	if got := files(t, dir); !strings.HasSuffix(got, "s/ada.json") {
		t.Errorf("there is %q", got)
	}
}
