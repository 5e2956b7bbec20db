package seam

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of a command's files.
const (
	maxEffects     = 1000     // files
	maxEffectBytes = 16 << 20 // of all together
)

// A workFolder is where commands work. Nothing outside of it is reached, and no link is
// followed: a link could be made between a look and a use, and os.Root holds even then.
type workFolder struct{ root *os.Root }

func openWork(dir string) (*workFolder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.Wrap(err, CodeEffect, "seam.exec", "the work folder %q", dir)
	}
	return &workFolder{root}, nil
}

func (w *workFolder) close() { _ = w.root.Close() } // nothing was buffered

// stat looks at a path of which no part may be a link. It gives nil where there is
// nothing.
func (w *workFolder) stat(p string) (fs.FileInfo, error) {
	var info fs.FileInfo
	for at := 0; at < len(p); {
		end := len(p)
		if i := strings.IndexByte(p[at:], '/'); i >= 0 {
			end = at + i
		}
		var err error
		info, err = w.root.Lstat(p[:end])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a command", p)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fault.New(CodeEffect, "seam.exec", "file %q of a command is reached by the link %q", p, p[:end])
		case end < len(p) && !info.IsDir():
			return nil, fault.New(CodeEffect, "seam.exec", "file %q of a command lies below %q, which is no folder", p, p[:end])
		}
		at = end + 1
	}
	return info, nil
}

// list is the regular files at the declared places, in order.
func (w *workFolder) list(places []string) ([]string, error) {
	var out []string
	for _, place := range places {
		p, tree := strings.CutSuffix(place, "/")
		info, err := w.stat(p)
		if err != nil {
			return nil, err
		}
		if info == nil {
			continue
		}
		if !tree {
			out = append(out, p)
			if !info.Mode().IsRegular() {
				return nil, notAFile(p)
			}
			continue
		}
		err = fs.WalkDir(w.root.FS(), p, func(p string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fault.Wrap(err, CodeEffect, "seam.exec", "folder %q of a command", p)
			case e.IsDir():
				return nil
			case !e.Type().IsRegular():
				return notAFile(p)
			case len(out) > maxEffects:
				return fault.New(fault.TooLarge, "seam.exec", "a command has more than %d files in %q", maxEffects, place)
			}
			out = append(out, p)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func notAFile(p string) error {
	return fault.New(CodeEffect, "seam.exec", "%q of a command is not a regular file", p).
		WithHint("a command may write regular files; a folder is declared with a slash at its end")
}

// effects are the declared files as they are now.
func (w *workFolder) effects(places, before []string) ([]Effect, error) {
	after, err := w.list(places)
	if err != nil {
		return nil, err
	}
	if len(after)+len(before) > 2*maxEffects || len(after) > maxEffects {
		return nil, fault.New(fault.TooLarge, "seam.exec", "a command wrote %d files, more than %d", len(after), maxEffects)
	}
	var out []Effect
	left := int64(maxEffectBytes)
	for _, p := range after {
		data, mode, err := w.read(p, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		out = append(out, Effect{Path: p, Data: data, Executable: mode&0o100 != 0})
	}
	for _, p := range before {
		if _, still := slices.BinarySearch(after, p); !still {
			out = append(out, Effect{Path: p, Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b Effect) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func (w *workFolder) read(p string, left int64) ([]byte, fs.FileMode, error) {
	f, err := w.root.Open(p)
	if err != nil {
		return nil, 0, fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a command", p)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, notAFile(p)
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, left+1))
	}
	if err != nil {
		return nil, 0, fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a command", p)
	}
	if int64(len(data)) > left {
		return nil, 0, fault.New(fault.TooLarge, "seam.exec", "a command wrote more than %d bytes, with file %q", maxEffectBytes, p)
	}
	return data, info.Mode(), nil
}

// digest is what a file holds, in short; "" where there is none.
func (w *workFolder) digest(p string) (string, error) {
	info, err := w.stat(p)
	if err != nil || info == nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", notAFile(p)
	}
	f, err := w.root.Open(p)
	if err != nil {
		return "", fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a command", p)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a command", p)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// apply does to the folder what a command did. Only what is declared is touched.
func (w *workFolder) apply(places []string, files []Effect) error {
	size := 0
	for _, f := range files {
		size += len(f.Data)
		if len(files) > maxEffects || size > maxEffectBytes {
			return fault.New(fault.TooLarge, "seam.exec", "a recorded command wrote %d files and at least %d bytes, more than %d or %d",
				len(files), size, maxEffects, maxEffectBytes)
		}
		if !declared(places, f.Path) {
			return fault.New(CodeEffect, "seam.exec", "a recorded command wrote %q, which is not declared", f.Path)
		}
	}
	for _, f := range files {
		if err := w.put(f); err != nil {
			return err
		}
	}
	return nil
}

func declared(places []string, p string) bool {
	return isBelow(p) && slices.ContainsFunc(places, func(place string) bool {
		return p == place || strings.HasSuffix(place, "/") && strings.HasPrefix(p, place)
	})
}

func (w *workFolder) put(f Effect) error {
	info, err := w.stat(f.Path)
	switch {
	case err != nil:
		return err
	case info != nil && !info.Mode().IsRegular():
		return notAFile(f.Path)
	case f.Gone && info == nil:
		return nil
	case f.Gone:
		err = w.root.Remove(f.Path)
	default:
		mode := fs.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		err = w.replace(f.Path, f.Data, mode)
	}
	if err != nil {
		return fault.Wrap(err, CodeEffect, "seam.exec", "file %q of a recorded command", f.Path)
	}
	return nil
}

// replace puts a file in its place whole: a reader sees the old one or the new one.
func (w *workFolder) replace(p string, data []byte, mode fs.FileMode) error {
	tmp := p + ".soundstage-tmp"
	if dir := path.Dir(p); dir != "." {
		if err := w.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := w.root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := w.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, w.root.Remove(tmp))
	}
	return w.root.Rename(tmp, p)
}
