package login_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/adapters/mcp/login/issuer"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	os.Exit(m.Run())
}

// A house is an issuer on loopback, and somebody's logins.
type house struct {
	t     *testing.T
	is    *issuer.Issuer
	e     server.Entry
	file  string
	clock *clock.Fixed
	way   *http.Transport
}

func newHouse(t *testing.T, is *issuer.Issuer) *house {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "guarded", Version: "1"}, nil)
	is.Server = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	srv := &http.Server{Handler: is}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return &house{
		t: t, is: is, file: filepath.Join(t.TempDir(), "config", server.LoginsName), way: &http.Transport{}, clock: clock.NewFixed(time.Now()),
		e: server.Entry{Name: "g", URL: "http://" + l.Addr().String() + "/mcp", Enabled: true},
	}
}

// logins are those of a new process.
func (h *house) logins() *login.Logins {
	return login.New(login.Options{File: h.file, Below: h.way, Clock: patient{h.clock}})
}

// patient waits for ever: a person has the time that a test takes.
type patient struct{ *clock.Fixed }

func (patient) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

// person opens the address, as a browser that is led back does.
func (h *house) person(address string) error {
	go func() {
		if res, err := (&http.Client{Transport: h.way}).Get(address); err == nil {
			_ = res.Body.Close()
		}
	}()
	return nil
}

func (h *house) signIn(l *login.Logins) (server.Login, error) {
	return l.SignIn(h.t.Context(), h.e, login.Asking{Show: h.person})
}

// visit is a client of a turn that greets the server.
func (h *house) visit(l *login.Logins) error {
	s, err := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, nil).Connect(h.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.e.URL, HTTPClient: &http.Client{Transport: h.way}, OAuthHandler: l.Handler(h.e),
	}, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

func (h *house) grants(want ...string) {
	h.t.Helper()
	if got, refused := h.is.Seen(); !slices.Equal(got, want) || len(refused) > 0 {
		h.t.Errorf("grants %v, want %v; refused %v", got, want, refused)
	}
}

// A turn says that a login is missing and asks nobody; a person signs in once; the login
// is refreshed when it ends, also when it ended early, and when it cannot be it is
// missing again.
func TestSignIn(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{Seconds: 3600})
	l := h.logins()
	if err := h.visit(l); fault.CodeOf(err) != login.CodeLogin {
		t.Fatal(err)
	}
	k, err := h.signIn(l)
	if err != nil || !slices.Equal(k.Scopes, []string{"offline_access", "read"}) || k.Refresh == "" || k.Until.IsZero() {
		t.Fatal(k, err)
	}
	if info, err := os.Stat(h.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if err := h.visit(h.logins()); err != nil {
		t.Fatal(err)
	}
	h.grants("authorization_code")

	h.clock.Advance(59*time.Minute + 45*time.Second)
	if err := h.visit(h.logins()); err != nil {
		t.Fatal(err)
	}
	h.grants("authorization_code", "refresh_token")

	h.is.Revoke(false)
	other := h.logins() // which has the old token, and finds the new one in the file
	if err := h.visit(l); err != nil {
		t.Fatal(err)
	}
	if err := h.visit(other); err != nil {
		t.Fatal(err)
	}
	h.grants("authorization_code", "refresh_token", "refresh_token")

	h.is.Revoke(true)
	if err := h.visit(l); fault.CodeOf(err) != login.CodeLogin {
		t.Fatal(err)
	}
	if had, err := l.Forget(t.Context(), "g"); !had || err != nil {
		t.Fatal(had, err)
	}
	if _, ok, err := l.Look(h.e); ok || err != nil {
		t.Error("it is still there")
	}
}

// Processes that find a login used up at one time ask the issuer once, which would not
// take what renews it a second time: the others take what the first one got.
func TestManyRefreshAtOnce(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{Seconds: 3600})
	if _, err := h.signIn(h.logins()); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(2 * time.Hour)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := h.visit(h.logins()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.grants("authorization_code", "refresh_token")
}

