package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// writeNew makes the file at path, whole or not at all, also where the program is
// killed. A name that is taken, be it by a link that leads nowhere, is fs.ErrExist.
func writeNew(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	f, err := beside(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has its own name by now, or none is wanted
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces what is there.
	if err = os.Link(f.Name(), path); err == nil {
		return syncDir(path)
	} else if errors.Is(err, fs.ErrExist) {
		return err
	}
	return writePlain(path, data) // a file system without links
}

// beside makes a file in the folder of path, with the rights that the person's files
// get; os.CreateTemp would keep it from everybody else.
func beside(path string) (f *os.File, err error) {
	for i := range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".soundstage-%d-%d.tmp", os.Getpid(), i))
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// writePlain is the next best: a kill in the middle leaves a part of the file.
func writePlain(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncDir(path)
}

// syncDir makes the name of the file at path as durable as its bytes, where the system
// can.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// notWritten is the error of a file that could not be made; name is how the person
// named it.
func notWritten(err error, op, name string) error {
	base, dir := filepath.Base(name), filepath.Dir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Invalid, op, "cannot make %q: there is no folder %q", base, dir).WithHint("make the folder first")
	}
	return fault.New(fault.Invalid, op, "cannot make %q in %q: %v", base, dir, reasonOf(err)).
		WithHint("check the name, the room on the disk and who may write there")
}

// reasonOf is why the system refused a file, without its path, which the person knows
// in their own words.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
