package clientfile

import (
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A note is what was put into a file: enough to take it out again exactly, and nothing
// of what the file says.
type note struct {
	File    string   `json:"file"`
	Server  string   `json:"server"`
	Hash    string   `json:"sha256"`            // of the file afterwards
	Spans   []span   `json:"spans"`             // that were put in
	Created bool     `json:"created"`           // there was no file
	Folders []string `json:"folders,omitempty"` // made for it, the deepest first
}

// notes is the folder of the notes: one file for each file and server.
func (w Where) notes() string {
	if w.GOOS == "windows" {
		return filepath.Join(w.or("LOCALAPPDATA", filepath.Join(w.home(), "AppData", "Local")), "soundstage", "installed")
	}
	return filepath.Join(w.or("XDG_STATE_HOME", filepath.Join(w.home(), ".local", "state")), "soundstage", "installed")
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (p Place) notePath(file, server string) string {
	return filepath.Join(p.notes, hash([]byte(file + "\x00" + server))[:24]+".json")
}

// noted is the note on a file; nil where there is none, or the file has changed since.
func (p Place) noted(file, server string, now []byte) *note {
	b, err := os.ReadFile(p.notePath(file, server))
	if err != nil {
		return nil
	}
	var n note
	if stdjson.Unmarshal(b, &n) != nil || n.File != file || n.Server != server || n.Hash != hash(now) {
		return nil
	}
	return &n
}

// keep writes a note. It comes after the file: a note that is lost costs exactness alone.
func (p Place) keep(n note) error {
	b, err := stdjson.MarshalIndent(n, "", "  ")
	if err != nil {
		return p.failed(err, "write a note")
	}
	if err := os.MkdirAll(p.notes, 0o700); err != nil {
		return p.failed(err, "make the folder %q", p.notes)
	}
	path := p.notePath(n.File, n.Server)
	tmp, err := beside(path, 0o600)
	if err != nil {
		return p.failed(err, "write a note in %q", p.notes)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // as in store
	_, err = tmp.Write(append(b, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return p.failed(err, "write a note in %q", p.notes)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return p.failed(err, "write a note in %q", p.notes)
	}
	return p.synced(p.notes)
}

func (p Place) forget(file, server string) error {
	if err := os.Remove(p.notePath(file, server)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p.failed(err, "remove a note in %q", p.notes)
	}
	if os.Remove(p.notes) == nil { // it was the last
		_ = os.Remove(filepath.Dir(p.notes)) // and nothing else is kept there
	}
	return nil
}
