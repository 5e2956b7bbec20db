package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp/login"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A stream is a connection to a server over streamable HTTP. The SDK's connection
// sends and reads the answers of what is sent. The stream on which the server speaks on
// its own is opened here, and the revision is put on each request, because the SDK does
// both only for a connection that its client sees bare.
type stream struct {
	serverEnd
	endpoint string
	client   *http.Client
	login    auth.OAuthHandler // may be nil
	clock    clock.Clock
	ctx      context.Context
	cancel   context.CancelFunc

	got  chan []byte
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	asked    string // id of the handshake's request
	revision string // that the server chose; "" before
	failed   error
	barred   error // it wants to know who asks
}

// The bounds of the stream.
const (
	maxEvent   = seam.MaxMessage
	maxReopens = 5 // in a row, without an event
	reopenWait = time.Second
	openWait   = time.Second // for the first time
)

func dialStream(ctx context.Context, t sdk.StreamableClientTransport, c clock.Clock) (seam.MCPConn, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{
		endpoint: t.Endpoint, login: t.OAuthHandler, clock: c, ctx: ctx, cancel: cancel,
		got: make(chan []byte), done: make(chan struct{}),
	}
	client := *t.HTTPClient
	base, signsIn := client.Transport, t.OAuthHandler != nil
	client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		res, err := s.while(base, s.dressed(r))
		if err != nil || signsIn {
			return res, err
		}
		return allowed(t.Endpoint, res)
	})
	s.client, t.HTTPClient = &client, &client
	conn, err := t.Connect(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s.serverEnd = serverEnd{conn}
	go s.pump()
	return s, nil
}

// while does a request that ends with the stream, whatever the SDK gave it for a
// context: a server that hangs must not keep us.
func (s *stream) while(base http.RoundTripper, r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.ctx, cancel)
	end := func() { stop(); cancel() }
	res, err := base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	res.Body = closing{res.Body, end}
	return res, nil
}

// closing is a body with what is done when it is closed.
type closing struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (c closing) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}

// dressed is a request with the revision.
func (s *stream) dressed(r *http.Request) *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == "" || r.Header.Get(revisionHeader) != "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set(revisionHeader, s.revision)
	return r
}

// allowed makes an error of a server that wants to know who asks, if nobody can say: a
// recording ends there, as it does for a model's provider.
func allowed(endpoint string, res *http.Response) (*http.Response, error) {
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		res.Body.Close()
		return nil, fault.New(seam.CodeAuth, "mcp.stream", "MCP server %q answered %d", endpoint, res.StatusCode).
			WithHint("give its HTTP client what the server wants to see, or the transport an OAuth handler")
	}
	return res, nil
}

// Read implements seam.MCPConn.
func (s *stream) Read(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.got:
		return b, nil
	case <-s.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.failed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end makes Read fail.
func (s *stream) end(err error) {
	s.once.Do(func() {
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
		close(s.done)
	})
}

func (s *stream) give(b []byte) bool {
	select {
	case s.got <- b:
		return true
	case <-s.done:
		return false
	}
}

// pump hands on what the SDK's connection reads.
func (s *stream) pump() {
	for {
		b, err := s.serverEnd.Read(s.ctx)
		if err != nil {
			s.end(err)
			return
		}
		s.look(b)
		if !s.give(b) {
			return
		}
	}
}

// look finds the revision in the answer to initialize.
func (s *stream) look(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == "" {
		return
	}
	var m struct {
		ID     json.RawMessage
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
	}
	if json.Unmarshal(b, &m) == nil && string(m.ID) == s.asked {
		s.asked, s.revision = "", m.Result.ProtocolVersion
	}
}

// Write implements seam.MCPConn.
func (s *stream) Write(ctx context.Context, b []byte) error {
	m, err := jsonrpc.DecodeMessage(b)
	if err != nil {
		return err
	}
	req, _ := m.(*jsonrpc.Request)
	if req != nil && req.Method == "initialize" {
		var head struct{ ID json.RawMessage }
		if err := json.Unmarshal(b, &head); err != nil {
			return err
		}
		s.mu.Lock()
		s.asked = string(head.ID)
		s.mu.Unlock()
	}
	if err := s.stranger(req); err != nil {
		return err
	}
	if err := s.conn.Write(ctx, m); err != nil {
		return s.answered(req, err)
	}
	if req != nil && req.Method == "notifications/initialized" {
		opened := make(chan struct{})
		go s.hear(sync.OnceFunc(func() { close(opened) }))
		s.await(ctx, opened)
	}
	return nil
}

// stranger is why no other greeting is tried where the first was not let in: a server of
// the newest revision would say of the older one that it is none.
func (s *stream) stranger(req *jsonrpc.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req == nil || req.Method != "initialize" {
		return nil
	}
	return s.barred
}

// rejected is the code of the SDK's own error for what it could not send.
const rejected = -32005

// answered hands on an answer that came with a status of HTTP that is an error, which
// the SDK makes an error of sending. Else it gives err.
func (s *stream) answered(req *jsonrpc.Request, err error) error {
	if f := new(fault.Error); errors.As(err, &f) && f.Code == login.CodeLogin {
		s.mu.Lock()
		s.barred = err
		s.mu.Unlock()
		return err
	}
	wire := new(jsonrpc.Error)
	if req == nil || !req.IsCall() || !errors.As(err, &wire) || wire.Code == rejected {
		return err
	}
	b, e := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: req.ID, Error: wire})
	if e != nil || !s.give(b) {
		return err
	}
	return nil
}

