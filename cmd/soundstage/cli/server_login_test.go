package cli

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login/issuer"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

// guarded adds a server that wants to know who asks, and a person who signs in to it when
// an address is shown.
func (w *world) guarded(name string) *issuer.Issuer {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Skip("no loopback: ", err)
	}
	is := &issuer.Issuer{Seconds: 3600, Server: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Error(rw, "it is out", http.StatusServiceUnavailable)
	})}
	srv := &http.Server{Handler: is}
	go func() { _ = srv.Serve(l) }()
	w.t.Cleanup(func() { _ = srv.Close() })
	w.must("", "server", "add", name, "--url", "http://"+l.Addr().String()+"/mcp")
	w.told = browser{}
	return is
}

// browser opens each address that it is shown.
type browser struct{}

var address = regexp.MustCompile(`http://\S+`)

func (browser) Write(p []byte) (int, error) {
	if to := address.Find(p); to != nil {
		go func() {
			if res, err := (&http.Client{Transport: &http.Transport{}}).Get(string(to)); err == nil {
				_ = res.Body.Close()
			}
		}()
	}
	return len(p), nil
}

// A login is a person's, who is asked in a browser; listings say that there is one, and
// no secret of it; it goes with the server.
func TestServerLogin(t *testing.T) {
	requireLoopback(t)
	w := newWorld(t)
	w.guarded("tracker")
	if code, _, errs := w.do("", "server", "test", "tracker"); code == exitOK || !strings.Contains(errs, "MCP_SERVER_LOGIN") || !strings.Contains(errs, "soundstage server login tracker") {
		t.Errorf("%d\n%s", code, errs)
	}
	if out := w.must("", "server", "login", "tracker"); out != "signed in to server tracker, for offline_access read\n" {
		t.Error(out)
	}
	out := w.must("", "server", "show", "tracker") + w.must("", "server", "ls", "--json")
	if !strings.Contains(out, "signed in") || !strings.Contains(out, `"asks":"person"`) || strings.Contains(out, "token-0") {
		t.Error(out)
	}
	kept := filepath.Join(w.env["HOME"], ".config", "soundstage", server.LoginsName)
	if b, err := os.ReadFile(kept); err != nil || !strings.Contains(string(b), "refresh-token-0002") {
		t.Errorf("%s %v", b, err)
	}
	a := &app{doors: Doors{Env: w.env, Dir: w.dir, Clock: w.clock}}
	if s := a.redactor("").MaskString("a server says access-token-0002 and refresh-token-0002"); strings.Contains(s, "token-0002") {
		t.Error(s)
	}
	for _, args := range [][]string{{"server", "login", "nobody"}, {"server", "login", "tracker", "--port", "70000"}, {"server", "logout", "nobody"}} {
		if code, _, _ := w.do("", args...); code == exitOK {
			t.Errorf("%v succeeds", args)
		}
	}
	w.env["CI"] = "1"
	if code, _, errs := w.do("", "server", "login", "tracker"); code == exitOK || strings.Contains(errs, "Open this") {
		t.Errorf("in CI: %d\n%s", code, errs)
	}
	w.env["CI"] = ""
	w.must("", "server", "rm", "tracker")
	if b, _ := os.ReadFile(kept); strings.Contains(string(b), "token-0") {
		t.Errorf("the login is still there: %s", b)
	}
}
