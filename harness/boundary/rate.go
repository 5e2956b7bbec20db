package boundary

import (
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Rate is how many requests come in: PerSecond in the long run, and as many again at
// once after a pause. It is one for all clients. It must not be copied when it is used.
type Rate struct {
	PerSecond int
	Clock     clock.Clock

	mu   sync.Mutex
	left float64 // requests that may come in now
	at   time.Time
}

// take reports whether one more request comes in.
func (r *Rate) take() bool {
	if r == nil {
		return true
	}
	now := r.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() {
		r.left = float64(r.PerSecond)
	} else if gone := now.Sub(r.at); gone > 0 { // a clock that was set back fills nothing
		r.left = min(float64(r.PerSecond), r.left+gone.Seconds()*float64(r.PerSecond))
	}
	r.at = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}

func (r *Rate) refusal() *fault.Error {
	return fault.New(CodeRate, "boundary.check", "more than %d requests a second came", r.PerSecond).
		WithHint("wait a second, then ask again")
}
