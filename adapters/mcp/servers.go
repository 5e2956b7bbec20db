package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/server"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The codes of somebody else's server.
const (
	CodeServerStart   fault.Code = "MCP_SERVER_START"   // it could not be started, or did not greet
	CodeServerList    fault.Code = "MCP_SERVER_LIST"    // it did not say what tools it has
	CodeServerTimeout fault.Code = "MCP_SERVER_TIMEOUT" // it did not answer a call in time
	CodeServerLost    fault.Code = "MCP_SERVER_LOST"    // it ended
	CodeServerRefused fault.Code = "MCP_SERVER_REFUSED" // it answered a call with an error of the protocol
	CodeServerAsks    fault.Code = "MCP_SERVER_ASKS"    // it wants an answer before it works, and gets none
	CodeServerTool    fault.Code = "MCP_TOOL_FAILED"    // its tool says that it failed
)

// The bounds of a server.
const (
	greetTime = 30 * time.Second // to start, greet and list
	closeTime = 5 * time.Second
	maxStderr = 4 << 10 // the last bytes that are kept
)

// ServersOptions are the doors of Servers. All are needed but Clock and Login.
type ServersOptions struct {
	// Door is the way through the seam; it is asked once for each connection.
	Door func(server string) *seam.MCPDoor
	// Start runs an entry's command. In replay it is not called.
	Start func(ctx context.Context, e server.Entry, stderr io.Writer) (io.ReadWriteCloser, error)
	// HTTP is what an entry's address is asked through, below the recording: headers are
	// put on here.
	HTTP func(e server.Entry) http.RoundTripper
	// Login says who asks at an entry's address; nil: nobody in particular.
	Login func(e server.Entry) auth.OAuthHandler
	// Clock is the one that a live server is waited for by. In replay nothing is.
	Clock         clock.Clock
	Name, Version string // what we say that we are
	// OneByOne starts servers in the order of their names, so that two recordings are alike.
	OneByOne bool
}

// Servers are the MCP servers of other people that this process uses: each is started
// once, shared by all sessions, started anew when its recipe changed, and ended by
// Close. There is one Servers a process. It is safe for concurrent use.
type Servers struct {
	o ServersOptions

	mu    sync.Mutex
	peers map[string]*peer
	ended bool
}

// A State is how it stands with one server.
type State struct {
	Name    string
	Err     error     // why it has no tools; nil: it is connected
	Reached bool      // something could be said to it, and so is in a recording
	Tools   int       // that joined
	Dropped []Dropped // those that did not
	Stderr  string    // the last of what it said there, for a person
}

// A Dropped tool is one that does not join the belt.
type Dropped struct {
	Tool, Why string
}

// Joined is what the servers bring to a turn.
type Joined struct {
	Tools  []tool.Tool
	Rows   []trust.Row // one for each of Tools: tools and classes come from one place
	States []State     // by name
}

// NewServers starts nothing. It panics without a needed door.
func NewServers(o ServersOptions) *Servers {
	if o.Door == nil || o.Start == nil || o.HTTP == nil || o.Name == "" || o.Version == "" {
		panic("mcp: servers need doors, a name and a version")
	}
	return &Servers{o: o, peers: map[string]*peer{}}
}

// Sync makes the connections those of want, and gives their tools. It is called when a
// turn begins. A server that fails is a State with an error, and never an error of the
// turn; it is tried again at the next Sync.
func (s *Servers) Sync(ctx context.Context, want []server.Entry) (Joined, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return Joined{}, fault.New(fault.Invalid, "mcp.servers", "the servers were closed")
	}
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b server.Entry) int { return strings.Compare(a.Name, b.Name) })
	s.prune(ctx, want)
	states := make([]State, len(want))
	var wait sync.WaitGroup
	var mu sync.Mutex // guards s.peers
	for i, e := range want {
		work := func() {
			mu.Lock()
			l := s.peers[e.Name]
			mu.Unlock()
			l, err := s.ready(ctx, l, e)
			mu.Lock()
			defer mu.Unlock()
			states[i] = State{Name: e.Name, Err: err}
			if l != nil {
				states[i].Stderr, states[i].Reached = l.stderr.String(), l.dialed.Load()
			}
			if err == nil {
				s.peers[e.Name] = l
			} else {
				delete(s.peers, e.Name)
			}
		}
		if s.o.OneByOne {
			work()
			continue
		}
		wait.Go(work)
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return Joined{}, err
	}
	return s.join(states), nil
}

