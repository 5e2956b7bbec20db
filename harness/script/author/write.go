package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An Output is a file that is to be made.
type Output struct {
	Path string
	Data []byte
}

// Write makes all files or none, and never over what is there. A crash leaves some of
// them, each whole.
func Write(files []Output) error {
	const op = "author.write"
	for _, f := range files {
		if _, err := os.Lstat(f.Path); err == nil {
			return exists(op, f.Path)
		}
	}
	var done []string
	for _, f := range files {
		if err := write(f); err != nil {
			for _, path := range slices.Backward(done) {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		}
		done = append(done, f.Path)
	}
	return nil
}

func exists(op, path string) error {
	return fault.New(CodeExists, op, "%q is there already; nothing was written", path).
		WithHint("choose another name with -o, or remove it first")
}

// write makes one file beside its place, and gives it its name when it is on the disk.
func write(o Output) error {
	const op = "author.write"
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o755); err != nil {
		return fault.Wrap(err, fault.Invalid, op, "the folder of %q", o.Path).WithHint("check who may write there")
	}
	tmp := fmt.Sprintf("%s.%d.tmp", o.Path, os.Getpid())
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, op, "make %q", o.Path).WithHint("check who may write there")
	}
	defer os.Remove(tmp) //nolint:errcheck // it has its own name by now, or none is wanted
	_, err = f.Write(o.Data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fault.Wrap(err, fault.Internal, op, "write %q", o.Path)
	}
	err = os.Link(tmp, o.Path) // unlike a rename, never over what is there
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(op, o.Path)
	case err != nil: // a file system without links
		if _, there := os.Lstat(o.Path); there == nil {
			return exists(op, o.Path)
		}
		err = os.Rename(tmp, o.Path)
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "put %q in its place", o.Path)
	}
	return nil
}
