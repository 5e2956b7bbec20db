package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/resource"
)

const (
	// maxWatched is how many resources a client may subscribe to.
	maxWatched = 100
	// lookEvery is how often a subscribed resource is looked at for a change that
	// another process made. What this process changes is told at once.
	lookEvery = time.Second
)

// CodeSubscriptions says that a client subscribed to too many resources.
const CodeSubscriptions fault.Code = "MCP_TOO_MANY_SUBSCRIPTIONS"

// A watch holds the subscriptions of one client.
type watch struct {
	look sync.Mutex // held while revisions are compared, so that a change is told once

	mu   sync.Mutex
	seen map[string]*watched // by address
	stop context.CancelFunc  // of the goroutines that look; nil while nothing is watched

	wake chan struct{} // holds a value when the client is to be told
}

type watched struct {
	revision string
	holders  int // subscriptions of this client that have it
}

// subscribe implements the SDK's handler. An address behind which nothing stands yet
// may be subscribed to.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	if len(uri) > resource.MaxURI {
		return refusal(fault.New(fault.TooLarge, "mcp.subscribe", "the address has %d bytes, the most is %d", len(uri), resource.MaxURI), "")
	}
	s.watch.look.Lock()
	defer s.watch.look.Unlock()
	revision, err := s.o.Resources.Revision(ctx, uri)
	if err != nil {
		return refusal(err, "")
	}
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if has := w.seen[uri]; has != nil {
		if req.ProtocolVersion() >= inBand {
			has.holders++ // each stream ends its own
		}
		return nil
	}
	if len(w.seen) >= maxWatched {
		return refusal(fault.New(CodeSubscriptions, "mcp.subscribe", "%d resources are subscribed to, which is the most", maxWatched).
			WithHint("unsubscribe from some of them"), "")
	}
	w.seen[uri] = &watched{revision: revision, holders: 1}
	if len(w.seen) == 1 {
		s.watchOn(ctx)
	}
	return nil
}

// unsubscribe implements the SDK's handler.
func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	has := w.seen[req.Params.URI]
	if has == nil {
		return nil
	}
	if has.holders--; has.holders > 0 {
		return nil
	}
	delete(w.seen, req.Params.URI)
	if len(w.seen) == 0 {
		w.stop()
		w.stop = nil
		s.factory.watches(s, false)
	}
	return nil
}

// watchOn begins to look for what others change. It is called with the lock.
func (s *Server) watchOn(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // ends by watchOff
	s.watch.stop = cancel
	s.factory.watches(s, true)
	s.watching.Go(func() {
		for {
			select {
			case <-s.watch.wake:
				s.tellChanges(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	s.watching.Go(func() { // what another process changed
		for {
			before := s.o.Clock.Now()
			if s.o.Clock.Sleep(ctx, lookEvery) != nil || s.o.Clock.Now().Sub(before) < lookEvery {
				return // the session ended, or the clock stands still and requests look
			}
			s.wake()
		}
	})
}

// wake has the client told of changes, soon.
func (s *Server) wake() {
	select {
	case s.watch.wake <- struct{}{}:
	default: // it is about to be
	}
}

// watchOff ends what the client left subscribed.
func (s *Server) watchOff() {
	w := &s.watch
	w.mu.Lock()
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	clear(w.seen)
	w.mu.Unlock()
	s.factory.watches(s, false)
	s.watching.Wait()
}

// tellChanges compares what is subscribed to with what is there, and tells the client of
// each that changed.
func (s *Server) tellChanges(ctx context.Context) {
	w := &s.watch
	w.mu.Lock()
	n := len(w.seen)
	w.mu.Unlock()
	if n == 0 {
		return
	}
	w.look.Lock()
	defer w.look.Unlock()
	w.mu.Lock()
	uris := make([]string, 0, len(w.seen))
	for uri := range w.seen {
		uris = append(uris, uri)
	}
	w.mu.Unlock()
	for _, uri := range uris {
		now, err := s.o.Resources.Revision(ctx, uri)
		if err != nil {
			continue // it is looked at again
		}
		w.mu.Lock()
		has := w.seen[uri]
		changed := has != nil && has.revision != now
		if changed {
			has.revision = now
		}
		w.mu.Unlock()
		if changed {
			// An error is a client that has gone: it needs no news.
			_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// watches keeps the servers that have subscriptions.
func (f *Factory) watches(s *Server, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if on {
		f.watching[s] = true
	} else {
		delete(f.watching, s)
	}
}

// changed has the clients of this process told of what a call of from may have changed:
// from before it gets its answer, the others soon, since they may be slow to read.
func (f *Factory) changed(ctx context.Context, from *Server) {
	f.mu.Lock()
	for s := range f.watching {
		if s != from {
			s.wake()
		}
	}
	f.mu.Unlock()
	from.tellChanges(ctx)
}

// current tells a client of changes before it gets the answer to its next request.
func (s *Server) current(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if !strings.HasPrefix(method, "notifications/") { // those hold up all that follows
			s.tellChanges(ctx)
		}
		return next(ctx, method, req)
	}
}
