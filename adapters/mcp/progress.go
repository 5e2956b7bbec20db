package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

const (
	// beatEvery is how long a call runs before its client hears of it, and how often
	// after that. Some clients take silence for death.
	beatEvery = time.Second
	// reportEvery is the least time between two reports of a tool that are passed on.
	reportEvery = 100 * time.Millisecond
)

// A beat tells a client that gave a token that its call runs, or waits for a person: how
// far it has come, where the tool says so, else for how long. Nothing is told after end.
type beat struct {
	clock clock.Clock
	tell  func(tool.Progress)
	end   func()

	mu    sync.Mutex
	spoke bool    // the tool reports itself
	done  float64 // told last
	last  time.Time
	over  bool
}

// beat begins to tell. Without a token nobody wants to know.
func (s *Server) beat(ctx context.Context, req *sdk.CallToolRequest, id string) *beat {
	b := &beat{clock: s.o.Clock, end: func() {}}
	token := req.Params.GetProgressToken()
	if token == nil {
		return b
	}
	b.tell = func(p tool.Progress) {
		// An error is a client that has gone: its call is cancelled by others.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: p.Done, Total: p.Total, Message: clip(p.Message, maxValue),
		})
	}
	running, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.run(running, id)
	}()
	b.end = func() {
		cancel()
		<-stopped
		b.mu.Lock()
		b.over = true
		b.mu.Unlock()
	}
	return b
}

// run tells once a second for how long the call has run.
func (b *beat) run(ctx context.Context, id string) {
	for began := b.clock.Now(); ; {
		before := b.clock.Now()
		if b.clock.Sleep(ctx, beatEvery) != nil {
			return
		}
		now := b.clock.Now()
		if now.Sub(before) < beatEvery {
			return // the clock stands still
		}
		ran := now.Sub(began).Truncate(time.Second)
		b.mu.Lock()
		if !b.spoke && !b.over {
			b.done = ran.Seconds()
			b.tell(tool.Progress{Done: b.done, Message: fmt.Sprintf("%s, for %s", id, ran)})
		}
		b.mu.Unlock()
	}
}

// report passes on what a tool says of itself.
func (b *beat) report(p tool.Progress) {
	if b.tell == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	last := p.Total > 0 && p.Done >= p.Total
	if b.over || p.Done <= b.done || b.spoke && !last && now.Sub(b.last) < reportEvery {
		return // the protocol wants it to grow
	}
	b.spoke, b.done, b.last = true, p.Done, now
	b.tell(p)
}
