package endpoint

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/soundstage-dev/soundstage/harness/boundary"
)

// Serve answers on l behind the boundary b until ctx ends. Then nothing new begins,
// questions that are open are answered by nobody, and calls that run have as long as
// grace to end. When it returns, the port is closed, all sessions are, and nothing runs.
func (e *Endpoint) Serve(ctx context.Context, l net.Listener, b boundary.Options, grace time.Duration) error {
	b.Refuse, b.MaxBody = Refuse, e.o.MaxBody
	var h http.Handler = e
	var err error
	if e.o.OAuth != nil {
		b.Checked = true
		h, err = e.o.OAuth.Guard(e)
	}
	var guarded http.Handler
	if err == nil {
		guarded, err = boundary.Guard(b, h)
	}
	if err != nil {
		_ = l.Close() // nobody came yet
		return err
	}
	defer context.AfterFunc(ctx, e.Drain)()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go e.Watch(watching)
	err = boundary.Serve(ctx, l, guarded, grace)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return errors.Join(err, e.Close(end))
}
