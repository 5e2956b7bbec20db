package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// maxDir bounds the names that are read of one folder.
const maxDir = 20_000

// root opens the folder of a grant, and checks that it is still the one that was shared:
// no link stands in its place or above it, and it holds nothing that is protected.
func (f *Folders) root(name string) (*os.Root, string, error) {
	const op = "folder.open"
	dir, shown := f.o.Export, "studio/Export"
	if name != "" {
		list, err := f.load()
		if err != nil {
			return nil, "", err
		}
		i := slices.IndexFunc(list, func(g Grant) bool { return g.Name == name })
		if i < 0 {
			return nil, "", notShared(op, name)
		}
		dir, shown = list[i].Path, name
		if err := f.unprotected(dir); err != nil {
			return nil, "", err
		}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", moved(op, shown, name)
	}
	// Looked at after it was opened: what stands there now is what is open.
	here, err := r.Stat(".")
	there, lerr := os.Lstat(dir)
	real, rerr := filepath.EvalSymlinks(dir)
	if err != nil || lerr != nil || rerr != nil || !os.SameFile(here, there) || name != "" && real != dir {
		_ = r.Close() // only read
		return nil, "", moved(op, shown, name)
	}
	return r, shown, nil
}

func moved(op, shown, name string) error {
	if name == "" {
		return fault.New(CodeNoFile, op, "nothing was exported yet: there is no %s", shown)
	}
	return fault.New(CodeMoved, op, "the shared folder %q is not where it was, or a link stands in its place", shown).
		WithHint("only the person can share it again: soundstage folder unshare %s, then folder share", name)
}

// Walk implements [studio.Folders].
func (f *Folders) Walk(ctx context.Context, at studio.Place, depth, entries int) ([]studio.FileEntry, bool, error) {
	const op = "folder.walk"
	r, shown, err := f.root(at.Grant)
	if err != nil {
		if at.Grant == "" && at.Path == "." && fault.CodeOf(err) == CodeNoFile {
			return []studio.FileEntry{}, false, nil // the standing folder, before the first export
		}
		return nil, false, err
	}
	defer r.Close() //nolint:errcheck // only read
	info, err := r.Lstat(at.Path)
	switch {
	case err != nil:
		return nil, false, refused(op, path.Join(shown, at.Path), err)
	case !info.IsDir():
		return nil, false, fault.New(CodeSpecial, op, "%q is no folder", path.Join(shown, at.Path)).WithHint("list the folder above it, or read it if it is a file")
	}
	w := &walk{ctx: ctx, root: r, shown: shown, most: entries, list: []studio.FileEntry{}}
	w.dir(at.Path, depth)
	if ctx.Err() != nil {
		return nil, false, fault.Wrap(ctx.Err(), fault.Cancelled, op, "%q was not listed to its end", shown)
	}
	return w.list, w.more, nil
}

type walk struct {
	ctx   context.Context
	root  *os.Root
	shown string
	most  int
	list  []studio.FileEntry
	more  bool
}

// dir lists one folder; what cannot be read is named, and the walk goes on.
func (w *walk) dir(at string, depth int) (note string) {
	names, more, err := w.names(at)
	if err != nil {
		return reason(err).Error()
	}
	w.more = w.more || more
	for _, name := range names {
		if len(w.list) >= w.most || w.ctx.Err() != nil {
			w.more = true
			return ""
		}
		p := path.Join(at, name)
		info, err := w.root.Lstat(p)
		if err != nil {
			continue // it went away during the walk
		}
		e := studio.FileEntry{Path: path.Join(w.shown, p), Type: typeOf(info.Mode())}
		if e.Type == "file" {
			e.Bytes = info.Size()
		}
		if e.Type == "link" {
			e.Note = "links are not followed"
		}
		w.list = append(w.list, e)
		if i := len(w.list) - 1; e.Type == "folder" && depth > 1 {
			w.list[i].Note = w.dir(p, depth-1)
		}
	}
	return ""
}

// names are those in a folder, sorted, without the hidden ones.
func (w *walk) names(at string) (names []string, more bool, err error) {
	d, err := w.root.OpenFile(at, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, false, err
	}
	defer d.Close() //nolint:errcheck // only read
	list, err := d.Readdirnames(maxDir + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if len(list) > maxDir {
		list, more = list[:maxDir], true
	}
	list = slices.DeleteFunc(list, func(n string) bool {
		return strings.HasPrefix(n, ".") || !fs.ValidPath(n) || strings.ContainsAny(n, "\x00\\")
	})
	slices.Sort(list)
	return list, more, nil
}

func typeOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// Read implements [studio.Folders]. Only a regular file is opened, and what was opened is
// looked at again: a name can become a pipe in between.
func (f *Folders) Read(ctx context.Context, at studio.Place, most int64) ([]byte, error) {
	const op = "folder.read"
	r, shown, err := f.root(at.Grant)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	name := path.Join(shown, at.Path)
	if err := regular(op, name, func() (fs.FileInfo, error) { return r.Stat(at.Path) }); err != nil {
		return nil, err
	}
	file, err := r.OpenFile(at.Path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, refused(op, name, err)
	}
	defer file.Close() //nolint:errcheck // only read
	if err := regular(op, name, file.Stat); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(upTo{ctx, file}, most+1))
	switch {
	case ctx.Err() != nil:
		return nil, fault.Wrap(ctx.Err(), fault.Cancelled, op, "%q was not read to its end", name)
	case err != nil:
		return nil, refused(op, name, err)
	case int64(len(raw)) > most:
		return nil, fault.New(fault.TooLarge, op, "%q is larger than %d bytes", name, most).WithHint("choose a smaller file")
	}
	return raw, nil
}

// An upTo ends with a context.
type upTo struct {
	ctx context.Context
	r   io.Reader
}

func (u upTo) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

func regular(op, name string, stat func() (fs.FileInfo, error)) error {
	info, err := stat()
	if err != nil {
		return refused(op, name, err)
	}
	if !info.Mode().IsRegular() {
		return fault.New(CodeSpecial, op, "%q is %s, and only files are read", name, map[bool]string{true: "a folder", false: "a pipe, a device or the like"}[info.IsDir()]).
			WithHint("list the folder to see its files")
	}
	return nil
}

// refused is the error of what the system, or the root, does not give.
func refused(op, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(CodeNoFile, op, "there is no %q", name).WithHint("list the folder to see what is there")
	case errors.Is(err, fs.ErrPermission):
		return fault.New(CodeDenied, op, "%q may not be read", name).WithHint("the person can change who may read it")
	case strings.Contains(err.Error(), "escapes"):
		return fault.New(CodeEscapes, op, "%q is a link that leads out of the shared folder", name).WithHint("links are followed inside of a shared folder only")
	}
	return fault.New(CodeDenied, op, "%q cannot be read: %v", name, reason(err)).WithHint("choose another file")
}
