// Package endpoint serves MCP over streamable HTTP at one path, to many clients.
//
// It is part of the MCP adapter, between harness/boundary, which decides who comes in,
// and a server for each session, which somebody else makes. It keeps the sessions:
// their number, their age, and their end. It knows no tools, and encrypts nothing.
//
// # Two protocols at one address
//
// A client that speaks a revision up to 2025-11-25 begins with initialize and gets a
// session with an id that nobody can guess; a server of its own answers it until it
// says DELETE or has been quiet for long. From 2026-07-28 on there are no sessions: each
// request stands alone, and its header says the revision. Those are answered by one
// server for all requests of a user, since a question that the gate asked is answered
// by the next request.
//
// # GET
//
// GET opens the stream of a session that there is. It begins none and changes nothing.
package endpoint

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// Path is where the endpoint is.
const Path = "/mcp"

// sessionless is the first revision without sessions.
const sessionless = "2026-07-28"

// The headers that say what a request belongs to.
const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
	methodHeader   = "Mcp-Method"
)

// The bounds where Options say nothing.
const (
	DefaultSessions = 64
	DefaultCalls    = 256
	DefaultIdle     = 30 * time.Minute
	DefaultBody     = 8 << 20 // bytes of a request's body, as of a line on stdio

	// settled is how long a session was quiet that may make room for another.
	settled = time.Minute
)

// A Visitor is who a session is for.
type Visitor struct {
	ID   string // of the MCP session; "" without sessions
	User string // whom the token names; "" where no token names anybody
}

// A Session is what a visitor talks to.
type Session struct {
	// Server answers this visitor only. Its GetSessionID must give the visitor's ID.
	Server *sdk.Server
	// Leave is called when nobody will answer questions any more; nil: nothing asks.
	Leave func()
	// Close is called after the last call; nil: there is nothing to close.
	Close func() error
}

// Options are the doors and bounds of an Endpoint. Open and Clock are needed.
type Options struct {
	// Open makes the session of a visitor. It is not called side by side.
	Open  func(ctx context.Context, v Visitor) (Session, error)
	Clock clock.Clock
	// OAuth, when set, says whose tokens let a request in; Serve looks at them.
	OAuth *OAuth
	// Secret makes the ids of sessions; nil: clock.Secret.
	Secret func() string

	MaxSessions int           // 0: DefaultSessions
	MaxCalls    int           // requests under way at once, streams too; 0: DefaultCalls
	Idle        time.Duration // how long a session may be quiet; 0: DefaultIdle
	MaxBody     int64         // 0: DefaultBody
}

// An Endpoint is an http.Handler. It is safe for concurrent use.
type Endpoint struct {
	o         Options
	stateful  http.Handler
	stateless http.Handler

	mu       sync.Mutex
	sessions map[string]*visit // by session id, or by userKey
	running  int
	begun    int // sessions, ever
	came     int // requests, ever
	closing  bool
	streams  context.Context // ends when the endpoint drains
	drain    context.CancelFunc
	ending   sync.WaitGroup
	failed   error // of the first session that did not close
}

// New makes an endpoint, which lives at most as long as ctx. It opens nothing.
func New(ctx context.Context, o Options) *Endpoint {
	if o.Open == nil || o.Clock == nil {
		panic("endpoint: open and clock are needed")
	}
	if o.Secret == nil {
		o.Secret = clock.Secret
	}
	o.MaxSessions, o.MaxCalls = either(o.MaxSessions, DefaultSessions), either(o.MaxCalls, DefaultCalls)
	o.Idle, o.MaxBody = either(o.Idle, DefaultIdle), either(o.MaxBody, DefaultBody)
	e := &Endpoint{o: o, sessions: map[string]*visit{}}
	e.streams, e.drain = context.WithCancel(context.WithoutCancel(ctx))
	// The SDK asks for a server at every request, and only a new session gets ours.
	none := sdk.NewServer(&sdk.Implementation{Name: "none", Version: "0"}, nil)
	server := func(r *http.Request) *sdk.Server {
		if v, ok := r.Context().Value(visitKey{}).(*visit); ok {
			return v.Server
		}
		return none
	}
	common := sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes:        o.MaxBody,
		DisableLocalhostProtection: true, // the boundary looks at Host, and knows more names
	}
	kept, alone := common, common
	kept.EventStore = newEvents()
	alone.Stateless, alone.PropagateRequestCancellation = true, true
	e.stateful = sdk.NewStreamableHTTPHandler(server, &kept)
	e.stateless = sdk.NewStreamableHTTPHandler(server, &alone)
	return e
}

