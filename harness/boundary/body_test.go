package boundary_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A pipes is a listener whose connections are in memory, so that time in a test is not
// waited for.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return local{c}, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// local is a connection of this machine.
type local struct{ net.Conn }

func (local) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// A body that trickles in has a minute as a whole, and then its handler is told so; one
// that is there in time is answered for as long as the answer takes.
func TestABodyHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan error, 1)
		h, err := boundary.Guard(boundary.Options{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
			if err != nil {
				w.WriteHeader(http.StatusRequestTimeout)
				return
			}
			_ = clock.Real{}.Sleep(r.Context(), 10*time.Minute) // a stream that takes its time
			if r.Context().Err() == nil {
				fmt.Fprint(w, "said")
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- boundary.Serve(ctx, l, h, time.Second) }()

		begin := func(body string, size int) (net.Conn, *bufio.Reader) {
			ours, theirs := net.Pipe()
			l.conns <- theirs
			if _, err := fmt.Fprintf(ours, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size, body); err != nil {
				t.Fatal(err)
			}
			return ours, bufio.NewReader(ours)
		}
		whole, answer := begin("ab", 2)
		if err := <-read; err != nil {
			t.Errorf("a body that was there: %v", err)
		}
		res, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatalf("the answer that took long: %v", err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || string(text) != "said" {
			t.Errorf("%q, %v", text, err)
		}
		_ = whole.Close()

		now := clock.Real{}
		began := now.Now()
		slow, answer := begin("a", 1000)
		trickled := make(chan struct{})
		go func() { // a byte each ten seconds
			defer close(trickled)
			for now.Sleep(t.Context(), 10*time.Second) == nil {
				if _, err := io.WriteString(slow, "a"); err != nil {
					return
				}
			}
		}()
		if err := <-read; fault.CodeOf(err) != boundary.CodeSlow || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("a body that trickles: %v", err)
		}
		if took := now.Now().Sub(began); took != boundary.DefaultBodyTime {
			t.Errorf("it had %v", took)
		}
		if res, err := http.ReadResponse(answer, nil); err != nil || res.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%v, %v", res, err)
		}
		_ = slow.Close()
		<-trickled
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
