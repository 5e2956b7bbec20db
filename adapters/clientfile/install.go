package clientfile

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A State is what is, or was done, at a place.
type State string

// The states.
const (
	Absent     State = "absent"      // no such file
	None       State = "none"        // a file without the entry
	Installed  State = "installed"   // the entry starts this program's server
	Taken      State = "taken"       // the name is that of another server
	Unreadable State = "unreadable"  // the file is not what its format says
	Added      State = "added"       // done
	Replaced   State = "replaced"    // done: it started the same program otherwise
	Unchanged  State = "unchanged"   // nothing was to do
	Removed    State = "removed"     // done
	Restored   State = "restored"    // done, and the file is as it was before
	Deleted    State = "deleted"     // done: there was no file before, and there is none now
	WouldWrite State = "not written" // it was only asked for
)

// name bounds: clients put the name into those of tools.
const maxName = 32

func (e Entry) check() error {
	const op = "mcp.install"
	for _, s := range append([]string{e.Command}, e.Args...) {
		if !utf8.ValidString(s) || bytes.IndexByte([]byte(s), 0) >= 0 {
			return fault.New(fault.Invalid, op, "%q cannot stand in a client's file", s)
		}
	}
	return checkName(e.Name)
}

func checkName(name string) error {
	for _, r := range name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			return fault.New(fault.Invalid, "mcp.install", "the name %q has %q in it", name, r).WithHint("use small letters, digits, - and _")
		}
	}
	if name == "" || len(name) > maxName {
		return fault.New(fault.Invalid, "mcp.install", "the name %q is empty or longer than %d", name, maxName)
	}
	return nil
}

// Snippet is a whole file with nothing but the entry.
func (p Place) Snippet(e Entry) (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	d, err := p.Client.read(nil)
	if err != nil {
		return "", err
	}
	edits, err := d.insert(e)
	return string(apply(nil, edits)), err
}

// Look says what is at a place under a name; the words are the command of the entry.
func (p Place) Look(name string) (State, []string, error) {
	file, err := p.real()
	if err != nil {
		return Unreadable, nil, err
	}
	src, info, err := p.load(file)
	if err != nil {
		return Unreadable, nil, err
	}
	if info == nil {
		return Absent, nil, nil
	}
	d, err := p.Client.read(src)
	if err != nil {
		return Unreadable, nil, named(err, p)
	}
	raw, err := d.entry(name)
	switch {
	case err != nil:
		return Unreadable, nil, named(err, p)
	case raw == nil:
		return None, nil, nil
	case !ours(words(raw)):
		return Taken, words(raw), nil
	}
	return Installed, words(raw), nil
}

// Install puts an entry into the file, or another one of this program in its place.
func (p Place) Install(e Entry) (State, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	file, err := p.real()
	if err != nil {
		return "", err
	}
	src, info, err := p.load(file)
	if err != nil {
		return "", err
	}
	n, base := note{File: file, Server: e.Name, Created: info == nil}, src
	if old := p.noted(file, e.Name, src); old != nil {
		if was, ok := without(src, old.Spans); ok {
			n.Created, n.Folders, base = old.Created, old.Folders, was
		}
	}
	after, state, err := p.Client.put(&n, base, e)
	if err != nil {
		return "", named(err, p)
	}
	if bytes.Equal(after, src) && info != nil {
		return Unchanged, nil
	}
	if !bytes.Equal(base, src) {
		state = Replaced
	}
	return state, p.write(file, src, after, info, n, state)
}

// put is base with the entry in it.
func (c Client) put(n *note, base []byte, e Entry) ([]byte, State, error) {
	d, err := c.read(base)
	if err != nil {
		return nil, "", err
	}
	raw, err := d.entry(e.Name)
	if err != nil {
		return nil, "", err
	}
	wanted := append([]string{e.Command}, e.Args...)
	var edits []edit
	state := Added
	switch is := words(raw); {
	case raw == nil:
		if edits, err = d.insert(e); err == nil {
			n.Spans = spans(edits)
		}
	case slices.Equal(is, wanted):
		return base, Unchanged, nil
	case !ours(is):
		return nil, "", fault.New(CodeForeign, "mcp.install", "the name %q is that of a server that starts %q", e.Name, is).
			WithHint("give ours another with --name, or remove that entry by hand")
	default:
		state = Replaced
		edits, err = d.replace(e)
	}
	if err != nil {
		return nil, "", err
	}
	after := apply(base, edits)
	return after, state, c.compare(d, after, e.Name, wanted)
}

// compare reads what was made: the entry says what was wanted, and all else is as it was.
func (c Client) compare(before document, after []byte, name string, wanted []string) error {
	d, err := c.read(after)
	if err == nil {
		var raw []byte
		if raw, err = d.entry(name); err == nil && slices.Equal(words(raw), wanted) && d.rest(name) == before.rest(name) {
			return nil
		}
	}
	f := fault.New(CodeMalformed, "mcp.install", "an entry %q cannot be added or removed without changing something else", name).
		WithHint("nothing was written; the file is written in an unusual way: use --print and edit by hand")
	if err != nil {
		f.Message += ": " + err.Error()
	}
	return f
}

// write writes the file, and the note where the entry can be taken out exactly.
func (p Place) write(file string, src, after []byte, info fs.FileInfo, n note, state State) error {
	if info == nil {
		made, err := p.folders(file)
		if err != nil {
			return err
		}
		n.Folders = made
	}
	if err := p.store(file, src, after, info); err != nil {
		return err
	}
	if n.Spans == nil {
		return p.forget(file, n.Server)
	}
	n.Hash = hash(after)
	return p.keep(n)
}

// Uninstall takes an entry of this program out. A file that is as Install left it is
// afterwards as it was before.
func (p Place) Uninstall(name string) (State, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	file, err := p.real()
	if err != nil {
		return "", err
	}
	src, info, err := p.load(file)
	if err != nil {
		return "", err
	}
	if info == nil {
		return Absent, p.forget(file, name)
	}
	if n := p.noted(file, name, src); n != nil {
		if before, ok := without(src, n.Spans); ok {
			return p.restore(file, src, before, info, *n)
		}
	}
	d, err := p.Client.read(src)
	if err != nil {
		return "", named(err, p)
	}
	raw, err := d.entry(name)
	switch {
	case err != nil:
		return "", named(err, p)
	case raw == nil:
		return Unchanged, p.forget(file, name)
	case !ours(words(raw)):
		return "", named(fault.New(CodeForeign, "mcp.uninstall", "the name %q is that of a server that starts %q", name, words(raw)).
			WithHint("it is not ours: remove it by hand"), p)
	}
	edits, err := d.remove(name)
	if err != nil {
		return "", named(err, p)
	}
	after := apply(src, edits)
	if err := p.Client.compare(d, after, name, nil); err != nil {
		return "", named(err, p)
	}
	if err := p.store(file, src, after, info); err != nil {
		return "", err
	}
	return Removed, p.forget(file, name)
}

// restore gives a file its old text, or takes it away with the folders made for it.
func (p Place) restore(file string, src, before []byte, info fs.FileInfo, n note) (State, error) {
	if !n.Created || len(before) > 0 {
		if err := p.store(file, src, before, info); err != nil {
			return "", err
		}
		return Restored, p.forget(file, n.Server)
	}
	if err := os.Remove(file); err != nil {
		return "", p.failed(err, "remove %q", file)
	}
	for _, dir := range n.Folders {
		if os.Remove(dir) != nil { // something else is in it by now
			break
		}
	}
	return Deleted, p.forget(file, n.Server)
}
