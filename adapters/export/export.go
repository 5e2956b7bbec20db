// Package export is the door to a studio's folder of exported files: it makes new ones,
// and never changes or replaces what is there.
//
// It is an adapter: it fills the studio's port Exports. Names come from ids and from the
// formats, and are made safe here all the same; every step goes through an os.Root, so
// that no link leads out of the studio. It decides on no format and reads no file.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// The bounds.
const (
	maxSame = 1_000   // files of one name in one folder
	chunk   = 1 << 20 // bytes that are written before ctx is looked at again
)

// The codes of this package.
const (
	CodeFolder fault.Code = "EXPORT_FOLDER"  // the folder cannot be made, or leads out of the studio
	CodeFailed fault.Code = "EXPORT_FAILED"  // the file could not be written whole; nothing of it is left
	CodeMany   fault.Code = "EXPORT_CROWDED" // too many files of one name
)

// Options are the doors of a Folder.
type Options struct {
	Studio string // the studio's folder
	Name   string // of the folder in it: "Export"
	Clock  clock.Clock
}

// A Folder is the folder of one studio. It opens nothing before it is asked to save.
type Folder struct{ o Options }

var _ studio.Exports = (*Folder)(nil)

// New names the folder.
func New(o Options) *Folder {
	if o.Studio == "" || o.Name == "" || o.Clock == nil {
		panic("export: New needs a studio, a name and a clock")
	}
	return &Folder{o}
}

// Save implements [studio.Exports]: the file is below a folder of this second and of who
// exports, and has a number where its name is taken.
func (f *Folder) Save(ctx context.Context, who, name string, data []byte) (string, error) {
	const op = "studio.export"
	if who == "" {
		who = "cli"
	}
	dir := path.Join(f.o.Name, f.o.Clock.Now().UTC().Format("2006-01-02 15.04.05")+" "+part(who))
	root, err := os.OpenRoot(f.o.Studio)
	if err != nil {
		return "", noFolder(err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return "", noFolder(err)
	}
	made, err := f.save(ctx, root, dir, name, data)
	if err != nil {
		_ = root.Remove(dir) // it goes only where nothing is in it
		return "", err
	}
	for _, d := range []string{dir, f.o.Name, "."} {
		if err := syncDir(root, d); err != nil {
			return "", errors.Join(fault.Wrap(err, CodeFailed, op, "%q could not be made to last", made), root.Remove(made))
		}
	}
	return made, nil
}

// save puts the data under a name that is free.
func (f *Folder) save(ctx context.Context, root *os.Root, dir, name string, data []byte) (string, error) {
	const op = "studio.export"
	tmp, err := f.part(ctx, root, dir, data)
	if err != nil {
		return "", fault.Wrap(err, codeOf(ctx), op, "%q could not be written; nothing of it is left", file(name, 1)).
			WithHint("see that there is room on the disk, and who may write in the studio's folder %s", f.o.Name)
	}
	defer root.Remove(tmp) //nolint:errcheck // it has its own name by now, or none is wanted
	for n := 1; n <= maxSame; n++ {
		to := path.Join(dir, file(name, n))
		// A link, unlike a rename, never replaces what is there.
		err := root.Link(tmp, to)
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) { // a file system without links
			err = write(ctx, root, to, data)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fault.Wrap(err, codeOf(ctx), op, "%q could not be written; nothing of it is left", file(name, n))
		}
		return to, nil
	}
	return "", fault.New(CodeMany, op, "%d files are named like %q", maxSame, file(name, 1)).WithHint("wait for a second, or clear the folder %s", f.o.Name)
}

// part writes the data under a name of its own; what a killed program left is passed by.
func (f *Folder) part(ctx context.Context, root *os.Root, dir string, data []byte) (tmp string, err error) {
	for n := range maxSame {
		tmp = path.Join(dir, fmt.Sprintf(".part-%d-%d", os.Getpid(), n))
		if err = write(ctx, root, tmp, data); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return tmp, err
}

func codeOf(ctx context.Context) fault.Code {
	if ctx.Err() != nil {
		return fault.Cancelled
	}
	return CodeFailed
}

// write makes a file, whole and synced, or leaves none.
func write(ctx context.Context, root *os.Root, name string, data []byte) error {
	w, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = pour(ctx, w, data)
	if err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

func pour(ctx context.Context, w io.Writer, data []byte) error {
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(data), chunk)
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return ctx.Err()
}

func noFolder(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fault.New(CodeFolder, "studio.export", "the folder for exports cannot be used: %v", err).
		WithHint("it must be a folder within the studio, which you may write in")
}

// file is the nth choice of a name: ada.json, ada-2.json.
func file(name string, n int) string {
	stem, ext := split(name)
	if n > 1 {
		stem += fmt.Sprintf("-%d", n)
	}
	return stem + ext
}
