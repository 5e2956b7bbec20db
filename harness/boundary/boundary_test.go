package boundary_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

const token = "correct-horse-battery"

// pass says what came through.
func pass(w http.ResponseWriter, r *http.Request) {
	_, err := io.ReadAll(r.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		boundary.WriteError(w, r, http.StatusRequestEntityTooLarge, boundary.TooLarge(tooLarge.Limit))
		return
	}
	fmt.Fprintf(w, "in %q %q", r.Header.Get("Authorization"), r.Header.Get("X-Token"))
}

// ask sends a request through a guard and gives the status and the code, or the body
// where there is none.
func ask(t *testing.T, o boundary.Options, change func(r *http.Request)) (int, string) {
	t.Helper()
	h, err := boundary.Guard(o, http.HandlerFunc(pass))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", strings.NewReader("body"))
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:40000"
	change(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var refused struct{ Code string }
	if json.Unmarshal(w.Body.Bytes(), &refused) == nil {
		return w.Code, refused.Code
	}
	return w.Code, w.Body.String()
}

func want(t *testing.T, what string, status int, code string, wantStatus int, wantCode fault.Code) {
	t.Helper()
	if wantCode == "" && status == http.StatusOK {
		return
	}
	if status != wantStatus || code != string(wantCode) {
		t.Errorf("%s: %d %q, want %d %q", what, status, code, wantStatus, wantCode)
	}
}

func TestHost(t *testing.T) {
	for _, c := range []struct {
		host string
		ok   bool
	}{
		{"127.0.0.1:8080", true},
		{"127.0.0.1", true},
		{"127.8.9.1:1", true},
		{"localhost:8080", true},
		{"LocalHost", true},
		{"[::1]:8080", true},
		{"[::1]", true},
		{"[::ffff:127.0.0.1]:80", true},
		{"studio.example", true}, // allowed below
		{"STUDIO.example:443", true},

		{"", false},
		{"evil.example", false},
		{"evil.example:8080", false},
		{"127.0.0.1.evil.example", false},
		{"localhost.evil.example", false},
		{"localhost.", false},
		{"evil.localhost", false},
		{"notlocalhost", false},
		{"studio.example.evil.example", false},
		{"studio.example.", false},
		{"127.0.0.1@evil.example", false},
		{"evil.example@127.0.0.1", false},
		{"127.0.0.1:8080:evil", false},
		{"127.0.0.1:", false},
		{"127.0.0.1:0", false},
		{"127.0.0.1:99999", false},
		{"127.0.0.1:80a", false},
		{"127.0.0.1 evil.example", false},
		{"127.0.0.1,evil.example", false},
		{"127.1", false}, // some resolvers take it for loopback
		{"2130706433", false},
		{"0x7f000001", false},
		{"0177.0.0.1", false},
		{"0.0.0.0", false},
		{"[::]", false},
		{"10.0.0.1", false},
		{"169.254.169.254", false},
		{"::1", false}, // needs brackets
		{"[::1", false},
		{"[::1]evil", false},
		{"[::1%25lo]", false},
		{"[127.0.0.1]", false},
		{"127.0.0.1/evil", false},
		{"127.0.0.1\\evil", false},
		{"127.0.0.1%00", false},
		{"[evil.example]", false},
		{"１２７.0.0.1", false}, // full-width digits
	} {
		status, code := ask(t, boundary.Options{Hosts: []string{"studio.example"}}, func(r *http.Request) { r.Host = c.host })
		if c.ok != (status == http.StatusOK) || !c.ok && code != string(boundary.CodeHost) {
			t.Errorf("host %q: %d %s, want ok %v", c.host, status, code, c.ok)
		}
	}
}

func TestOrigin(t *testing.T) {
	const host = "127.0.0.1:8080"
	for _, c := range []struct {
		origin string
		ok     bool
	}{
		{"http://127.0.0.1:8080", true},
		{"HTTP://127.0.0.1:8080", true},
		{"https://127.0.0.1:8080", true},
		{"https://console.example", true}, // allowed below

		{"null", false},
		{"", false},
		{"http://127.0.0.1:8081", false}, // another program's page
		{"http://127.0.0.1", false},
		{"http://localhost:8080", false}, // not what the page calls this server
		{"https://evil.example", false},
		{"http://127.0.0.1:8080.evil.example", false},
		{"http://127.0.0.1:8080@evil.example", false},
		{"http://user@127.0.0.1:8080", false},
		{"http://127.0.0.1:8080/", false},
		{"http://127.0.0.1:8080/x", false},
		{"http://127.0.0.1:8080#", false},
		{"http://127.0.0.1:8080?", false},
		{"https://console.example.evil.example", false},
		{"https://console.example:444", false},
		{"http://console.example", false},
		{"file://127.0.0.1:8080", false},
		{"chrome-extension://abcdefgh", false},
		{"//127.0.0.1:8080", false},
		{"127.0.0.1:8080", false},
		{"http:127.0.0.1:8080", false},
		{"*", false},
	} {
		status, code := ask(t, boundary.Options{Origins: []string{"https://console.example"}}, func(r *http.Request) {
			r.Host = host
			r.Header.Set("Origin", c.origin)
		})
		if c.ok != (status == http.StatusOK) || !c.ok && code != string(boundary.CodeOrigin) {
			t.Errorf("origin %q: %d %s, want ok %v", c.origin, status, code, c.ok)
		}
	}
	status, code := ask(t, boundary.Options{}, func(r *http.Request) {
		r.Header["Origin"] = []string{"http://" + host, "https://evil.example"}
	})
	want(t, "two origins", status, code, http.StatusForbidden, boundary.CodeOrigin)
	for site, ok := range map[string]bool{"same-origin": true, "none": true, "same-site": false, "cross-site": false, "?": false} {
		status, _ := ask(t, boundary.Options{}, func(r *http.Request) { r.Method = http.MethodGet; r.Header.Set("Sec-Fetch-Site", site) })
		if ok != (status == http.StatusOK) {
			t.Errorf("Sec-Fetch-Site %q: %d", site, status)
		}
	}
}

// A rebound name sends itself as Host and Origin: the two agree, and both are wrong.
func TestRebinding(t *testing.T) {
	status, code := ask(t, boundary.Options{}, func(r *http.Request) {
		r.Host = "evil.example:8080"
		r.Header.Set("Origin", "http://evil.example:8080")
	})
	want(t, "rebinding", status, code, http.StatusForbidden, boundary.CodeHost)
}

func TestRemote(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:5": true, "[::1]:5": true, "[::ffff:127.0.0.1]:5": true, "192.168.1.4:5": false, "[fe80::1]:5": false,
		"": false, "@": false, "127.0.0.1": false, "localhost:5": false,
	} {
		status, code := ask(t, boundary.Options{}, func(r *http.Request) { r.RemoteAddr = addr })
		if ok != (status == http.StatusOK) || !ok && code != string(boundary.CodeRemote) {
			t.Errorf("peer %q: %d %s, want ok %v", addr, status, code, ok)
		}
		status, code = ask(t, boundary.Options{Token: token}, func(r *http.Request) {
			r.RemoteAddr = addr
			r.Header.Set("Authorization", "Bearer "+token)
		})
		want(t, addr+" with a token", status, code, 0, "")
	}
}

