package boundary_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/boundary"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A bucket fills with time, no further than to its brim, and strangers take nothing out.
func TestRate(t *testing.T) {
	c := clock.NewFixed(clock.Epoch)
	const token = "0123456789abcdef"
	g, err := boundary.Guard(boundary.Options{Token: token, Rate: &boundary.Rate{PerSecond: 2, Clock: c}},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) int {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:50000"
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w.Code
	}
	for _, step := range []struct {
		token string
		after time.Duration
		want  int
	}{
		{token, 0, 200},
		{"wrong", 0, 401},
		{"wrong", 0, 401},
		{token, 0, 200},
		{token, 0, 429},
		{token, 500 * time.Millisecond, 200},
		{token, 0, 429},
		{token, -time.Hour, 429},
		{token, time.Hour, 200},
		{token, 0, 200},
		{token, 0, 429},
	} {
		c.Advance(step.after)
		if got := ask(step.token); got != step.want {
			t.Errorf("after %v: %d, want %d", step.after, got, step.want)
		}
	}
}

func TestRateIsAskedFor(t *testing.T) {
	for _, r := range []*boundary.Rate{{Clock: clock.Real{}}, {PerSecond: 1}, {PerSecond: -1, Clock: clock.Real{}}} {
		if _, err := boundary.Guard(boundary.Options{Rate: r}, http.NotFoundHandler()); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// Whose next looks at a credential itself lets other machines come in, as a token does.
func TestChecked(t *testing.T) {
	var seen string
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Get("Authorization") })
	g, err := boundary.Guard(boundary.Options{Checked: true}, next)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host, r.RemoteAddr = "localhost", "203.0.113.9:4711"
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	if g.ServeHTTP(w, r); w.Code != http.StatusOK || seen != "Bearer x" {
		t.Errorf("%d, next saw %q", w.Code, seen)
	}
	if l, err := (boundary.Options{Checked: true}).Listen(t.Context(), "0.0.0.0:0"); err != nil {
		t.Skipf("no port here: %v", err)
	} else {
		_ = l.Close()
	}
}
