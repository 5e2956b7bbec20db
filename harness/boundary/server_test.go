package boundary_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := boundary.Listen(t.Context(), "127.0.0.1:0", "")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	return l
}

func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "127.0.0.1", "example.com:0", "127.0.0.1:x"} {
		if l, err := boundary.Listen(t.Context(), address, ""); fault.CodeOf(err) != boundary.CodeListen {
			t.Errorf("%q: %v", address, err)
			if err == nil {
				_ = l.Close()
			}
		}
	}
}

// Serve ends when it is told to: with a stream open, and the port is free again.
func TestServeEnds(t *testing.T) {
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		close(begun)
		<-r.Context().Done()
		close(ended)
	})
	served := make(chan error, 1)
	go func() { served <- boundary.Serve(ctx, l, h, time.Millisecond) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	<-ended
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the stream ended as if it were whole")
	}
	_ = res.Body.Close()
	again, err := net.Listen("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	_ = again.Close()
}
