package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func get(t *testing.T, ctx context.Context, h http.HandlerFunc, body string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.example.com/v1/x?q=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return upstream.NewTransport(h).RoundTrip(req)
}

func TestTransportGivesChunksAsTheyAreFlushed(t *testing.T) {
	next := make(chan struct{})
	res, err := get(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Saw", r.Host+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+string(body))
		w.WriteHeader(201)
		w.Header().Set("X-Late", "1")
		w.(http.Flusher).Flush()
		for _, c := range []string{"one", "two"} {
			<-next
			_, _ = io.WriteString(w, c[:1])
			_, _ = io.WriteString(w, c[1:])
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "rest")
	}, "hello")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Header.Get("X-Saw"), "api.example.com /v1/x?q=1 hello"; got != want || res.StatusCode != 201 || res.Header.Get("X-Late") != "" {
		t.Errorf("status %d, header %v", res.StatusCode, res.Header)
	}
	buf := make([]byte, 100)
	for _, want := range []string{"one", "two", "rest"} {
		if want != "rest" {
			next <- struct{}{}
		}
		n, err := res.Body.Read(buf)
		if string(buf[:n]) != want || err != nil {
			t.Fatalf("read %q, %v, want %q", buf[:n], err, want)
		}
	}
	if n, err := res.Body.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

func TestTransportEndsAsAConnectionWould(t *testing.T) {
	t.Run("abort after bytes", func(t *testing.T) {
		res, err := get(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, " more")
			panic(http.ErrAbortHandler)
		}, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if string(got) != "half more" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read %q, %v", got, err)
		}
	})
	t.Run("abort before the header", func(t *testing.T) {
		_, err := get(t, t.Context(), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "")
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("err %v", err)
		}
	})
	t.Run("a panic of the handler is an error", func(t *testing.T) {
		_, err := get(t, t.Context(), func(http.ResponseWriter, *http.Request) { panic("boom") }, "")
		if err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("err %v", err)
		}
	})
	t.Run("cancel before the header", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := get(t, ctx, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }, "")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("err %v", err)
		}
	})
	t.Run("cancel in the stream, and close", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		res, err := get(t, ctx, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			_, werr := io.WriteString(w, "b")
			gone <- werr
		}, "")
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 10)
		if n, err := res.Body.Read(buf); n != 1 || err != nil {
			t.Fatalf("first read: %d, %v", n, err)
		}
		cancel()
		if _, err := res.Body.Read(buf); !errors.Is(err, context.Canceled) {
			t.Errorf("after cancel: %v", err)
		}
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler's write gave %v", err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing written is 200", func(t *testing.T) {
		res, err := get(t, t.Context(), func(http.ResponseWriter, *http.Request) {}, "")
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%v, %v", res, err)
		}
		if b, err := io.ReadAll(res.Body); len(b) != 0 || err != nil {
			t.Errorf("body %q, %v", b, err)
		}
	})
}
