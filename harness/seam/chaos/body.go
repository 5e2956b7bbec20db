package chaos

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// readSize is how much is read at once: what comes in one read is one chunk. It is more
// than the seam gives at once.
const readSize = 64 << 10

// A source gives one chunk at a time. The last may come with the error that ends it;
// a chunk is good until the next call.
type source func() ([]byte, error)

// A body is an answer that is spoiled as it is read.
type body struct {
	ctx   context.Context
	below io.ReadCloser
	plan  *Plan
	clock clock.Clock

	mu     sync.Mutex // a Read may be under way when Close comes
	next   source
	rest   []byte
	err    error // after rest
	closed atomic.Bool
}

// newBody puts the faults over one another: what arrives is changed first, then how it
// is cut, then when it comes.
func newBody(ctx context.Context, o *overlay, below io.ReadCloser, hit []*planned) io.ReadCloser {
	b := &body{ctx: ctx, below: below, plan: o.plan, clock: o.clock}
	b.next = b.read(make([]byte, readSize))
	for _, layer := range []struct {
		kind Kind
		over func(*planned, source) source
	}{
		{Garbage, b.garbage}, {Truncate, b.truncate}, {Reset, b.reset}, {Rechunk, b.rechunk}, {Slow, b.slow},
	} {
		for _, f := range hit {
			if f.Kind == layer.kind {
				b.next = layer.over(f, b.next)
			}
		}
	}
	return b
}

// Read implements io.Reader. At most one chunk comes at a time.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for len(b.rest) == 0 {
		if b.closed.Load() {
			return 0, http.ErrBodyReadAfterClose
		}
		if b.err != nil {
			return 0, b.err
		}
		b.rest, b.err = b.next()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer. It wakes a Read that waits.
func (b *body) Close() error {
	b.closed.Store(true)
	return b.below.Close()
}

// read is the answer as it is.
func (b *body) read(buf []byte) source {
	return func() ([]byte, error) {
		n, err := b.below.Read(buf)
		return buf[:n], err
	}
}

// drain reads what a fault keeps back, so that a recording below is whole.
func (b *body) drain() {
	_, _ = io.Copy(io.Discard, b.below) // how it ends is the recording's concern
}

// garbage makes noise of what comes after some bytes.
func (b *body) garbage(f *planned, from source) source {
	noise := rand.New(rand.NewPCG(f.Seed, 0))
	at := 0
	return func() ([]byte, error) {
		chunk, err := from()
		for i := range chunk {
			if at+i >= f.Bytes {
				chunk[i] = byte(noise.Uint32())
			}
		}
		if at += len(chunk); at > f.Bytes {
			b.plan.fire(f)
		} else if err != nil {
			b.plan.missed(f, "the answer of call %d has %d bytes", f.met, at)
		}
		return chunk, err
	}
}

// truncate ends the answer early, as if it ended there.
func (b *body) truncate(f *planned, from source) source {
	at := 0
	return func() ([]byte, error) {
		chunk, err := from()
		if at+len(chunk) > f.Bytes {
			chunk, at = chunk[:f.Bytes-at], f.Bytes
			b.plan.fire(f)
			b.drain()
			return chunk, io.EOF
		}
		if at += len(chunk); err != nil {
			b.plan.missed(f, "the answer of call %d has %d bytes", f.met, at)
		}
		return chunk, err
	}
}

// reset breaks the connection after some chunks.
func (b *body) reset(f *planned, from source) source {
	at := 0
	return func() ([]byte, error) {
		if at == f.Chunks {
			b.plan.fire(f)
			b.drain()
			return nil, resetError()
		}
		chunk, err := from()
		if len(chunk) > 0 {
			at++
		}
		if err != nil {
			b.plan.missed(f, "the answer of call %d has %d chunks", f.met, at)
		}
		return chunk, err
	}
}

// rechunk cuts the same bytes elsewhere: chunks are taken apart, and put together.
func (b *body) rechunk(f *planned, from source) source {
	cut := rand.New(rand.NewPCG(f.Seed, 1))
	var held []byte
	var end error
	return func() ([]byte, error) {
		want := 1 + cut.IntN(f.Max)
		for len(held) < want && end == nil {
			var more []byte
			more, end = from()
			held = append(held, more...)
		}
		chunk := held[:min(want, len(held))]
		held = held[len(chunk):]
		if len(chunk) > 0 {
			b.plan.fire(f)
		}
		if len(held) > 0 {
			return chunk, nil
		}
		return chunk, end
	}
}

// slow lets time pass before each chunk. The answer is read first: what passes here is
// not for a recording below to note.
func (b *body) slow(f *planned, from source) source {
	var held [][]byte
	var end error
	return func() ([]byte, error) {
		for end == nil {
			var chunk []byte
			if chunk, end = from(); len(chunk) > 0 {
				held = append(held, bytes.Clone(chunk))
			}
		}
		if len(held) == 0 {
			return nil, end
		}
		chunk := held[0]
		held = held[1:]
		b.plan.fire(f)
		return chunk, b.pass(f.For)
	}
}

func (b *body) pass(d time.Duration) error { return clock.Pass(b.ctx, b.clock, d) }
