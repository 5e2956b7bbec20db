package trace

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxKept is how much room for lines a Log keeps, in bytes.
const maxKept = 64 << 10

// MaxLine is the longest line, in bytes with its line end.
const MaxLine = 16 << 20

// The codes of this package.
const (
	CodeNewer   fault.Code = "TRACE_NEWER"    // written by a newer version
	CodeDamaged fault.Code = "TRACE_DAMAGED"  // a line that is not an event, or not in order
	CodeTooLong fault.Code = "TRACE_TOO_LONG" // a line of more than MaxLine bytes
	CodeMissing fault.Code = "TRACE_MISSING"  // no such file
	CodeClosed  fault.Code = "TRACE_CLOSED"   // Record after Close
	CodeBusy    fault.Code = "SESSION_BUSY"   // another run has the session's trace open
)

// Options are the doors of a Log. Session and Clock are needed.
type Options struct {
	Session string
	Clock   clock.Clock
	// Mask hides what must not reach a disk; nil hides nothing. It gets text and gives
	// text back, and masking twice is masking once.
	Mask func([]byte) []byte
}

// A Log appends events to one file, which is its own until Close: a session has one
// owner at a time, in all processes. It is safe for concurrent use. Make one with
// Open.
type Log struct {
	opt   Options
	path  string
	quick bool // namesStay

	mu     sync.Mutex
	f      *os.File
	claim  io.Closer
	seq    int64
	closed bool
	line   []byte // room for the next line
	// grown is closed and dropped when an event was written, to wake who follows; nil while
	// nobody waits.
	grown chan struct{}
}

// Open opens the file at path for appending, and makes it, and its folder's entry,
// if it is not there. The numbers go on behind the last whole event; a torn last
// line, which a crash left, is cut off. A file that another Log has open is CodeBusy,
// and nothing in it is touched.
func Open(path string, opt Options) (*Log, error) {
	const op = "trace.open"
	if opt.Session == "" || opt.Clock == nil {
		panic("trace: Open needs a session and a clock")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, CodeMissing, op, "open the trace %q", path).
			WithHint("check that its folder is there and may be written")
	}
	l := &Log{opt: opt, path: path, quick: namesStay(opt.Mask), f: f}
	if err := l.take(); err != nil {
		_ = l.release() // the first error says more
		return nil, err
	}
	return l, nil
}

// take claims the file before it looks into it: what seems a torn line may be one that
// somebody writes right now.
func (l *Log) take() error {
	const op = "trace.open"
	c, busy, err := claim(l.f)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "claim the trace %q", l.path)
	}
	if busy {
		return fault.New(CodeBusy, op, "another run works in the session %q", l.opt.Session).
			WithHint("wait for its end, or begin a session of your own")
	}
	l.claim = c
	empty := false
	if l.seq, empty, err = mend(l.path); err != nil || !empty {
		return err
	}
	if err := syncDir(filepath.Dir(l.path)); err != nil { // its name must survive a power cut too
		return fault.Wrap(err, fault.Internal, op, "keep the name of the trace %q", l.path)
	}
	return nil
}

// release gives the file back.
func (l *Log) release() error {
	err := l.f.Close()
	if l.claim != nil {
		if e := l.claim.Close(); err == nil {
			err = e
		}
	}
	return err
}

// mend reads the file, cuts off a torn last line, and returns the number of the last
// event.
func mend(path string) (seq int64, empty bool, err error) {
	const op = "trace.open"
	f, err := os.Open(path)
	if err != nil {
		return 0, false, fault.Wrap(err, CodeMissing, op, "open the trace %q", path)
	}
	r := newReader(f)
	for err == nil {
		_, err = r.next()
	}
	info, serr := f.Stat()
	_ = f.Close() // it was only read
	switch {
	case err != io.EOF:
		return 0, false, fault.Wrap(err, fault.CodeOf(err), op, "read the trace %q", path)
	case serr != nil:
		return 0, false, fault.Wrap(serr, fault.Internal, op, "look at the trace %q", path)
	case info.Size() == r.whole:
		return r.seq, r.whole == 0, nil
	}
	if err := os.Truncate(path, r.whole); err != nil {
		return 0, false, fault.Wrap(err, fault.Internal, op, "cut a torn line off the trace %q", path)
	}
	return r.seq, false, nil
}

