// Package login says who asks, to MCP servers of other people that want to know: with
// OAuth, as a person who signed in before, or as this machine.
//
// It is part of the MCP adapter. A turn asks nobody: where a login is missing or has
// ended, that is an error with the next step, and only SignIn, which a person begins,
// waits for one. What is kept of a login is in a file of runtime/server; nothing of it
// goes through the seam, so no recording has it. It speaks no MCP.
package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// The codes of this package.
const (
	CodeLogin  fault.Code = "MCP_SERVER_LOGIN"   // a server wants to know who asks
	CodeSignIn fault.Code = "MCP_SIGN_IN_FAILED" // a person could not be signed in
)

// Options are the doors of Logins; all are needed.
type Options struct {
	File  string            // where logins are kept
	Below http.RoundTripper // to the issuers, past the seam: what passes is secret
	Clock clock.Clock
}

// Logins are those of one person. It is safe for concurrent use, also by many processes:
// one at a time changes the file, and what another one refreshed is not asked for again.
type Logins struct{ o Options }

// New reads nothing yet. It panics without a door.
func New(o Options) *Logins {
	if o.File == "" || o.Below == nil || o.Clock == nil {
		panic("login: a file, a way out and a clock are needed")
	}
	return &Logins{o: o}
}

// Handler puts the login of a server on requests to it, refreshed when it must be. It
// asks no person.
func (l *Logins) Handler(e server.Entry) auth.OAuthHandler {
	switch {
	case Signed(e):
		return Stranger(e)
	case e.OAuth != nil && e.OAuth.Grant == server.GrantMachine:
		return &machine{l: l, e: e}
	}
	return &guest{l: l, e: e}
}

// Signed says that an entry brings its own credential.
func Signed(e server.Entry) bool {
	return slices.ContainsFunc(e.HeaderNames(), func(n string) bool { return strings.EqualFold(n, "Authorization") })
}

// Stranger signs in nowhere: what a server that asks gets is what its entry has.
func Stranger(e server.Entry) auth.OAuthHandler { return stranger{e} }

type stranger struct{ e server.Entry }

func (stranger) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil }

func (s stranger) Authorize(_ context.Context, _ *http.Request, res *http.Response) error {
	discard(res)
	if Signed(s.e) {
		return fault.New(CodeLogin, "mcp.login", "server %q answered %d: it does not take the Authorization of its entry", s.e.Name, res.StatusCode).
			WithHint("give it another: soundstage server add %s --replace --url … --header Authorization", s.e.Name)
	}
	return errLogin(s.e, res.StatusCode)
}

func errLogin(e server.Entry, status int) error {
	return fault.New(CodeLogin, "mcp.login", "server %q answered %d: it wants to know who asks", e.Name, status).
		WithHint("sign in: soundstage server login %s", e.Name)
}

func discard(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody)) // so that the connection can be used again
	_ = res.Body.Close()
}

// A guest is a person who signed in before.
type guest struct {
	l *Logins
	e server.Entry
}

// TokenSource implements auth.OAuthHandler.
func (g *guest) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	k, ok, err := g.l.get(g.e)
	if err != nil || !ok {
		return nil, err
	}
	return source(func() (*oauth2.Token, error) {
		if g.l.fresh(k) {
			return token(k), nil
		}
		k, err := g.l.refresh(ctx, g.e, k.Access)
		return token(k), err
	}), nil
}

// Authorize implements auth.OAuthHandler. A token that the server does not take, before
// its time, is refreshed once.
func (g *guest) Authorize(ctx context.Context, req *http.Request, res *http.Response) error {
	discard(res)
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if res.StatusCode == http.StatusForbidden {
		return g.wants(ctx, res)
	}
	if used == "" {
		return errLogin(g.e, res.StatusCode)
	}
	k, err := g.l.refresh(ctx, g.e, used)
	if err == nil && k.Access == "" {
		return errLogin(g.e, res.StatusCode)
	}
	return err
}

// wants keeps what the server wants to be allowed beside: the next login asks for it.
func (g *guest) wants(ctx context.Context, res *http.Response) error {
	challenges, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return errLogin(g.e, res.StatusCode)
	}
	for _, c := range challenges {
		if c.Scheme != "bearer" || c.Params["error"] != "insufficient_scope" {
			continue
		}
		scopes := strings.Fields(c.Params["scope"])
		err := g.l.change(ctx, g.e, func(k *server.Login) { k.Wants = union(k.Wants, scopes) })
		return errors.Join(fault.New(CodeLogin, "mcp.login", "server %q answered 403: it wants to be allowed %q beside", g.e.Name, strings.Join(scopes, " ")).
			WithHint("sign in again, if that is right: soundstage server login %s", g.e.Name), err)
	}
	return fault.New(CodeLogin, "mcp.login", "server %q answered 403: who signed in may not do this", g.e.Name).
		WithHint("sign in as somebody else: soundstage server login %s", g.e.Name)
}

// source is a token source that is a function. No token asks without one.
type source func() (*oauth2.Token, error)

// Token implements oauth2.TokenSource.
func (s source) Token() (*oauth2.Token, error) { return s() }

func token(k server.Login) *oauth2.Token {
	if k.Access == "" {
		return nil
	}
	return &oauth2.Token{AccessToken: k.Access, RefreshToken: k.Refresh, TokenType: "Bearer", Expiry: k.Until}
}

// early is how long before its end a token is not used any more.
const early = 30 * time.Second

func (l *Logins) fresh(k server.Login) bool {
	return k.Until.IsZero() || l.o.Clock.Now().Add(early).Before(k.Until)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
