package boundary

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// checkHost refuses a name that is not this server's. It is compared as text: what a
// name resolves to is just what an attacker sets.
func (g *guard) checkHost(r *http.Request) *fault.Error {
	name, ok := hostName(r.Host)
	if ok && (Loopback(name) || slices.ContainsFunc(g.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })) {
		return nil
	}
	return fault.New(CodeHost, "boundary.check", "host %q is no name of this server", r.Host).
		WithHint("ask 127.0.0.1 or localhost, or allow the name")
}

// checkOrigin refuses pages of other sites. Only browsers send these headers, and a
// page cannot leave them out.
func (g *guard) checkOrigin(r *http.Request) *fault.Error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		switch site := r.Header.Get("Sec-Fetch-Site"); site {
		case "", "same-origin", "none":
			return nil
		default:
			return foreign("a page", site)
		}
	}
	if len(origins) == 1 && (g.allowed(origins[0]) || ownOrigin(origins[0], r.Host)) {
		return nil
	}
	return foreign("origin", strings.Join(origins, ", "))
}

func foreign(what, value string) *fault.Error {
	return fault.New(CodeOrigin, "boundary.check", "%s %q is not of this server", what, value).
		WithHint("if that page may ask, allow its origin")
}

func (g *guard) allowed(origin string) bool {
	return slices.ContainsFunc(g.o.Origins, func(o string) bool { return strings.EqualFold(o, origin) })
}

// ownOrigin reports whether a page of this server asks: same name, same port. Host
// was checked before, so that both being evil.example does not come to pass.
func ownOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(origin, "#") || strings.HasSuffix(origin, "?") {
		return false
	}
	return u.Host != "" && strings.EqualFold(withPort(u.Host, u.Scheme), withPort(host, u.Scheme))
}

func withPort(host, scheme string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return host + port
}

// hostName is the name in a Host header, without the port. It is strict: what a
// browser would not send is no name.
func hostName(host string) (string, bool) {
	name, port := host, ""
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return "", false
		}
		name, port = host[1:end], host[end+1:]
		if a, err := netip.ParseAddr(name); err != nil || !a.Is6() || a.Zone() != "" {
			return "", false
		}
	} else if i := strings.IndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	if port != "" {
		if n, err := strconv.ParseUint(strings.TrimPrefix(port, ":"), 10, 16); err != nil || n == 0 || port[0] != ':' {
			return "", false
		}
	}
	return name, name != "" && !strings.ContainsAny(name, "/@?#%\\ \t")
}

// Loopback reports whether a host name, without a port, is this machine's own. A name
// that only begins or ends like one is not.
func Loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}

// loopbackAddr reports whether a peer's address is on this machine.
func loopbackAddr(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}
