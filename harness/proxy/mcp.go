package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// CodeSession is an MCP session that there is not, or one too many.
const CodeSession fault.Code = "PROXY_SESSION"

// The bounds of the MCP endpoints.
const (
	maxSessions = 256
	maxHeld     = 1000 // messages of a server that nobody takes
)

const sessionHeader = "Mcp-Session-Id"

// An mcpFace serves the seam's doors to MCP servers as streamable HTTP: /mcp/NAME. A
// client that initializes has a session, which is one connection of its door; one of the
// newer revision, which has no sessions, has a connection a request.
type mcpFace struct {
	o Options

	mu       sync.Mutex
	doors    map[string]*seam.MCPDoor
	sessions map[string]*mcpSession
	last     int // session given out
	closed   bool
}

func newMCPFace(o Options) *mcpFace {
	return &mcpFace{o: o, doors: map[string]*seam.MCPDoor{}, sessions: map[string]*mcpSession{}}
}

// An envelope is what a message must have to be handed on.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// serve answers one request of a client to the server of that name.
func (f *mcpFace) serve(w http.ResponseWriter, r *http.Request, name, lane string) {
	ctx := r.Context()
	if lane != "" {
		ctx = seam.WithLane(ctx, lane)
	}
	switch r.Method {
	case http.MethodPost:
		f.post(ctx, w, r, name)
	case http.MethodGet:
		if s := f.find(r.Header.Get(sessionHeader)); s != nil {
			s.listen(ctx, w)
			return
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	case http.MethodDelete:
		f.end(r.Header.Get(sessionHeader))
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (f *mcpFace) post(ctx context.Context, w http.ResponseWriter, r *http.Request, name string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, seam.MaxMessage))
	if err != nil {
		e := fault.Wrap(err, fault.Invalid, "proxy.mcp", "read a message")
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			e = boundary.TooLarge(tooLarge.Limit)
		}
		rpcError(w, http.StatusBadRequest, nil, e)
		return
	}
	var m envelope
	if err := json.Unmarshal(body, &m); err != nil {
		rpcError(w, http.StatusBadRequest, nil, fault.Wrap(err, fault.Invalid, "proxy.mcp", "the body is not one JSON-RPC message"))
		return
	}
	id, ferr := idOf(m.ID)
	if ferr != nil {
		rpcError(w, http.StatusBadRequest, nil, ferr)
		return
	}
	s, done, ferr := f.session(ctx, w, r, name, m)
	if ferr != nil {
		status := http.StatusBadRequest
		if ferr.Code == CodeSession {
			status = http.StatusNotFound // a client begins anew then
		}
		rpcError(w, status, m.ID, ferr)
		return
	}
	defer done()
	if m.Method == "" || m.ID == nil {
		if err := s.conn.Write(ctx, body); err != nil {
			rpcError(w, http.StatusBadRequest, nil, asFault(err))
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	wait := s.expect(id)
	defer s.forget(wait)
	if err := s.conn.Write(ctx, body); err != nil {
		rpcError(w, http.StatusOK, m.ID, asFault(err))
		return
	}
	s.answer(ctx, w, wait, m.ID)
}

// maxID is the largest whole number that every reader of JSON takes as it is.
const maxID = 1 << 53

// idOf is an id without the ways of spelling it: whoever it passes through on its way may
// spell it anew, and an answer that is not known again is waited for for ever. It is ""
// where there is none.
func idOf(raw json.RawMessage) (string, *fault.Error) {
	if raw == nil {
		return "", nil
	}
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return "text " + text, nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n <= maxID && n >= -maxID && strconv.FormatInt(n, 10) == string(raw) {
		return string(raw), nil
	}
	return "", fault.New(fault.Invalid, "proxy.mcp", "the id %.80q is neither a text nor a whole number up to 2^53", raw).
		WithHint("count requests from 1")
}

// session is the connection of a request, and what ends it with the request.
func (f *mcpFace) session(ctx context.Context, w http.ResponseWriter, r *http.Request, name string, m envelope) (*mcpSession, func(), *fault.Error) {
	if id := r.Header.Get(sessionHeader); id != "" {
		if s := f.find(id); s != nil && s.server == name {
			return s, func() {}, nil
		}
		return nil, nil, fault.New(CodeSession, "proxy.mcp", "there is no session %q with %q", id, name).WithHint("initialize anew")
	}
	door, err := f.door(name)
	if err != nil {
		return nil, nil, err
	}
	var dial seam.Dial
	if f.o.MCP != nil && door.Live() {
		dial = f.o.MCP(name, endToEnd(r.Header))
	}
	if door.Live() && dial == nil {
		return nil, nil, fault.New(CodeUpstream, "proxy.mcp", "MCP server %q has no upstream", name).WithHint("name it: --upstream mcp/%s=URL", name)
	}
	conn, cerr := door.Connect(ctx, dial)
	if cerr != nil {
		return nil, nil, asFault(cerr)
	}
	s := newMCPSession(ctx, name, conn)
	if m.Method != "initialize" {
		return s, s.close, nil
	}
	id, err := f.keep(s)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	w.Header().Set(sessionHeader, id)
	return s, func() {}, nil
}

func (f *mcpFace) door(name string) (*seam.MCPDoor, *fault.Error) {
	if !laneName().MatchString(name) {
		return nil, fault.New(CodePath, "proxy.mcp", "an MCP server cannot be called %q", name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.doors[name] == nil {
		if len(f.doors) == maxSessions {
			return nil, fault.New(CodeSession, "proxy.mcp", "there are %d MCP servers already", maxSessions)
		}
		f.doors[name] = f.o.Seam.MCP(name)
	}
	return f.doors[name], nil
}

func (f *mcpFace) keep(s *mcpSession) (string, *fault.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) == maxSessions || f.closed {
		return "", fault.New(CodeSession, "proxy.mcp", "%d sessions are open: no more are", len(f.sessions)).WithHint("end some with DELETE")
	}
	f.last++
	id := "mcp-" + strconv.Itoa(f.last)
	f.sessions[id] = s
	return id, nil
}

func (f *mcpFace) find(id string) *mcpSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[id]
}

func (f *mcpFace) end(id string) {
	f.mu.Lock()
	s := f.sessions[id]
	delete(f.sessions, id)
	f.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// close ends all sessions, so that a recording has what they hold.
func (f *mcpFace) close() {
	f.mu.Lock()
	f.closed = true
	open := f.sessions
	f.sessions = map[string]*mcpSession{}
	f.mu.Unlock()
	for _, s := range open {
		s.close()
	}
}

func asFault(err error) *fault.Error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	return fault.Wrap(err, CodeUpstream, "proxy.mcp", "the connection")
}

// rpcError answers with an error of JSON-RPC.
func rpcError(w http.ResponseWriter, status int, id json.RawMessage, err *fault.Error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	type rpc struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	out := rpc{Version: "2.0", ID: id}
	out.Error.Code, out.Error.Message = -32600, string(err.Code)+": "+err.Error()
	body, merr := json.Marshal(out)
	if merr != nil { // an id that is no JSON cannot have come so far
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message cannot be read"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Soundstage-Code", string(err.Code))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client left
}

// An mcpSession is one connection, and who waits for what comes on it.
type mcpSession struct {
	server string
	conn   seam.MCPConn
	ended  chan struct{} // nothing more is read

	mu    sync.Mutex
	waits []*mcpWait
	held  [][]byte // what the server sent while nobody listened
}

// An mcpWait is a request that is open, or a GET with the id "".
type mcpWait struct {
	id   string
	out  chan []byte
	gone chan struct{}
}

func newMCPSession(ctx context.Context, server string, conn seam.MCPConn) *mcpSession {
	s := &mcpSession{server: server, conn: conn, ended: make(chan struct{})}
	go s.read(context.WithoutCancel(ctx)) // it outlives the request that opened it
	return s
}

// read hands on what comes, until the connection is closed.
func (s *mcpSession) read(ctx context.Context) {
	defer close(s.ended)
	for {
		b, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		s.dispatch(b)
	}
}

// dispatch gives an answer to its request, and what else the server says to the oldest
// request that is open: it is what caused it, most likely.
func (s *mcpSession) dispatch(b []byte) {
	var m envelope
	_ = json.Unmarshal(b, &m) // the door gives none that is not
	id, _ := idOf(m.ID)       // one that no request can have is nobody's
	s.mu.Lock()
	at := -1
	if m.Method == "" {
		at = slices.IndexFunc(s.waits, func(w *mcpWait) bool { return w.id != "" && w.id == id })
	} else if len(s.waits) > 0 {
		at = 0
	}
	if at < 0 {
		if m.Method != "" && len(s.held) < maxHeld {
			s.held = append(s.held, b)
		}
		s.mu.Unlock()
		return
	}
	w := s.waits[at]
	s.mu.Unlock()
	select {
	case w.out <- b:
	case <-w.gone:
	}
}

// expect adds a waiter. What was held comes to it first.
func (s *mcpSession) expect(id string) *mcpWait {
	w := &mcpWait{id: id, gone: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.out = make(chan []byte, len(s.held)+16)
	for _, b := range s.held {
		w.out <- b
	}
	s.held = nil
	s.waits = append(s.waits, w)
	return w
}

func (s *mcpSession) forget(w *mcpWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = slices.DeleteFunc(s.waits, func(o *mcpWait) bool { return o == w })
	close(w.gone)
}

// answer sends what comes for a request: alone it is JSON, else a stream that ends with
// the answer.
func (s *mcpSession) answer(ctx context.Context, w http.ResponseWriter, wait *mcpWait, asked json.RawMessage) {
	events := eventWriter{w: w}
	for {
		b, ok := s.next(ctx, wait)
		if !ok {
			break
		}
		var m envelope
		last := json.Unmarshal(b, &m) == nil && m.Method == ""
		if id, _ := idOf(m.ID); id != wait.id {
			last = false
		}
		if last && !events.begun {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(b) // the client left
			return
		}
		events.write(b)
		if last {
			return
		}
	}
	if !events.begun {
		rpcError(w, http.StatusOK, asked, fault.New(CodeUpstream, "proxy.mcp", "the server of %q ended without an answer", s.server))
	}
}

// listen streams what the server sends by itself, until the client leaves.
func (s *mcpSession) listen(ctx context.Context, w http.ResponseWriter) {
	wait := s.expect("")
	defer s.forget(wait)
	events := eventWriter{w: w}
	events.begin()
	for {
		b, ok := s.next(ctx, wait)
		if !ok {
			return
		}
		events.write(b)
	}
}

func (s *mcpSession) next(ctx context.Context, wait *mcpWait) ([]byte, bool) {
	select {
	case b := <-wait.out:
		return b, true
	case <-ctx.Done():
		return nil, false
	case <-s.ended:
	}
	select {
	case b := <-wait.out: // both were ready
		return b, true
	default:
		return nil, false
	}
}

func (s *mcpSession) close() {
	_ = s.conn.Close() // what it held is with the seam
	<-s.ended
}

// An eventWriter sends messages as server-sent events.
type eventWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (e *eventWriter) begin() {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.Header().Set("Cache-Control", "no-cache")
		e.w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(e.w).Flush() // a recorder in a test may not flush
	}
}

func (e *eventWriter) write(message []byte) {
	e.begin()
	_, _ = io.WriteString(e.w, "event: message\ndata: "+strings.ReplaceAll(string(message), "\n", " ")+"\n\n")
	_ = http.NewResponseController(e.w).Flush()
}
