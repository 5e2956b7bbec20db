package boundary

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeListen is an address that cannot be listened on.
const CodeListen fault.Code = "BOUNDARY_LISTEN"

// The times of a server. There is none for writing: an answer may be a stream.
const (
	readHeaderTime = 10 * time.Second
	idleTime       = 2 * time.Minute
)

// Listen opens a TCP listener. Without a token it opens none that other machines
// reach.
func Listen(ctx context.Context, address, token string) (net.Listener, error) {
	return Options{Token: token}.Listen(ctx, address)
}

// Listen opens a TCP listener for a server behind this boundary. Where nothing of a
// request is checked, it opens none that other machines reach.
func (o Options) Listen(ctx context.Context, address string) (net.Listener, error) {
	const op = "boundary.listen"
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.Wrap(err, CodeListen, op, "address %q", address).WithHint("write it like 127.0.0.1:0")
	}
	if err := checkToken(o.Token); err != nil {
		return nil, err
	}
	if o.Token == "" && !o.Checked && !Loopback(host) {
		return nil, fault.New(CodeListen, op, "address %q is reached by other machines, and there is no token", address).
			WithHint("listen on 127.0.0.1, or set a token (--token-env)")
	}
	l, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(ctx), "tcp", address) // a signal that came before ends Serve
	if err != nil {
		return nil, fault.Wrap(err, CodeListen, op, "listen on %q", address).WithHint("take another port, or 0 for a free one")
	}
	return l, nil
}

// Serve answers on l until ctx ends, and then waits for what is under way, at most as
// long as grace. What is not done by then is broken off. When it returns, the port is
// closed and no request runs.
func Serve(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running gate
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !running.enter() {
				panic(http.ErrAbortHandler) // it came as the server closed
			}
			defer running.leave()
			h.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: readHeaderTime, IdleTimeout: idleTime, MaxHeaderBytes: 2 * DefaultHeader,
		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, corkKey{}, c) },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // aborted streams are meant
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(corkListener{l}) }()
	select {
	case err := <-done:
		return fault.Wrap(err, CodeListen, "boundary.serve", "serve on %s", l.Addr())
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(requests, grace)
	defer stop()
	err := srv.Shutdown(end)
	cancel() // streams that wait for their client to leave
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	running.close()
	<-done
	return err
}

// A gate counts the requests that run. Unlike a wait group it may be entered while
// somebody waits for it to be empty: it is shut then.
type gate struct {
	running sync.WaitGroup
	mu      sync.Mutex
	shut    bool
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.running.Add(1)
	}
	return !g.shut
}

func (g *gate) leave() { g.running.Done() }

// close lets nobody in any more and waits for those inside.
func (g *gate) close() {
	g.mu.Lock()
	g.shut = true
	g.mu.Unlock()
	g.running.Wait()
}
