package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A provider is an endpoint that is known without being named.
type provider struct {
	name string
	base string // where it is in the world, and in a cassette
	// shapes are ends of paths that only this provider has, below its version.
	shapes []string
	root   string // what comes before a shape when a client leaves it out
}

var providers = []provider{
	{"anthropic", "https://api.anthropic.com", []string{"/messages", "/messages/count_tokens", "/messages/batches", "/complete"}, "/v1"},
	{"openai", "https://api.openai.com", []string{"/chat/completions", "/responses", "/responses/compact", "/completions", "/embeddings"}, "/v1"},
	{"gemini", "https://generativelanguage.googleapis.com", nil, "/v1beta"},
}

// Names are the endpoints that are always there, as the first part of a path.
func Names() []string {
	var out []string
	for _, p := range providers {
		out = append(out, p.name)
	}
	return out
}

// route is the URL under which the seam is asked for a path. The path is escaped, and
// stays so.
func (u Upstreams) route(path string, h http.Header) (*url.URL, *fault.Error) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	rest = "/" + rest
	base := ""
	if i := slices.IndexFunc(providers, func(p provider) bool { return p.name == first }); i >= 0 {
		base, path = providers[i].base, providers[i].whole(rest)
	} else if custom, ok := u.named[first]; ok {
		base, path = custom, rest
	} else if first == "https" || first == "http" {
		host, after, _ := strings.Cut(rest[1:], "/")
		base, path = first+"://"+host, "/"+after
	} else if p, ok := plain(path, h); ok {
		base, path = p.base, p.whole(path)
	} else {
		return nil, fault.New(CodePath, "proxy.route", "no endpoint has the path %q", path).
			WithHint("point the base URL at this address, or at it and one of: /%s", strings.Join(u.Names(), ", /"))
	}
	to, err := url.Parse(base + path)
	if err != nil || climbs(to.Path) || to.Host == "" || to.User != nil || to.RawQuery != "" || to.Fragment != "" {
		return nil, fault.New(CodePath, "proxy.route", "%q is no path of an endpoint", path)
	}
	return to, nil
}

// climbs reports a path that could lead out of the one that was configured: who serves
// it may take its dots for folders. It is given unescaped.
func climbs(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// whole puts the version before a path that was asked for without: some clients have
// it in their base URL, and some expect it in the proxy's.
func (p provider) whole(path string) string {
	if slices.Contains(p.shapes, path) {
		return p.root + path
	}
	return path
}

// plain finds the provider of its own path, when no endpoint was named.
func plain(path string, h http.Header) (provider, bool) {
	if strings.HasPrefix(path, "/v1beta/") || strings.HasPrefix(path, "/v1alpha/") || strings.HasPrefix(path, "/v1/models/") && strings.Contains(path, ":") {
		return providers[2], true
	}
	for _, p := range providers {
		bare := strings.TrimPrefix(path, p.root)
		for _, shape := range p.shapes {
			if bare == shape || strings.HasPrefix(bare, shape+"/") && p.root+bare == path {
				return p, true
			}
		}
	}
	switch {
	case !strings.HasPrefix(path, "/v1/"):
		return provider{}, false
	case h.Get("Anthropic-Version") != "":
		return providers[0], true
	default:
		return providers[1], true // models, files, images: most who speak /v1 speak OpenAI's
	}
}
