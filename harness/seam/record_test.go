package seam_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func episodes(t testing.TB, path string) []cassette.Episode {
	t.Helper()
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]cassette.Episode, c.Len())
	for i := range out {
		if out[i], err = c.Episode(i); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// The first event is with the caller before the second is made.
func TestRecordTeesTheStream(t *testing.T) {
	next := make(chan struct{})
	now := clock.NewFixed(clock.Epoch)
	o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) {
		now.Advance(time.Second)
		for i := range 3 {
			if i > 0 {
				<-next
			}
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
		}
	})
	o.Clock = now
	s := open(t, o)
	res, err := s.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x")))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	for i := range 3 {
		if i > 0 {
			now.Advance(40 * time.Millisecond)
			next <- struct{}{}
		}
		if n, err := res.Body.Read(buf); err != nil || string(buf[:n]) != fmt.Sprintf("data: %d\n\n", i) {
			t.Fatalf("event %d: %q, %v", i, buf[:n], err)
		}
	}
	if _, err := res.Body.Read(buf); err != io.EOF {
		t.Fatal(err)
	}
	closeSeam(t, s)
	e := episodes(t, o.Cassette)[0]
	if want := []cassette.Chunk{{AtMS: 0, Len: 9}, {AtMS: 40, Len: 9}, {AtMS: 80, Len: 9}}; fmt.Sprint(e.Response.Chunks) != fmt.Sprint(want) {
		t.Errorf("chunks %v, want %v", e.Response.Chunks, want)
	}
	if e.Response.Duration != 1080*time.Millisecond || e.At != "2026-01-02" || e.Model != "claude-x" || e.Origin != cassette.Scripted {
		t.Errorf("duration %v, at %q, model %q, origin %q", e.Response.Duration, e.At, e.Model, e.Origin)
	}

	o.Pace = 2
	r := replay(t, o)
	slept := now.Slept()
	post(t, r, t.Context(), messagesURL, ask("x"))
	if got := now.Slept() - slept; got != 40*time.Millisecond {
		t.Errorf("a replay twice as fast waits %v, want 40ms", got)
	}
}

func TestHowStreamsEnd(t *testing.T) {
	big := "data: " + strings.Repeat("x", 70<<10) + "\n\n"
	tests := []struct {
		name    string
		handler http.HandlerFunc
		read    int // bytes, then close; -1: to the end
		cancel  bool
		end     string
		readErr error
	}{
		{name: "whole", handler: sse("a", "b"), read: -1},
		{name: "closed after the last event", handler: sse("a", "[DONE]"), read: 23},
		{name: "closed in the middle", handler: sse(big, "b"), read: 10, end: "cancelled"},
		{name: "cancelled", handler: sse(big, "b"), read: 10, cancel: true, end: "cancelled"},
		{name: "cut", read: -1, end: "cut", readErr: io.ErrUnexpectedEOF, handler: func(w http.ResponseWriter, r *http.Request) {
			sse("a")(w, r)
			panic(http.ErrAbortHandler)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, seam.Record, tt.handler)
			s := open(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			res, err := s.Transport().RoundTrip(request(t, ctx, messagesURL, ask("x")))
			if err != nil {
				t.Fatal(err)
			}
			if tt.read >= 0 {
				if _, err := io.ReadFull(res.Body, make([]byte, tt.read)); err != nil {
					t.Fatal(err)
				}
				if tt.cancel {
					cancel()
				}
			} else if _, err := io.ReadAll(res.Body); !errors.Is(err, tt.readErr) {
				t.Errorf("recording ended with %v", err)
			}
			if err := res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			closeSeam(t, s)
			e := episodes(t, o.Cassette)[0]
			if e.Response.End != tt.end {
				t.Errorf("end %q, want %q", e.Response.End, tt.end)
			}
			r := replay(t, o)
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			res, err = r.Transport().RoundTrip(request(t, ctx, messagesURL, ask("x")))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(e.Response.Body))
			if _, err := io.ReadFull(res.Body, got); err != nil || !bytes.Equal(got, e.Response.Body) {
				t.Fatalf("replayed %q, %v", got, err)
			}
			want := tt.readErr
			if tt.end == "cancelled" {
				cancel() // nothing more comes until the caller leaves
				want = context.Canceled
			}
			if _, err := io.ReadAll(res.Body); !errors.Is(err, want) {
				t.Errorf("replay ended with %v, want %v", err, want)
			}
		})
	}
}

