package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeOAuth is a description of an OAuth issuer that cannot be used.
const CodeOAuth fault.Code = "MCP_OAUTH_INVALID"

// metadataPath is where clients look for who issues tokens (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// OAuth makes the endpoint a resource server: a request brings a token that Issuer
// signed for Resource. The endpoint issues none and keeps none.
type OAuth struct {
	Resource string   // the endpoint's own URL, as clients know it: the token's audience
	Issuer   string   // who signs tokens, as its iss claim says
	Keys     string   // the URL of its public keys, a JSON Web Key Set
	Scopes   []string // what a token must allow
	// Transport fetches the keys; Clock says which tokens are too old. Both are needed.
	Transport http.RoundTripper
	Clock     clock.Clock
}

// Check finds what cannot be used.
func (o *OAuth) Check() error {
	for _, u := range []struct{ name, value string }{{"resource", o.Resource}, {"issuer", o.Issuer}, {"keys", o.Keys}} {
		p, err := url.Parse(u.value)
		if err != nil || p.Host == "" || p.User != nil || p.Fragment != "" || p.Scheme != "https" && (p.Scheme != "http" || !boundary.Loopback(p.Hostname())) {
			return fault.New(CodeOAuth, "mcp.oauth", "%s is %q, which is no URL that can be trusted", u.name, u.value).
				WithHint("write an https URL without a name, a password or a #; http is for this machine alone")
		}
	}
	return nil
}

// Guard lets only requests with a token through to next, and answers who asks where
// tokens come from. The token stays here: next does not see it.
func (o *OAuth) Guard(next http.Handler) (http.Handler, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	resource, err := url.Parse(o.Resource)
	if err != nil {
		return nil, err
	}
	metadata := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: o.Resource, AuthorizationServers: []string{o.Issuer}, ScopesSupported: o.Scopes, BearerMethodsSupported: []string{"header"},
	})
	where := *resource
	where.Path, where.RawQuery = metadataPath+strings.TrimSuffix(resource.Path, "/"), ""
	keys := &keySet{url: o.Keys, clock: o.Clock, client: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the URL was checked, and no other
	}}
	checked := auth.RequireBearerToken(o.verifier(keys), &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: where.String(), Scopes: o.Scopes, ClockSkew: skew,
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(r.Context())
		r.Header = r.Header.Clone()
		r.Header.Del("Authorization")
		next.ServeHTTP(w, r)
	}))
	mux := http.NewServeMux()
	mux.Handle(metadataPath, metadata)
	mux.Handle(metadataPath+"/", metadata)
	mux.Handle("/", checked)
	return mux, nil
}

// claims are what is read of a token.
type claims struct {
	jwt.RegisteredClaims
	Scope    string `json:"scope"`
	ClientID string `json:"client_id"`
}

// verifier checks who signed a token, for whom, and until when. The methods are those
// of public keys: with the others the keys that everybody can read would sign.
func (o *OAuth) verifier(keys *keySet) auth.TokenVerifier {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}),
		jwt.WithIssuer(o.Issuer), jwt.WithAudience(o.Resource), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(o.Clock.Now), jwt.WithLeeway(skew),
	)
	return func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		var c claims
		var unreachable error
		_, err := parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
			id, _ := t.Header["kid"].(string)
			key, found, err := keys.find(ctx, id)
			if err != nil {
				unreachable = err
				return nil, err
			}
			if !found {
				return nil, fmt.Errorf("no key %q", clip(id))
			}
			return key, nil
		})
		switch {
		case unreachable != nil:
			return nil, unreachable
		case err != nil:
			return nil, fmt.Errorf("%w: %w", auth.ErrInvalidToken, err)
		case c.Subject == "" && c.ClientID == "":
			return nil, fmt.Errorf("%w: it names nobody", auth.ErrInvalidToken)
		}
		user := "sub " + c.Subject
		if c.Subject == "" {
			user = "client " + c.ClientID
		}
		return &auth.TokenInfo{UserID: user, Scopes: strings.Fields(c.Scope), Expiration: c.ExpiresAt.Time}, nil
	}
}