// Record appends one event and returns it as it stands in the file. It is one
// write(2), so that a crash leaves whole lines and at most one torn one. It is not
// on the platter before Sync.
//
// Text that is not UTF-8 is kept with U+FFFD in place of what is not.
func (l *Log) Record(ctx context.Context, turn int, p Payload) (Event, error) {
	const op = "trace.record"
	// What happened is written down also when the caller is gone: a cancelled turn
	// has an end too. ctx is for backends that can wait.
	_ = ctx
	data, err := l.encode(p)
	if err != nil {
		return Event{}, fault.Wrap(err, fault.Internal, op, "encode %q", p.EventType())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return Event{}, fault.New(CodeClosed, op, "the trace %q is closed", l.path)
	}
	e := Event{V: Version, Seq: l.seq + 1, At: l.opt.Clock.Now().UTC().Truncate(1e6), Session: l.opt.Session, Turn: turn, Type: p.EventType(), Data: data}
	line, err := appendLine(l.line[:0], e)
	if err != nil {
		return Event{}, fault.Wrap(err, fault.Internal, op, "encode %q", e.Type)
	}
	if len(line) > MaxLine {
		return Event{}, fault.New(CodeTooLong, op, "the event %q has %d bytes, the most is %d", e.Type, len(line), MaxLine).
			WithHint("keep long results behind a handle and images small")
	}
	if cap(line) <= maxKept {
		l.line = line
	}
	if err := l.append(line); err != nil {
		return Event{}, fault.Wrap(err, fault.Internal, op, "append to the trace %q", l.path).
			WithHint("make room on the disk and repeat")
	}
	l.seq++
	l.wake()
	return e, nil
}

// wake tells who follows to look again. It is called with the lock.
func (l *Log) wake() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// append writes line whole or not at all: what a full disk cut short is taken back,
// so that the next line begins a line.
func (l *Log) append(line []byte) error {
	n, err := l.f.Write(line)
	if err == nil {
		return nil
	}
	if n > 0 {
		if info, serr := l.f.Stat(); serr == nil {
			_ = os.Truncate(l.path, info.Size()-int64(n)) // if this fails too, reading says so
		}
	}
	return err
}

// Sync puts all events on the disk. It is called at the end of a turn.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fault.New(CodeClosed, "trace.sync", "the trace %q is closed", l.path)
	}
	if err := l.f.Sync(); err != nil {
		return fault.Wrap(err, fault.Internal, "trace.sync", "sync the trace %q", l.path)
	}
	return nil
}

// Close syncs and closes the file. Who follows gets an end. Closing twice is
// harmless.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.wake()
	err := l.f.Sync()
	if cerr := l.release(); err == nil {
		err = cerr
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, "trace.close", "close the trace %q", l.path)
	}
	return nil
}

// Seq is the number of the last event; 0 before the first.
func (l *Log) Seq() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// appendLine adds e as one line, its fields in a fixed order.
func appendLine(b []byte, e Event) ([]byte, error) {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(e.V), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"at":"`...)
	b = e.At.AppendFormat(b, timeFormat)
	b = append(b, `","session":`...)
	b, err := appendText(b, e.Session)
	if err != nil {
		return nil, err
	}
	if e.Turn != 0 {
		b = append(b, `,"turn":`...)
		b = strconv.AppendInt(b, int64(e.Turn), 10)
	}
	b = append(b, `,"type":`...)
	if b, err = appendText(b, e.Type); err != nil {
		return nil, err
	}
	b = append(b, `,"data":`...)
	b = append(b, e.Data...)
	return append(b, "}\n"...), nil
}

// appendText adds s as encoding/json writes it.
func appendText(b []byte, s string) ([]byte, error) {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			text, err := json.Marshal(s)
			return append(b, text...), err
		}
	}
	return append(append(append(b, '"'), s...), '"'), nil
}

// timeFormat is fixed in length, so that lines of equal events are equal.
const timeFormat = "2006-01-02T15:04:05.000Z"

// encode is the canonical JSON of p, masked.
func (l *Log) encode(p Payload) ([]byte, error) {
	if l.quick {
		if data, ok := quick(p, l.opt.Mask); ok {
			return data, nil
		}
	}
	return encodeAny(p, l.opt.Mask)
}

func encodeAny(p Payload, mask func([]byte) []byte) ([]byte, error) {
	// encoding/json replaces what is not UTF-8, which canon would refuse.
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if mask == nil {
		return canon.JSON(raw)
	}
	return maskJSON(raw, mask)
}
