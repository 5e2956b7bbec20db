package folder

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxList bounds the file of the list, in bytes.
const maxList = 1 << 20

// A list is the file.
type list struct {
	Version int     `json:"version"`
	Folders []Grant `json:"folders"`
}

// load reads the list; a file that is not there is an empty one.
func (f *Folders) load() ([]Grant, error) {
	const op = "folder.list"
	bad := func(why error) error {
		return fault.Wrap(why, CodeGrants, op, "the list of shared folders does not read").
			WithHint("nothing is shared until it does; look at %s", filepath.Base(f.o.File))
	}
	if info, err := os.Lstat(f.o.File); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err == nil && !info.Mode().IsRegular() {
		return nil, bad(errors.New("it is not a file"))
	}
	file, err := os.Open(f.o.File)
	if err != nil {
		return nil, bad(reason(err))
	}
	defer file.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(file, maxList+1))
	if err != nil {
		return nil, bad(reason(err))
	}
	var l list
	if len(raw) > maxList {
		return nil, bad(errors.New("it is too large"))
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, bad(err)
	}
	if l.Version != 1 || len(l.Folders) > maxGrants {
		return nil, bad(errors.New("it is of another version, or too long"))
	}
	for _, g := range l.Folders {
		if checkName(g.Name) != nil || !filepath.IsAbs(g.Path) {
			return nil, bad(errors.New("it holds what no share has written"))
		}
	}
	return l.Folders, nil
}

// save replaces the list, whole or not at all, also where the program is killed.
func (f *Folders) save(grants []Grant) error {
	raw, err := json.MarshalIndent(list{1, grants}, "", "  ")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "folder.save", "encode the list")
	}
	if err := replace(f.o.File, append(raw, '\n')); err != nil {
		return unwritable(err)
	}
	return nil
}

func unwritable(err error) error {
	return fault.New(fault.Invalid, "folder.save", "the list of shared folders cannot be written: %v", reason(err)).
		WithHint("check the room on the disk and who may write the studio's folder")
}

func replace(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".folders-*.tmp") // for the person alone
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it has its own name by now, or none is wanted
	_, err = tmp.Write(raw)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
