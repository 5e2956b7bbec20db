// Package session reopens conversations from their traces.
//
// It is part of the kernel, above trace. A session is one file, <dir>/<id>.jsonl; all
// that this package knows of it is projected from that file: the history that a
// model sees, the transcript that a person reads, the numbers to go on with, and the
// rows and receipts that the store must agree with. It runs no turn and keeps no
// state beside the file.
package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// suffix is how a session's file ends.
const suffix = ".jsonl"

// maxID is how long an id may be, in bytes.
const maxID = 100

// The codes of this package.
const (
	CodeBadID fault.Code = "SESSION_BAD_ID" // an id that is not safe as a file name
	CodeNone  fault.Code = "SESSION_NONE"   // nothing was traced yet
)

// CheckID says whether id may name a session: letters, digits, dashes, dots and
// underscores, not a dot first.
func CheckID(id string) error {
	ok := id != "" && len(id) <= maxID && id[0] != '.' && id[0] != '-'
	for _, r := range id {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r))
	}
	if !ok {
		return fault.New(CodeBadID, "session.check", "%q is not the id of a session", clip(id, maxID)).
			WithHint("ids are letters, digits, dashes, dots and underscores, like s-0001")
	}
	return nil
}

// Path is the file of a session.
func Path(dir, id string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	return filepath.Join(dir, id+suffix), nil
}

// An Info is what a list says of a session.
type Info struct {
	ID     string    `json:"id"`
	Skin   string    `json:"skin"`
	Mode   string    `json:"mode"`
	Model  string    `json:"model,omitempty"`
	Parent string    `json:"parent,omitempty"`
	Opened time.Time `json:"opened"`
	Last   time.Time `json:"last"`
	Turns  int       `json:"turns"`
	Events int64     `json:"events"`
	Title  string    `json:"title"`           // the first input, clipped
	Label  string    `json:"label,omitempty"` // how the last turn ended; "" while one is open
	// Damage is why the file cannot be read to its end; such a session is listed all
	// the same.
	Damage string `json:"damage,omitempty"`
}

// List gives the sessions in dir, the latest first. A folder that is not there has
// none.
func List(ctx context.Context, dir string) ([]Info, error) {
	ids, err := IDs(dir)
	if err != nil {
		return nil, err
	}
	list := make([]Info, 0, len(ids))
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, fault.Wrap(err, fault.Cancelled, "session.list", "the caller gave up")
		}
		list = append(list, summary(id, trace.Read(filepath.Join(dir, id+suffix))))
	}
	slices.SortStableFunc(list, func(a, b Info) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}

// IDs are the names of the session files in dir, in order, which is that of their age. A
// folder that is not there has none.
func IDs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "session.list", "read the folder %q", dir)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && e.Type().IsRegular() && CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Last is the id of the session that was used last, or CodeNone.
func Last(ctx context.Context, dir string) (string, error) {
	list, err := List(ctx, dir)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fault.New(CodeNone, "session.last", "no session was traced yet").
			WithHint("start one with soundstage run")
	}
	return list[0].ID, nil
}

// summary reads a session for the list.
func summary(id string, events iter.Seq2[trace.Event, error]) Info {
	in := Info{ID: id}
	for e, err := range events {
		if err != nil {
			in.Damage = err.Error()
			break
		}
		in.Events, in.Last, in.Turns = e.Seq, e.At, max(in.Turns, e.Turn)
		p, err := trace.Decode(e)
		if err != nil {
			continue // an event that a list does not need
		}
		switch p := p.(type) {
		case trace.SessionOpened:
			if in.Opened.IsZero() {
				in.Skin, in.Mode, in.Model, in.Parent, in.Opened = p.Skin, p.Mode, p.Model, p.Parent, e.At
			}
		case trace.TurnOpened:
			in.Label = ""
			if in.Title == "" {
				in.Title = oneLine(p.Input, 80)
			}
		case trace.TurnClosed:
			in.Label = p.Label
		}
	}
	return in
}

