package server

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// FileName is what the list is called, in the folder of the person's configuration.
const FileName = "mcp.json"

// A List is the file: entries that can be used, and those that cannot, which are kept as
// they are. It is not safe for concurrent use.
type List struct {
	members []member
}

// A member is one name of the file.
type member struct {
	name  string
	raw   jsontext.Value // as it stands in the file
	entry Entry
	err   error // why it is not used
}

// entryJSON is an entry in the file.
type entryJSON struct {
	Type    string            `json:"type,omitzero"`
	Command string            `json:"command,omitzero"`
	Args    []string          `json:"args,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	Dir     string            `json:"cwd,omitzero"`
	URL     string            `json:"url,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	Scope   string            `json:"scope,omitzero"`
	Enabled *bool             `json:"enabled,omitzero"`
	Timeout int               `json:"timeout,omitzero"` // seconds
	OAuth   *OAuth            `json:"oauth,omitzero"`
}

// Read reads the list. A file that is not there is an empty list. An error is of the
// file as a whole: no server is used then.
func Read(path string) (*List, error) {
	b, err := load(path)
	if err != nil {
		return nil, err
	}
	return Parse(b)
}

// load reads a file that is its owner's alone; nothing where there is none.
func load(path string) ([]byte, error) {
	const op = "server.read"
	name := filepath.Base(path)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, CodeFile, op, "open %s", name)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fault.Wrap(err, CodeFile, op, "look at %s", name)
	case !info.Mode().IsRegular():
		return nil, fault.New(CodeFile, op, "%s is not a file", name).WithHint("move it away")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fault.New(CodeFile, op, "%s has mode %#o: others may read or change what this machine runs", name, info.Mode().Perm()).
			WithHint("look at what it holds, then: chmod 600 %s", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fault.Wrap(err, CodeFile, op, "read %s", name)
	}
	return b, nil
}