func TestToken(t *testing.T) {
	o := boundary.Options{Token: token, TokenHeaders: []string{"X-Token"}, Open: []string{"/healthz"}}
	for _, c := range []struct {
		name, header string
		values       []string
		ok           bool
	}{
		{"bearer", "Authorization", []string{"Bearer " + token}, true},
		{"other case", "Authorization", []string{"bEARER " + token}, true},
		{"own header", "X-Token", []string{token}, true},
		{"own header as bearer", "X-Token", []string{"Bearer " + token}, true},
		{"none", "X-Other", []string{token}, false},
		{"empty", "Authorization", []string{""}, false},
		{"no scheme", "Authorization", []string{token}, false},
		{"basic", "Authorization", []string{"Basic " + token}, false},
		{"prefix", "X-Token", []string{token[:len(token)-1]}, false},
		{"longer", "X-Token", []string{token + "x"}, false},
		{"other case of the token", "X-Token", []string{strings.ToUpper(token)}, false},
		{"twice", "X-Token", []string{token, token}, false},
		{"list", "X-Token", []string{"x, " + token}, false},
	} {
		status, code := ask(t, o, func(r *http.Request) { r.Header[c.header] = c.values })
		if c.ok != (status == http.StatusOK) || !c.ok && code != string(boundary.CodeToken) {
			t.Errorf("%s: %d %s", c.name, status, code)
		}
		if c.ok && strings.Contains(code, token) {
			t.Errorf("%s: the token went on: %s", c.name, code)
		}
	}
	status, code := ask(t, o, func(r *http.Request) {
		r.Header.Set("X-Token", token)
		r.Header.Set("Authorization", "Bearer of-somebody-else")
	})
	if status != http.StatusOK || !strings.Contains(code, "of-somebody-else") {
		t.Errorf("another Authorization beside the token: %d %s", status, code)
	}
	status, code = ask(t, o, func(r *http.Request) { r.URL.Path = "/healthz" })
	want(t, "an open path", status, code, 0, "")
	status, code = ask(t, o, func(r *http.Request) { r.URL.Path = "/healthz/../x" })
	want(t, "beside an open path", status, code, http.StatusUnauthorized, boundary.CodeToken)
	if _, err := boundary.Guard(boundary.Options{Token: "short"}, http.NotFoundHandler()); fault.CodeOf(err) != boundary.CodeShort {
		t.Errorf("a short token: %v", err)
	}
}

