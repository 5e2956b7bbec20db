package model

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Outside returns the transport for below a seam: it puts the user's addresses and
// keys in the place of the placeholders that [Config.Replay] leaves, and passes
// every other request on as it is. A model that is opened with Replay over a seam
// that records through Outside sends the same requests for every user, in record
// as in replay, and no key ever comes near the cassette.
func Outside(base http.RoundTripper, catalog *Catalog, access map[string]Access, c clock.Clock) http.RoundTripper {
	return &outside{base: base, places: sync.OnceValues(func() ([]place, error) {
		return places(catalog, access, c)
	})}
}

type outside struct {
	base   http.RoundTripper
	places func() ([]place, error)
}

// A place is a provider: where its placeholder points, and where it is.
type place struct {
	from, to *url.URL
	paths    *strings.Replacer
	dress    dress
	err      error // why it cannot be used
}

func places(catalog *Catalog, access map[string]Access, c clock.Clock) ([]place, error) {
	var out []place
	for name, a := range access {
		e, err := catalog.provider(name)
		if err != nil {
			return nil, err
		}
		p := place{dress: e.dress(a, c), err: a.check(e), paths: strings.NewReplacer(
			"/projects/"+placeholder+"/locations/"+vertexHome+"/", "/projects/"+a.Project+"/locations/"+a.Region+"/")}
		if e.family != familyVertex {
			p.paths = strings.NewReplacer()
		}
		if p.from, err = url.Parse(e.address(Access{})); err == nil {
			p.to, err = url.Parse(e.address(a))
		}
		if err != nil {
			p.err = cmp.Or(p.err, error(fault.Wrap(err, fault.Invalid, "model.open", "the base URL of provider %q", name)))
		}
		out = append(out, p)
	}
	return out, nil
}

// covers says whether req goes to the placeholder.
func (p place) covers(req *http.Request) bool {
	return p.from != nil && req.URL.Scheme == p.from.Scheme && req.URL.Host == p.from.Host &&
		strings.HasPrefix(req.URL.Path, strings.TrimSuffix(p.from.Path, "/")+"/")
}

// RoundTrip implements [http.RoundTripper].
func (o *outside) RoundTrip(req *http.Request) (*http.Response, error) {
	list, err := o.places()
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if !p.covers(req) {
			continue
		}
		if p.err != nil {
			return nil, p.err
		}
		out := req.Clone(req.Context())
		body, err := readBody(out)
		if err != nil {
			return nil, err
		}
		out.URL.Scheme, out.URL.Host, out.Host = p.to.Scheme, p.to.Host, ""
		out.URL.Path = p.path(out.URL.Path)
		if out.URL.RawPath != "" {
			out.URL.RawPath = p.path(out.URL.RawPath)
		}
		if err := p.dress.put(out, body); err != nil {
			return nil, err
		}
		return o.base.RoundTrip(out)
	}
	return o.base.RoundTrip(req)
}

// path moves a path from the placeholder's base to the true one.
func (p place) path(s string) string {
	rest := strings.TrimPrefix(s, strings.TrimSuffix(p.from.Path, "/"))
	return strings.TrimSuffix(p.to.Path, "/") + p.paths.Replace(rest)
}