func TestARequestWithoutAnAnswer(t *testing.T) {
	o := options(t, seam.Record, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s := open(t, o)
	if _, err := s.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x"))); err == nil {
		t.Fatal("no error")
	}
	closeSeam(t, s)
	r := replay(t, o)
	_, err := r.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x")))
	wantCode(t, err, seam.CodeReplayed)
	if r.Err() != nil {
		t.Errorf("a recorded error is no miss: %v", r.Err())
	}
}

func TestARefusedKeyEndsTheRecording(t *testing.T) {
	for _, status := range []int{401, 403, 407} {
		o := options(t, seam.Record, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		o.KeepErrors = false
		s := open(t, o)
		if got, _ := post(t, s, t.Context(), messagesURL, ask("x")); got != status {
			t.Errorf("the caller got %d", got)
		}
		wantCode(t, s.Err(), seam.CodeAuth)
		_, err := s.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x")))
		wantCode(t, err, seam.CodeAuth)
		wantCode(t, s.Close(), seam.CodeAuth)
		if _, err := os.Stat(o.Cassette); err == nil {
			t.Errorf("%d: a cassette was written", status)
		}
	}
}

func TestTheLiveRequestIsNotTouched(t *testing.T) {
	var saw http.Header
	o := options(t, seam.Record, func(w http.ResponseWriter, r *http.Request) {
		saw = r.Header.Clone()
		w.Header().Set("X-Kept", "1")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "plain text")
		_ = z.Close()
	})
	s := open(t, o)
	req := request(t, t.Context(), messagesURL, ask("x"))
	req.Header.Set("Accept-Encoding", "gzip, br")
	before := req.Header.Clone()
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || string(text) != "plain text" {
		t.Errorf("the caller got %q, %v", text, err)
	}
	if res.Header.Get("X-Kept") != "1" || res.Header.Get("Content-Encoding") != "" {
		t.Errorf("response header %v", res.Header)
	}
	if fmt.Sprint(before) != fmt.Sprint(req.Header) {
		t.Errorf("request header became %v", req.Header)
	}
	if saw.Get("Authorization") != before.Get("Authorization") || saw.Get("Accept-Encoding") != "" {
		t.Errorf("upstream saw %v", saw)
	}
	closeSeam(t, s)
	e := episodes(t, o.Cassette)[0]
	if string(e.Response.Body) != "plain text" || e.Request.Header.Get("Authorization") != "" || e.Response.Header.Get("X-Kept") != "" {
		t.Errorf("stored %+v", e)
	}
}

func TestEpisodesStandInTheOrderOfTheirRequests(t *testing.T) {
	hold := map[string]chan struct{}{"first": make(chan struct{}), "second": make(chan struct{})}
	o := options(t, seam.Record, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		<-hold[strings.TrimPrefix(r.URL.Path, "/")]
		_, _ = io.WriteString(w, r.URL.Path)
	})
	s := open(t, o)
	var bodies []io.ReadCloser
	for _, name := range []string{"first", "second"} {
		res, err := s.Transport().RoundTrip(request(t, t.Context(), "https://h/"+name, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, res.Body)
	}
	for i, name := range []string{"second", "first"} {
		close(hold[name])
		if _, err := io.ReadAll(bodies[1-i]); err != nil {
			t.Fatal(err)
		}
	}
	closeSeam(t, s)
	e := episodes(t, o.Cassette)
	if len(e) != 2 || string(e[0].Response.Body) != "/first" || string(e[1].Response.Body) != "/second" {
		t.Errorf("episodes %+v", e)
	}
}

func TestABodyThatIsNeverClosedIsNotLost(t *testing.T) {
	o := options(t, seam.Record, sse("a", "b"))
	s := open(t, o)
	res, err := s.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := res.Body.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	closeSeam(t, s)
	if e := episodes(t, o.Cassette); len(e) != 1 || e[0].Response.End != "cancelled" || len(e[0].Response.Body) == 0 {
		t.Errorf("episodes %+v", e)
	}
	_, err = s.Transport().RoundTrip(request(t, t.Context(), messagesURL, ask("x")))
	if err == nil {
		t.Error("a closed seam let a request through")
	}
}

