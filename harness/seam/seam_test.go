package seam_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func TestWhatIsRecordedIsReplayed(t *testing.T) {
	o := options(t, seam.Record, sse(`{"delta":"one"}`, `{"delta":"two"}`, `{"type":"message_stop"}`))
	s := open(t, o)
	status, text := post(t, s, t.Context(), messagesURL, ask("hello"))
	if status != 200 || !strings.Contains(text, "two") {
		t.Fatalf("recording: %d %s", status, text)
	}
	closeSeam(t, s)

	r := replay(t, o)
	res, err := r.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if res.ContentLength != -1 || res.Proto != "HTTP/1.1" || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Set-Cookie") != "" {
		t.Errorf("response %d, %s, %v", res.ContentLength, res.Proto, res.Header)
	}
	var got []string
	buf := make([]byte, 1000)
	for {
		n, err := res.Body.Read(buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(buf[:n]))
	}
	if strings.Join(got, "") != text || len(got) != 3 || got[1] != "data: {\"delta\":\"two\"}\n\n" {
		t.Errorf("chunks %q", got)
	}
	if u := r.Unused(); len(u) != 0 {
		t.Errorf("unused %v", u)
	}
	calls := r.Calls()
	if len(calls) != 1 || calls[0].Model != "claude-x" || calls[0].Line != 0 || calls[0].URL != messagesURL || calls[0].Bytes != len(ask("hello")) {
		t.Errorf("calls %+v", calls)
	}
	closeSeam(t, r)
}

// A failing transport is handed to a replay, which has no place for it.
func TestReplayNeverReachesTheWorld(t *testing.T) {
	o := options(t, seam.Record, echo)
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, ask("a"))
	closeSeam(t, s)

	o.Mode = seam.Replay
	o.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		t.Error("a replay reached the world")
		return nil, errors.New("the world")
	})
	r := open(t, o)
	post(t, r, t.Context(), messagesURL, ask("a"))
	for _, body := range []string{ask("a"), ask("b"), "not json", ""} {
		if status, text := post(t, r, t.Context(), messagesURL, body); status != 400 || !strings.Contains(text, "SEAM_MISS") {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
	wantCode(t, r.Err(), seam.CodeMiss)
	wantCode(t, r.Close(), seam.CodeMiss)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestIdenticalRequestsAreAnsweredInOrder(t *testing.T) {
	n := 0
	o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) {
		n++
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	})
	s := open(t, o)
	for range 3 {
		post(t, s, t.Context(), messagesURL, ask("again"))
	}
	closeSeam(t, s)
	r := replay(t, o)
	for want := 1; want <= 3; want++ {
		if got := r.Unused(); len(got) != 4-want {
			t.Errorf("unused before %d: %v", want, got)
		}
		if _, text := post(t, r, t.Context(), messagesURL, ask("again")); len(text) != want {
			t.Errorf("answer %d is %q", want, text)
		}
	}
	if _, text := post(t, r, t.Context(), messagesURL, ask("again")); !strings.Contains(text, "exhausted 3/3") {
		t.Errorf("the fourth: %s", text)
	}
	m := r.Misses()
	if len(m) != 1 || !m[0].Exhausted() || m[0].Recorded != 3 || m[0].Asked != 4 {
		t.Errorf("misses %+v", m)
	}
}

