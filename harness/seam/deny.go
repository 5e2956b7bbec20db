package seam

import (
	"context"
	"net"
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// DenyDefaultTransport makes http.DefaultTransport and http.DefaultClient refuse
// every connection. It is for main and TestMain: libraries fall back to these two,
// and would leave the process beside the seam. What is put there is still an
// *http.Transport, because libraries assume so, and clones of it refuse as well.
func DenyDefaultTransport() {
	http.DefaultTransport = &http.Transport{DialContext: deny, DialTLSContext: deny}
	http.DefaultClient.Transport = http.DefaultTransport
}

func deny(_ context.Context, network, address string) (net.Conn, error) {
	return nil, fault.New(CodeDenied, "seam.deny", "connection to %s %q beside the seam", network, address).
		WithHint("take the client that was built on the seam's transport")
}
