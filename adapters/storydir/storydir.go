// Package storydir is the disk as stories see it: a few folders that may be read, and at
// most one that may be written.
//
// It is an adapter behind load.Files and the port of the story tools. Every name is opened
// below one of its folders, so that no link and no race leads out of them; a link that ends
// in another of them is followed there. It reads regular files only, within a bound, and
// writes whole files or none. It knows no format and runs nothing.
package storydir

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
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// The bounds of what is looked at.
const (
	MaxFile    = source.MaxFile // bytes
	MaxEntries = 20_000         // that one Glob or List looks at
)

// The codes of this package.
const (
	CodeFolder   fault.Code = "STORYDIR_FOLDER"      // a folder that cannot be opened
	CodeOutside  fault.Code = "STORYDIR_OUTSIDE"     // it lies in none of the folders
	CodeReadOnly fault.Code = "STORYDIR_READ_ONLY"   // it may be read, and not written
	CodeName     fault.Code = "STORYDIR_NAME"        // no name that a story's file has
	CodeTooLarge fault.Code = "STORYDIR_TOO_LARGE"   // more than MaxFile, or than MaxEntries
	CodeWrite    fault.Code = "STORYDIR_NOT_WRITTEN" // the system refused
)

// Options say which folders there are. All are absolute.
type Options struct {
	Read  []string
	Write string // may be read too; "" is none
}

// A Disk gives out files of its folders. It is safe for concurrent use.
type Disk struct {
	roots []*root
	write *root
}

// A root is a folder, held open: what is renamed above it moves nothing below it.
type root struct {
	dir  string // as it was named
	real string // without links
	os   *os.Root
}

// Open opens the folders. Close lets them go.
func Open(o Options) (*Disk, error) {
	d := &Disk{}
	add := func(dir string) (*root, error) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && !filepath.IsAbs(dir) {
			err = errors.New("its name is not absolute")
		}
		var handle *os.Root
		if err == nil {
			handle, err = os.OpenRoot(real)
		}
		if err != nil {
			return nil, fault.New(CodeFolder, "story.dir", "the folder %q cannot be opened: %v", filepath.Base(dir), reason(err)).WithHint("check its name, and who may read it")
		}
		r := &root{dir: filepath.Clean(dir), real: real, os: handle}
		d.roots = append(d.roots, r)
		return r, nil
	}
	var err error
	if o.Write != "" {
		d.write, err = add(o.Write)
	}
	for _, dir := range o.Read {
		if err == nil {
			_, err = add(dir)
		}
	}
	if err != nil {
		_ = d.Close() // they were only opened
		return nil, err
	}
	return d, nil
}

// Close lets the folders go.
func (d *Disk) Close() error {
	var errs []error
	for _, r := range d.roots {
		errs = append(errs, r.os.Close())
	}
	return errors.Join(errs...)
}

// at is the folder that a name lies in, and the rest of the name. The innermost counts.
func (d *Disk) at(name string) (*root, string, error) {
	name = filepath.Clean(filepath.FromSlash(name))
	var found *root
	var rest string
	for _, r := range d.roots {
		for _, dir := range []string{r.dir, r.real} {
			if rel, ok := below(dir, name); ok && (found == nil || len(rel) < len(rest)) {
				found, rest = r, rel
			}
		}
	}
	if found == nil {
		return nil, "", fault.New(CodeOutside, "story.dir", "%q lies outside of the folders of stories", filepath.ToSlash(name)).
			WithHint("a story lies below the stories folder, the workspace, or a folder that a person granted")
	}
	return found, rest, nil
}