func TestWhatMatches(t *testing.T) {
	o := options(t, seam.Record, echo)
	o.Rules = seam.DefaultRules()
	body := `{"model":"m","metadata":{"user_id":"u1","x":1},"temperature":1.0,"messages":[
	 {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"id":"keep"}}]},
	 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"r"}]}]}`
	s := open(t, o)
	post(t, s, t.Context(), messagesURL+"?b=2&key=SECRETKEY&a=1", body)
	closeSeam(t, s)
	change := func(old, new string) string { return strings.ReplaceAll(body, old, new) }
	tests := []struct {
		name, url, body, lane string
		header                [2]string
		hit                   bool
	}{
		{name: "the same", body: body, hit: true},
		{name: "other spaces", body: change(" ", ""), hit: true},
		{name: "other order of names", body: change(`"user_id":"u1","x":1`, `"x":1,"user_id":"u1"`), hit: true},
		{name: "other escapes", body: change("assistant", `\u0061ssistant`), hit: true},
		{name: "other call ids", body: change("toolu_1", "call_9"), hit: true},
		{name: "other session", body: change("u1", "u2"), hit: true},
		{name: "no session", body: change(`"user_id":"u1",`, ``), hit: true},
		{name: "other query order and key", url: "?a=1&b=2&api_key=other", body: body, hit: true},
		{name: "an id that answers nothing", body: strings.Replace(body, `"tool_use_id":"toolu_1"`, `"tool_use_id":"toolu_2"`, 1)},
		{name: "other argument called id", body: change("keep", "kept")},
		{name: "number spelled otherwise", body: change("1.0", "1")},
		{name: "other text", body: change(`"r"`, `"s"`)},
		{name: "other query", url: "?a=1&b=3", body: body},
		{name: "other lane", body: body, lane: "critic"},
		{name: "other version", body: body, header: [2]string{"Anthropic-Version", "2024"}},
		{name: "other header that is not part of it", body: body, header: [2]string{"User-Agent", "x"}, hit: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := replay(t, o)
			url := messagesURL + "?b=2&key=K&a=1"
			if tt.url != "" {
				url = messagesURL + tt.url
			}
			req := request(t, seam.WithLane(t.Context(), tt.lane), url, tt.body)
			if tt.header[0] != "" {
				req.Header.Set(tt.header[0], tt.header[1])
			}
			res, err := r.Transport().RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if hit := res.StatusCode == 200; hit != tt.hit {
				t.Errorf("hit %v, want %v: %v", hit, tt.hit, r.Err())
			}
		})
	}
}

func TestBodiesThatAreNoJSONAreKeyedByTheirBytes(t *testing.T) {
	o := options(t, seam.Record, echo)
	bodies := []string{`{"a":1,"a":2}`, "\xff\xfe", "a=1&b=2", `{"a":1} x`, ``}
	s := open(t, o)
	for _, b := range bodies {
		post(t, s, t.Context(), "https://h/x", b)
	}
	closeSeam(t, s)
	r := replay(t, o)
	for _, b := range bodies {
		if status, text := post(t, r, t.Context(), "https://h/x", b); status != 200 {
			t.Errorf("%q: %s", b, text)
		}
	}
	if status, _ := post(t, r, t.Context(), "https://h/x", `{"a":2,"a":1}`); status != 400 {
		t.Error("duplicate names in another order matched")
	}
}

func TestNoRuleIsImplicit(t *testing.T) {
	o := options(t, seam.Record, echo)
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, `{"metadata":{"user_id":"1"},"prompt_cache_key":"a"}`)
	closeSeam(t, s)
	r := replay(t, o)
	if len(r.Header().Rules) != 0 {
		t.Errorf("rules %v", r.Header().Rules)
	}
	if status, _ := post(t, r, t.Context(), messagesURL, `{"metadata":{"user_id":"2"},"prompt_cache_key":"a"}`); status != 400 {
		t.Error("user_id was ignored although no rule says so")
	}
	o.Rules = []string{"call-ids/9"}
	o.Replace = true
	_, err := seam.Open(o)
	wantCode(t, err, seam.CodeRule)
	if err == nil || !strings.Contains(fault.HintOf(err), "call-ids/1") {
		t.Errorf("the hint does not name the presets: %v", fault.HintOf(err))
	}
}

func TestOpenRefuses(t *testing.T) {
	live := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("the world") })
	base := options(t, seam.Record, nil)
	missing := base
	missing.Mode, missing.RecordCommand = seam.Replay, "soundstage record a/b"
	_, err := seam.Open(missing)
	wantCode(t, err, cassette.CodeMissing)
	if err == nil || !strings.Contains(err.Error(), base.Cassette) || !strings.Contains(fault.HintOf(err), "soundstage record a/b") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
	tests := []struct {
		name string
		o    func(*seam.Options)
		code fault.Code
	}{
		{"no mode", func(o *seam.Options) { o.Mode = "" }, fault.Invalid},
		{"no transport", func(*seam.Options) {}, fault.Invalid},
		{"no cassette", func(o *seam.Options) { o.Cassette = "" }, fault.Invalid},
		{"record in CI", func(o *seam.Options) { o.CI, o.Transport = true, live }, seam.CodeNotLive},
		{"live in CI", func(o *seam.Options) { o.CI, o.Transport, o.Mode = true, live, seam.Live }, seam.CodeNotLive},
		{"a wrapped script in CI", func(o *seam.Options) {
			o.CI, o.Transport = true, roundTripper(upstream.NewTransport(http.HandlerFunc(echo)).RoundTrip)
		}, seam.CodeNotLive},
		{"record in CI, allowed", func(o *seam.Options) { o.CI, o.AllowLive, o.Transport = true, true, live }, ""},
		{"live in CI, allowed", func(o *seam.Options) { o.CI, o.AllowLive, o.Transport, o.Mode = true, true, live, seam.Live }, ""},
		{"a script in CI", func(o *seam.Options) { o.CI, o.Transport = true, upstream.NewTransport(http.HandlerFunc(echo)) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, seam.Record, nil)
			tt.o(&o)
			s, err := seam.Open(o)
			wantCode(t, err, tt.code)
			if err == nil {
				closeSeam(t, s)
			}
		})
	}
}

