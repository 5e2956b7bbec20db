package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Read gives the events of the file at path, in order. A torn last line is skipped;
// a damaged line, a gap in the numbers or a newer schema ends the sequence with an
// error.
func Read(path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Event{}, fault.Wrap(err, CodeMissing, "trace.read", "open the trace %q", path).
				WithHint("list the sessions to see what is there"))
			return
		}
		defer f.Close()
		for e, err := range ReadFrom(f) {
			if err != nil {
				err = fault.Wrap(err, fault.CodeOf(err), "trace.read", "the trace %q", path)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ReadFrom is Read for bytes that come from elsewhere.
func ReadFrom(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		rd := newReader(r)
		for {
			e, err := rd.next()
			if err == io.EOF {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// A reader reads events and knows how far the whole lines go.
type reader struct {
	br    *bufio.Reader
	seq   int64
	line  int
	whole int64 // bytes of whole lines read
}

func newReader(r io.Reader) *reader { return &reader{br: bufio.NewReaderSize(r, 64<<10)} }

// next is the next event; io.EOF at the end, also before a torn last line.
func (r *reader) next() (Event, error) {
	line, err := r.readLine()
	if err != nil {
		return Event{}, err
	}
	r.line++
	e, err := parse(line)
	if err != nil {
		return Event{}, fault.Wrap(err, fault.CodeOf(err), "trace.read", "line %d", r.line)
	}
	if e.Seq != r.seq+1 {
		return Event{}, fault.New(CodeDamaged, "trace.read", "line %d has the number %d, want %d", r.line, e.Seq, r.seq+1).
			WithHint("lines are missing or were written twice: restore the file from a copy")
	}
	r.seq = e.Seq
	r.whole += int64(len(line))
	return e, nil
}

// readLine is one line with its end; io.EOF where no whole line is left.
func (r *reader) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := r.br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, fault.New(CodeTooLong, "trace.read", "line %d is longer than %d bytes", r.line+1, MaxLine)
		}
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.EOF // what came without a line end is torn
		default:
			return nil, fault.Wrap(err, fault.Internal, "trace.read", "line %d", r.line+1)
		}
	}
}

// parse reads one line.
func parse(line []byte) (Event, error) {
	const op = "trace.read"
	var l struct {
		V       int             `json:"v"`
		Seq     int64           `json:"seq"`
		At      time.Time       `json:"at"`
		Session string          `json:"session"`
		Turn    int             `json:"turn"`
		Type    string          `json:"type"`
		Data    json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(line, &l)
	if l.V > Version { // also when the rest has a shape that we do not know
		return Event{}, fault.New(CodeNewer, op, "schema %d, this program knows %d", l.V, Version).
			WithHint("update soundstage")
	}
	switch {
	case err != nil:
		return Event{}, fault.Wrap(err, CodeDamaged, op, "not an event").WithHint("restore the file from a copy")
	case l.V < 1, l.Type == "", l.Session == "", l.Turn < 0, len(l.Data) == 0:
		return Event{}, fault.New(CodeDamaged, op, "an event without schema, type, session or data").
			WithHint("restore the file from a copy")
	}
	data, err := canon.JSON(l.Data)
	if err != nil {
		return Event{}, fault.Wrap(err, CodeDamaged, op, "data of %q", l.Type)
	}
	return Event{V: l.V, Seq: l.Seq, At: l.At.UTC(), Session: l.Session, Turn: l.Turn, Type: l.Type, Data: bytes.Clone(data)}, nil
}

// Follow gives the events behind number after: first what is in the file, then each
// as it is recorded, without a gap and without a double. It ends with ctx's error,
// or without one when the log is closed and all is read. It never holds up who
// records.
func (l *Log) Follow(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := os.Open(l.path)
		if err != nil {
			yield(Event{}, fault.Wrap(err, CodeMissing, "trace.follow", "open the trace %q", l.path))
			return
		}
		defer f.Close()
		rd := newReader(f)
		for {
			l.mu.Lock()
			if l.grown == nil {
				l.grown = make(chan struct{})
			}
			seq, grown, closed := l.seq, l.grown, l.closed
			l.mu.Unlock()
			// Only what Record finished is read, so no line is torn.
			for rd.seq < seq {
				e, err := rd.next()
				if err == io.EOF {
					err = fault.New(CodeDamaged, "trace.follow", "the trace %q ends after %d, want %d", l.path, rd.seq, seq)
				}
				if err == nil && e.Seq <= after {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
			if closed {
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}
