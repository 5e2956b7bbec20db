package boundary_test

import (
	"bytes"
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

// A client that does not read holds up no end.
func TestServeEndsWithAStuckClient(t *testing.T) {
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cork, release := boundary.Cork(r.Context())
		defer release()
		cork()
		close(stuck)
		for block := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	served := make(chan error, 1)
	go func() { served <- boundary.Serve(ctx, l, h, time.Millisecond) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server closes it
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-stuck
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A corked connection keeps what is written, and its order, until it is released.
func TestCork(t *testing.T) {
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cork, release := boundary.Cork(r.Context())
		cork()
		for _, s := range []string{"one", "two", "three"} {
			_, _ = io.WriteString(w, s)
			_ = http.NewResponseController(w).Flush()
		}
		release()
		<-seen // what was held is with the client before the handler ends
		_, _ = io.WriteString(w, "four")
	})
	served := make(chan error, 1)
	go func() { served <- boundary.Serve(ctx, l, h, time.Second) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server closes it
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for told := false; ; {
		buf := make([]byte, 1000)
		n, err := conn.Read(buf)
		got = append(got, buf[:n]...)
		if !told && bytes.Contains(got, []byte("three")) {
			close(seen)
			told = true
		}
		if err != nil {
			break
		}
	}
	const want = "\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n4\r\nfour\r\n0\r\n\r\n"
	if !bytes.HasSuffix(got, []byte(want)) {
		t.Errorf("on the wire is %q, want it to end with %q", got, want)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
