package mcp

import (
	"log/slog"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/prompt"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// Options are the doors that the sessions of one studio share. Registry, Gate, Table,
// Clock, Name and Version are needed.
type Options struct {
	Registry     *tool.Registry // the same one that the gate has
	Gate         Gate
	Table        *trust.Table
	Clock        clock.Clock
	Name         string // "soundstage"
	Version      string
	Title        string
	Instructions string // what a client's model is told of the server
	// FullInstructions are those of a session with the full belt; "" are Instructions.
	FullInstructions string
	// Elsewhere says in one line where a person can do what a client could not ask
	// about; nil where there is no such place.
	Elsewhere func(tool string, input []byte) string
	// Questions keeps what is asked, for a person in another skin; nil: a client that
	// cannot ask gets GATE_NOBODY at once.
	Questions Questions
	// Where says in one line where a person can answer a question; may be nil.
	Where     func(question string) string
	Logger    *slog.Logger // nil: nothing is logged; never standard output
	Resources Resources    // nil: there are none
	Results   Results      // nil: a long result cannot be read as a resource
	Prompts   *prompt.Book // nil: there are none
}

// A Session is one client's. ID and Recorder are needed.
type Session struct {
	ID       string
	Recorder Recorder
	// Transport is the id that the client knows its session by, over HTTP; "" on stdio,
	// and over HTTP without sessions.
	Transport string
	// Record is the door that the session passes, of a seam that records; nil: it is not
	// recorded.
	Record *seam.MCPDoor
	// FullBelt lists every tool from the start, for a client that is not remembered
	// between two requests: what capability.find revealed to it would be lost.
	FullBelt bool
	// Shared says that requests of several clients may reach this server, as over HTTP
	// without sessions: no answer of a person counts for more than one call.
	Shared bool
}

// A Factory makes the servers of one studio, one for each client, that share all but
// what a client was shown and asked. It is safe for concurrent use.
type Factory struct {
	o   Options
	mcp *tool.Registry // the part of Options.Registry that this skin has

	key func() []byte // signs what clients carry; made when first needed

	mu        sync.Mutex
	described map[string]*sdk.Tool // by id, made when first listed
	watching  map[*Server]bool     // those that have subscriptions
}

// NewFactory makes a factory. It reads nothing and opens nothing. It panics when a
// door is missing.
func NewFactory(o Options) *Factory {
	switch {
	case o.Registry == nil, o.Gate == nil, o.Table == nil, o.Clock == nil:
		panic("mcp: registry, gate, table and clock are needed")
	case o.Name == "" || o.Version == "":
		panic("mcp: a server has a name and a version")
	}
	return &Factory{
		o: o, mcp: o.Registry.On(tool.MCP), described: map[string]*sdk.Tool{}, watching: map[*Server]bool{},
		key: sync.OnceValue(func() []byte { return newKey(o.Clock) }),
	}
}

// New makes the server of one session where there is no other.
func New(o Options, s Session) *Server { return NewFactory(o).Open(s) }

// Open makes the server of one client. It panics without an id or a recorder.
func (f *Factory) Open(session Session) *Server {
	if session.ID == "" || session.Recorder == nil {
		panic("mcp: a session has an id and a recorder")
	}
	left := make(chan struct{})
	s := &Server{
		o: f.o, factory: f, session: session, left: left,
		leave: sync.OnceFunc(func() { close(left) }), open: map[string]call{},
	}
	s.watch.seen, s.watch.wake = map[string]*watched{}, make(chan struct{}, 1)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: f.o.Name, Version: f.o.Version, Title: f.o.Title}, s.offers())
	for _, t := range f.mcp.All() {
		if t.Here() && (t.Exposure == tool.Direct || session.FullBelt && t.Exposure == tool.Deferred) {
			s.list(t)
		}
	}
	s.sdk.AddReceivingMiddleware(checked, s.unlisted, f.describing)
	if f.o.Resources != nil {
		s.sdk.AddReceivingMiddleware(s.current, s.resources)
	}
	if f.o.Prompts != nil {
		s.sdk.AddReceivingMiddleware(s.prompts)
	}
	s.sdk.AddReceivingMiddleware(unknown)
	s.sdk.AddReceivingMiddleware(roomy) // the outermost
	return s
}

// offers says what a client may ask this server for. What it lists is made when it is
// asked for, so that a client which lists the tools does not wait for it.
func (s *Server) offers() *sdk.ServerOptions {
	o := &sdk.ServerOptions{
		Instructions: s.instructions(), Logger: s.o.Logger, SetCacheable: private,
		GetSessionID: func() string { return s.session.Transport },
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: !s.session.FullBelt},
			//lint:ignore SA1019 the newest revision deprecates logging, and older clients use it
			Logging: logging(),
		},
	}
	if s.o.Prompts != nil {
		o.Capabilities.Prompts = &sdk.PromptCapabilities{}
	}
	if s.o.Resources != nil {
		o.Capabilities.Resources = &sdk.ResourceCapabilities{Subscribe: true}
		o.SubscribeHandler, o.UnsubscribeHandler = s.subscribe, s.unsubscribe
		o.CompletionHandler = s.complete
	}
	return o
}

// instructions are what this session's client is told: they name the belt that it has.
func (s *Server) instructions() string {
	if s.session.FullBelt && s.o.FullInstructions != "" {
		return s.o.FullInstructions
	}
	return s.o.Instructions
}
