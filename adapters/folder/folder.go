// Package folder is the door to folders that a person shared: it lists and reads in
// them, and nowhere else.
//
// It is an adapter: it fills the studio's port Folders, and keeps the list of what is
// shared in a file of the studio, since a path is of one machine. Every look goes through
// an os.Root, so that no link and no rename during a walk leads out. It writes nothing
// but that list.
package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/lock"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// maxGrants bounds the folders of one studio.
const maxGrants = 100

// The codes of this package.
const (
	CodeGrants    fault.Code = "FOLDER_GRANTS"     // the list of shared folders does not read
	CodeTaken     fault.Code = "FOLDER_TAKEN"      // the name, or the folder, is shared already
	CodeNoGrant   fault.Code = "FOLDER_NOT_SHARED" // no folder is shared under the name
	CodeProtected fault.Code = "FOLDER_PROTECTED"  // it holds the studio or the person's settings
	CodeMoved     fault.Code = "FOLDER_MOVED"      // it is not where it was when it was shared
	CodeEscapes   fault.Code = "FOLDER_ESCAPES"    // a link leads out of it
	CodeNoFile    fault.Code = "FOLDER_NO_FILE"    // there is nothing of that name
	CodeSpecial   fault.Code = "FOLDER_SPECIAL"    // neither a file nor a folder
	CodeDenied    fault.Code = "FOLDER_UNREADABLE" // the system refuses
)

// A Grant is one shared folder.
type Grant struct {
	Name string `json:"name"`
	Path string `json:"path"` // real: absolute, and without links
}

// Options are the doors of Folders.
type Options struct {
	File   string // the list
	Export string // the studio's folder of exported files; it may not exist
	// Protected are folders that no grant may hold or lie in: the studio, and where the
	// person's settings are. Those that are not there are left out.
	Protected []string
}

// Folders are the shared folders of a studio. It is safe for concurrent use, also by many
// processes. Make one with New.
type Folders struct{ o Options }

var _ studio.Folders = (*Folders)(nil)

// New names the list; nothing is read before it is asked for.
func New(o Options) *Folders {
	if o.File == "" || o.Export == "" {
		panic("folder: New needs a file and the export folder")
	}
	return &Folders{o: o}
}

// Share adds a folder. A name of "" is that of the folder.
func (f *Folders) Share(ctx context.Context, name, dir string) (Grant, error) {
	const op = "folder.share"
	real, err := realDir(dir)
	if err != nil {
		return Grant{}, fault.New(fault.Invalid, op, "%q is no folder that can be shared: %v", dir, reason(err)).WithHint("name a folder that exists")
	}
	if err := f.unprotected(real); err != nil {
		return Grant{}, err
	}
	if name == "" {
		name = strings.ToLower(filepath.Base(real))
	}
	if err := checkName(name); err != nil {
		return Grant{}, err
	}
	done, err := f.alone(ctx)
	if err != nil {
		return Grant{}, err
	}
	defer done()
	list, err := f.load()
	if err != nil {
		return Grant{}, err
	}
	for _, g := range list {
		if g.Name == name || g.Path == real {
			return Grant{}, fault.New(CodeTaken, op, "%q is shared already, as %q", g.Path, g.Name).WithHint("give it another name with --name, or unshare it first")
		}
	}
	if len(list) >= maxGrants {
		return Grant{}, fault.New(fault.TooLarge, op, "%d folders are shared, which is the most", maxGrants).WithHint("unshare one that is not needed")
	}
	g := Grant{name, real}
	list = append(list, g)
	slices.SortFunc(list, func(a, b Grant) int { return strings.Compare(a.Name, b.Name) })
	return g, f.save(list)
}

// alone waits until no other process changes the list.
func (f *Folders) alone(ctx context.Context) (done func(), err error) {
	unlock, err := lock.File(ctx, f.o.File+".lock")
	if err != nil && ctx.Err() != nil {
		return nil, fault.Wrap(err, fault.Cancelled, "folder.share", "wait for the list of shared folders")
	}
	if err != nil {
		return nil, unwritable(err)
	}
	return unlock, nil
}

// Unshare takes a folder off the list; the folder stays as it is.
func (f *Folders) Unshare(ctx context.Context, name string) (Grant, error) {
	done, err := f.alone(ctx)
	if err != nil {
		return Grant{}, err
	}
	defer done()
	list, err := f.load()
	if err != nil {
		return Grant{}, err
	}
	i := slices.IndexFunc(list, func(g Grant) bool { return g.Name == name })
	if i < 0 {
		return Grant{}, notShared("folder.unshare", name)
	}
	g := list[i]
	return g, f.save(slices.Delete(list, i, i+1))
}

// Grants are the shared folders, by name.
func (f *Folders) Grants(context.Context) ([]Grant, error) { return f.load() }

// Names implements [studio.Folders].
func (f *Folders) Names(context.Context) ([]string, error) {
	list, err := f.load()
	names := make([]string, len(list))
	for i, g := range list {
		names[i] = g.Name
	}
	return names, err
}

func notShared(op, name string) error {
	return fault.New(CodeNoGrant, op, "no folder is shared as %q", name).
		WithHint("see what is: soundstage folder ls; only a person shares more, with soundstage folder share")
}

// checkName wants a name that is one safe part of a path, and is not the studio's own.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && name != "studio" && !strings.HasPrefix(name, ".") && fs.ValidPath(name) &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	if !ok {
		return fault.New(fault.Invalid, "folder.share", "a folder cannot be shared as %q", name).
			WithHint("give it a name of lower case letters, digits, dashes and dots with --name; studio is the studio's own")
	}
	return nil
}

// realDir is the folder itself, whatever links lead to it.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	return real, err
}

// unprotected refuses a folder that holds a protected one, or lies in it.
func (f *Folders) unprotected(real string) error {
	for _, p := range f.o.Protected {
		p, err := realDir(p)
		if err != nil {
			continue
		}
		if within(real, p) || within(p, real) {
			return fault.New(CodeProtected, "folder.share", "%q cannot be shared: it holds the studio or your settings, or lies in them", real).
				WithHint("share a folder of its own, with only the files that agents may read")
		}
	}
	return nil
}

// within says whether a is b, or lies in it.
func within(a, b string) bool {
	rel, err := filepath.Rel(b, a)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// reason is why the system refused, without the path, which the person knows.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
