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
		say(w, 200, answer{Resource: base + "/mcp", Servers: []string{base}, Scopes: []string{"read"}})
	case "/.well-known/oauth-authorization-server":
		say(w, 200, answer{
			Issuer: base, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register",
			Responses: []string{"code"}, Challenges: []string{"S256"}, Grants: []string{"authorization_code", "refresh_token", "client_credentials"},
			Methods: []string{"client_secret_post"}, Scopes: []string{"read", "write", "offline_access"}, SaysIssuer: true,
		})
	case "/register":
		say(w, 201, answer{Client: "registered", Secret: "registered-secret-1", Method: "client_secret_post"})
	case "/authorize":
		i.authorize(w, r, base)
	case "/token":
		i.token(w, r, base)
	default:
		http.NotFound(w, r)
	}
}

// An answer is what any of the issuer's addresses says.
type answer struct {
	Resource   string   `json:"resource,omitempty"`
	Servers    []string `json:"authorization_servers,omitempty"`
	Scopes     []string `json:"scopes_supported,omitempty"`
	Issuer     string   `json:"issuer,omitempty"`
	Authorize  string   `json:"authorization_endpoint,omitempty"`
	Token      string   `json:"token_endpoint,omitempty"`
	Register   string   `json:"registration_endpoint,omitempty"`
	Responses  []string `json:"response_types_supported,omitempty"`
	Challenges []string `json:"code_challenge_methods_supported,omitempty"`
	Grants     []string `json:"grant_types_supported,omitempty"`
	Methods    []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	SaysIssuer bool     `json:"authorization_response_iss_parameter_supported,omitempty"`
	Client     string   `json:"client_id,omitempty"`
	Secret     string   `json:"client_secret,omitempty"`
	Method     string   `json:"token_endpoint_auth_method,omitempty"`
	Access     string   `json:"access_token,omitempty"`
	Refresh    string   `json:"refresh_token,omitempty"`
	Kind       string   `json:"token_type,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Seconds    int      `json:"expires_in,omitempty"`
	Error      string   `json:"error,omitempty"`
}

func say(w http.ResponseWriter, status int, v answer) {
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
	say(w, 400, answer{Error: code})
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
			say(w, 400, answer{Error: "invalid_grant"})
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
	out := answer{Access: access, Kind: "Bearer", Scope: scope, Seconds: i.Seconds}
	if grant != "client_credentials" {
		i.renews[renew] = scope
		out.Refresh = renew
	}
	say(w, 200, out)
}
