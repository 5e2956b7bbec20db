package seam

import (
	"context"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxQueued is how many messages may wait for a client that does not read.
const maxQueued = 1 << 16

// A messageQueue is what the client has not read yet. It does not make a writer wait:
// a client may write before it reads.
type messageQueue struct {
	mu    sync.Mutex
	items []queued
	end   error
	more  chan struct{} // closed and made anew when something came
	over  chan struct{} // closed with the queue
}

type queued struct {
	text []byte
	wait time.Duration
}

func newMessageQueue() *messageQueue {
	return &messageQueue{more: make(chan struct{}), over: make(chan struct{})}
}

// ended is closed when nothing more comes.
func (q *messageQueue) ended() <-chan struct{} { return q.over }

func (q *messageQueue) push(m *message, wait time.Duration) error {
	b, err := m.encode()
	if err == nil {
		q.add(queued{b, wait})
	}
	return err
}

func (q *messageQueue) pushText(b []byte) { q.add(queued{text: b}) }

func (q *messageQueue) add(item queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end != nil {
		return
	}
	if len(q.items) == maxQueued {
		q.finish(fault.New(fault.TooLarge, "seam.mcp", "the client left %d messages unread", maxQueued))
		return
	}
	q.items = append(q.items, item)
	q.wake()
}

func (q *messageQueue) finish(err error) {
	q.end = err
	close(q.over)
	q.wake()
}

func (q *messageQueue) wake() {
	close(q.more)
	q.more = make(chan struct{})
}

// close ends the queue; what is in it is still read.
func (q *messageQueue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end == nil {
		q.finish(err)
	}
}

func (q *messageQueue) pop(ctx context.Context) (queued, error) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			item := q.items[0]
			q.items[0] = queued{}
			q.items = q.items[1:]
			q.mu.Unlock()
			return item, nil
		}
		more, end := q.more, q.end
		q.mu.Unlock()
		if end != nil {
			return queued{}, end
		}
		select {
		case <-more:
		case <-ctx.Done():
			return queued{}, ctx.Err()
		}
	}
}
