// Package clock gives time, ids and randomness as one value that a scenario can
// fix.
//
// It is a leaf of harness. Everything that needs the time, a new id or a seed
// takes a Clock in its constructor; nothing else in the project calls time.Now or
// a random source. It does not measure speed: benchmarks use testing.B.
package clock

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A Clock tells the time, waits, and makes ids.
type Clock interface {
	// Now is the current time in UTC.
	Now() time.Time
	// Sleep waits for d or until ctx ends, and returns ctx's error in that case.
	Sleep(ctx context.Context, d time.Duration) error
	// ID returns a new id "prefix-…" that sorts by age and is safe in a file name.
	ID(prefix string) string
	// Seed returns 64 bits for a pseudo-random generator.
	Seed() uint64
}

// Real is the machine's clock.
type Real struct{}

var _ Clock = Real{}

// Now is the wall clock in UTC.
func (Real) Now() time.Time { return time.Now().UTC() }

// Sleep waits on a timer.
func (Real) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idAlphabet sorts as its values do, and has no letters that read as digits.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ID is prefix, milliseconds and 50 random bits: 20 characters after the dash.
func (Real) ID(prefix string) string {
	var b [12]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // crypto/rand.Read never fails
	return prefix + "-" + idAlphabet.EncodeToString(b[:])
}

// Seed is random.
func (Real) Seed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return binary.BigEndian.Uint64(b[:])
}

// Secret is 128 random bits as text, for a name that nobody may guess. It is no method of
// a Clock: a clock that a scenario fixes counts, and what counts is guessed.
func Secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return idAlphabet.EncodeToString(b[:])
}

// Fixed is a clock that stands still until it is moved, and counts its ids. Sleep
// returns at once and does not move it: only Advance and Set do, so that a
// scenario says when time passes. It is safe for concurrent use.
type Fixed struct {
	mu    sync.Mutex
	now   time.Time
	slept time.Duration
	ids   map[string]int
	given map[string][]string // ids that come next, by prefix
	seed  uint64
}

var _ Clock = (*Fixed)(nil)

// Epoch is where a Fixed clock stands when no scenario says otherwise.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// NewFixed returns a clock that stands at now.
func NewFixed(now time.Time) *Fixed {
	return &Fixed{now: now.UTC(), ids: map[string]int{}, given: map[string][]string{}}
}

// Now is the time last set.
func (f *Fixed) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock by d.
func (f *Fixed) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// Set moves the clock to t.
func (f *Fixed) Set(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = t.UTC()
}

// Sleep notes d and returns at once.
func (f *Fixed) Sleep(ctx context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slept += d
	return ctx.Err()
}

// Slept is the sum of all that Sleep was asked for.
func (f *Fixed) Slept() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.slept
}

// Give says which ids come next, each to who asks for its prefix, before counting goes on.
func (f *Fixed) Give(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		prefix, _, _ := strings.Cut(id, "-")
		f.given[prefix] = append(f.given[prefix], id)
	}
}

// ID counts up for each prefix: s-0001, s-0002.
func (f *Fixed) ID(prefix string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := f.given[prefix]; len(next) > 0 {
		f.given[prefix] = next[1:]
		return next[0]
	}
	f.ids[prefix]++
	return fmt.Sprintf("%s-%04d", prefix, f.ids[prefix])
}

// Seed counts up from 1.
func (f *Fixed) Seed() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seed++
	return f.seed
}

// Pass lets d go by on c: it waits on a clock that goes, and moves one that stands
// still. It is for those who say that time passes, and not for those who wait.
func Pass(ctx context.Context, c Clock, d time.Duration) error {
	if f, ok := c.(interface{ Advance(d time.Duration) }); ok {
		f.Advance(d)
		return ctx.Err()
	}
	return c.Sleep(ctx, d)
}