func TestSizes(t *testing.T) {
	o := boundary.Options{MaxBody: 10, MaxHeader: 200}
	body := func(n int, known bool) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", n))), int64(n)
			if !known {
				r.ContentLength = -1
			}
		}
	}
	for _, known := range []bool{true, false} {
		status, code := ask(t, o, body(10, known))
		want(t, fmt.Sprint("a body of the bound, known ", known), status, code, 0, "")
		status, code = ask(t, o, body(11, known))
		want(t, fmt.Sprint("one byte more, known ", known), status, code, http.StatusRequestEntityTooLarge, boundary.CodeBody)
	}
	status, code := ask(t, o, func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", 200)) })
	want(t, "a long header", status, code, http.StatusRequestHeaderFieldsTooLarge, boundary.CodeHeader)
	status, code = ask(t, o, func(r *http.Request) {
		for i := range 60 {
			r.Header.Add(fmt.Sprint("X", i), "")
		}
	})
	want(t, "many headers", status, code, http.StatusRequestHeaderFieldsTooLarge, boundary.CodeHeader)
}

func TestForwarding(t *testing.T) {
	status, code := ask(t, boundary.Options{}, func(r *http.Request) { r.URL.Scheme, r.URL.Host = "http", "127.0.0.1:8080" })
	want(t, "an absolute target", status, code, http.StatusMisdirectedRequest, boundary.CodeTarget)
	status, code = ask(t, boundary.Options{}, func(r *http.Request) { r.Method = http.MethodConnect })
	want(t, "CONNECT", status, code, http.StatusMisdirectedRequest, boundary.CodeTarget)
}

// A refusal is JSON whatever the header held.
func TestRefusalIsJSON(t *testing.T) {
	for _, host := range []string{"evil\"\n", "\xff\xfe", "<script>"} {
		if status, code := ask(t, boundary.Options{}, func(r *http.Request) { r.Host = host }); status != http.StatusForbidden || code != string(boundary.CodeHost) {
			t.Errorf("host %q: %d %s", host, status, code)
		}
	}
}