func below(dir, name string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// followed is where a name leads whose links the folder itself does not follow: into a
// folder of ours, or nowhere.
func (d *Disk) followed(name string) (*root, string, error) {
	real, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	if err != nil {
		return nil, "", fault.New(load.CodeNoFile, "story.dir", "there is no file %q", path.Base(name))
	}
	for _, r := range d.roots {
		if rel, ok := below(r.real, real); ok {
			return r, rel, nil
		}
	}
	return nil, "", fault.New(CodeOutside, "story.dir", "%q is a link that leads out of the folders of stories", path.Base(name)).
		WithHint("put the file itself where the link is")
}

// stat is what a name leads to.
func (d *Disk) stat(name string) (*root, string, fs.FileInfo, error) {
	r, rel, err := d.at(name)
	if err != nil {
		return nil, "", nil, err
	}
	info, err := r.os.Stat(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if r, rel, err = d.followed(name); err == nil {
			info, err = r.os.Stat(rel)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New(load.CodeNoFile, "story.dir", "there is no file %q", path.Base(name))
	}
	return r, rel, info, err
}

// Read implements load.Files.
func (d *Disk) Read(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, rel, info, err := d.stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fault.New(load.CodeNoFile, "story.dir", "%q is not a file", path.Base(name)).WithHint("see what there is: story.list")
	}
	f, err := r.os.OpenFile(rel, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, fault.New(load.CodeNoFile, "story.dir", "%q cannot be read: %v", path.Base(name), reason(err))
	}
	defer f.Close()                                                   //nolint:errcheck // only read
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // changed since
		return nil, fault.New(load.CodeNoFile, "story.dir", "%q is not a file", path.Base(name)).WithHint("see what there is: story.list")
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fault.New(load.CodeNoFile, "story.dir", "%q cannot be read: %v", path.Base(name), reason(err))
	}
	if len(raw) > MaxFile {
		return nil, fault.New(CodeTooLarge, "story.dir", "%q has more than %d bytes", path.Base(name), MaxFile)
	}
	return raw, nil
}

// Glob implements load.Files: regular files alone.
func (d *Disk) Glob(ctx context.Context, dir, pattern string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, rel, info, err := d.stat(dir)
	if fault.CodeOf(err) == load.CodeNoFile || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !fs.ValidPath(path.Clean(pattern)) {
		return nil, fault.New(CodeOutside, "story.dir", "the pattern %q leads out of its folder", pattern)
	}
	sub, err := fs.Sub(r.os.FS(), filepath.ToSlash(rel))
	if err != nil {
		return nil, fault.New(CodeName, "story.dir", "%q is no name of a folder", dir)
	}
	c := &counted{FS: sub, left: MaxEntries}
	found, err := fs.Glob(c, path.Clean(pattern))
	if err != nil {
		return nil, fault.New(CodeName, "story.dir", "%q is no pattern: %v", pattern, err).WithHint("use *, ? and [a-z]: flows/*.yaml")
	}
	if c.left < 0 {
		return nil, fault.New(CodeTooLarge, "story.dir", "the pattern %q looks at more than %d names", pattern, MaxEntries)
	}
	var names []string
	for _, n := range found {
		name := path.Join(filepath.ToSlash(dir), n)
		if _, _, info, err := d.stat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// A counted folder looks at so many names.
type counted struct {
	fs.FS
	left int
}

// ReadDir implements fs.ReadDirFS. What is no folder is not opened: it might be a pipe.
func (c *counted) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(c.FS, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || c.left < 0 {
		return nil, nil
	}
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, nil
	}
	entries, err := dir.ReadDir(c.left + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	c.left -= len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// List is the regular files below a folder, sorted, and whether there are more than limit
// or than a List looks at. Folders whose name begins with a dot are left out, and links to
// folders.
func (d *Disk) List(ctx context.Context, dir string, limit int) (names []string, more bool, err error) {
	r, rel, info, err := d.stat(dir)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, fault.New(load.CodeNoFile, "story.dir", "%q is not a folder", path.Base(dir))
	}
	sub, err := fs.Sub(r.os.FS(), filepath.ToSlash(rel))
	if err != nil {
		return nil, false, fault.New(CodeName, "story.dir", "%q is no name of a folder", dir)
	}
	c := &counted{FS: sub, left: MaxEntries}
	err = fs.WalkDir(c, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil //nolint:nilerr // a folder that may not be read has nothing for us
		case e.IsDir() && p != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		case len(names) == limit:
			more = true
			return fs.SkipAll
		}
		names = append(names, path.Join(filepath.ToSlash(dir), p))
		return nil
	})
	return names, more || c.left < 0, err
}

// Folder is nil for a folder that may be read, and says of any other name why not.
func (d *Disk) Folder(name string) error {
	_, _, info, err := d.stat(name)
	if err == nil && !info.IsDir() {
		err = fault.New(load.CodeNoFile, "story.dir", "%q is not a folder", path.Base(name))
	}
	return err
}

// reason is why the system refused, without a path of this machine.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
