// Package issuer is an OAuth issuer with a server that it guards, for tests of logins: it
// checks what a client must send, and lets everybody sign in at once.
//
// It is part of the MCP adapter, and of no program. It guards nothing in earnest: its
// codes and tokens are counted, not drawn.
package issuer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// An Issuer is the handler. Its fields are set before it serves.
type Issuer struct {
	Server  http.Handler // at /mcp, for whoever has a token
	Seconds int          // that a token is good for; 0 is not said
	Machine string       // the secret of the client "machine"; "" has none

	mu      sync.Mutex
	n       int
	codes   map[string]url.Values // what was asked for
	good    map[string]string     // access tokens, with what they allow
	renews  map[string]string     // refresh tokens, likewise
	needs   string                // a scope beside "read" that is needed; see Need
	refused []string              // what a client did wrong
	grants  []string              // the grants of tokens, in order
}

// Revoke makes all access tokens worthless, and with all also what renews them.
func (i *Issuer) Revoke(all bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.good = nil
	if all {
		i.renews = nil
	}
}

// Need makes the server want to be allowed one more thing.
func (i *Issuer) Need(scope string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.needs = scope
}

// Seen is which tokens were given for what.
func (i *Issuer) Seen() (grants, refused []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.grants), slices.Clone(i.refused)
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	base := "http://" + r.Host
	switch r.URL.Path {
	case "/mcp":
		i.guard(w, r, base)
	case "/.well-known/oauth-protected-resource/mcp":
		say(w, 200, map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base}, "scopes_supported": []string{"read"}})
	case "/.well-known/oauth-authorization-server":
		say(w, 200, map[string]any{
			"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "registration_endpoint": base + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"grant_types_supported":                          []string{"authorization_code", "refresh_token", "client_credentials"},
			"token_endpoint_auth_methods_supported":          []string{"client_secret_post"},
			"scopes_supported":                               []string{"read", "write", "offline_access"},
			"authorization_response_iss_parameter_supported": true,
		})
	case "/register":
		say(w, 201, map[string]any{"client_id": "registered", "client_secret": "registered-secret-1", "token_endpoint_auth_method": "client_secret_post"})
	case "/authorize":
		i.authorize(w, r, base)
	case "/token":
		i.token(w, r, base)
	default:
		http.NotFound(w, r)
	}
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // to a client that may be gone
}

func (i *Issuer) guard(w http.ResponseWriter, r *http.Request, base string) {
	i.mu.Lock()
	scope, ok := i.good[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	needs := i.needs
	i.mu.Unlock()
	challenge := fmt.Sprintf("Bearer resource_metadata=%q", base+"/.well-known/oauth-protected-resource/mcp")
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	case needs != "" && !slices.Contains(strings.Fields(scope), needs):
		w.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(`, error="insufficient_scope", scope=%q`, "read "+needs))
		w.WriteHeader(http.StatusForbidden)
	default:
		i.Server.ServeHTTP(w, r)
	}
}

func (i *Issuer) refuse(w http.ResponseWriter, code, why string) {
	i.refused = append(i.refused, why)
	say(w, 400, map[string]string{"error": code})
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request, base string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	if q.Get("resource") != base+"/mcp" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("response_type") != "code" {
		i.refuse(w, "invalid_request", "authorize "+r.URL.RawQuery)
		return
	}
	i.n++
	code := fmt.Sprintf("code-%04d", i.n)
	if i.codes == nil {
		i.codes = map[string]url.Values{}
	}
	i.codes[code] = q
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {base}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request, base string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.Method != http.MethodPost || r.ParseForm() != nil || r.PostForm.Get("resource") != base+"/mcp" {
		i.refuse(w, "invalid_target", "token "+r.PostForm.Encode())
		return
	}
	f := r.PostForm
	grant, scope := f.Get("grant_type"), ""
	switch grant {
	case "authorization_code":
		asked, ok := i.codes[f.Get("code")]
		delete(i.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || f.Get("redirect_uri") != asked.Get("redirect_uri") || f.Get("client_secret") != "registered-secret-1" {
			i.refuse(w, "invalid_grant", "code "+f.Encode())
			return
		}
		scope = asked.Get("scope")
	case "refresh_token":
		var ok bool
		if scope, ok = i.renews[f.Get("refresh_token")]; !ok {
			say(w, 400, map[string]string{"error": "invalid_grant", "error_description": "ended"})
			return
		}
		delete(i.renews, f.Get("refresh_token")) // each is good once
	case "client_credentials":
		if i.Machine == "" || f.Get("client_id") != "machine" || f.Get("client_secret") != i.Machine {
			i.refuse(w, "invalid_client", "machine")
			return
		}
		scope = f.Get("scope")
	default:
		i.refuse(w, "unsupported_grant_type", grant)
		return
	}
	i.give(w, grant, scope)
}

// give answers with new tokens.
func (i *Issuer) give(w http.ResponseWriter, grant, scope string) {
	i.n++
	access, renew := fmt.Sprintf("access-token-%04d", i.n), fmt.Sprintf("refresh-token-%04d", i.n)
	if i.good == nil {
		i.good = map[string]string{}
	}
	if i.renews == nil {
		i.renews = map[string]string{}
	}
	i.good[access] = scope
	i.grants = append(i.grants, grant)
	out := map[string]any{"access_token": access, "token_type": "Bearer", "scope": scope}
	if grant != "client_credentials" {
		i.renews[renew] = scope
		out["refresh_token"] = renew
	}
	if i.Seconds > 0 {
		out["expires_in"] = i.Seconds
	}
	say(w, 200, out)
}
