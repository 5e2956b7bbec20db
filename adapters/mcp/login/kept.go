package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/lock"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// get is what is kept of the login to a server; one to another address does not count.
func (l *Logins) get(e server.Entry) (server.Login, bool, error) {
	all, err := server.ReadLogins(l.o.File)
	k, ok := all[e.Name]
	if err != nil || !ok || k.URL != e.URL {
		return server.Login{}, false, err
	}
	return k, k.Access != "" || k.Refresh != "" || len(k.Wants) > 0, nil
}

// alone waits until nobody else changes the file or refreshes a login in it, here or in
// another process.
func (l *Logins) alone(ctx context.Context) (done func(), err error) {
	unlock, err := lock.File(ctx, l.o.File+".lock")
	if err != nil {
		return nil, fault.Wrap(err, CodeLogin, "mcp.login", "the lock of %s could not be taken", server.LoginsName).
			WithHint("try again; where that does not help, look who may write the folder of your settings")
	}
	return unlock, nil
}

// change reads the file anew, changes one login and writes it.
func (l *Logins) change(ctx context.Context, e server.Entry, do func(k *server.Login)) error {
	done, err := l.alone(ctx)
	if err != nil {
		return err
	}
	defer done()
	return l.write(e, do)
}

func (l *Logins) write(e server.Entry, do func(k *server.Login)) error {
	all, err := server.ReadLogins(l.o.File)
	if err != nil {
		return err
	}
	k := all[e.Name]
	if k.URL != e.URL {
		k = server.Login{URL: e.URL}
	}
	do(&k)
	all[e.Name] = k
	return all.Save(l.o.File)
}

// Look is what is known of the login to a server: whether there is one.
func (l *Logins) Look(e server.Entry) (server.Login, bool, error) {
	k, _, err := l.get(e)
	return k, k.Access != "" || k.Refresh != "", err
}

// Forget takes the login of a server out, and says whether there was one.
func (l *Logins) Forget(ctx context.Context, name string) (bool, error) {
	done, err := l.alone(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	all, err := server.ReadLogins(l.o.File)
	if _, ok := all[name]; err != nil || !ok {
		return false, err
	}
	delete(all, name)
	return true, all.Save(l.o.File)
}

// refresh gets a new token for one that is used up. Where another process did so, or is
// about to, its token is taken: many issuers take a refresh token once, and some end the
// login where they see it twice. A login that has ended is an empty one.
func (l *Logins) refresh(ctx context.Context, e server.Entry, used string) (server.Login, error) {
	done, err := l.alone(ctx)
	if err != nil {
		return server.Login{}, err
	}
	defer done()
	k, ok, err := l.get(e)
	switch {
	case err != nil || !ok:
		return server.Login{}, err
	case k.Access != used && l.fresh(k):
		return k, nil
	case k.Refresh == "":
		return server.Login{}, nil
	}
	c := oauth2.Config{
		ClientID: k.ClientID, ClientSecret: k.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: style(k.Style)},
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, l.client(k.Resource))
	t, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: k.Refresh}).Token()
	if answered := new(oauth2.RetrieveError); errors.As(err, &answered) && answered.ErrorCode == "invalid_grant" {
		return server.Login{}, nil
	}
	if err != nil { // its text may hold what was answered
		return server.Login{}, fault.New(CodeLogin, "mcp.login", "the login to server %q could not be refreshed", e.Name).
			WithHint("try again, or sign in: soundstage server login %s", e.Name)
	}
	err = l.write(e, func(to *server.Login) { to.Take(t.AccessToken, t.RefreshToken, l.until(t)); k = *to })
	return k, err
}

// until is when a token ends by our clock.
func (l *Logins) until(t *oauth2.Token) time.Time {
	if t.ExpiresIn > 0 {
		return l.o.Clock.Now().Add(time.Duration(t.ExpiresIn) * time.Second)
	}
	return t.Expiry
}

// The styles of a client's own credential, as the file calls them.
func style(s string) oauth2.AuthStyle {
	switch s {
	case "header":
		return oauth2.AuthStyleInHeader
	case "form":
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

func styleName(s oauth2.AuthStyle) string {
	return map[oauth2.AuthStyle]string{oauth2.AuthStyleInHeader: "header", oauth2.AuthStyleInParams: "form"}[s]
}

// maxBody bounds what an issuer answers, in bytes.
const maxBody = 1 << 20

// client is the one for issuers. Forms for tokens name the resource, which the
// libraries leave out of some.
func (l *Logins) client(resource string) *http.Client {
	return &http.Client{Transport: issuers{l.o.Below, resource}}
}

type issuers struct {
	below    http.RoundTripper
	resource string
}

// RoundTrip implements http.RoundTripper.
func (i issuers) RoundTrip(r *http.Request) (*http.Response, error) {
	if i.resource != "" && r.Body != nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		b, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		_ = r.Body.Close()
		form, e := url.ParseQuery(string(b))
		if err = errors.Join(err, e); err != nil {
			return nil, err
		}
		if form.Get("resource") == "" {
			form.Set("resource", i.resource)
		}
		text := form.Encode()
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
	res, err := i.below.RoundTrip(r)
	if err == nil {
		res.Body = bounded{io.LimitReader(res.Body, maxBody), res.Body}
	}
	return res, err
}

type bounded struct {
	io.Reader
	io.Closer
}
