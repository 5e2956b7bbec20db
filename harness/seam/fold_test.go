package seam_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// An asking is a request as Claude Code makes it: the third time in its third form.
type asking struct {
	beta, display, stream, text, lane string
}

// claude is one turn, asked up to three times.
var claude = []asking{
	{beta: "a-1,b-1", display: `,"display":"summarized"`},
	{beta: "a-1", display: `,"display":"summarized"`},
	{beta: "a-1"},
}

func (a asking) request(t testing.TB) *http.Request {
	t.Helper()
	if a.text == "" {
		a.text = "hello"
	}
	if a.stream == "" {
		a.stream = "true"
	}
	body := fmt.Sprintf(`{"model":"claude-x","stream":%s,"thinking":{"type":"adaptive"%s},"messages":[{"role":"user","content":%q}]}`, a.stream, a.display, a.text)
	req := request(t, seam.WithLane(t.Context(), a.lane), messagesURL, body)
	req.Header.Set("Anthropic-Beta", a.beta)
	return req
}

// turns sends requests and gives their statuses.
func turns(t testing.TB, s *seam.Seam, list ...asking) string {
	t.Helper()
	var got []string
	for _, a := range list {
		res, err := s.Transport().RoundTrip(a.request(t))
		if err != nil {
			got = append(got, "error")
			continue
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		got = append(got, fmt.Sprint(res.StatusCode))
	}
	return strings.Join(got, " ")
}

func TestATurnAskedAgainIsOneMiss(t *testing.T) {
	other := asking{text: "other"}
	laned := func(a asking, lane string) asking { a.lane = lane; return a }
	plain := asking{beta: "a-1", stream: "false"}
	tests := []struct {
		name string
		list []asking
		want []int // how often each miss was asked again
	}{
		{"three times", claude, []int{2}},
		{"the very same", []asking{claude[0], claude[0]}, []int{1}},
		{"without a stream", []asking{claude[0], plain}, []int{1}},
		{"another turn", append([]asking{other}, claude...), []int{0, 2}},
		{"not right after it", []asking{claude[0], other, claude[1]}, []int{0, 0, 0}},
		{"two lanes at once", []asking{laned(claude[0], "a"), laned(claude[0], "b"), laned(claude[1], "a"), laned(claude[1], "b")}, []int{1, 1}},
	}
	o := options(t, seam.Record, echo)
	closeSeam(t, open(t, o))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := replay(t, o)
			if got := turns(t, r, tt.list...); strings.Trim(got, "40 ") != "" {
				t.Errorf("answers %s", got)
			}
			var again []int
			for _, m := range r.Misses() {
				again = append(again, m.Again)
			}
			if fmt.Sprint(again) != fmt.Sprint(tt.want) {
				t.Errorf("misses asked again %v, want %v", again, tt.want)
			}
		})
	}
}

