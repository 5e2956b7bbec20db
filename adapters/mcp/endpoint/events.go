package endpoint

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// beside is the id of the stream that is no call's.
const beside = ""

// The bounds of what is kept of one session for a client that lost its connection.
const (
	maxKept  = 1 << 20 // bytes
	maxTails = 32      // streams: answers under way, and the last that were given
)

// events keeps the last messages of each session, so that a client whose connection
// broke in the middle of a call comes back for the answer. What was pushed out by newer
// messages is an error for who asks for it. Of the stream that a session has beside its
// calls nothing is kept: what it says, such as that a list changed, can be asked for.
type events struct {
	mu       sync.Mutex
	sessions map[string]*backlog
}

// A backlog is what is kept of one session.
type backlog struct {
	tails map[string]*tail
	order []string // ids of tails, the oldest first
	size  int      // bytes of all
}

// A tail is the end of one stream.
type tail struct {
	first int // the index of the first message that is kept
	data  [][]byte
}

func newEvents() *events { return &events{sessions: map[string]*backlog{}} }

// Open implements sdk.EventStore.
func (e *events) Open(_ context.Context, session, stream string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.sessions[session]
	if b == nil {
		b = &backlog{tails: map[string]*tail{}}
		e.sessions[session] = b
	}
	if stream != beside && b.tails[stream] == nil {
		b.tails[stream] = &tail{}
		b.order = append(b.order, stream)
	}
	if len(b.order) > maxTails {
		b.forget(b.order[0])
	}
	return nil
}

func (b *backlog) forget(stream string) {
	for _, d := range b.tails[stream].data {
		b.size -= len(d)
	}
	delete(b.tails, stream)
	for i, id := range b.order {
		if id == stream {
			b.order = append(b.order[:i], b.order[i+1:]...)
			break
		}
	}
}

// Append implements sdk.EventStore.
func (e *events) Append(_ context.Context, session, stream string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.sessions[session]
	if b == nil || b.tails[stream] == nil {
		return nil // pushed out: who comes back for it hears so
	}
	t := b.tails[stream]
	t.data = append(t.data, data)
	b.size += len(data)
	for b.size > maxKept {
		if old := b.order[0]; old != stream {
			b.forget(old)
			continue
		}
		b.size -= len(t.data[0])
		t.data, t.first = t.data[1:], t.first+1
	}
	return nil
}

var errGone = errors.New("the messages after that one are not kept any more")

// After implements sdk.EventStore.
func (e *events) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	e.mu.Lock()
	defer e.mu.Unlock()
	var rest [][]byte
	err := errGone
	if stream == beside {
		err = nil
	} else if b := e.sessions[session]; b != nil {
		if t := b.tails[stream]; t != nil && index+1 >= t.first {
			rest, err = t.data[min(index+1-t.first, len(t.data)):], nil
		}
	}
	return func(yield func([]byte, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, d := range rest {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// SessionClosed implements sdk.EventStore.
func (e *events) SessionClosed(_ context.Context, session string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, session)
	return nil
}
