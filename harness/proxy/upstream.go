package proxy

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Upstreams are where requests go in the world. The zero value sends them to the
// providers themselves.
type Upstreams struct {
	all   *url.URL            // instead of every known provider
	known map[string]*url.URL // instead of one of them
	mcp   map[string]string   // MCP servers
	named map[string]string   // endpoints beside them: their URL is also the recorded one
}

var upstreamName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`) })

// reserved are first parts of paths that mean something else.
var reserved = []string{"lane", "http", "https", "mcp", "api", "v1", "v1beta", "v1alpha", "messages", "responses", "chat", "completions", "embeddings", "complete", "healthz"}

// all stands for the name that is left out: no name can be spelled so.
const all = "/"

// ParseUpstreams reads NAME=URL, mcp/NAME=URL, or URL for all known providers.
func ParseUpstreams(specs []string) (Upstreams, error) {
	u := Upstreams{known: map[string]*url.URL{}, named: map[string]string{}, mcp: map[string]string{}}
	for _, spec := range specs {
		name, raw, named := strings.Cut(spec, "=")
		server, isMCP := strings.CutPrefix(name, "mcp/")
		if !named || strings.Contains(name, "/") && !isMCP { // a URL may hold a =
			name, raw = all, spec
		}
		base, err := url.Parse(strings.TrimRight(raw, "/"))
		if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
			return u, fault.New(fault.Invalid, "proxy.upstream", "upstream %q is no http URL without credentials and query", shown(spec, base)).
				WithHint("write NAME=https://host/path, or a URL alone for all providers; keys come with the requests")
		}
		switch {
		case name == all:
			u.all = base
		case isMCP && laneName().MatchString(server):
			u.mcp[server] = base.String()
		case slices.Contains(Names(), name):
			u.known[name] = base
		case !upstreamName().MatchString(name) || slices.Contains(reserved, name):
			return u, fault.New(fault.Invalid, "proxy.upstream", "an upstream cannot be called %q", name).
				WithHint("use %s, or a name of your own in small letters", strings.Join(Names(), ", "))
		default:
			u.named[name] = base.String()
		}
	}
	return u, nil
}

// shown is what a person gave, without the credentials that it should not hold.
func shown(spec string, base *url.URL) string {
	if base == nil || base.User == nil && base.RawQuery == "" {
		return spec
	}
	return base.Scheme + "://…@" + base.Host
}

// MCP is where the MCP server of that name is in the world; "" where none was named.
func (u Upstreams) MCP(name string) string { return u.mcp[name] }

// Names are all endpoints, as the first part of a path.
func (u Upstreams) Names() []string {
	return append(Names(), slices.Sorted(maps.Keys(u.named))...)
}

// A redirect sends requests for a provider to where they go in the world. A request
// for anybody else ends here: the proxy is no way to just any host.
type redirect struct {
	u        Upstreams
	scripted bool // the recording says that its answers are scripted
	below    http.RoundTripper
}

// Transport puts the upstreams below a seam. With scripted unset, an answer that says
// it is a script's is refused: it would be recorded as a provider's.
func (u Upstreams) Transport(below http.RoundTripper, scripted bool) http.RoundTripper {
	return &redirect{u: u, scripted: scripted, below: below}
}

// OriginHeader is by which an upstream says that a script speaks.
const OriginHeader = "X-Soundstage-Origin"

// RoundTrip implements http.RoundTripper.
func (d *redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	to, err := d.target(req.URL)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = to, to.Host
	if !boundary.Loopback(to.Hostname()) {
		out.Header.Del(LaneHeader) // no business of a provider's
	}
	res, rerr := d.below.RoundTrip(out)
	if rerr != nil {
		return nil, rerr
	}
	if res.Header.Get(OriginHeader) != "" && !d.scripted {
		_ = res.Body.Close()
		return nil, fault.New(CodeScripted, "proxy.upstream", "the upstream %q is a script, and this recording would call its answers live", to.Host).
			WithHint("record with --origin scripted")
	}
	return res, nil
}

// target is where a provider's URL leads.
func (d *redirect) target(from *url.URL) (*url.URL, error) {
	base := from.Scheme + "://" + from.Host
	for _, p := range providers {
		if p.base != base {
			continue
		}
		to := d.u.known[p.name]
		if to == nil {
			to = d.u.all
		}
		if to == nil {
			return from, nil
		}
		out := *from
		out.Scheme, out.Host = to.Scheme, to.Host
		out.Path = strings.TrimRight(to.Path, "/") + from.Path
		if from.RawPath != "" || to.RawPath != "" {
			out.RawPath = strings.TrimRight(to.EscapedPath(), "/") + from.EscapedPath()
		}
		return &out, nil
	}
	for _, named := range d.u.named {
		if from.String() == named || strings.HasPrefix(from.String(), named+"/") {
			return from, nil
		}
	}
	return nil, fault.New(CodeUpstream, "proxy.upstream", "%q is no upstream of this recording", base).
		WithHint("name it: --upstream NAME=%s", base)
}
