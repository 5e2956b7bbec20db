package seam

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Denied is the attempts to leave the process beside the seam.
type Denied struct {
	mu       sync.Mutex
	lines    map[string]string // by address: who asked for it last
	attempts []string
}

// The bounds of what is remembered of attempts.
const (
	maxDenied = 64
	maxLines  = 1024
)

// DenyDefaultTransport makes http.DefaultTransport and http.DefaultClient refuse
// every connection. It is for main and TestMain: libraries fall back to these two,
// and would leave the process beside the seam. What is put there is still an
// *http.Transport, because libraries assume so, and clones of it refuse as well. An
// attempt is an error that names the line that made it. What dials without net/http,
// or through a transport of its own making, is not seen.
//
// A TestMain hands its status through Exit, so that an attempt fails the tests also
// where the code under test swallowed the error:
//
//	denied := seam.DenyDefaultTransport()
//	os.Exit(denied.Exit(m.Run(), os.Stderr))
func DenyDefaultTransport() *Denied {
	d := &Denied{lines: map[string]string{}}
	http.DefaultTransport = &http.Transport{Proxy: d.asked, DialContext: d.deny, DialTLSContext: d.deny}
	http.DefaultClient.Transport = http.DefaultTransport
	return d
}

// Attempts are what was refused so far, a line each; at most a few dozen.
func (d *Denied) Attempts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.attempts)
}

// Exit is the status of a test binary: code, or 1 where something was refused, of which
// it then tells w.
func (d *Denied) Exit(code int, w io.Writer) int {
	attempts := d.Attempts()
	if len(attempts) == 0 {
		return code
	}
	for _, a := range attempts {
		fmt.Fprintf(w, "%s: %s\n", CodeDenied, a)
	}
	return max(code, 1)
}

// asked notes who makes a request: a proxy is looked for on the goroutine of the
// caller, and connections are made on others. There never is a proxy.
func (d *Denied) asked(req *http.Request) (*url.URL, error) {
	line := caller()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.lines) < maxLines {
		d.lines[addressOf(req.URL)] = line
	}
	return nil, nil //nolint:nilnil // no proxy is what net/http takes nil for
}

func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (d *Denied) deny(_ context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	line := d.lines[address]
	text := fmt.Sprintf("connection to %s %q beside the seam", network, address)
	if line != "" {
		text += ", by " + line
	}
	if len(d.attempts) < maxDenied {
		d.attempts = append(d.attempts, text)
	}
	d.mu.Unlock()
	return nil, fault.New(CodeDenied, "seam.deny", "%s", text).
		WithHint("take the client that was built on the seam's transport")
}

// caller is the first line of the stack that is neither the standard library's nor this
// package's, and the first of another package below it: who asked that one.
func caller() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	root, first, last := "", "", ""
	for {
		f, more := frames.Next()
		if at, ok := strings.CutSuffix(dirOf(f.File), "/net/http"); ok && root == "" {
			root = at + "/"
		}
		pkg := packageOf(f.Function)
		if pkg != "" && pkg != seamPath && !isStandard(pkg, f.File, root) {
			line := fmt.Sprintf("%s:%d (%s)", f.File, f.Line, f.Function)
			if first != "" && pkg != last {
				return first + ", called from " + line
			}
			if first == "" {
				first, last = line, pkg
			}
		}
		if !more {
			return first
		}
	}
}

const seamPath = "github.com/soundstage-dev/soundstage/harness/seam"

// isStandard tells the standard library by the folder that net/http was seen in; where
// the binary was built without folders, by a package path without a dot.
func isStandard(pkg, file, root string) bool {
	if strings.HasPrefix(root, "/") || strings.Contains(root, ":") {
		return strings.HasPrefix(file, root)
	}
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".") && first != "main"
}

// packageOf is the path of a function's package: a/b.c in a/b%2ec.(*T).F.
func packageOf(function string) string {
	at := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[at:], ".")
	return function[:at] + name
}

func dirOf(file string) string { return file[:max(0, strings.LastIndexByte(file, '/'))] }