func TestARecordingGoesOnAfterACrash(t *testing.T) {
	sent := 0
	handler := func(w http.ResponseWriter, r *http.Request) { sent++; echo(w, r) }
	o := options(t, seam.Record, handler)
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, ask("one"))
	// The process dies here: the journal is there, the seam is never closed. The
	// lock goes with the process, so the copy stands for what is left on the disk.
	journal, err := os.ReadFile(o.Cassette + ".part")
	if err != nil {
		t.Fatal(err)
	}
	o.Cassette = filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(o.Cassette+".part", journal, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Continue, o.Transport = true, upstream.NewTransport(http.HandlerFunc(handler))
	s = open(t, o)
	_, again := post(t, s, t.Context(), messagesURL, ask("one"))
	post(t, s, t.Context(), messagesURL, ask("two"))
	closeSeam(t, s)
	if sent != 2 || !strings.Contains(again, "message_stop") {
		t.Errorf("%d requests were sent, want 2; %q", sent, again)
	}
	r := replay(t, o)
	post(t, r, t.Context(), messagesURL, ask("one"))
	post(t, r, t.Context(), messagesURL, ask("two"))
	closeSeam(t, r)
	closeSeam(t, s)
}

// Twelve shapes of secrets and more, planted where a session can carry them.
func TestNoSecretReachesTheDisk(t *testing.T) {
	value := "hunter2/hunter2+\"x\""
	work := t.TempDir()
	b64 := base64.StdEncoding
	secrets := map[string]string{
		"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value), "base64": b64.EncodeToString([]byte(value)),
		"basic": b64.EncodeToString([]byte("user:" + value)), "json": strings.ReplaceAll(value, `"`, `\"`),
		"hex": fmt.Sprintf("%x", value), "escapes": uEscape(value), "sk": "sk-" + "ant-api03-" + strings.Repeat("aB3", 10),
		"github": "gh" + "p_" + strings.Repeat("aB3", 12), "aws": "AK" + "IA" + "ABCDEFGHIJKLMN12", "google": "AI" + "za" + strings.Repeat("aB3dE", 7),
		"jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + strings.Repeat("aB3", 10), "bearer": "abcdefghijklmnop1234",
		"work": work, "named": "p-w", "cookie": "session-cookie-value",
	}
	o := options(t, seam.Record, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", secrets["cookie"])
		w.Header().Set("X-Key", value)
		w.Header().Set("Location", "https://h/?token="+secrets["sk"])
		b, _ := io.ReadAll(r.Body)
		sse(string(bytes.ReplaceAll(b, []byte("\n"), nil)), `{"type":"message_stop"}`)(w, r)
	})
	o.Redactor = redact.New(redact.Options{Env: map[string]string{"ACME_PASSWORD": value}, Work: work})
	s := open(t, o)
	for name, secret := range secrets {
		quoted := strings.ReplaceAll(strings.ReplaceAll(secret, `\"`, `"`), `"`, `\"`)
		if name == "escapes" {
			quoted = secret
		}
		twice := strings.ReplaceAll(strings.ReplaceAll(quoted, `\`, `\\`), `"`, `\"`)
		body := fmt.Sprintf(`{"model":"m","note":"see Bearer abcdefghijklmnop1234","password":"p-w","messages":[{"role":"user","content":"x"}],"tool_calls":[{"function":{"arguments":"{\"password\":\"p-w\",\"v\":\"%s\"}"}}]`, twice)
		// These three cannot be told from a word where nothing names them.
		bare := name == "named" || name == "cookie" || name == "bearer"
		if !bare {
			body += fmt.Sprintf(`,"text":"is %s!"`, quoted)
		}
		req := request(t, t.Context(), "https://u:"+url.QueryEscape(value)+"@h/v1?key="+url.QueryEscape(secret)+"&q="+url.QueryEscape(secret), body+"}")
		if bare {
			req = request(t, t.Context(), "https://h/v1?token="+url.QueryEscape(secret), strings.Replace(body, `\"v\":\"`+twice+`\"`, `\"v\":1`, 1)+"}")
		}
		req.Header.Set("X-Api-Key", secret)
		req.Header.Set("Anthropic-Beta", "x-"+value)
		req.Header.Set("Cookie", secrets["cookie"])
		res, err := s.Transport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || !bytes.Contains(text, []byte("p-w")) {
			t.Fatalf("%s: the caller's own answer was changed: %s, %v", name, text, err)
		}
	}
	scan := func(when string) {
		err := filepath.WalkDir(filepath.Dir(o.Cassette), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			for name, secret := range secrets {
				forms := []string{secret, strings.ReplaceAll(strings.ReplaceAll(secret, `\`, `\\`), `"`, `\"`)}
				for _, f := range forms {
					if bytes.Contains(data, []byte(f)) {
						t.Errorf("%s: %s holds the %s secret", when, filepath.Base(path), name)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	scan("while recording")
	closeSeam(t, s)
	scan("afterwards")
	if n := len(episodes(t, o.Cassette)); n != len(secrets) {
		t.Errorf("%d episodes of %d", n, len(secrets))
	}
}

func uEscape(s string) string {
	var sb strings.Builder
	for _, r := range s {
		fmt.Fprintf(&sb, `\u%04x`, r)
	}
	return sb.String()
}

func TestAFindingRefusesTheRecording(t *testing.T) {
	key := "kq7RZlive31f8a9cc02"
	o := options(t, seam.Record, sse(`{"t":"kq7RZlive"}`, `{"t":"31f8a9cc02"}`))
	o.Redactor = redact.New(redact.Options{Env: map[string]string{"ACME_API_KEY": key}})
	s := open(t, o)
	post(t, s, t.Context(), messagesURL, ask("x"))
	err := s.Err()
	wantCode(t, err, cassette.CodeNotSafe)
	for _, want := range []string{"response.body", "data[*]/t", "ACME_API_KEY"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error()+fault.HintOf(err), key[:9]) {
		t.Errorf("the error tells the secret: %v", err)
	}
	wantCode(t, s.Close(), cassette.CodeNotSafe)
	data, _ := os.ReadFile(o.Cassette + ".part")
	if _, err := os.Stat(o.Cassette); err == nil || bytes.Contains(data, []byte("31f8a9cc02")) {
		t.Errorf("something was written: %s", data)
	}
}

// A file that is named in an answer is found where the work folder is today.
func TestWorkFolderMovesBetweenRecordAndReplay(t *testing.T) {
	o := options(t, seam.Record, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sse("start", string(b), "end /there", "[DONE]")(w, r)
	})
	o.Redactor = redact.New(redact.Options{Work: "/tmp/first-work-folder"})
	s := open(t, o)
	_, text := post(t, s, t.Context(), messagesURL, `{"p":"/tmp/first-work-folder/a.png"}`)
	if !strings.Contains(text, "/tmp/first-work-folder/a.png") {
		t.Fatal(text)
	}
	closeSeam(t, s)
	data, err := os.ReadFile(o.Cassette)
	if err != nil || bytes.Contains(data, []byte("first-work-folder")) || !bytes.Contains(data, []byte("$WORK/a.png")) {
		t.Errorf("cassette %s, %v", data, err)
	}
	o.Redactor = redact.New(redact.Options{Work: "/w/2"})
	r := replay(t, o)
	res, err := r.Transport().RoundTrip(request(t, t.Context(), messagesURL, `{"p":"/w/2/a.png"}`))
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v, %v", res, r.Err())
	}
	var got []string
	buf := make([]byte, 200)
	for {
		n, err := res.Body.Read(buf)
		if err != nil {
			break
		}
		got = append(got, string(buf[:n]))
	}
	if len(got) != 4 || got[1] != "data: {\"p\":\"/w/2/a.png\"}\n\n" || got[2] != "data: end /there\n\n" {
		t.Errorf("chunks %q", got)
	}
}

// A recording into which nothing came writes nothing: an empty cassette would answer
// nothing, and refuse the next recording. What is there to be replaced stays.
func TestNothingRecordedIsNothingWritten(t *testing.T) {
	o := options(t, seam.Record, echo)
	o.KeepEmpty = false
	s := open(t, o)
	if s.Empty() {
		t.Error("it is not over yet")
	}
	closeSeam(t, s)
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(o.Cassette), "*")); err != nil || len(left) > 0 || !s.Empty() {
		t.Errorf("%q were written, %v; empty: %v", left, err, s.Empty())
	}
	s = open(t, o) // nothing is in its way
	post(t, s, t.Context(), messagesURL, ask("a"))
	closeSeam(t, s)
	if s.Empty() || len(episodes(t, o.Cassette)) != 1 {
		t.Error("the second one was not written")
	}
	o.Replace = true
	s = open(t, o)
	closeSeam(t, s)
	if !s.Empty() || len(episodes(t, o.Cassette)) != 1 {
		t.Error("nothing replaced something")
	}
}
