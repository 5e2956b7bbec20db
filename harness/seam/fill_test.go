package seam_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// versioned answers with the last word of the request and a version.
func versioned(version string, sent *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"text":"`)
		word, _, _ := strings.Cut(rest, `"`)
		*sent = append(*sent, word)
		sse(fmt.Sprintf(`{"answer":"%s %s"}`, version, word), `{"type":"message_stop"}`)(w, r)
	}
}

// lines are the episodes' lines of a cassette.
func lines(t testing.TB, path string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "- ") {
			out = append(out, line)
		}
	}
	return out
}

// recorded makes a cassette of asks, with version one's answers.
func recorded(t testing.TB, words ...string) seam.Options {
	t.Helper()
	o := options(t, seam.Record, versioned("one", new([]string)))
	o.Rules = seam.DefaultRules()
	s := open(t, o)
	if _, err := s.Price("p/claude-x", func() ([]byte, error) { return []byte(`{"input":1}`), nil }); err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		post(t, s, t.Context(), messagesURL, ask(w))
	}
	closeSeam(t, s)
	return o
}

// asks posts words and returns the answers' versions, "miss" for a 400.
func asks(t testing.TB, s *seam.Seam, words ...string) (got []string) {
	t.Helper()
	for _, w := range words {
		status, text := post(t, s, t.Context(), messagesURL, ask(w))
		switch {
		case status == 400:
			got = append(got, "miss")
		case strings.Contains(text, `"one `+w):
			got = append(got, "one")
		case strings.Contains(text, `"two `+w):
			got = append(got, "two")
		default:
			t.Fatalf("%q was answered %d %q", w, status, text)
		}
	}
	return got
}

func TestFill(t *testing.T) {
	tests := []struct {
		name, recorded, episode, ask string
		prune                        bool
		want                         string // versions that the caller gets
		sent                         string
		order                        string // of the cassette: + before what is new
	}{
		{name: "nothing is missing", recorded: "a b c", ask: "a b c", want: "one one one", order: "a b c"},
		{name: "in the middle", recorded: "a c", ask: "a b c", want: "one two one", sent: "b", order: "a +b c"},
		{name: "before and behind", recorded: "b", ask: "a b c d", want: "two one two two", sent: "a c d", order: "+a b +c +d"},
		{name: "once more than recorded", recorded: "a b a", ask: "a a a b", want: "one one two one", sent: "a", order: "a b a +a"},
		{name: "an empty cassette", recorded: "", ask: "a", want: "two", sent: "a", order: "+a"},
		{name: "what is not asked for stays", recorded: "a b c", ask: "c x", want: "one two", sent: "x", order: "a b c +x"},
		{name: "one anew", recorded: "a b c", episode: "2", ask: "a b c", want: "one two one", sent: "b", order: "a +b c"},
		{name: "the first anew", recorded: "a b", episode: "1", ask: "a b", want: "two one", sent: "a", order: "+a b"},
		{name: "its request changed", recorded: "a b c", episode: "2", ask: "a B c", want: "one two one", sent: "B", order: "a +B c"},
		{name: "what follows changed", recorded: "a b c d", episode: "2", ask: "a b C d", want: "one two two one", sent: "b C", order: "a +b +C c d"},
		{name: "and what nobody asks for goes", recorded: "a b c d", episode: "2", prune: true, ask: "a b C d", want: "one two two one", sent: "b C", order: "a +b +C d"},
		{name: "the second of two alike", recorded: "a a b", episode: "2", ask: "a a b", want: "one two one", sent: "a", order: "a +a b"},
		{name: "the old one is not given out", recorded: "a b", episode: "2", ask: "a B b", want: "one two two", sent: "B b", order: "a +B +b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := recorded(t, strings.Fields(tt.recorded)...)
			before := lines(t, o.Cassette)
			old, err := os.ReadFile(o.Cassette)
			if err != nil {
				t.Fatal(err)
			}
			var sent []string
			o.Mode, o.Episode, o.Prune = seam.Fill, tt.episode, tt.prune
			o.Transport, o.Rules = upstream.NewTransport(versioned("two", &sent)), nil
			s := open(t, o)
			if got := strings.Join(asks(t, s, strings.Fields(tt.ask)...), " "); got != tt.want {
				t.Errorf("answers %q, want %q", got, tt.want)
			}
			if now, _ := os.ReadFile(o.Cassette); !bytes.Equal(now, old) {
				t.Error("the cassette changed before the end")
			}
			closeSeam(t, s)
			if got := strings.Join(sent, " "); got != tt.sent || len(s.Sent()) != len(sent) {
				t.Errorf("sent %q, want %q; %+v", got, tt.sent, s.Sent())
			}
			checkOrder(t, o, before, strings.Fields(tt.recorded), strings.Fields(tt.order), s.Sent())
			r := replay(t, o)
			if got := asks(t, r, strings.Fields(tt.ask)...); slices.Contains(got, "miss") {
				t.Errorf("replayed: %v", got)
			}
		})
	}
}

