package model

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// hostileRef names the model of a child of TestNobodyElseCalls.
const hostileRef = "SOUNDSTAGE_TEST_HOSTILE_REF"

// Every request of every provider leaves by the one client. Each is set up and asked in
// a process that has hostile variables from its first moment on, because some libraries
// read them once: proxies, endpoints and metadata servers lead to a trap on loopback,
// names are not looked up, and the default transport fails. Nobody may fall into any.
func TestNobodyElseCalls(t *testing.T) {
	if os.Getenv(hostileRef) != "" {
		t.Skip("this is a child")
	}
	trap, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	defer trap.Close()
	var fallen atomic.Int64
	go func() {
		for {
			c, err := trap.Accept()
			if err != nil {
				return
			}
			fallen.Add(1)
			c.Close()
		}
	}()
	dir := profiles(t)
	env := []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	for _, v := range variables {
		switch {
		case strings.EqualFold(v, "NO_PROXY"), v == "AWS_EC2_METADATA_DISABLED":
			continue // they would close the trap
		case v == "GCE_METADATA_HOST":
			env = append(env, v+"="+trap.Addr().String())
		case strings.HasPrefix(hostile(v, dir), "http://"):
			env = append(env, v+"=http://"+trap.Addr().String()+"/")
		default:
			env = append(env, v+"="+hostile(v, dir))
		}
	}
	tried := map[string]bool{}
	for _, ref := range append([]string{"trap"}, existing(t)...) {
		name := refProvider(ref)
		if tried[name] {
			continue
		}
		tried[name] = true
		t.Run(strings.TrimSuffix(name, "/"), func(t *testing.T) {
			before := fallen.Load()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileChild$", "-test.v")
			child.Env = append(env, hostileRef+"="+ref)
			out, err := child.CombinedOutput()
			got := fallen.Load() - before
			switch {
			case err != nil || !strings.Contains(string(out), "--- PASS: TestHostileChild"):
				t.Errorf("%v\n%s", err, out)
			case ref == "trap" && got == 0:
				t.Error("the trap catches nothing")
			case ref != "trap" && got > 0:
				t.Errorf("%d connections beside the client", got)
			}
		})
	}
}

// TestHostileChild asks one model, with the variables that its parent gave.
func TestHostileChild(t *testing.T) {
	ref := os.Getenv(hostileRef)
	if ref == "" {
		t.Skip("runs in a child of TestNobodyElseCalls")
	}
	var lookedUp atomic.Int64
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(_ context.Context, _, _ string) (net.Conn, error) {
		lookedUp.Add(1)
		return nil, errors.New("a test looked up a name")
	}}
	if ref == "trap" { // a client of a library's own, as the providers must not have one
		c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elsewhere.invalid/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := c.Do(req); err == nil {
			res.Body.Close()
		}
		c.Transport = &http.Transport{}
		if res, err := c.Do(req); err == nil || lookedUp.Load() == 0 {
			t.Errorf("a look-up is not seen: %v %v", res, err)
		}
		return
	}
	for _, r := range existing(t) {
		if refProvider(r) != refProvider(ref) {
			continue
		}
		for _, cfg := range []Config{settings(nil), live()} {
			capture(t, r, cfg, full())
			cfg.Whole = true
			capture(t, r, cfg, full())
		}
	}
	if n := lookedUp.Load(); n > 0 {
		t.Errorf("%d names were looked up", n)
	}
}
