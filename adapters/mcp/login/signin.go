package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// MaxWait is how long a person has to sign in.
const MaxWait = 10 * time.Minute

// An Asking is how a person is asked to sign in.
type Asking struct {
	// Show gives the person an address that they open in a browser.
	Show func(address string) error
	// Port is the one on loopback that the browser comes back to; 0 is a free one. A
	// client that is registered by hand may have a fixed one.
	Port int
}

// SignIn asks a person, keeps the login, and gives what is kept. It asks the server first,
// which says who its issuer is.
func (l *Logins) SignIn(ctx context.Context, e server.Entry, a Asking) (server.Login, error) {
	const op = "mcp.login"
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		if l.o.Clock.Sleep(ctx, MaxWait) == nil {
			stop(fault.New(CodeSignIn, op, "nobody signed in to server %q in %s", e.Name, MaxWait))
		}
	}()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)))
	if err != nil {
		return server.Login{}, fault.Wrap(err, CodeSignIn, op, "listen on loopback for the browser that comes back")
	}
	v := &visit{l: l, e: e, ask: a, callback: "http://" + listener.Addr().String() + "/callback", came: make(chan url.Values, 1)}
	srv := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { _ = srv.Serve(listener) }()
	defer srv.Close() //nolint:errcheck // nobody is to come any more
	h, err := auth.NewAuthorizationCodeHandler(v.config(ctx))
	if err != nil {
		return server.Login{}, fault.Wrap(err, CodeSignIn, op, "sign in to server %q", e.Name)
	}
	req, res, err := l.knock(ctx, e)
	if err == nil {
		err = h.Authorize(ctx, req, res)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return server.Login{}, f
	case err != nil:
		return server.Login{}, fault.New(CodeSignIn, op, "server %q: %s", e.Name, said(err)).
			WithHint("a client that is registered by hand is named with: soundstage server add %s --replace --url … --client-id …", e.Name)
	}
	k, _, err := l.Look(e)
	return k, err
}

// knock asks the server without a login. One that lets everybody knock may still say
// where its issuer is.
func (l *Logins) knock(ctx context.Context, e server.Entry) (*http.Request, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return nil, nil, fault.Wrap(err, CodeSignIn, "mcp.login", "ask server %q", e.Name)
	}
	for name, v := range e.Headers {
		req.Header.Set(name, v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := l.o.Below.RoundTrip(req)
	if err != nil {
		return nil, nil, fault.Wrap(err, CodeSignIn, "mcp.login", "ask server %q", e.Name)
	}
	if res.StatusCode != http.StatusUnauthorized {
		_ = res.Body.Close()
		res.StatusCode, res.Body = http.StatusUnauthorized, http.NoBody
	}
	res.Body = bounded{io.LimitReader(res.Body, maxBody), res.Body}
	return req, res, nil
}

// A visit is one person who signs in.
type visit struct {
	l        *Logins
	e        server.Entry
	ask      Asking
	callback string
	came     chan url.Values

	mu       sync.Mutex
	state    string // of the address that was shown; "" before
	resource string
}

func (v *visit) config(ctx context.Context) *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: v.callback, AuthorizationCodeFetcher: v.fetch, RequestRefreshToken: true,
		Client: v.l.client(""), ScopeFilter: v.scopes, NewTokenSource: v.keep,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{v.callback}, ClientName: "Soundstage",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
	}
	o := v.e.OAuth
	switch {
	case o == nil || o.ClientID == "":
	case strings.HasPrefix(o.ClientID, "https://"):
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.ClientID}
	default:
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID, Issuer: o.Issuer}
		if o.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
		}
	}
	return c
}

// scopes are what the server wants, with what it wanted before.
func (v *visit) scopes(found []string) []string {
	k, _, err := v.l.get(v.e)
	if err != nil {
		return found // it is told of when the login is kept
	}
	return union(union(found, k.Scopes), k.Wants)
}

// fetch shows the address and waits for the browser.
func (v *visit) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.state, v.resource = u.Query().Get("state"), u.Query().Get("resource")
	v.mu.Unlock()
	if err := v.ask.Show(args.URL); err != nil {
		return nil, err
	}
	select {
	case q := <-v.came:
		if why := q.Get("error"); why != "" {
			return nil, fault.New(CodeSignIn, "mcp.login", "the issuer of server %q says %q", v.e.Name, clip(why))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ServeHTTP takes the browser that comes back. Who does not bring the state that was
// given to the issuer is somebody else, and changes nothing.
func (v *visit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v.mu.Lock()
	state := v.state
	v.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	same := subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) == 1
	if r.Method != http.MethodGet || r.URL.Path != "/callback" || "http://"+r.Host+"/callback" != v.callback || state == "" || !same {
		http.Error(w, "nobody waits for this", http.StatusBadRequest)
		return
	}
	select {
	case v.came <- q:
		_, _ = io.WriteString(w, "Soundstage has what it needs. Close this page, and look at the terminal.\n")
	default:
		http.Error(w, "somebody came already", http.StatusConflict)
	}
}

// keep writes the login down before anything uses it.
func (v *visit) keep(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	v.mu.Lock()
	resource := v.resource
	v.mu.Unlock()
	scopes := slices.Clone(c.Scopes)
	if granted, ok := t.Extra("scope").(string); ok && granted != "" {
		scopes = strings.Fields(granted)
	}
	slices.Sort(scopes)
	err := v.l.change(ctx, v.e, func(k *server.Login) {
		*k = server.Login{
			URL: v.e.URL, Resource: resource, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			TokenURL: c.Endpoint.TokenURL, Style: styleName(c.Endpoint.AuthStyle), Scopes: scopes,
		}
		k.Take(t.AccessToken, t.RefreshToken, v.l.until(t))
	})
	return source(func() (*oauth2.Token, error) { return t, nil }), err
}
