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
	posture
	resume                 bool
	record, mode, cassette string
	http                   httpFlags
	places                 places
}

func (f *mcpFlags) register(set *pflag.FlagSet) {
	f.posture.register(set)
	set.StringVar(&f.mode, "mode", "", "how the session meets the world: live, replay or record, the latter two with --cassette (default: live)")
	set.StringVar(&f.cassette, "cassette", "", "the `file` (area/name or x.yaml) to replay or record; to record, a folder (x/) too, where each session has a file of its own")
	set.StringVar(&f.record, "record", "", "short for --mode record --cassette `file`")
	f.http.register(set)
	f.places.register(set)
	set.BoolVar(&f.resume, "continue", false, "while recording: go on in the file of a session that was broken off")
}

// settle makes the three flags that say how the session meets the world two, and
// refuses what does not fit together.
func (f *mcpFlags) settle() error {
	const op = "mcp.mode"
	if f.record != "" {
		if f.cassette != "" || f.mode != "" && f.mode != string(seam.Record) {
			return fault.New(fault.Invalid, op, "--record is --mode record with its own --cassette, and there is one more of them").WithHint("leave out one")
		}
		f.mode, f.cassette = string(seam.Record), f.record
	}
	if f.mode == "" {
		f.mode = string(seam.Live)
		if f.cassette != "" {
			return fault.New(fault.Invalid, op, "the cassette %q is named and not what to do with it", f.cassette).WithHint("add --mode replay or --mode record")
		}
	}
	switch seam.Mode(f.mode) {
	case seam.Live:
		if f.cassette != "" {
			return fault.New(fault.Invalid, op, "mode live uses no cassette, and %q is named", f.cassette).WithHint("use --mode replay or --mode record")
		}
	case seam.Replay, seam.Record:
		if f.cassette == "" {
			return fault.New(fault.Invalid, op, "mode %q needs a cassette", f.mode).WithHint("name one with --cassette")
		}
	default:
		return fault.New(fault.Invalid, op, "mode is %q", f.mode).WithHint("use live, replay or record")
	}
	if f.http.on && f.mode == string(seam.Record) {
		return fault.New(fault.Invalid, op, "--mode record keeps one session, and --http serves many").WithHint("record a client on stdio, or put soundstage proxy in front (docs/reference/mcp.md)")
	}
	if f.resume && f.mode != string(seam.Record) {
		return fault.New(fault.Invalid, op, "--continue goes on with a recording, and none is named").WithHint("name its file with --record")
	}
	return nil
}

// A sessionDoor is the seam of a session that is replayed or recorded; nil of one that
// is live.
type sessionDoor struct{ *seam.Seam }

// openSession opens the way to the world. The file of a recording must not be there.
func (a *app) openSession(h *house, f mcpFlags, id string) (*sessionDoor, error) {
	const op = "mcp.record"
	switch seam.Mode(f.mode) {
	case seam.Live:
		return nil, nil
	case seam.Replay:
		file := a.cassetteFile(f.cassette)
		s, err := seam.Open(seam.Options{Mode: seam.Replay, Cassette: file, Name: a.fromHere(file), Clock: h.clock, Redactor: h.redactor()})
		if err != nil {
			return nil, err
		}
		return &sessionDoor{s}, nil
	}
	file, folder := a.sessionFile(f.cassette, id)
	if folder && f.resume {
		return nil, fault.New(fault.Invalid, op, "each session has a file of its own in %q", f.cassette).
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

// mcp is the door that the session itself passes: while it is recorded. A replay
// answers what leaves the process, and the studio is the real one.
func (d *sessionDoor) mcp() *seam.MCPDoor {
	if d == nil || d.Mode() != seam.Record {
		return nil
	}
	return d.MCP("soundstage")
}

// close makes the recording a cassette, and says so where there was nothing to record.
func (d *sessionDoor) close(a *app) error {
	if d == nil {
		return nil
	}
	err := d.Close()
	a.warnEmpty(d.Seam)
	return err
}
