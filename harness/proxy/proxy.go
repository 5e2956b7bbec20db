// Package proxy serves a seam as endpoints: an agent in any language points its base
// URL here and is recorded, or replayed from a cassette.
//
// It belongs to harness, above seam, and knows nothing about agents. It speaks no
// provider's format: a request goes to the seam as it came, under the provider's own
// URL, and the answer comes back byte for byte, each recorded chunk flushed for
// itself. So a cassette that was recorded through it is one that was recorded in
// process. It keeps no key: what authorises a request reaches the upstream in a
// recording and is written nowhere. It does not guard itself: package boundary stands
// in front of it.
package proxy

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// The codes of this package.
const (
	CodePath     fault.Code = "PROXY_PATH"     // no endpoint has this path
	CodeLane     fault.Code = "PROXY_LANE"     // a lane's name that cannot be one
	CodeUpstream fault.Code = "PROXY_UPSTREAM" // an upstream that cannot be reached, or was not named
	CodeScripted fault.Code = "PROXY_SCRIPTED" // the upstream is a script, and the recording would call it live
)

// LaneHeader says which agent asks, where several share a cassette.
const LaneHeader = "X-Soundstage-Lane"

// TokenHeader is where a client gives the proxy's own token, when its Authorization
// holds the provider's key.
const TokenHeader = "X-Soundstage-Token"

// headerPrefix marks the headers that are meant for the proxy and stay here.
const headerPrefix = "X-Soundstage-"

// Options make a Proxy.
type Options struct {
	Seam      *seam.Seam
	Upstreams Upstreams // names of endpoints beside the known providers'
	// MCP leads to the true MCP server of that name, with the headers of the client that
	// authorise it; nil, or a nil Dial, where there is none. In replay it is not looked at.
	MCP func(server string, header http.Header) seam.Dial
	// Missed is told of each miss, once, in order. It may be nil.
	Missed func(*seam.Miss)
}

// A Proxy is an http.Handler over a seam. It is safe for concurrent use.
type Proxy struct {
	o   Options
	mcp *mcpFace

	mu   sync.Mutex
	told int // misses that were handed to Missed
}

var _ http.Handler = (*Proxy)(nil)

// New makes a Proxy.
func New(o Options) *Proxy { return &Proxy{o: o, mcp: newMCPFace(o)} }

// Close ends the sessions of MCP that are open. It comes before the seam's Close.
func (p *Proxy) Close() { p.mcp.close() }

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lane, path, err := laneOf(r)
	if err != nil {
		refuse(w, r.URL.Path, err)
		return
	}
	if probe(w, r, path) {
		return
	}
	if server, ok := strings.CutPrefix(path, "/mcp/"); ok {
		p.mcp.serve(w, r, strings.TrimSuffix(server, "/"), lane)
		p.tell()
		return
	}
	to, err := p.o.Upstreams.route(path, r.Header)
	if err != nil {
		refuse(w, path, err)
		return
	}
	to.RawQuery = r.URL.RawQuery
	out := outgoing(r, to, lane)
	if p.local(w, out) {
		return
	}
	res, rerr := p.o.Seam.Transport().RoundTrip(out)
	if rerr != nil {
		p.failed(w, r, to, rerr)
		return
	}
	defer res.Body.Close()
	if res.Header.Get("X-Soundstage-Code") == string(seam.CodeMiss) {
		p.tell()
	}
	copyAnswer(r.Context(), w, res)
}

// tell hands new misses on. Requests that miss at the same time do not tell the same
// miss twice.
func (p *Proxy) tell() {
	if p.o.Missed == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	misses := p.o.Seam.Misses()
	for _, m := range misses[min(p.told, len(misses)):] {
		p.o.Missed(m)
	}
	p.told = len(misses)
}

// laneName is what a lane may be called: it stands in URLs, headers and cassettes.
var laneName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// laneOf takes the lane from the path /lane/NAME/… or the header, and gives the rest of
// the path, still escaped.
func laneOf(r *http.Request) (lane, path string, _ *fault.Error) {
	path = r.URL.EscapedPath()
	lane = r.Header.Get(LaneHeader)
	if rest, ok := strings.CutPrefix(path, "/lane/"); ok {
		lane, path, _ = strings.Cut(rest, "/")
		path = "/" + path
		if lane == "" {
			lane = "?"
		}
	}
	if lane != "" && !laneName().MatchString(lane) {
		return "", "", fault.New(CodeLane, "proxy.lane", "a lane cannot be called %q", lane).
			WithHint("use up to 64 letters, digits, dots, dashes and underscores")
	}
	return lane, path, nil
}

// outgoing is the request as the seam gets it. The body is the client's own, read once
// by the seam.
func outgoing(r *http.Request, to *url.URL, lane string) *http.Request {
	ctx := r.Context()
	if lane != "" {
		ctx = seam.WithLane(ctx, lane)
	}
	out := &http.Request{
		Method: r.Method, URL: to, Host: to.Host, Header: endToEnd(r.Header), Body: r.Body, ContentLength: r.ContentLength,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if r.ContentLength == 0 {
		out.Body = nil
	}
	return out.WithContext(ctx)
}

// hopByHop headers are between two neighbours, and so not for the upstream.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

func endToEnd(h http.Header) http.Header {
	out := h.Clone()
	for _, list := range h.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		out.Del(name)
	}
	for name := range out {
		if strings.HasPrefix(name, headerPrefix) && name != LaneHeader {
			delete(out, name)
		}
	}
	return out
}