func TestATurnAskedAgainIsOneEpisode(t *testing.T) {
	other := asking{text: "other"}
	plain := asking{beta: "a-1", display: `,"display":"summarized"`, stream: "false"}
	tests := []struct {
		name     string
		list     []asking
		answers  []int // of the provider; 0: none
		keep     bool
		want     string // what the client got
		episodes string // status×asked of what is kept
		replayed string // what it gets in a replay where it asks again after each failure
	}{
		{"good at the third", claude, []int{400, 400, 200}, false, "400 400 200", "200×3", "200"},
		{"never good", claude, []int{400, 400, 400}, false, "400 400 400", "400×3", "400 400 400"},
		{"good at once", claude[:1], []int{200}, false, "200", "200×0", "200"},
		{"failed once and let be", claude[:1], []int{404}, false, "404", "404×0", "404"},
		{"busy, then good", claude[:2], []int{529, 200}, false, "529 200", "200×2", "200"},
		{"no answer, then good", claude[:2], []int{0, 200}, false, "error 200", "200×2", "200"},
		{"busy and let be", claude[:1], []int{529}, false, "529", "", "400"},
		{"another turn after it", []asking{claude[0], other}, []int{400, 200}, false, "400 200", "400×0 200×0", "400 200"},
		{"without a stream", []asking{claude[0], plain}, []int{404, 200}, false, "404 200", "404×0 200×0", "404 200"},
		{"busy, then without a stream", []asking{claude[0], plain}, []int{529, 200}, false, "529 200", "529×0 200×0", "529 200"},
		{"good, and once more", claude[:2], []int{200, 200}, false, "200 200", "200×0 200×0", "200 200"},
		{"errors are kept", claude, []int{400, 400, 200}, true, "400 400 200", "400×0 400×0 200×0", "400 400 200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) {
				n++
				if tt.answers[n-1] == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(tt.answers[n-1])
				_, _ = io.WriteString(w, "{}")
			})
			o.KeepErrors, o.Retries = tt.keep, -1
			s := open(t, o)
			if got := turns(t, s, tt.list...); got != tt.want {
				t.Errorf("the client got %s, want %s", got, tt.want)
			}
			closeSeam(t, s)
			var kept []string
			for _, e := range episodes(t, o.Cassette) {
				kept = append(kept, fmt.Sprintf("%d×%d", e.Response.Status, e.Asked))
			}
			if got := strings.Join(kept, " "); got != tt.episodes {
				t.Errorf("the cassette holds %q, want %q", got, tt.episodes)
			}
			r := replay(t, o)
			list := tt.list[:len(strings.Fields(tt.replayed))]
			if got := turns(t, r, list...); got != tt.replayed {
				t.Errorf("replayed: %s, want %s", got, tt.replayed)
			}
			if missed := tt.episodes == ""; (r.Err() != nil) != missed || len(r.Unused()) != 0 {
				t.Errorf("replayed: %v, unused %v", r.Err(), r.Unused())
			}
		})
	}
}

// A failed answer of one agent waits for the next request of that agent, and holds up no
// other: what they record meanwhile is in the journal.
func TestAFailureHoldsUpNobody(t *testing.T) {
	o := options(t, seam.Record, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "hello") {
			w.WriteHeader(400)
		}
		_, _ = io.WriteString(w, "{}")
	})
	o.KeepErrors = false
	s := open(t, o)
	turns(t, s, claude[0], asking{lane: "b", text: "one"}, asking{lane: "b", text: "two"})
	if got := journalled(t, o); got != 2 {
		t.Errorf("%d episodes are in the journal, want 2", got)
	}
	closeSeam(t, s)
	e := episodes(t, o.Cassette)
	if len(e) != 3 || e[2].Response.Status != 400 {
		t.Errorf("episodes %+v", e)
	}
}

func journalled(t testing.TB, o seam.Options) int {
	t.Helper()
	return len(lines(t, o.Cassette+".part"))
}

// A fill asks again as a recording does, and what it folds keeps its place.
func TestFillFoldsToo(t *testing.T) {
	o := recorded(t, "a", "b")
	n := 0
	o.Mode, o.KeepErrors, o.Retries = seam.Fill, false, -1
	o.Transport = upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n < 3 {
			w.WriteHeader(400)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	s := open(t, o)
	asks(t, s, "a")
	turns(t, s, claude...)
	asks(t, s, "b")
	closeSeam(t, s)
	e := episodes(t, o.Cassette)
	if len(e) != 3 || e[1].Asked != 3 || e[1].Response.Status != 200 || e[1].Request.Header.Get("Anthropic-Beta") != "a-1,b-1" {
		t.Errorf("episodes %+v", e)
	}
	if log := s.Sent(); len(log) != 3 || log[0].Line != -1 || log[2].Line != 1 {
		t.Errorf("log %+v", log)
	}
}

// The client that asks again may have left the first answer unread.
func TestAskedAgainBeforeTheFirstAnswerIsRead(t *testing.T) {
	n := 0
	o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.WriteHeader(400)
		}
		_, _ = io.WriteString(w, "{}")
	})
	o.KeepErrors = false
	s := open(t, o)
	first, err := s.Transport().RoundTrip(claude[0].request(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := turns(t, s, claude[1]); got != "200" {
		t.Errorf("the client got %s", got)
	}
	_ = first.Body.Close()
	closeSeam(t, s)
	if e := episodes(t, o.Cassette); len(e) != 1 || e[0].Asked != 2 || e[0].Response.Status != 200 {
		t.Errorf("episodes %+v", e)
	}
}
