package endpoint_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/soundstage-dev/soundstage/adapters/mcp/endpoint"
	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// An issuer signs tokens and shows its public keys.
type issuer struct {
	keys  map[string]crypto.Signer
	asked int
	down  bool
}

const (
	resource = "https://studio.example/mcp"
	iss      = "https://login.example"
)

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{keys: map[string]crypto.Signer{}}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.keys["r"], i.keys["e"], i.keys["d"] = r, e, d
	return i
}

// ServeHTTP shows the keys.
func (i *issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if i.asked++; i.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	b64 := base64.RawURLEncoding.EncodeToString
	var list []map[string]string
	for id, k := range i.keys {
		switch k := k.Public().(type) {
		case *rsa.PublicKey:
			list = append(list, map[string]string{"kty": "RSA", "kid": id, "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())})
		case *ecdsa.PublicKey:
			point, err := k.Bytes()
			if err != nil {
				panic(err)
			}
			list = append(list, map[string]string{"kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": b64(point[1:33]), "y": b64(point[33:])})
		case ed25519.PublicKey:
			list = append(list, map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": id, "x": b64(k)})
		}
	}
	list = append(list, map[string]string{"kty": "oct", "kid": "shared", "k": b64([]byte("secret"))}, map[string]string{"kty": "RSA", "kid": "weak", "n": b64([]byte{1, 2, 3}), "e": "AQAB"})
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": list})
}

// token signs claims with the key of an id.
func (i *issuer) token(t *testing.T, id string, method jwt.SigningMethod, key any, change func(jwt.MapClaims)) string {
	t.Helper()
	c := jwt.MapClaims{"iss": iss, "aud": resource, "sub": "ada", "scope": "studio other", "exp": time.Now().Add(time.Hour).Unix()}
	if change != nil {
		change(c)
	}
	tok := jwt.NewWithClaims(method, c)
	tok.Header["kid"] = id
	text, err := tok.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// newSignedStand is an endpoint that lets in whom the issuer names, also from afar.
func newSignedStand(t *testing.T, i *issuer) *stand {
	t.Helper()
	s := newStand(t, endpoint.Options{}, boundary.Options{})
	s.clock.Set(time.Now().UTC()) // the SDK looks at the machine's
	o := &endpoint.OAuth{
		Resource: resource, Issuer: iss, Keys: iss + "/keys.json", Scopes: []string{"studio"},
		Transport: upstream.NewTransport(i), Clock: s.clock,
	}
	checked, err := o.Guard(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	s.guarded, err = boundary.Guard(boundary.Options{Checked: true, Hosts: []string{"studio.example"}, Refuse: endpoint.Refuse}, checked)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func afar(token string, more ...string) []string {
	return append([]string{"Host", "studio.example", "From", "203.0.113.9:4711", "Authorization", "Bearer " + token}, more...)
}

func TestOAuth(t *testing.T) {
	i := newIssuer(t)
	s := newSignedStand(t, i)
	ada := i.token(t, "r", jwt.SigningMethodRS256, i.keys["r"], nil)
	id := s.begin(afar(ada)...)
	w := s.do("POST", who, afar(ada, "Mcp-Session-Id", id)...)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "user sub ada") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for kid, method := range map[string]jwt.SigningMethod{"e": jwt.SigningMethodES256, "d": jwt.SigningMethodEdDSA} {
		if w := s.do("POST", who, afar(i.token(t, kid, method, i.keys[kid], nil), "Mcp-Session-Id", id)...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", kid, w.Code, w.Body)
		}
	}
	// Another user finds no session of hers, and the servers without sessions are two.
	bob := i.token(t, "r", jwt.SigningMethodRS256, i.keys["r"], func(c jwt.MapClaims) { c["sub"] = "bob" })
	if w := s.do("POST", who, afar(bob, "Mcp-Session-Id", id)...); w.Code != http.StatusNotFound {
		t.Errorf("bob is in ada's session: %d %s", w.Code, w.Body)
	}
	for _, user := range []string{ada, bob, ada} {
		if w := s.do("POST", whoAlone, afar(user, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "who")...); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if opened, _ := s.counts(); opened != 3 {
		t.Errorf("%d servers", opened)
	}
	if i.asked != 1 {
		t.Errorf("the keys were fetched %d times", i.asked)
	}
}

func TestOAuthRefuses(t *testing.T) {
	i := newIssuer(t)
	s := newSignedStand(t, i)
	other := newIssuer(t)
	with := func(change func(jwt.MapClaims)) string {
		return i.token(t, "r", jwt.SigningMethodRS256, i.keys["r"], change)
	}
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"no token":           {"", 401},
		"no JWT":             {"abc", 401},
		"other issuer":       {with(func(c jwt.MapClaims) { c["iss"] = "https://evil.example" }), 401},
		"for somebody else":  {with(func(c jwt.MapClaims) { c["aud"] = "https://other.example/mcp" }), 401},
		"old":                {with(func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Hour).Unix() }), 401},
		"without an end":     {with(func(c jwt.MapClaims) { delete(c, "exp") }), 401},
		"not yet":            {with(func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() }), 401},
		"of nobody":          {with(func(c jwt.MapClaims) { delete(c, "sub") }), 401},
		"scope is missing":   {with(func(c jwt.MapClaims) { c["scope"] = "other" }), 403},
		"another's key":      {i.token(t, "r", jwt.SigningMethodRS256, other.keys["r"], nil), 401},
		"a key of no issuer": {i.token(t, "x", jwt.SigningMethodRS256, i.keys["r"], nil), 401},
		"unsigned":           {i.token(t, "r", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil), 401},
		"shared secret":      {i.token(t, "shared", jwt.SigningMethodHS256, []byte("secret"), nil), 401},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.do("POST", hello, afar(c.token)...)
			if w.Code != c.status || !strings.Contains(w.Header().Get("Www-Authenticate"), `resource_metadata="https://studio.example/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
		})
	}
	if opened, _ := s.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
	// Tokens with keys that do not exist do not make us ask the issuer each time.
	if i.asked != 1 {
		t.Errorf("the keys were fetched %d times", i.asked)
	}
	// A key that is new is found after a minute.
	i.keys["x"] = i.keys["r"]
	s.clock.Advance(time.Minute)
	s.begin(afar(i.token(t, "x", jwt.SigningMethodRS256, i.keys["r"], nil))...)
}

// Who has no token hears where to get one, and the boundary stands all the same.
func TestOAuthMetadata(t *testing.T) {
	s := newSignedStand(t, newIssuer(t))
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		w := s.do("GET", "", "Path", path, "Host", "studio.example", "From", "203.0.113.9:4711")
		var m struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || w.Code != http.StatusOK || m.Resource != resource || len(m.Servers) != 1 || m.Servers[0] != iss {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w := s.do("GET", "", "Path", path, "Host", "evil.example"); w.Code != http.StatusForbidden {
			t.Errorf("%s of a rebound name: %d", path, w.Code)
		}
	}
}

func TestOAuthIssuerDown(t *testing.T) {
	i := newIssuer(t)
	i.down = true
	s := newSignedStand(t, i)
	token := i.token(t, "r", jwt.SigningMethodRS256, i.keys["r"], nil)
	for range 2 {
		if w := s.do("POST", hello, afar(token)...); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "could not be fetched") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if i.asked != 1 {
		t.Errorf("asked %d times", i.asked)
	}
	i.down = false
	s.clock.Advance(5 * time.Second)
	s.begin(afar(token)...)
}

func TestOAuthCheck(t *testing.T) {
	good := endpoint.OAuth{Resource: resource, Issuer: iss, Keys: "http://127.0.0.1:1/keys"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "studio", "http://login.example", "ftp://login.example", "https://ada:pw@login.example", "https://login.example/#a", "https://"} {
		for _, o := range []endpoint.OAuth{{Resource: bad, Issuer: iss, Keys: iss}, {Resource: resource, Issuer: bad, Keys: iss}, {Resource: resource, Issuer: iss, Keys: bad}} {
			if err := o.Check(); fault.CodeOf(err) != endpoint.CodeOAuth {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}