// A Session is a log that goes on, with what stood in it before.
type Session struct {
	*trace.Log
	ID     string
	New    bool          // nothing was traced before
	Turns  int           // the last turn's number; the next is one more
	Events []trace.Event // what stood in the file
}

// Open opens the session's log, new or again: numbers go on where the file ends. A
// turn that a crash left open is closed as stopped, so that its calls have results
// and the next turn begins clean.
func Open(ctx context.Context, dir, id string, opt trace.Options) (*Session, error) {
	path, err := Path(dir, id)
	if err != nil {
		return nil, err
	}
	opt.Session = id
	log, err := trace.Open(path, opt)
	if err != nil {
		return nil, err
	}
	s := &Session{Log: log, ID: id, New: log.Seq() == 0}
	if err := s.load(ctx, path); err != nil {
		_ = log.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

func (s *Session) load(ctx context.Context, path string) error {
	for e, err := range trace.Read(path) {
		if err != nil {
			return err
		}
		s.Turns = max(s.Turns, e.Turn)
		s.Events = append(s.Events, e)
	}
	open, calls, err := openTurn(s.Events)
	if err != nil || open == 0 {
		return err
	}
	return s.closeTurn(ctx, open, calls)
}

// closeTurn writes the end that a crash kept from a turn.
func (s *Session) closeTurn(ctx context.Context, turn int, calls []trace.ToolCalled) error {
	var end []trace.Payload
	for _, c := range calls {
		end = append(end, trace.ToolFinished{Call: c.Call, Tool: c.Tool, Code: string(CodeLost), Text: lostText, NotRun: true})
	}
	end = append(end, trace.TurnClosed{Label: "stopped", Stop: string(CodeLost), Guidance: "say it again: the program ended in the middle of this turn"})
	for _, p := range end {
		e, err := s.Record(ctx, turn, p)
		if err != nil {
			return err
		}
		s.Events = append(s.Events, e)
	}
	return s.Sync()
}

// CodeLost says that the program ended before a call or a turn did.
const CodeLost fault.Code = "STOP_LOST"

const lostText = "the program ended before this call did: whether it had an effect is not known"

// openTurn is the turn that has no end, 0 if there is none, and its calls without
// a result.
func openTurn(events []trace.Event) (turn int, calls []trace.ToolCalled, err error) {
	for _, e := range events {
		p, err := decode(e)
		if err != nil {
			return 0, nil, err
		}
		switch p := p.(type) {
		case trace.TurnOpened:
			turn, calls = e.Turn, nil
		case trace.TurnClosed:
			turn, calls = 0, nil
		case trace.ToolCalled:
			if turn != 0 {
				calls = append(calls, p)
			}
		case trace.ToolFinished:
			calls = slices.DeleteFunc(calls, func(c trace.ToolCalled) bool { return c.Call == p.Call })
		}
	}
	return turn, calls, nil
}

// decode is trace.Decode, with nil for a type that this program does not know.
func decode(e trace.Event) (trace.Payload, error) {
	p, err := trace.Decode(e)
	if fault.CodeOf(err) == trace.CodeUnknown {
		return nil, nil
	}
	return p, err
}

// Steer records what a person says in the middle of the turn.
func (s *Session) Steer(ctx context.Context, turn int, text string) (trace.Event, error) {
	return s.Record(ctx, turn, trace.Steered{Text: text})
}

// FollowUp records what a person leaves for after the turn.
func (s *Session) FollowUp(ctx context.Context, turn int, text string) (trace.Event, error) {
	return s.Record(ctx, turn, trace.Steered{Text: text, After: true})
}

// clip is the first n characters of s.
func clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// oneLine is s without line breaks, clipped.
func oneLine(s string, n int) string { return clip(strings.Join(strings.Fields(s), " "), n) }
