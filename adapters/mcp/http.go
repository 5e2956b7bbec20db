package mcp

import (
	"context"

	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
)

// Over makes the sessions of an HTTP endpoint: each client has a Server of its own. Begin
// gives the doors of a session, and what closes them after its last call.
func (f *Factory) Over(begin func(v endpoint.Visitor) (Session, func() error, error)) func(context.Context, endpoint.Visitor) (endpoint.Session, error) {
	return func(ctx context.Context, v endpoint.Visitor) (endpoint.Session, error) {
		session, end, err := begin(v)
		if err != nil {
			return endpoint.Session{}, err
		}
		session.Transport = v.ID
		alone := v.ID == ""
		session.FullBelt, session.Shared = session.FullBelt || alone, session.Shared || alone
		s := f.Open(session)
		ctx = context.WithoutCancel(ctx) // the request that began the session ends long before it
		return endpoint.Session{Server: s.sdk, Leave: s.leave, Close: func() error {
			s.end(ctx)
			return end()
		}}, nil
	}
}
