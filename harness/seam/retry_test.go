package seam_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A provider that is busy is asked again by the seam, on the seam's clock: the caller
// and the cassette get the answer, not the way to it.
func TestABusyProviderIsAskedAgain(t *testing.T) {
	tests := []struct {
		status  int
		header  http.Header
		url     string
		fails   int // answers of that status before a good one
		retries int
		sent    int
		kept    bool
		slept   time.Duration
	}{
		{status: 408, fails: 1, sent: 2, kept: true, slept: time.Second},
		{status: 409, fails: 2, sent: 3, kept: true, slept: 3 * time.Second},
		{status: 425, fails: 1, sent: 2, kept: true, slept: time.Second},
		{status: 429, fails: 1, sent: 2, kept: true, slept: 7 * time.Second, header: http.Header{"Retry-After": {"7"}}},
		{status: 429, fails: 1, sent: 2, kept: true, slept: 1500 * time.Millisecond, header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}},
		{status: 429, fails: 1, sent: 2, kept: true, slept: 10 * time.Second, header: http.Header{"Retry-After": {"Fri, 02 Jan 2026 03:04:15 GMT"}}},
		{status: 429, fails: 1, sent: 1, header: http.Header{"Retry-After": {"3600"}}},
		{status: 429, fails: 9, sent: 5, slept: 15 * time.Second},
		{status: 500, fails: 1, sent: 2, kept: true, slept: time.Second},
		{status: 503, fails: 3, retries: 2, sent: 3, slept: 3 * time.Second},
		{status: 529, fails: 1, retries: -1, sent: 1},
		{status: 529, fails: 1, sent: 1, header: http.Header{"X-Should-Retry": {"false"}}},
		{status: 502, fails: 1, sent: 1, url: "https://api.github.com/repos/a/b/issues"}, // it may have been made
		{status: 429, fails: 1, sent: 2, kept: true, slept: time.Second, url: "https://api.github.com/repos/a/b/issues"},
		{status: 0, fails: 1, sent: 2, kept: true, slept: time.Second}, // no answer at all
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.fails, tt.header), func(t *testing.T) {
			now, sent := clock.NewFixed(clock.Epoch), 0
			o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) {
				if sent++; sent <= tt.fails {
					if tt.status == 0 {
						panic(http.ErrAbortHandler)
					}
					maps.Copy(w.Header(), tt.header)
					w.WriteHeader(tt.status)
				}
				_, _ = io.WriteString(w, "body")
			})
			o.KeepErrors, o.Retries, o.Clock = false, tt.retries, now
			s := open(t, o)
			url, body := messagesURL, ask("x")
			if tt.url != "" {
				url, body = tt.url, `{"title":"x"}`
			}
			want := tt.status
			if tt.kept {
				want = 200
			}
			if got, text := post(t, s, t.Context(), url, body); got != want || text != "body" {
				t.Errorf("the caller got %d %q, want %d", got, text, want)
			}
			closeSeam(t, s)
			log := s.Sent()
			if sent != tt.sent || now.Slept() != tt.slept || len(log) != 1 || log[0].Tries != tt.sent || log[0].Status != want || (log[0].Line == 0) != tt.kept {
				t.Errorf("%d were sent, %v waited, log %+v; want %d, %v", sent, now.Slept(), log, tt.sent, tt.slept)
			}
			if e := episodes(t, o.Cassette); (len(e) == 1) != tt.kept || len(e) > 1 {
				t.Errorf("%d episodes", len(e))
			}
		})
	}
}
