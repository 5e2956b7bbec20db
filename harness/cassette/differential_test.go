package cassette_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/dnaeon/go-vcr/v2/recorder"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// go-vcr v2 is the independent reader: what we write, it must read equal.

// pieces are what breaks YAML writers and readers; adversarial bodies are made of
// them.
var pieces = []string{
	"\n", "\r", "\r\n", "\t", " ", "  ", "\n\n", "\n\t", "\n ", "---", "\n---\n", "...", "\n...\n", "- ", ": ", ":", "#", " #",
	"? ", "|", ">", "|-", ">+", "!!binary", "!!str ", "!", "*a", "&a", "%", "%YAML 1.1", "%TAG", "@", "`", "'", "''", `"`, `\"`, `\`, `\\`,
	`\n`, `\u0041`, `\x41`, `\/`, `\_`, `\N`, "{", "}", "[", "]", ",", "{}", "[]", "null", "~", "true", "yes", "NO", "on", "0x1f", "1e3", "0o7", "1_000",
	"12:30:45", "2026-01-02", ".inf", ".nan", "<<", "=", "\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b[0m", "\x1f", "\x7f", "\u0080", "\u0085", "\u009f", "\u00a0",
	"\u200b", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\ue000", "\ud7ff", "\U0001f600", "\U0001ffff", "\U0010ffff", "é", "日本", "e\u0301",
	"\xed\xa0\x80", "\xed\xb0\x80", "\x80", "\xbf", "\xc0\xaf", "\xff", "\xfe", "\xf4\x90\x80\x80", "\xef\xbb", "data: {}\n\n", `{"a":1}`, `,"request":{`, "\"\n- {\"x-key\":\"",
	"# end 1 00000000\n", "<script>", "&amp;", "a", "word", "$", "0",
}

// adversarial makes a body of pieces, now and then a long one.
func adversarial(r *rand.Rand) []byte {
	n := r.IntN(8)
	if r.IntN(200) == 0 {
		n = 2000
	}
	var b bytes.Buffer
	for range n {
		switch r.IntN(12) {
		case 0:
			b.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], r.IntN(40)))
		case 1:
			b.WriteRune(rune(r.IntN(utf8.MaxRune + 1))) // a surrogate becomes U+FFFD
		case 2:
			b.WriteByte(byte(r.IntN(256)))
		default:
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	return b.Bytes()
}

// adversarialEpisode puts such texts into every place that takes one.
func adversarialEpisode(r *rand.Rand, i int) cassette.Episode {
	e := episode(fmt.Sprint(i))
	text := func() string { return strings.ToValidUTF8(string(adversarial(r)), "?") }
	e.Request.Body, e.Response.Body, e.Response.Chunks = adversarial(r), adversarial(r), nil
	if r.IntN(4) == 0 {
		e.Lane, e.Model, e.Request.URL, e.Response.Error, e.Response.End = text(), text(), text(), text(), "cut"
		e.Request.Header = http.Header{"Content-Type": {text(), text()}, "~": {}, "Null": {"null"}, "!x": {text()}}
		e.Response.Header = nil
	}
	return e
}

// same compares an episode with what go-vcr v2 read.
func same(e *cassette.Episode, v *govcr.Interaction) error {
	stored := func(b []byte) string {
		if utf8.Valid(b) {
			return string(b)
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	headers := func(h http.Header) http.Header {
		if h == nil {
			return http.Header{}
		}
		return h
	}
	want := govcr.Interaction{
		Request: govcr.Request{
			Body: stored(e.Request.Body), Form: url.Values{}, Headers: headers(e.Request.Header),
			URL: e.Request.URL, Method: e.Request.Method,
		},
		Response: govcr.Response{
			Body: stored(e.Response.Body), Headers: headers(e.Response.Header),
			Status: v.Status, Code: e.Response.Status, Duration: e.Response.Duration,
		},
	}
	if !reflect.DeepEqual(&want, v) {
		return fmt.Errorf("go-vcr reads\n%#v\nwant\n%#v", v, &want)
	}
	if e.Response.Status == 200 && v.Status != "200 OK" {
		return fmt.Errorf("status is %q", v.Status)
	}
	return nil
}

// agree loads a cassette with both readers and compares every episode.
func agree(t *testing.T, path string) int {
	t.Helper()
	c := open(t, path)
	v, err := govcr.Load(strings.TrimSuffix(path, ".yaml"))
	if err != nil {
		t.Fatalf("go-vcr cannot read %s: %v", path, err)
	}
	if v.Version != 1 || len(v.Interactions) != c.Len() {
		t.Fatalf("%s: go-vcr reads version %d with %d episodes, want 1 with %d", path, v.Version, len(v.Interactions), c.Len())
	}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := same(&e, v.Interactions[i]); err != nil {
			t.Fatalf("%s, episode %d: %v", path, i, err)
		}
	}
	return c.Len()
}

// Two bodies an episode: 20,000 in all.
func TestGoVCRReadsAdversarialBodies(t *testing.T) {
	const files, each = 20, 500
	r := rand.New(rand.NewPCG(2, 3))
	total := 0
	for range files {
		episodes := make([]cassette.Episode, each)
		for i := range episodes {
			episodes[i] = adversarialEpisode(r, i)
		}
		path := record(t, header(), episodes...)
		c := open(t, path)
		for i, want := range episodes {
			got, err := c.Episode(i)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Request.Body, want.Request.Body) || !bytes.Equal(got.Response.Body, want.Response.Body) {
				t.Fatalf("episode %d: we read other bodies than we wrote", i)
			}
		}
		total += 2 * agree(t, path)
	}
	if total != 20_000 {
		t.Errorf("%d bodies compared, want 20000", total)
	}
}

func TestGoVCRReadsShapes(t *testing.T) {
	failed := episode("failed")
	failed.Response = cassette.Response{End: "error", Error: "refused"}
	cancelled := episode("cancelled")
	cancelled.Response.Status, cancelled.Response.End = 299, "cancelled"
	long := episode("long")
	long.Request.Body = bytes.Repeat([]byte("0123456789 \n\t"), 200_000)
	long.Request.Header[strings.Repeat("x", 256)] = []string{strings.Repeat("y", 1<<16)}
	for name, episodes := range map[string][]cassette.Episode{
		"none": nil, "one": {episode("a")}, "ends": {failed, cancelled}, "long": {long},
	} {
		t.Run(name, func(t *testing.T) { agree(t, record(t, header(), episodes...)) })
		t.Run(name+" bare", func(t *testing.T) { agree(t, record(t, cassette.Header{}, episodes...)) })
	}
}

// refuse is the live transport of a replay: reaching it is the failure.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(q *http.Request) (*http.Response, error) {
	r.t.Errorf("live call to %s", q.URL)
	return nil, http.ErrNotSupported
}

func TestGoVCRReplays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	episodes := make([]cassette.Episode, 300)
	for i := range episodes {
		episodes[i] = adversarialEpisode(r, i)
		episodes[i].Request.URL = fmt.Sprintf("https://api.example.com/%d", i)
	}
	rec, err := recorder.NewAsMode(strings.TrimSuffix(record(t, header(), episodes...), ".yaml"), recorder.ModeReplaying, refuse{t})
	if err != nil {
		t.Fatal(err)
	}
	rec.SkipRequestLatency = true
	rec.SetMatcher(func(q *http.Request, i govcr.Request) bool {
		body, err := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && q.Method == i.Method && q.URL.String() == i.URL && string(body) == i.Body
	})
	for _, i := range r.Perm(len(episodes)) {
		want := episodes[i]
		replayOne(t, rec, &want)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
}

func replayOne(t *testing.T, rec http.RoundTripper, want *cassette.Episode) {
	t.Helper()
	stored := func(b []byte) []byte {
		if utf8.Valid(b) {
			return b
		}
		return []byte(base64.StdEncoding.EncodeToString(b))
	}
	q, err := http.NewRequestWithContext(t.Context(), want.Request.Method, want.Request.URL, bytes.NewReader(stored(want.Request.Body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rec.RoundTrip(q)
	if err != nil {
		t.Fatalf("%s: %v", want.Request.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(body, stored(want.Response.Body)) || resp.StatusCode != want.Response.Status {
		t.Errorf("%s: go-vcr replays %d %q, %v", want.Request.URL, resp.StatusCode, body, err)
	}
}

// Every cassette of the repository is read by both readers, and is sound in depth.
func TestRepositoryCassettes(t *testing.T) {
	root := filepath.Join("..", "..", "cassettes")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		t.Run(filepath.ToSlash(path[len(root)+1:]), func(t *testing.T) {
			if err := cassette.Verify(path); err != nil {
				t.Fatal(err)
			}
			agree(t, path)
		})
		return nil
	})
	if files == 0 {
		t.Skipf("no cassette in %s (%v)", root, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
