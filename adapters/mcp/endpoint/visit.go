package endpoint

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A visit is a session that is open.
type visit struct {
	Session
	Visitor
	calls  context.Context // ends when its calls are to be broken off
	cancel context.CancelFunc

	running int       // requests; the lock is the endpoint's
	at      time.Time // when the last one ended
	ended   bool
}

// userKey is where the server of a user's single requests is kept. No session id has
// this form.
func userKey(user string) string { return "user " + user }

// admit finds or opens the visit of key, and counts a request of it.
func (e *Endpoint) admit(ctx context.Context, key string, who Visitor) (*visit, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.sessions[key]
	if !ok {
		if len(e.sessions) >= e.o.MaxSessions && !e.makeRoom() {
			return nil, errTooMany(e.o.MaxSessions)
		}
		s, err := e.o.Open(ctx, who)
		if err != nil {
			return nil, err
		}
		v = &visit{Session: s, Visitor: who}
		v.calls, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
		s.Server.AddReceivingMiddleware(v.breakable)
		e.sessions[key] = v
		e.begun++
	}
	v.running++
	return v, nil
}

// breakable ends a call when the visit's calls are broken off. The SDK takes a call off
// its HTTP request, so nothing else does.
func (v *visit) breakable(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(v.calls, cancel)()
		return next(ctx, method, req)
	}
}

// find gives the session with an id, and counts a request of it. Another user's session
// is not there.
func (e *Endpoint) find(id, user string) *visit {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.sessions[id]
	if v == nil || v.ID != id || v.User != user {
		return nil
	}
	v.running++
	return v
}

// rest counts a request as ended.
func (e *Endpoint) rest(v *visit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v.running--
	v.at = e.o.Clock.Now()
}

// begun reports whether the client got as far as initialize.
func (v *visit) begun() bool {
	for s := range v.Server.Sessions() {
		if s.InitializeParams() != nil {
			return true
		}
	}
	return false
}

// sweep ends the visits that were quiet for too long. It is called with the lock held.
func (e *Endpoint) sweep() {
	now := e.o.Clock.Now()
	for key, v := range e.sessions {
		if v.running == 0 && now.Sub(v.at) >= e.o.Idle {
			e.drop(key, v)
		}
	}
}

// makeRoom ends the visit that was quiet the longest, if that is a while: many clients
// leave without a word. It is called with the lock held.
func (e *Endpoint) makeRoom() bool {
	var oldest string
	for key, v := range e.sessions {
		if v.running == 0 && (oldest == "" || v.at.Before(e.sessions[oldest].at)) {
			oldest = key
		}
	}
	if oldest == "" || e.o.Clock.Now().Sub(e.sessions[oldest].at) < settled {
		return false
	}
	e.drop(oldest, e.sessions[oldest])
	return true
}

// end takes a visit off the list, and closes it when its calls have ended.
func (e *Endpoint) end(key string, v *visit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(key, v)
}

// drop is end with the lock held.
func (e *Endpoint) drop(key string, v *visit) {
	if v.ended {
		return
	}
	v.ended = true
	delete(e.sessions, key)
	e.ending.Go(func() {
		if err := v.close(); err != nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.failed == nil {
				e.failed = err
			}
		}
	})
}

// close waits for the calls of a visit.
func (v *visit) close() error {
	defer v.cancel()
	if v.Leave != nil {
		v.Leave()
	}
	for s := range v.Server.Sessions() {
		_ = s.Close() // says how the transport ended, which is no news
	}
	if v.Session.Close != nil {
		return v.Session.Close()
	}
	return nil
}

// Watch ends the sessions that are quiet, until ctx ends. On a clock that stands still
// it returns: there each request looks.
func (e *Endpoint) Watch(ctx context.Context) {
	for {
		was := e.o.Clock.Now()
		if e.o.Clock.Sleep(ctx, max(e.o.Idle/4, time.Second)) != nil || !e.o.Clock.Now().After(was) {
			return
		}
		e.mu.Lock()
		e.sweep()
		e.mu.Unlock()
	}
}

// Drain refuses new requests, ends the streams on which nothing is under way, and lets
// calls that run come to their end: questions that are open are answered by nobody.
func (e *Endpoint) Drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closing = true
	e.drain()
	for _, v := range e.sessions {
		if v.Leave != nil {
			v.Leave()
		}
	}
}

// Close ends all sessions. Calls that still run are waited for until ctx ends, and then
// broken off. It returns the first error of a session's Close.
func (e *Endpoint) Close(ctx context.Context) error {
	e.Drain()
	e.mu.Lock()
	var open []*visit
	for key, v := range e.sessions {
		open = append(open, v)
		e.drop(key, v)
	}
	e.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		for _, v := range open {
			v.cancel()
		}
	})
	defer stop()
	e.ending.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}
