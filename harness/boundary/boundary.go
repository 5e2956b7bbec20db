// Package boundary is the one HTTP boundary: it decides which requests a server on
// this machine may look at, before anything else reads them.
//
// It belongs to harness and is what the proxy, MCP over HTTP and a web console stand
// behind. It looks at the peer's address, Host, Origin, a bearer token, sizes and the
// rate. It knows nothing of what is served, keeps no session, and does not encrypt:
// beyond loopback put it behind something that does.
//
// A server on loopback is reached by every page that a browser on the machine shows.
// A page of another site sends its own Origin; a page whose name was pointed at
// 127.0.0.1 after it was loaded (DNS rebinding) sends its own name as Host. Both are
// refused, whatever the method is.
package boundary

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeHost   fault.Code = "BOUNDARY_HOST"      // Host is no name of this server
	CodeOrigin fault.Code = "BOUNDARY_ORIGIN"    // a page of another site asked
	CodeRemote fault.Code = "BOUNDARY_REMOTE"    // another machine asked, and there is no token
	CodeToken  fault.Code = "BOUNDARY_TOKEN"     // the token is missing or wrong
	CodeBody   fault.Code = "BOUNDARY_BODY"      // the body is too large
	CodeHeader fault.Code = "BOUNDARY_HEADER"    // the header is too large
	CodeTarget fault.Code = "BOUNDARY_TARGET"    // the request line asks for forwarding
	CodeShort  fault.Code = "BOUNDARY_NO_SECRET" // a token that can be guessed
	CodeRate   fault.Code = "BOUNDARY_RATE"      // too many requests in a short time
)

// The bounds where Options say nothing.
const (
	DefaultBody   = 48 << 20 // bytes of a request's body
	DefaultHeader = 64 << 10 // bytes of a request's header
	MinToken      = 16       // characters of a token

	// DefaultBodyTime is how long a request's body may take to arrive. One that trickles in
	// would keep a place for as long as its client likes.
	DefaultBodyTime = time.Minute
)

// Options say who may come in. The zero value lets in requests of this machine that
// name it by a loopback name and come from no web page.
type Options struct {
	// Token, when set, must come with every request. Only with one do requests of
	// other machines come in.
	Token string
	// Checked says that next looks at a credential of each request itself, as an OAuth
	// resource server does: requests of other machines come in without a Token. The
	// header Authorization reaches next.
	Checked bool
	// TokenHeaders are where the token may stand, beside "Authorization: Bearer". The
	// header that held it is taken off the request.
	TokenHeaders []string
	// Hosts are names of this server beside the loopback ones, without a port.
	Hosts []string
	// Origins are pages that may ask, such as https://console.example, beside those
	// that this server serves itself.
	Origins []string
	// Open are paths that need no token, such as /healthz. Everything else is checked
	// all the same.
	Open []string

	MaxBody   int64         // 0: DefaultBody
	MaxHeader int           // 0: DefaultHeader
	BodyTime  time.Duration // 0: DefaultBodyTime

	// Rate, when set, bounds how many requests come in. It counts those that passed
	// everything else, so that a stranger without the token uses nothing up.
	Rate *Rate

	// Refuse writes a refusal; nil writes the code, the message and the hint as JSON.
	// The body of the request was not read.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, err *fault.Error)
}

// A guard is the middleware.
type guard struct {
	o     Options
	token [sha256.Size]byte
	next  http.Handler
}

// Guard puts the boundary in front of next.
func Guard(o Options, next http.Handler) (http.Handler, error) {
	if err := checkToken(o.Token); err != nil {
		return nil, err
	}
	if o.Rate != nil && (o.Rate.PerSecond <= 0 || o.Rate.Clock == nil) {
		return nil, fault.New(fault.Invalid, "boundary.rate", "the rate is %d requests a second", o.Rate.PerSecond).
			WithHint("give a whole number from 1 up, and a clock")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultBody
	}
	if o.MaxHeader <= 0 {
		o.MaxHeader = DefaultHeader
	}
	if o.BodyTime <= 0 {
		o.BodyTime = DefaultBodyTime
	}
	if o.Refuse == nil {
		o.Refuse = WriteError
	}
	return &guard{o: o, token: sha256.Sum256([]byte(o.Token)), next: next}, nil
}