// prune ends what is not wanted any more, has another recipe, or has ended by itself.
func (s *Servers) prune(ctx context.Context, want []server.Entry) {
	for name, l := range s.peers {
		i := slices.IndexFunc(want, func(e server.Entry) bool { return e.Name == name })
		if i < 0 || l.recipe != recipe(want[i]) || l.gone() != nil {
			delete(s.peers, name)
			s.shut(ctx, l)
		} else {
			l.setTimeout(want[i].Timeout)
		}
	}
}

// ready is a peer that has its list. One that cannot be had is shut.
func (s *Servers) ready(ctx context.Context, l *peer, e server.Entry) (*peer, error) {
	fresh := l == nil
	if !fresh && !l.stale.Swap(false) {
		return l, nil
	}
	if fresh {
		l = s.newPeer(e)
	}
	code, what := CodeServerList, "list the tools"
	_, err := within(ctx, l.clock, greetTime, fault.New(CodeServerStart, "mcp.servers", "server %q did not greet and list its tools in %s", e.Name, greetTime),
		func(ctx context.Context) (struct{}, error) {
			if fresh {
				if err := l.connect(ctx, s.o); err != nil {
					code, what = CodeServerStart, "start"
					return struct{}{}, err
				}
			}
			return struct{}{}, l.list(ctx)
		})
	if err == nil {
		return l, nil
	}
	s.shut(ctx, l)
	if f := new(fault.Error); errors.As(err, &f) && f.Code == login.CodeLogin && ctx.Err() == nil {
		return l, f // without what lies around it
	}
	if u := new(url.Error); errors.As(err, &u) {
		err = u.Err // the address may hold a secret
	}
	if ctx.Err() == nil && fault.CodeOf(err) != CodeServerStart {
		err = fault.Wrap(l.why(err), code, "mcp.servers", "%s of server %q", what, e.Name).WithHint("look at it: soundstage server test %s", e.Name)
	}
	return l, err
}

// Close ends every server, and all that they started.
func (s *Servers) Close(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	var wait sync.WaitGroup
	for _, l := range s.peers {
		wait.Go(func() { s.shut(ctx, l) })
	}
	wait.Wait()
	clear(s.peers)
}

// shut ends a peer. A server over HTTP is told so, and not waited for for long.
func (s *Servers) shut(ctx context.Context, l *peer) {
	ctx = context.WithoutCancel(ctx)
	_, _ = within(ctx, l.clock, closeTime, io.EOF, func(context.Context) (struct{}, error) { return struct{}{}, l.close() })
}

// recipe tells whether a server must be started anew.
func recipe(e server.Entry) string {
	b, err := json.Marshal(struct {
		Command, Dir, URL string
		Args              []string
		Env, Headers      map[string]string
		OAuth             *server.OAuth
	}{e.Command, e.Dir, e.URL, e.Args, e.Env, e.Headers, e.OAuth})
	if err != nil {
		panic("mcp: " + err.Error()) // texts
	}
	return string(b)
}

// within calls f and waits for it no longer than d on the clock; a nil clock waits as
// long as it takes. What f does after that is its own matter: its context has ended.
func within[T any](ctx context.Context, c clock.Clock, d time.Duration, late error, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f(ctx)
		done <- result{v, err}
	}()
	if c != nil {
		go func() {
			if c.Sleep(ctx, d) == nil {
				cancel(late)
			}
		}()
	}
	var none T
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() != nil {
			return none, cmp.Or(context.Cause(ctx), r.err)
		}
		return r.v, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// A tail keeps the last of what a program says, and takes everything: a server that
// floods its stderr never waits for us.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-maxStderr):]...)
	if n := len(t.b) - maxStderr; n > 0 {
		t.b = slices.Delete(t.b, 0, n)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "\uFFFD")
}

// clientOptions are those of a client that promises nothing: no roots, no sampling, no
// questions to the person.
func (l *peer) clientOptions() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.stale.Store(true) },
	}
}

// declines answers a server that asks all the same: nobody fills in its form.
func declines(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "elicitation/create" {
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		return next(ctx, method, req)
	}
}

// errShut is why a peer that was shut answers nothing.
var errShut = errors.New("the connection was closed")