// Parse reads the text of a list.
func Parse(b []byte) (*List, error) {
	const op = "server.parse"
	bad := func(why string) error {
		return fault.New(CodeFile, op, "%s %s", FileName, why).WithHint(`it is {"mcpServers": {"NAME": {"command": …}}}: docs/reference/mcp-json.md`)
	}
	if len(b) > MaxFile {
		return nil, fault.New(CodeFile, op, "%s has more than %d bytes", FileName, MaxFile)
	}
	l := &List{}
	if len(bytes.TrimSpace(b)) == 0 {
		return l, nil
	}
	var whole struct {
		Servers jsontext.Value `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &whole, jsontext.AllowDuplicateNames(true), json.RejectUnknownMembers(true)); err != nil {
		return nil, bad("is not one JSON object with mcpServers alone")
	}
	if len(whole.Servers) == 0 {
		return l, nil
	}
	if whole.Servers.Kind() != '{' {
		return nil, bad("has mcpServers that are no object")
	}
	return l, l.read(whole.Servers)
}

func (l *List) read(servers jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewReader(servers), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		m := member{name: name.String()}
		var raw jsontext.Value
		if raw, err = d.ReadValue(); err != nil {
			break
		}
		m.raw = bytes.Clone(raw)
		l.add(m)
	}
	if err != nil { // it was decoded before
		return fault.Wrap(err, CodeFile, "server.parse", "read %s", FileName)
	}
	return nil
}

// add reads one member. Of a name that stands twice nobody knows which is meant.
func (l *List) add(m member) {
	m.entry, m.err = decode(m.name, m.raw)
	if i := l.index(m.name); i >= 0 {
		m.err = fault.New(CodeEntry, "server.parse", "server %q stands there twice", clip(m.name)).WithHint("take one of them out of %s", FileName)
		l.members[i].err = m.err
	}
	if m.err == nil && len(l.members) >= MaxEntries {
		m.err = fault.New(CodeEntry, "server.parse", "server %q is one more than %d", clip(m.name), MaxEntries)
	}
	l.members = append(l.members, m)
}

// plain is the value of a member, for a message; "" of one that may hold a secret.
func plain(raw jsontext.Value, pointer string) string {
	var all map[string]jsontext.Value
	if json.Unmarshal(raw, &all) != nil {
		return ""
	}
	switch name := strings.TrimPrefix(pointer, "/"); name {
	case "type", "scope", "enabled", "timeout", "cwd":
		return ": " + clip(string(all[name]))
	}
	return ""
}

func decode(name string, raw jsontext.Value) (Entry, error) {
	var j entryJSON
	if err := json.Unmarshal(raw, &j, json.RejectUnknownMembers(true)); err != nil {
		why := "it is no object of the members that an entry has"
		if e, ok := errors.AsType[*json.SemanticError](err); ok && e.JSONPointer != "" {
			why = "member " + strings.TrimPrefix(string(e.JSONPointer), "/") + " is unknown, or not what it should be" + plain(raw, string(e.JSONPointer))
		}
		return Entry{}, fault.New(CodeEntry, "server.parse", "server %q: %s", clip(name), why).
			WithHint("the members are command, args, env, cwd, or url, headers, oauth; and type, scope, enabled, timeout")
	}
	e := Entry{
		Name: name, Command: j.Command, Args: j.Args, Env: j.Env, Dir: j.Dir, URL: j.URL, Headers: j.Headers, Scope: j.Scope,
		Enabled: j.Enabled == nil || *j.Enabled, Timeout: time.Duration(j.Timeout) * time.Second, OAuth: j.OAuth,
	}
	kind := "stdio"
	if e.URL != "" {
		kind = "http"
	}
	if j.Type != "" && j.Type != kind && (j.Type != "streamable-http" || kind != "http") {
		return Entry{}, fault.New(CodeEntry, "server.parse", "server %q: type %q does not fit the rest", clip(name), clip(j.Type)).
			WithHint("use stdio with a command, http with a url, or leave it out")
	}
	if err := e.Check(); err != nil {
		return Entry{}, err
	}
	return e.filled(), nil
}

// index is the first member of a name, -1 where there is none.
func (l *List) index(name string) int {
	return slices.IndexFunc(l.members, func(m member) bool { return m.name == name })
}

// Entries are those that can be used, by name.
func (l *List) Entries() []Entry {
	var out []Entry
	for _, m := range l.members {
		if m.err == nil {
			out = append(out, m.entry)
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Rejects are the others, in the file's order.
func (l *List) Rejects() []Reject {
	var out []Reject
	for _, m := range l.members {
		if m.err != nil {
			out = append(out, Reject{m.name, m.err})
		}
	}
	return out
}

// Get is the entry of a name. One that cannot be used is the error that says why.
func (l *List) Get(name string) (Entry, error) {
	i := l.index(name)
	if i < 0 {
		return Entry{}, fault.New(CodeUnknown, "server.get", "no server %q", clip(name)).WithHint("list them: soundstage server ls")
	}
	return l.members[i].entry, l.members[i].err
}

// Has reports whether there is an entry of that name, usable or not.
func (l *List) Has(name string) bool { return l.index(name) >= 0 }

// Put adds an entry, or replaces the one of its name, also one that cannot be used. Nil
// Env, Headers and OAuth keep what is stored.
func (l *List) Put(e Entry) error {
	i := l.index(e.Name)
	if i >= 0 && l.members[i].err == nil {
		old := l.members[i].entry
		if e.Env == nil && e.URL == "" {
			e.Env = old.Env
		}
		if e.Headers == nil && e.URL != "" && e.URL == old.URL { // never to another address
			e.Headers = old.Headers
		}
		if e.OAuth == nil && e.URL != "" && e.URL == old.URL {
			e.OAuth = old.OAuth
		}
	}
	if err := e.Check(); err != nil {
		return err
	}
	if i < 0 && len(l.members) >= MaxEntries {
		return fault.New(CodeEntry, "server.put", "there are %d servers, and no more are taken", MaxEntries).WithHint("remove one: soundstage server rm NAME")
	}
	e = e.filled()
	l.Remove(e.Name)
	m := member{name: e.Name, entry: e, raw: encode(e)}
	if i < 0 {
		i = len(l.members)
	}
	l.members = slices.Insert(l.members, min(i, len(l.members)), m)
	return nil
}

// Remove takes the entry of a name out, and says whether there was one.
func (l *List) Remove(name string) bool {
	n := len(l.members)
	l.members = slices.DeleteFunc(l.members, func(m member) bool { return m.name == name })
	return len(l.members) < n
}

func encode(e Entry) jsontext.Value {
	j := entryJSON{
		Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers, Scope: e.Scope,
		Enabled: &e.Enabled, Timeout: int(e.Timeout / time.Second), OAuth: e.OAuth,
	}
	b, err := json.Marshal(j, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("server: " + err.Error()) // texts, a number and a switch
	}
	return b
}

// Text is the list as a file.
func (l *List) Text() []byte {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b, jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	put := func(t jsontext.Token) { _ = e.WriteToken(t) } // to memory, in a fixed order
	put(jsontext.BeginObject)
	put(jsontext.String("mcpServers"))
	put(jsontext.BeginObject)
	for _, m := range l.members {
		put(jsontext.String(m.name))
		_ = e.WriteValue(m.raw) // it was read, or is ours
	}
	put(jsontext.EndObject)
	put(jsontext.EndObject)
	return b.Bytes()
}

// Save writes the list for its owner alone. A crash leaves the old list or the new one.
func (l *List) Save(path string) error { return save(path, l.Text()) }

func save(path string, text []byte) error {
	const op = "server.save"
	dir, name := filepath.Dir(path), filepath.Base(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.Wrap(err, CodeFile, op, "make the folder of %s", name)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fault.New(CodeFile, op, "%s is not a file", name).WithHint("move it away")
	}
	tmp, err := os.CreateTemp(dir, "."+name+"-*") // for its owner alone
	if err != nil {
		return fault.Wrap(err, CodeFile, op, "write %s", name)
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fault.Wrap(errors.Join(err, ignoreGone(os.Remove(tmp.Name()))), CodeFile, op, "write %s", name)
	}
	return syncDir(dir)
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// syncDir makes a rename durable, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return fault.Wrap(err, CodeFile, "server.save", "make the folder %s durable", filepath.Base(dir))
	}
	return nil
}
