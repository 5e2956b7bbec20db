package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

func TestFixedMovesOnlyWhenTold(t *testing.T) {
	c := clock.NewFixed(clock.Epoch)
	if err := c.Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := c.Now(); !got.Equal(clock.Epoch) {
		t.Errorf("Now() = %v after Sleep, want %v", got, clock.Epoch)
	}
	c.Advance(time.Minute)
	if got, want := c.Now(), clock.Epoch.Add(time.Minute); !got.Equal(want) {
		t.Errorf("Now() = %v after Advance, want %v", got, want)
	}
	if got := c.Slept(); got != time.Hour {
		t.Errorf("Slept() = %v, want 1h", got)
	}
	if a, b := c.ID("s"), c.ID("s"); a != "s-0001" || b != "s-0002" {
		t.Errorf("ids %q, %q, want s-0001, s-0002", a, b)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]clock.Clock{"real": clock.Real{}, "fixed": clock.NewFixed(clock.Epoch)} {
		if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Sleep = %v, want context.Canceled", name, err)
		}
	}
}

func TestRealIDsAreDistinctAndSort(t *testing.T) {
	var c clock.Real
	last := ""
	seen := map[string]bool{}
	for range 1000 {
		id := c.ID("s")
		if seen[id] {
			t.Fatalf("id %q twice", id)
		}
		seen[id] = true
		if last != "" && id[:9] < last[:9] {
			t.Fatalf("id %q sorts before the older %q", id, last)
		}
		last = id
	}
}

func TestGivenIDsComeFirst(t *testing.T) {
	c := clock.NewFixed(clock.Epoch)
	c.Give("s-old", "d-1", "s-older")
	for _, want := range []string{"s-old", "s-older", "s-0001"} {
		if got := c.ID("s"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := c.ID("d") + c.ID("d"); got != "d-1d-0001" {
		t.Errorf("got %q", got)
	}
}