// A login is for one address: another one, also under the same name, never gets it.
func TestLoginsStayAtTheirAddress(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{})
	l := h.logins()
	if _, err := h.signIn(l); err != nil {
		t.Fatal(err)
	}
	moved := h.e
	moved.URL += "2"
	s, err := l.Handler(moved).TokenSource(t.Context())
	if s != nil || err != nil {
		t.Error("another address gets a token: ", err)
	}
}

// What a server wants to be allowed beside is asked for at the next login, by a person.
func TestMoreIsAskedOfAPerson(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{})
	l := h.logins()
	if _, err := h.signIn(l); err != nil {
		t.Fatal(err)
	}
	h.is.Need("write")
	if err := h.visit(l); fault.CodeOf(err) != login.CodeLogin || !strings.Contains(err.Error(), `"read write"`) {
		t.Fatal(err)
	}
	k, err := h.signIn(l)
	if err != nil || !slices.Contains(k.Scopes, "write") {
		t.Fatal(k.Scopes, err)
	}
	if err := h.visit(l); err != nil {
		t.Error(err)
	}
}

// A machine signs in by itself, and again when its token is not good any more; it writes
// nothing down.
func TestMachine(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{Machine: "machine-secret-1"})
	h.e.OAuth = &server.OAuth{Grant: server.GrantMachine, ClientID: "machine", ClientSecret: "machine-secret-1"}
	l := h.logins()
	for range 2 {
		if err := h.visit(l); err != nil {
			t.Fatal(err)
		}
		h.is.Revoke(true)
	}
	h.grants("client_credentials", "client_credentials")
	if _, err := os.Stat(h.file); err == nil {
		t.Error("a file of logins was written")
	}
	h.e.OAuth.ClientSecret = "another-secret-1"
	if err := h.visit(l); fault.CodeOf(err) != login.CodeLogin || strings.Contains(err.Error(), "another-secret-1") {
		t.Error(err)
	}
}

// What comes to the callback and is not the browser that was sent there changes nothing;
// an issuer that says no, and nobody who comes, are errors.
func TestCallback(t *testing.T) {
	h := newHouse(t, &issuer.Issuer{})
	l := h.logins()
	forged := func(address string, change func(q map[string][]string)) int {
		u, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := u.URL.Query()
		back, err := http.NewRequest(http.MethodGet, q.Get("redirect_uri"), nil)
		if err != nil {
			t.Fatal(err)
		}
		to := map[string][]string{"state": {q.Get("state")}, "code": {"x"}}
		change(to)
		values := back.URL.Query()
		for name, v := range to {
			values[name] = v
		}
		back.URL.RawQuery = values.Encode()
		if host, ok := to["host"]; ok {
			back.Host = host[0]
		}
		res, err := h.way.RoundTrip(back)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	_, err := l.SignIn(t.Context(), h.e, login.Asking{Show: func(address string) error {
		if n := forged(address, func(q map[string][]string) { q["state"] = []string{"guessed"} }); n != http.StatusBadRequest {
			t.Errorf("another state: %d", n)
		}
		if n := forged(address, func(q map[string][]string) { q["host"] = []string{"evil.example"} }); n != http.StatusBadRequest {
			t.Errorf("another host: %d", n)
		}
		if n := forged(address, func(q map[string][]string) { q["error"] = []string{"access_denied"} }); n != http.StatusOK {
			t.Errorf("the issuer's no: %d", n)
		}
		return nil
	}})
	if fault.CodeOf(err) != login.CodeSignIn || !strings.Contains(err.Error(), "access_denied") {
		t.Error(err)
	}
	late := login.New(login.Options{File: h.file, Below: h.way, Clock: h.clock}) // no time passes but what is waited for
	if _, err := late.SignIn(t.Context(), h.e, login.Asking{Show: func(string) error { return nil }}); fault.CodeOf(err) != login.CodeSignIn {
		t.Error(err)
	}
}
