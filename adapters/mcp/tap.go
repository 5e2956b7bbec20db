package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

const (
	maxTapped  = 64 << 10 // bytes of a line that are looked at
	maxTapLine = 2000     // characters of a line in the log
	maxPending = 1000     // requests whose method is remembered
)

// TapOptions are the doors of a Tap. All are needed.
type TapOptions struct {
	Log   io.Writer
	Mask  func([]byte) []byte // what may not be written
	Clock clock.Clock
}

// A Tap writes down what an MCP client and a server on stdio say to each other: a line a
// message, with the time since it began. It is told the bytes and keeps none of them from
// anybody: an error of the log is remembered and stops nothing.
type Tap struct {
	o     TapOptions
	start time.Time

	mu      sync.Mutex
	pending map[string]string // methods of requests, by direction and id
	err     error
}

// NewTap makes a tap.
func NewTap(o TapOptions) *Tap {
	return &Tap{o: o, start: o.Clock.Now(), pending: map[string]string{}}
}

// Client takes what the client says, Server what the server does.
func (t *Tap) Client() io.Writer { return &tapped{tap: t, mark: "→"} }

// Server is the other direction of Client.
func (t *Tap) Server() io.Writer { return &tapped{tap: t, mark: "←"} }

// Note writes a line that nobody said.
func (t *Tap) Note(format string, args ...any) { t.line("·", fmt.Sprintf(format, args...)) }

// Err is the first error of the log.
func (t *Tap) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Tap) line(mark, text string) {
	text = string(t.o.Mask([]byte(text))) // whatever part of the message it is in
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := fmt.Fprintf(t.o.Log, "%9.3f %s %s\n", t.o.Clock.Now().Sub(t.start).Seconds(), mark, plain.Line(text, maxTapLine))
	if t.err == nil {
		t.err = err
	}
}

// tapped is one direction. It is used by one goroutine.
type tapped struct {
	tap  *Tap
	mark string
	kept []byte // of the line that is coming
	size int    // of the whole of it
}

// Write implements io.Writer. It never fails.
func (d *tapped) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := 0
		for i < len(rest) && rest[i] != '\n' {
			i++
		}
		d.size += i
		d.kept = append(d.kept, rest[:min(i, maxTapped-len(d.kept))]...)
		if i == len(rest) {
			break
		}
		d.flush()
		rest = rest[i+1:]
	}
	return len(p), nil
}

func (d *tapped) flush() {
	if d.size > 0 {
		d.tap.line(d.mark, d.tap.describe(d.mark, bytes.TrimRight(d.kept, "\r"), d.size))
	}
	d.kept, d.size = d.kept[:0], 0
}

// describe is a message in a line: what it is, and its content masked.
func (t *Tap) describe(mark string, line []byte, size int) string {
	var m wireMessage
	if size > maxTapped {
		return fmt.Sprintf("a message of %d bytes: %s", size, t.o.Mask(line))
	}
	if json.Unmarshal(line, &m) != nil {
		return fmt.Sprintf("no message: %s", t.o.Mask(line))
	}
	switch {
	case m.Method != "" && len(m.ID) > 0:
		t.remember(mark+string(m.ID), m.Method)
		return strings.TrimSpace(fmt.Sprintf("%s #%s %s", m.Method, m.ID, t.o.Mask(m.Params)))
	case m.Method != "":
		return strings.TrimSpace(m.Method + " " + string(t.o.Mask(m.Params)))
	case m.Error != nil:
		return fmt.Sprintf("#%s %s failed: %d %s", m.ID, t.recall(mark, m.ID), m.Error.Code, t.o.Mask([]byte(m.Error.Message)))
	}
	return fmt.Sprintf("#%s %s, %d bytes: %s", m.ID, t.recall(mark, m.ID), size, t.o.Mask(m.Result))
}

func (t *Tap) remember(key, method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) < maxPending {
		t.pending[key] = method
	}
}

// recall is the method that an answer belongs to, which came the other way.
func (t *Tap) recall(mark string, id json.RawMessage) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	other := "→"
	if mark == other {
		other = "←"
	}
	method, ok := t.pending[other+string(id)]
	if !ok {
		return "(no request that was seen)"
	}
	delete(t.pending, other+string(id))
	return method
}
