package login

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// A machine signs in with a client's own credential, without a person. Its tokens are in
// memory: a new process gets a new one.
type machine struct {
	l *Logins
	e server.Entry

	mu    sync.Mutex
	below auth.OAuthHandler // nil before the server asked for the first time
}

// TokenSource implements auth.OAuthHandler. A token that cannot be had is none: the
// server asks then, and Authorize gets another.
func (m *machine) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.below == nil {
		return nil, nil
	}
	s, err := m.below.TokenSource(ctx)
	if err != nil || s == nil {
		return nil, err
	}
	return source(func() (*oauth2.Token, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if t, err := s.Token(); err == nil {
			return t, nil
		}
		return nil, nil
	}), nil
}

// Authorize implements auth.OAuthHandler.
func (m *machine) Authorize(ctx context.Context, req *http.Request, res *http.Response) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.below == nil {
		h, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
			Credentials: &oauthex.ClientCredentials{
				ClientID: m.e.OAuth.ClientID, Issuer: m.e.OAuth.Issuer,
				ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: m.e.OAuth.ClientSecret},
			},
			HTTPClient: m.l.client(m.e.URL),
		})
		if err != nil {
			discard(res)
			return fault.New(CodeLogin, "mcp.login", "server %q: the entry's oauth has no client_id or no client_secret", m.e.Name)
		}
		m.below = h
	}
	if err := m.below.Authorize(ctx, req, res); err != nil {
		return fault.New(CodeLogin, "mcp.login", "server %q: this machine could not sign in: %s", m.e.Name, said(err)).
			WithHint("look at client_id, client_secret and issuer of the entry: docs/reference/mcp-json.md")
	}
	return nil
}

// said is an error without what an issuer answered, which may hold what is secret.
func said(err error) string {
	answered := new(oauth2.RetrieveError)
	switch {
	case errors.As(err, &answered) && answered.ErrorCode != "":
		return "its issuer says " + clip(answered.ErrorCode)
	case errors.As(err, &answered):
		return "its issuer gave no token"
	}
	return clip(err.Error())
}

func clip(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
