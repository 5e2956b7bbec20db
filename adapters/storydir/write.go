package storydir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxName bounds a name below the folder, in bytes.
const maxName = 512

// Write puts a whole file where it belongs, or nothing, also where the program is killed.
// It makes the folders that are missing. created says that there was no such file.
func (d *Disk) Write(ctx context.Context, name string, raw []byte) (created bool, err error) {
	const op = "story.dir"
	if err := ctx.Err(); err != nil {
		return false, err
	}
	r, rel, err := d.at(name)
	if err != nil {
		return false, err
	}
	if r != d.write {
		return false, fault.New(CodeReadOnly, op, "%q lies outside of the workspace, and may only be read", path.Base(name)).
			WithHint("a person binds a folder to write in: soundstage story open DIR")
	}
	if err := plain(rel); err != nil {
		return false, err
	}
	if len(raw) > MaxFile {
		return false, fault.New(CodeTooLarge, op, "%q would have %d bytes, the bound is %d", path.Base(name), len(raw), MaxFile)
	}
	info, err := r.os.Lstat(rel)
	switch {
	case err == nil && !info.Mode().IsRegular(): // what a link leads to would not change
		return false, fault.New(CodeName, op, "%q is there and is not a file", path.Base(name)).WithHint("choose another name, or have a person move it away")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, refused(name, err)
	}
	created = err != nil
	dir := filepath.Dir(rel)
	if err := r.os.MkdirAll(dir, 0o755); err != nil {
		return false, refused(name, err)
	}
	tmp, err := r.beside(dir, raw)
	if err != nil {
		return false, refused(name, err)
	}
	if err := r.os.Rename(tmp, rel); err != nil {
		_ = r.os.Remove(tmp) // the error before it counts
		return false, refused(name, err)
	}
	if err := r.sync(dir); err != nil {
		return false, refused(name, err)
	}
	return created, nil
}

// plain refuses names that no file of a story has: hidden ones have a meaning to other
// programs, .git/hooks one that runs.
func plain(rel string) error {
	bad := func(why string) error {
		return fault.New(CodeName, "story.dir", "%q is no name for a story's file: %s", filepath.ToSlash(rel), why).WithHint("choose a plain one, such as rooms/hall.yaml")
	}
	if len(rel) > maxName {
		return bad(fmt.Sprintf("it is longer than %d bytes", maxName))
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return bad("a part of it is hidden")
		}
		if strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) }) {
			return bad("it has a character that not every system takes")
		}
	}
	return nil
}

// beside makes the file under a name of its own in dir.
func (r *root) beside(dir string, raw []byte) (string, error) {
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".soundstage-%d-%d.tmp", os.Getpid(), i))
		f, err := r.os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(raw)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = r.os.Remove(name) // the error before it counts
			return "", err
		}
		return name, nil
	}
}

func refused(name string, err error) error {
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return fault.New(CodeWrite, "story.dir", "%q was not written: %v", path.Base(name), reason(err)).
		WithHint("links that lead out of the workspace are not followed; check the room on the disk and who may write there")
}