func either[T int | int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// visitKey is the key of the visit that a request belongs to.
type visitKey struct{}

// ServeHTTP implements http.Handler.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != Path {
		refuse(w, http.StatusNotFound, errNoPath(r.URL.Path))
		return
	}
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, errMethod(r.Method))
		return
	}
	if err := e.enter(); err != nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	defer e.leave()
	if r.Method == http.MethodPost && !e.fits(w, r) {
		return
	}
	if r.Header.Get(revisionHeader) >= sessionless {
		e.alone(w, r)
		return
	}
	if id := r.Header.Get(sessionHeader); id != "" {
		e.goOn(w, r, id)
		return
	}
	e.begin(w, r)
}

// enter counts a request, and finds the sessions that were quiet for too long.
func (e *Endpoint) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return errClosing()
	case e.running >= e.o.MaxCalls:
		return errBusy(e.o.MaxCalls)
	}
	e.running++
	e.came++
	e.sweep()
	return nil
}

// Served is how many sessions and requests there were so far.
func (e *Endpoint) Served() (sessions, requests int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begun, e.came
}

func (e *Endpoint) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
}

// alone answers a request that belongs to no session.
func (e *Endpoint) alone(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost { // there is nothing to open or to end
		w.Header().Set("Allow", "POST")
		refuse(w, http.StatusMethodNotAllowed, errMethod(r.Method))
		return
	}
	user := userOf(r)
	v, err := e.admit(r.Context(), userKey(user), Visitor{User: user})
	if err != nil {
		refuseNew(w, err)
		return
	}
	defer e.rest(v)
	if r.Header.Get(methodHeader) == "subscriptions/listen" {
		var stop context.CancelFunc
		r, stop = e.stream(r)
		defer stop()
	}
	serve(e.stateless, w, with(r, v))
}

// begin answers a request that names no session: initialize, or a mistake.
func (e *Endpoint) begin(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuse(w, http.StatusBadRequest, errNoSession("%s names no session", r.Method))
		return
	}
	body, err := e.read(w, r)
	if err != nil {
		return // the client left
	}
	first, err := peek(body)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, err)
		return
	case first.revision: // the SDK says which header is missing
		e.alone(w, r)
		return
	case !first.initialize:
		refuse(w, http.StatusBadRequest, errNoSession("%q came before initialize", first.method))
		return
	}
	id := e.o.Secret()
	v, err := e.admit(r.Context(), id, Visitor{ID: id, User: userOf(r)})
	if err != nil {
		refuseNew(w, err)
		return
	}
	serve(e.stateful, w, with(r, v))
	e.rest(v)
	if !v.begun() {
		e.end(id, v)
	}
}

// goOn answers a request of a session.
func (e *Endpoint) goOn(w http.ResponseWriter, r *http.Request, id string) {
	v := e.find(id, userOf(r))
	if v == nil {
		refuse(w, http.StatusNotFound, errNoSession("there is no session %q", clip(id)))
		return
	}
	defer e.rest(v)
	switch r.Method {
	case http.MethodDelete: // its calls end in their own time
		e.end(id, v)
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodGet:
		var stop context.CancelFunc
		r, stop = e.stream(r)
		defer stop()
	}
	serve(e.stateful, w, with(r, v))
}

// stream is a request whose answer waits for things to happen: it ends when the
// endpoint drains.
func (e *Endpoint) stream(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(e.streams, cancel)
	return r.WithContext(ctx), func() { stop(); cancel() }
}

func with(r *http.Request, v *visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// userOf is whom the request's token names.
func userOf(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return info.UserID
	}
	return ""
}