// await gives the server's own stream a moment to open: what a server says on it before
// is lost. Some servers say nothing, not even that it is open, until they have a message.
func (s *stream) await(ctx context.Context, opened <-chan struct{}) {
	waiting, stop := context.WithCancel(s.ctx)
	defer stop()
	late := make(chan struct{})
	go func() {
		defer close(late)
		_ = s.clock.Sleep(waiting, openWait) // ended early: nobody waits any more
	}()
	select {
	case <-opened:
	case <-late:
	case <-ctx.Done():
	}
}

// Close implements seam.MCPConn.
func (s *stream) Close() error {
	s.end(io.EOF)
	go func() {
		if s.clock.Sleep(s.ctx, closeTime) == nil {
			s.cancel()
		}
	}()
	err := s.conn.Close() // it tells the server, so it comes before cancel
	s.cancel()
	return err
}

// hear keeps the server's own stream open, and says when it was first asked for. A
// server need not have one.
func (s *stream) hear(asked func()) {
	defer asked()
	last, wait := "", time.Duration(0)
	for tries := 0; tries <= maxReopens; tries++ {
		if err := s.clock.Sleep(s.ctx, wait); err != nil {
			return
		}
		wait = reopenWait
		res, err := s.open(last)
		asked()
		if err != nil {
			continue
		}
		kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		if res.StatusCode != http.StatusOK || kind != "text/event-stream" {
			res.Body.Close()
			if tries > 0 && res.StatusCode >= 500 {
				continue
			}
			return
		}
		err = readEvents(res.Body, maxEvent, func(e event) error {
			if tries = 0; e.id != "" {
				last = e.id
			}
			if e.retry > 0 {
				wait = min(e.retry, time.Minute)
			}
			if len(e.data) > 0 && (e.name == "" || e.name == "message") && !s.give(e.data) {
				return io.EOF
			}
			return nil
		})
		res.Body.Close()
		if fault.CodeOf(err) == fault.TooLarge {
			s.end(err)
			return
		}
	}
}

func (s *stream) open(last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.endpoint, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if id := s.conn.SessionID(); id != "" {
		req.Header.Set("Mcp-Session-Id", id)
	}
	if last != "" {
		req.Header.Set("Last-Event-Id", last)
	}
	if err := s.sign(req); err != nil {
		return nil, err
	}
	return s.client.Do(req)
}

// sign says who asks. Nobody is asked for it here: the next call does that.
func (s *stream) sign(req *http.Request) error {
	if s.login == nil {
		return nil
	}
	tokens, err := s.login.TokenSource(s.ctx)
	if err != nil || tokens == nil {
		return err
	}
	if t, err := tokens.Token(); err != nil {
		return err
	} else if t != nil {
		req.Header.Set("Authorization", "Bearer "+t.AccessToken)
	}
	return nil
}

// An event is one of a stream of server-sent events.
type event struct {
	name, id string
	data     []byte
	retry    time.Duration
}

// readEvents calls f for each event until the stream ends or f fails. An event has at
// most size bytes.
func readEvents(r io.Reader, size int, f func(event) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var e event
	for used := 0; ; {
		line, err := readLine(in, size)
		if used += len(line) + 1; used > size {
			return fault.New(fault.TooLarge, "mcp.stream", "an event of the server has more than %d bytes", size)
		}
		switch {
		case err != nil:
			return err // what was not ended by an empty line is no event
		case len(line) == 0:
			e.data = bytes.TrimSuffix(e.data, []byte("\n"))
			if err := f(e); err != nil {
				return err
			}
			e, used = event{}, 0
		default:
			e.field(line)
		}
	}
}

func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		e.data = append(append(e.data, value...), '\n')
	case "id":
		e.id = string(value)
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms > 0 {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// readLine is one line without its end, cut at size+1 bytes.
func readLine(in *bufio.Reader, size int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > size {
			return line[:size+1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}
