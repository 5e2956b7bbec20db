package endpoint

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

const (
	skew     = 30 * time.Second // how far the issuer's clock may be from ours
	maxKeys  = 256 << 10        // bytes of a key set
	keysTime = 10 * time.Second // for fetching it
	// keysRest is how long a key set stays that does not have the key of a token: anybody
	// can send tokens with keys that do not exist.
	keysRest = time.Minute
	// failedRest is how long nobody asks again for a key set that could not be fetched.
	failedRest = 5 * time.Second
)

// CodeKeys is a key set that could not be fetched or read.
const CodeKeys fault.Code = "MCP_OAUTH_KEYS"

// A keySet is an issuer's public keys, fetched when a token needs one that is not there.
type keySet struct {
	url    string
	client *http.Client
	clock  clock.Clock

	mu     sync.Mutex
	keys   map[string]crypto.PublicKey // public keys by id
	until  time.Time                   // before that they are not asked for
	failed error                       // what came of it the last time
}

// find gives the key with an id.
func (k *keySet) find(ctx context.Context, id string) (key crypto.PublicKey, found bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, found = k.keys[id]; found {
		return key, true, nil
	}
	now := k.clock.Now()
	if now.Before(k.until) {
		return nil, false, k.failed
	}
	keys, err := k.fetch(context.WithoutCancel(ctx)) // who asks may leave: the others want it too
	if k.failed = err; err != nil {
		k.until = now.Add(failedRest)
		return nil, false, err
	}
	k.keys, k.until = keys, now.Add(keysRest)
	key, found = keys[id]
	return key, found, nil
}

func (k *keySet) fetch(ctx context.Context) (map[string]crypto.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTime)
	defer cancel()
	bad := func(err error) error {
		return fault.Wrap(err, CodeKeys, "mcp.oauth", "the keys of the issuer could not be fetched").WithHint("see whether %s answers", k.url)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, bad(err)
	}
	res, err := k.client.Do(req)
	if err != nil {
		return nil, bad(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode != http.StatusOK {
		return nil, bad(fault.New(CodeKeys, "mcp.oauth", "the answer is %s", res.Status))
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxKeys+1))
	if err != nil {
		return nil, bad(err)
	}
	if len(raw) > maxKeys {
		return nil, bad(fault.New(CodeKeys, "mcp.oauth", "the answer has more than %d bytes", maxKeys))
	}
	keys, err := parseKeys(raw)
	if err != nil {
		return nil, bad(err)
	}
	return keys, nil
}

// A webKey is one key of a set (RFC 7517), of the kinds that sign tokens.
type webKey struct {
	Kty string `json:"kty"`
	Kid string `json:"kid"`
	Use string `json:"use"`
	Crv string `json:"crv"`
	N   string `json:"n"`
	E   string `json:"e"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// parseKeys reads a key set. A key of a kind that signs no tokens is left out.
func parseKeys(raw []byte) (map[string]crypto.PublicKey, error) {
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, err
	}
	keys := map[string]crypto.PublicKey{}
	for _, k := range set.Keys {
		if key := k.public(); key != nil && (k.Use == "" || k.Use == "sig") {
			keys[k.Kid] = key
		}
	}
	return keys, nil
}

// minRSA is how many bits of an RSA key are enough.
const minRSA = 2048

// public is the key itself, or nil.
func (k webKey) public() crypto.PublicKey {
	switch {
	case k.Kty == "RSA":
		n, e := number(k.N), number(k.E)
		if n == nil || e == nil || n.BitLen() < minRSA || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
			return nil
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}
	case k.Kty == "EC":
		curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[k.Crv]
		x, y := bytesOf(k.X), bytesOf(k.Y)
		if curve == nil || x == nil || y == nil {
			return nil
		}
		size := (curve.Params().BitSize + 7) / 8
		if len(x) != size || len(y) != size {
			return nil
		}
		key, err := ecdsa.ParseUncompressedPublicKey(curve, append(append([]byte{4}, x...), y...)) // looks whether it is on the curve
		if err != nil {
			return nil
		}
		return key
	case k.Kty == "OKP" && k.Crv == "Ed25519":
		if x := bytesOf(k.X); len(x) == ed25519.PublicKeySize {
			return ed25519.PublicKey(x)
		}
	}
	return nil
}

func bytesOf(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

func number(text string) *big.Int {
	if b := bytesOf(text); len(b) > 0 {
		return new(big.Int).SetBytes(b)
	}
	return nil
}
