package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// MaxFile bounds a client's file, in bytes. Some keep their history in it.
const MaxFile = 32 << 20

// A Place is the file of a client in a scope.
type Place struct {
	Client Client
	Scope  Scope
	File   string   // absolute
	root   string   // the folder that links may not lead out of
	notes  string   // the folder of our notes
	also   []string // other files that the client reads as well, and that are there
}

// Place is where a client keeps its servers. A client that has no such scope is an error.
func (c Client) Place(w Where, s Scope) (Place, error) {
	const op = "mcp.install"
	p := Place{Client: c, Scope: s, notes: w.notes()}
	switch {
	case s == User && w.home() == "":
		return p, fault.New(fault.Invalid, op, "the environment names no home folder").WithHint("set HOME, or use --scope project")
	case s == User:
		files := []string{c.user(w)}
		if c.also != "" {
			files = append([]string{filepath.Join(filepath.Dir(files[0]), c.also)}, files...)
		}
		p.File, p.also = there(files...)
		p.root = w.home()
		if !within(p.root, p.File) { // the environment names another folder
			p.root = filepath.Dir(p.File)
		}
	case s == Project && len(c.project) > 0:
		files := make([]string, len(c.project))
		for i, name := range c.project {
			files[i] = filepath.Join(w.Project, filepath.FromSlash(name))
		}
		p.File, p.also = there(files...)
		p.root = w.Project
	case s == Project:
		return p, fault.New(CodeUnknown, op, "%s has no configuration in a project", c.Title).WithHint("use --scope user")
	default:
		return p, fault.New(fault.Invalid, op, "scope is %q", s).WithHint("use user or project")
	}
	return p, nil
}

// there is the first file that is there, else the last; and the others that are.
func there(files ...string) (file string, also []string) {
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			also = append(also, f)
		}
	}
	if len(also) == 0 {
		return files[len(files)-1], nil
	}
	return also[0], also[1:]
}

// Holding are the places of this client whose files have an entry of ours under a name. A
// client that reads two files may have got the second one after the entry.
func (p Place) Holding(name string) (at []Place) {
	for _, file := range append([]string{p.File}, p.also...) {
		one := p
		one.File, one.also = file, nil
		if state, _, err := one.Look(name); err == nil && state == Installed {
			at = append(at, one)
		}
	}
	return at
}

func within(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// real is the file that p.File is or leads to. A link is followed within the folder of
// the person or the project, and never out of it: what is behind it then is not known to
// be theirs.
func (p Place) real() (string, error) {
	root, err := resolve(p.root)
	if err != nil {
		return "", p.failed(err, "find the folder %q", p.root)
	}
	file, err := resolve(p.File)
	if err != nil {
		return "", p.failed(err, "follow the links to %q", p.File)
	}
	if !within(root, file) {
		return "", fault.New(CodeOutside, "mcp.install", "%q leads to %q, outside of %q", p.File, file, p.root).
			WithHint("nothing was written; use --print and add the entry there by hand")
	}
	return file, nil
}

// resolve follows the links of a path, of which the last part need not be there. A link
// that leads nowhere is an error.
func resolve(path string) (string, error) {
	rest := ""
	for {
		at, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(at, rest), nil
		}
		if _, there := os.Lstat(path); there == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return "", err
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
}

func (p Place) failed(err error, format string, args ...any) error {
	return fault.Wrap(err, CodeFile, "mcp.install", format, args...).
		WithHint("check who may read and write there; --print writes nothing")
}

func tooLarge(most int) error {
	return fault.New(fault.TooLarge, "mcp.install", "the file has more than %d bytes", most).
		WithHint("nothing was written; use --print and add the entry by hand")
}

// load reads a file; info is nil where there is none.
func (p Place) load(file string) (src []byte, info fs.FileInfo, err error) {
	info, err = os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, p.failed(err, "look at %q", file)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, p.failed(errors.New("it is not a file"), "read %q", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, p.failed(err, "read %q", file)
	}
	defer f.Close() //nolint:errcheck // only read
	src, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, nil, p.failed(err, "read %q", file)
	case len(src) > MaxFile:
		return nil, nil, named(tooLarge(MaxFile), p)
	}
	return src, info, nil
}

// named says which file an error is about.
func named(err error, p Place) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return fault.New(f.Code, f.Op, "%s: %s", p.File, f.Message).WithHint("%s", f.Hint)
	}
	return err
}

// store writes a file whole or not at all, if it still holds what was read.
func (p Place) store(file string, before, after []byte, info fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	if p.Scope == User {
		mode = 0o600
	}
	if info != nil {
		if mode = info.Mode().Perm(); !own(info) {
			return fault.New(CodeOutside, "mcp.install", "%q belongs to somebody else", p.File).WithHint("nothing was written; use --print")
		}
	}
	tmp, err := beside(file, mode)
	if err != nil {
		return p.failed(err, "write beside %q", file)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it has its own name by now, or none is wanted
	_, err = tmp.Write(after)
	if err := errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return p.failed(err, "write %q", file)
	}
	if now, known, err := p.load(file); err != nil || !bytes.Equal(now, before) || (known == nil) != (info == nil) {
		return errors.Join(err, fault.New(CodeChanged, "mcp.install", "%q changed while it was edited", p.File).
			WithHint("nothing was written; end %s and try again", p.Client.Title))
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return p.failed(err, "replace %q", file)
	}
	return p.synced(filepath.Dir(file))
}

// beside makes a file in the folder of another.
func beside(file string, mode fs.FileMode) (f *os.File, err error) {
	for i := range 100 {
		name := filepath.Join(filepath.Dir(file), fmt.Sprintf(".soundstage-%d-%d.tmp", os.Getpid(), i))
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// synced has the names in a folder survive a crash, where the system can do that.
func (p Place) synced(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // not a folder that can be opened, as on Windows
	}
	_ = d.Sync() // not every file system can
	return d.Close()
}

// folders makes the folders that are missing above a file, and says which.
func (p Place) folders(file string) (made []string, err error) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, p.failed(err, "make the folder %q", filepath.Dir(file))
	}
	return made, nil
}

// Short is the file as a person writes it.
func (p Place) Short(home string) string {
	if rel, err := filepath.Rel(home, p.File); home != "" && err == nil && filepath.IsLocal(rel) && p.Scope == User {
		return "~/" + strings.ReplaceAll(rel, `\`, "/")
	}
	return p.File
}