// checkOrder compares a cassette with the words that it should hold, in order, and the
// lines of what is not new with those before.
func checkOrder(t testing.TB, o seam.Options, before, words, want []string, sent []seam.Sent) {
	t.Helper()
	if err := cassette.Verify(o.Cassette); err != nil {
		t.Fatal(err)
	}
	after, at := lines(t, o.Cassette), 0
	if len(after) != len(want) {
		t.Fatalf("%d episodes, want %v:\n%s", len(after), want, strings.Join(after, ""))
	}
	for i, w := range want {
		word, isNew := strings.CutPrefix(w, "+")
		if !strings.Contains(after[i], `\"text\":\"`+word+`\"`) {
			t.Errorf("episode %d is not of %q: %s", i+1, word, after[i])
		}
		if inLog := slices.ContainsFunc(sent, func(s seam.Sent) bool { return s.Line == i }); inLog != isNew {
			t.Errorf("episode %d is in the log of what was sent: %v", i+1, inLog)
		}
		if isNew {
			continue
		}
		for at < len(words) && words[at] != word {
			at++
		}
		if at == len(words) || after[i] != before[at] {
			t.Errorf("episode %d is not byte for byte what it was: %s", i+1, after[i])
		}
		at++
	}
	c, err := cassette.Open(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	if h := c.Header(); !slices.Equal(h.Rules, seam.DefaultRules()) || string(h.Prices) != `{"p/claude-x":{"input":1}}` {
		t.Errorf("header %+v", h)
	}
}

func TestFillRefuses(t *testing.T) {
	var sent []string
	o := options(t, seam.Fill, versioned("two", &sent))
	_, err := seam.Open(o)
	wantCode(t, err, cassette.CodeMissing)

	o = recorded(t, "a", "b", "a")
	old := lines(t, o.Cassette)
	o.Mode = seam.Fill
	for id, code := range map[string]fault.Code{"4": fault.NotFound, "0": fault.NotFound, "x": fault.Invalid, "000000": fault.NotFound, old[0][12:22]: fault.Invalid} {
		o.Episode = id
		_, err := seam.Open(o)
		wantCode(t, err, code)
	}

	// The journey strays before the episode: nothing goes out.
	o.Episode, o.Transport = "3", upstream.NewTransport(versioned("two", &sent))
	s := open(t, o)
	if got := asks(t, s, "a", "X"); got[1] != "miss" {
		t.Errorf("answers %v", got)
	}
	wantCode(t, s.Close(), seam.CodeMiss)

	// The episode is never reached.
	s = open(t, o)
	asks(t, s, "a", "b")
	wantCode(t, s.Close(), seam.CodeUnreached)

	// It is named by its key, and the provider refuses ours.
	o.Episode, o.KeepErrors = old[1][12:24], false
	o.Transport = upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	s = open(t, o)
	asks(t, s, "a")
	if status, _ := post(t, s, t.Context(), messagesURL, ask("b")); status != 401 {
		t.Errorf("status %d", status)
	}
	wantCode(t, s.Close(), seam.CodeAuth)

	// The cassette changes while it is recorded into.
	o.Episode, o.Transport = "", upstream.NewTransport(versioned("two", &sent))
	s = open(t, o)
	asks(t, s, "new")
	whole, err := os.ReadFile(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Cassette, append(whole, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Close(), fault.Conflict)
	if err := os.WriteFile(o.Cassette, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines(t, o.Cassette), old) || len(sent) != 1 {
		t.Errorf("the cassette is another one, or %v was sent", sent)
	}

	// What was recorded is not lost.
	o.Continue = true
	s = open(t, o)
	asks(t, s, "new")
	closeSeam(t, s)
	if got := lines(t, o.Cassette); len(got) != 4 || len(sent) != 1 {
		t.Errorf("%d episodes, sent %v", len(got), sent)
	}
}

func TestFillMakesTheOriginTheWeakest(t *testing.T) {
	o := recorded(t, "a")
	o.Mode, o.Origin, o.Transport = seam.Fill, cassette.Live, upstream.NewTransport(versioned("two", new([]string)))
	s := open(t, o)
	asks(t, s, "a", "b")
	closeSeam(t, s)
	e := episodes(t, o.Cassette)
	if got := s.Header().Origin; got != cassette.Scripted || e[1].Origin != cassette.Live {
		t.Errorf("header %q, new episode %q", got, e[1].Origin)
	}
}

// Whatever episodes are recorded anew, one at a time and in any order: all other lines
// stay byte for byte, and the journey replays.
func TestAnyEpisodesAnew(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	for range 20 {
		var words []string
		for range 1 + rnd.IntN(12) {
			words = append(words, fmt.Sprint("w", rnd.IntN(6))) // some alike
		}
		o := recorded(t, words...)
		want := lines(t, o.Cassette)
		o.Mode, o.Rules = seam.Fill, nil
		for _, k := range rnd.Perm(len(words))[:rnd.IntN(len(words)+1)] {
			var sent []string
			o.Episode, o.Transport = fmt.Sprint(k+1), upstream.NewTransport(versioned("two", &sent))
			s := open(t, o)
			asks(t, s, words...)
			closeSeam(t, s)
			got := lines(t, o.Cassette)
			if len(sent) != 1 || len(got) != len(want) || !strings.Contains(got[k], "two "+words[k]) {
				t.Fatalf("episode %d of %v: sent %v, %d lines", k+1, words, sent, len(got))
			}
			want[k] = got[k]
			if !slices.Equal(got, want) {
				t.Fatalf("episode %d of %v changed another line", k+1, words)
			}
		}
		if got := asks(t, replay(t, o), words...); slices.Contains(got, "miss") {
			t.Fatalf("%v replays as %v", words, got)
		}
	}
}

func TestDryRun(t *testing.T) {
	tests := []struct {
		name         string
		mode         seam.Mode
		episode, ask string
		want         string
		lines        string // of what would be sent
		code         fault.Code
	}{
		{name: "all anew", mode: seam.Record, ask: "a b c", want: "one one one", lines: "[0 1 2]"},
		{name: "and one more", mode: seam.Record, ask: "a x", want: "one miss", lines: "[0 -1]", code: seam.CodeDryRun},
		{name: "fill nothing", mode: seam.Fill, ask: "a b c", want: "one one one", lines: "[]"},
		{name: "fill one", mode: seam.Fill, ask: "a x", want: "one miss", lines: "[-1]", code: seam.CodeDryRun},
		{name: "one anew", mode: seam.Fill, episode: "2", ask: "a b c", want: "one one one", lines: "[1]"},
		{name: "one that changed", mode: seam.Fill, episode: "2", ask: "a B", want: "one miss", lines: "[-1]", code: seam.CodeDryRun},
		{name: "it strays", mode: seam.Fill, episode: "3", ask: "a B", want: "one miss", lines: "[]", code: seam.CodeMiss},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := recorded(t, "a", "b", "c")
			o.Mode, o.Episode, o.DryRun, o.Transport, o.CI = tt.mode, tt.episode, true, nil, true
			s := open(t, o)
			if got := strings.Join(asks(t, s, strings.Fields(tt.ask)...), " "); got != tt.want {
				t.Errorf("answers %q, want %q", got, tt.want)
			}
			wantCode(t, s.Close(), tt.code)
			at := []int{}
			for _, one := range s.Sent() {
				at = append(at, one.Line)
			}
			if fmt.Sprint(at) != tt.lines {
				t.Errorf("would be sent: %v, want %v", at, tt.lines)
			}
			if files, err := os.ReadDir(strings.TrimSuffix(o.Cassette, "/b.yaml")); err != nil || len(files) != 1 {
				t.Errorf("files %v, %v", files, err)
			}
		})
	}

	// Where there is no cassette yet, the first request is all that is known.
	o := options(t, seam.Record, nil)
	o.DryRun = true
	s := open(t, o)
	asks(t, s, "a")
	wantCode(t, s.Close(), seam.CodeDryRun)
	if got := s.Sent(); len(got) != 1 || got[0].Model != "claude-x" {
		t.Errorf("would be sent: %+v", got)
	}
}
