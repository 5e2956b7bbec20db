package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	readOnly, resume bool
	record           string
	http             httpFlags
}

func (f *mcpFlags) register(set *pflag.FlagSet) {
	set.BoolVar(&f.readOnly, "read-only", false, "only tools that read")
	set.StringVar(&f.record, "record", "", "record the session into this `file` (area/name or x.yaml), or into one of its own in this folder (x/)")
	f.http.register(set)
	set.BoolVar(&f.resume, "continue", false, "with --record: go on in the file of a session that was broken off")
}

// A sessionDoor is the seam of a session that is recorded; nil of one that is not.
type sessionDoor struct{ *seam.Seam }

// recordSession opens the recording of a session. Its file must not be there.
func (a *app) recordSession(h *house, f mcpFlags, id string) (*sessionDoor, error) {
	const op = "mcp.record"
	if f.record == "" {
		if f.resume {
			return nil, fault.New(fault.Invalid, op, "--continue goes on with a recording, and none is named").WithHint("name its file with --record")
		}
		return nil, nil
	}
	file, folder := a.sessionFile(f.record, id)
	if folder && f.resume {
		return nil, fault.New(fault.Invalid, op, "each session has a file of its own in %q", f.record).
			WithHint("name the file of the session that was broken off, with .yaml and without .part")
	}
	env := a.doors.Env
	s, err := seam.Open(seam.Options{
		Mode: seam.Record, Cassette: file, Name: a.fromHere(file), Clock: h.clock, Redactor: h.redactor(), Rules: seam.DefaultRules(),
		Origin: cassette.Live, Transport: network(env), CI: isSet(env[envCI]), AllowLive: env[envLive] == "1",
		Continue: f.resume, KeepOnly: true,
	})
	if err != nil {
		return nil, err
	}
	return &sessionDoor{s}, nil
}

// sessionFile is the file that a session is recorded into, and whether it was named by
// its folder alone.
func (a *app) sessionFile(name, id string) (file string, folder bool) {
	info, err := os.Stat(a.path(name))
	if strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) || (err == nil && info.IsDir()) {
		return filepath.Join(a.path(name), id+".yaml"), true
	}
	return a.cassetteFile(name), false
}

// fromHere is a file as messages call it: from here, where it is below.
func (a *app) fromHere(file string) string {
	if rel, err := filepath.Rel(a.doors.Dir, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

// mcp is the door that the session passes.
func (d *sessionDoor) mcp() *seam.MCPDoor {
	if d == nil {
		return nil
	}
	return d.MCP("soundstage")
}

// close makes the recording a cassette.
func (d *sessionDoor) close() error {
	if d == nil {
		return nil
	}
	return d.Close()
}