func checkToken(token string) error {
	if token != "" && len(token) < MinToken {
		return fault.New(CodeShort, "boundary.token", "the token has %d characters, fewer than %d", len(token), MinToken).
			WithHint("take a long random one")
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, status, err := g.check(r)
	if err == nil && !g.o.Rate.take() {
		status, err = http.StatusTooManyRequests, g.o.Rate.refusal()
		w.Header().Set("Retry-After", "1") // a bucket fills each second
	}
	if err != nil {
		w.Header().Set("Connection", "close") // the body stays unread
		g.o.Refuse(w, r, status, err)
		return
	}
	if out.Body != nil && out.Body != http.NoBody {
		out.Body = inTime(w, http.MaxBytesReader(w, out.Body, g.o.MaxBody), g.o.BodyTime)
	}
	g.next.ServeHTTP(w, out)
}

// check gives the request that goes on, or why none does. The cheap and the general
// come first: nothing of the token is looked at for a foreign page.
func (g *guard) check(r *http.Request) (*http.Request, int, *fault.Error) {
	const op = "boundary.check"
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		return nil, http.StatusMisdirectedRequest, fault.New(CodeTarget, op, "%s %q asks to be forwarded", r.Method, r.RequestURI).
			WithHint("give this address as the base URL, not as an HTTP proxy")
	}
	if n := headerSize(r); n > g.o.MaxHeader {
		return nil, http.StatusRequestHeaderFieldsTooLarge, fault.New(CodeHeader, op, "the header has %d bytes, more than %d", n, g.o.MaxHeader)
	}
	if err := g.checkHost(r); err != nil {
		return nil, http.StatusForbidden, err
	}
	if err := g.checkOrigin(r); err != nil {
		return nil, http.StatusForbidden, err
	}
	if g.o.Token == "" && !g.o.Checked && !loopbackAddr(r.RemoteAddr) {
		return nil, http.StatusForbidden, fault.New(CodeRemote, op, "the request came from %q, and there is no token", r.RemoteAddr).
			WithHint("serve other machines only with a token")
	}
	if r.ContentLength > g.o.MaxBody {
		return nil, http.StatusRequestEntityTooLarge, TooLarge(g.o.MaxBody)
	}
	out := new(http.Request)
	*out = *r // whoever holds r sees it as it came
	if g.o.Token == "" {
		return out, 0, nil
	}
	out.Header = r.Header.Clone()
	if !g.takeToken(out.Header) && !g.open(r.URL.Path) {
		return nil, http.StatusUnauthorized, fault.New(CodeToken, op, "the token is missing or wrong").
			WithHint("send it as: %s", g.tokenPlaces())
	}
	return out, 0, nil
}

// TooLarge is the error of a body beyond the bound, also for a handler whose read of
// the body gave an *http.MaxBytesError.
func TooLarge(limit int64) *fault.Error {
	return fault.New(CodeBody, "boundary.check", "the body has more than %d bytes", limit)
}

func (g *guard) open(path string) bool {
	for _, p := range g.o.Open {
		if p == path {
			return true
		}
	}
	return false
}

// takeToken looks for the token, and takes the header that held it away: it is for
// this server and nobody behind it. All places are looked at in the same time, right
// or wrong.
func (g *guard) takeToken(h http.Header) bool {
	found := false
	for _, name := range append([]string{"Authorization"}, g.o.TokenHeaders...) {
		values := h.Values(name)
		if len(values) != 1 {
			continue // two are one too many: which of them was meant?
		}
		value := values[0]
		if scheme, rest, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Bearer") {
			value = strings.TrimSpace(rest)
		} else if name == "Authorization" {
			continue
		}
		got := sha256.Sum256([]byte(value))
		if subtle.ConstantTimeCompare(got[:], g.token[:]) == 1 {
			found = true
			h.Del(name)
		}
	}
	return found
}

func (g *guard) tokenPlaces() string {
	return strings.Join(append([]string{"Authorization: Bearer …"}, g.o.TokenHeaders...), ", ")
}

// headerSize is about what the header took on the wire.
func headerSize(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + 4
		}
	}
	return n
}

// A refusal is an error as JSON, of the shape that all skins have.
type refusal struct {
	OK      bool   `json:"ok"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// WriteError writes err as JSON.
func WriteError(w http.ResponseWriter, _ *http.Request, status int, err *fault.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusUnauthorized {
		w.Header().Set("Www-Authenticate", "Bearer")
	}
	body, cerr := canon.Marshal(refusal{Code: string(err.Code), Message: err.Error(), Hint: err.Hint})
	if cerr != nil { // a header that is no UTF-8 is in the message
		body, _ = canon.Marshal(refusal{Code: string(err.Code), Message: "the request is refused", Hint: err.Hint})
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client left
}
