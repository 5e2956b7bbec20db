package model

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// What never left costs nothing; what may have arrived is not known to be free.
func TestARequestThatNeverLeftUsedNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		free bool
	}{
		"refused":   {&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, true},
		"no name":   {&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.invalid"}}, true},
		"reset":     {&net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset")}, false},
		"cut":       {io.ErrUnexpectedEOF, false},
		"something": {errors.New("something"), false},
	} {
		p, err := Open(t.Context(), "anthropic/claude-sonnet-4-5", settings(roundTrip(func(*http.Request) (*http.Response, error) { return nil, tt.err })))
		if err != nil {
			t.Fatal(err)
		}
		o := collect(t.Context(), p, hello())
		if fault.CodeOf(o.err) != port.CodeBusy || strings.Contains(o.err.Error(), "HTTP") {
			t.Errorf("%s: %v", name, o.err)
		}
		e, ok := errors.AsType[*port.HTTPError](o.err)
		if free := ok && e.Partial.State == port.None; free != tt.free {
			t.Errorf("%s: free is %t, want %t: %v", name, free, tt.free, o.err)
		}
	}
}