func TestRecordDoesNotTouchAnExistingCassette(t *testing.T) {
	o := options(t, seam.Record, echo)
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, ask("a"))
	closeSeam(t, s)
	_, err := seam.Open(o)
	wantCode(t, err, cassette.CodeExists)
	before, err := os.ReadFile(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	o.Replace = true
	o.Transport = upstream.NewTransport(http.HandlerFunc(echo))
	s = open(t, o)
	post(t, s, t.Context(), messagesURL, ask("a"))
	closeSeam(t, s)
	after, err := os.ReadFile(o.Cassette)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("recording again gives other bytes, %v:\n%s\n%s", err, before, after)
	}
}

func TestReplayClosesBodiesAndHonoursContexts(t *testing.T) {
	o := options(t, seam.Record, echo)
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, ask("a"))
	closeSeam(t, s)
	r := replay(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	req := request(t, ctx, messagesURL, ask("a"))
	body := &watched{Reader: strings.NewReader(ask("a"))}
	req.Body = body
	res, err := r.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if !body.closed {
		t.Error("the request's body was not closed")
	}
	buf := make([]byte, 4)
	if _, err := res.Body.Read(buf); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := res.Body.Read(buf); !errors.Is(err, context.Canceled) {
		t.Errorf("read after cancel: %v", err)
	}
	if _, err := r.Transport().RoundTrip(request(t, ctx, messagesURL, ask("a"))); !errors.Is(err, context.Canceled) {
		t.Errorf("request after cancel: %v", err)
	}
	if r.Err() != nil {
		t.Errorf("a cancelled request is no miss: %v", r.Err())
	}
}

type watched struct {
	io.Reader
	closed bool
}

func (w *watched) Close() error { w.closed = true; return nil }

func TestDenyDefaultTransport(t *testing.T) {
	before, client := http.DefaultTransport, http.DefaultClient.Transport
	t.Cleanup(func() { http.DefaultTransport, http.DefaultClient.Transport = before, client })
	denied := seam.DenyDefaultTransport()
	if code := denied.Exit(3, io.Discard); code != 3 {
		t.Errorf("nothing was refused, and 3 became %d", code)
	}
	clone := http.DefaultTransport.(*http.Transport).Clone()
	for name, rt := range map[string]http.RoundTripper{"default": http.DefaultTransport, "client": http.DefaultClient.Transport, "clone": clone} {
		for _, url := range []string{"http://127.0.0.1:1/", "https://127.0.0.1:1/"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = rt.RoundTrip(req)
			wantCode(t, err, seam.CodeDenied)
			if !regexp.MustCompile(`by \S*/seam_test.go:\d+ \(\S+TestDenyDefaultTransport\)`).MatchString(fmt.Sprint(err)) {
				t.Errorf("%v does not name this line", err)
			}
			if err == nil {
				t.Errorf("%s went out to %s", name, url)
			}
		}
	}
	// A caller that swallows the error is found all the same; one that took the proxy out
	// is refused without its line.
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.Proxy = nil
	for port, rt := range map[string]http.RoundTripper{"9": http.DefaultTransport, "10": plain} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := (&http.Client{Transport: rt}).Do(req); err == nil {
			res.Body.Close()
			t.Error("it went out")
		}
	}
	var told strings.Builder
	if code := denied.Exit(0, &told); code != 1 || len(denied.Attempts()) != 8 {
		t.Errorf("status %d, %d attempts", code, len(denied.Attempts()))
	}
	for _, text := range []string{`SEAM_DENIED: connection to tcp "127.0.0.1:9" beside the seam, by `, "\"127.0.0.1:10\" beside the seam\n"} {
		if !strings.Contains(told.String(), text) {
			t.Errorf("%q does not hold %q", &told, text)
		}
	}
}
