package proxy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

const fourTurns = "turns:\n- say: {text: one and two}\n- say: {text: one and two}\n- say: {text: one and two}\n- say: {text: one and two}\n"

// A cassette that was recorded through the proxy is, byte for byte, one that was
// recorded in process; and both replay the same bytes in the same chunks.
func TestSameCassetteAsInProcess(t *testing.T) {
	direct, proxied := options(t, scripted(t, fourTurns)), options(t, scripted(t, fourTurns))
	a, b := open(t, direct), open(t, proxied)
	var said []string
	for i, v := range voices {
		_, want := post(t, a.Transport(), v.world, v.body, "Anthropic-Version", "2023-06-01")
		at := v.plain
		if i%2 == 1 {
			at = v.mounted
		}
		_, got := post(t, through(b), address+at, v.body, "Anthropic-Version", "2023-06-01")
		if got != want || got == "" {
			t.Errorf("%s: %q, in process %q", v.name, got, want)
		}
		said = append(said, got)
	}
	closeSeam(t, a)
	closeSeam(t, b)
	x, err := os.ReadFile(direct.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(proxied.Cassette)
	if err != nil || string(x) != string(y) {
		t.Errorf("the cassettes differ (%v) at %s", err, firstDifference(string(x), string(y)))
	}

	s := replay(t, proxied)
	for i, v := range voices {
		res, got := post(t, through(s), address+v.mounted, v.body, "Anthropic-Version", "2023-06-01")
		if got != said[i] || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s: replayed %d %q", v.name, res.StatusCode, got)
		}
	}
	if len(s.Unused()) != 0 || s.Err() != nil {
		t.Errorf("unused %v, %v", s.Unused(), s.Err())
	}
}

// Each recorded chunk reaches the client as one.
func TestChunks(t *testing.T) {
	o := options(t, scripted(t, "turns:\n- say: {text: a b c d e f g h i j k l m n o p q r s t u v w x y z}\n"))
	s := open(t, o)
	post(t, through(s), address+"/v1/messages", voices[0].body)
	closeSeam(t, s)
	c, err := cassette.Open(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only read
	e, err := c.Episode(0)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/v1/messages", strings.NewReader(voices[0].body))
	res, err := through(replay(t, o)).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for i, chunk := range e.Response.Chunks {
		if n, err := res.Body.Read(buf); n != chunk.Len || err != nil {
			t.Errorf("chunk %d has %d bytes (%v), recorded %d", i, n, err, chunk.Len)
		}
	}
	if len(e.Response.Chunks) < 3 {
		t.Errorf("only %d chunks: this test says little", len(e.Response.Chunks))
	}
}

// A miss is 400 in the provider's own shape, says not to try again, and is told once.
func TestMiss(t *testing.T) {
	o := options(t, scripted(t, fourTurns))
	s := open(t, o)
	for _, v := range voices {
		post(t, through(s), address+v.plain, v.body)
	}
	closeSeam(t, s)
	s = replay(t, o)
	var told []*seam.Miss
	rt := upstream.NewTransport(proxy.New(proxy.Options{Seam: s, Missed: func(m *seam.Miss) { told = append(told, m) }}))
	for i, v := range voices {
		res, body := post(t, rt, address+v.plain, strings.Replace(v.body, "careful", "careless", 1))
		if res.StatusCode != http.StatusBadRequest || res.Header.Get("X-Should-Retry") != "false" || res.Header.Get("X-Soundstage-Code") != string(seam.CodeMiss) {
			t.Errorf("%s: %d %v", v.name, res.StatusCode, res.Header)
		}
		var shape struct {
			Type  string
			Error struct {
				Type, Message, Status string
				Code                  json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(body), &shape); err != nil {
			t.Fatal(err)
		}
		ok := map[string]bool{
			"anthropic": shape.Type == "error" && shape.Error.Type == "invalid_request_error",
			"chat":      shape.Error.Type == "invalid_request_error" && string(shape.Error.Code) == `"SEAM_MISS"`,
			"responses": shape.Error.Type == "invalid_request_error" && string(shape.Error.Code) == `"SEAM_MISS"`,
			"gemini":    shape.Error.Status == "INVALID_ARGUMENT" && string(shape.Error.Code) == "400",
		}[v.name]
		if !ok || !strings.Contains(shape.Error.Message, "You are careless.") || !strings.Contains(shape.Error.Message, "You are careful.") {
			t.Errorf("%s: %s", v.name, body)
		}
		if len(told) != i+1 {
			t.Errorf("%s: told of %d misses", v.name, len(told))
		}
	}
}

// Keys reach the upstream, and no disk.
func TestKeysAreNeverWritten(t *testing.T) {
	keys := []string{
		"Authorization", "Bearer sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa", "X-Api-Key", "sk-ant-api03-bbbbbbbbbbbbbbbbbbbbbbbb",
		"X-Goog-Api-Key", "AIzaSyCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC", "Cookie", "session=dddddddddddddddd", "X-Unknown-Token", "eeeeeeeeeeeeeeeeeeee",
		proxy.TokenHeader, "ffffffffffffffffffff",
	}
	var got http.Header
	var query string
	o := options(t, upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, query = r.Header.Clone(), r.URL.RawQuery
		fmt.Fprint(w, "{}")
	})))
	s := open(t, o)
	post(t, through(s), address+"/v1beta/models/g:generateContent?key=AIzaSyGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG", "{}", keys...)
	closeSeam(t, s)
	file, err := os.ReadFile(o.Cassette)
	if err != nil {
		t.Fatal(err)
	}
	if got.Get(proxy.TokenHeader) != "" {
		t.Error("the proxy's own token went on")
	}
	if !strings.Contains(query, "AIzaSyGGGG") {
		t.Errorf("the key in the query did not reach the upstream: %q", query)
	}
	for i := 0; i+1 < len(keys); i += 2 {
		if keys[i] != proxy.TokenHeader && got.Get(keys[i]) != keys[i+1] {
			t.Errorf("%s did not reach the upstream", keys[i])
		}
		if value := keys[i+1]; strings.Contains(string(file), value[len(value)-12:]) {
			t.Errorf("%s is in the cassette", keys[i])
		}
	}
	if strings.Contains(string(file), "GGGGGGGG") {
		t.Error("the key of the query is in the cassette")
	}
}

// Requests of one lane are never answered with those of another, in whichever way the
// lane is named.
func TestLanes(t *testing.T) {
	o := options(t, upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"lane":%q}`, r.Header.Get(proxy.LaneHeader))
	})))
	s := open(t, o)
	post(t, through(s), address+"/v1/messages", "{}", proxy.LaneHeader, "scout")
	post(t, through(s), address+"/lane/cook/v1/messages", "{}")
	closeSeam(t, s)
	s = replay(t, o)
	if res, body := post(t, through(s), address+"/lane/scout/anthropic/v1/messages", "{}"); body != `{"lane":"scout"}` {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if res, body := post(t, through(s), address+"/v1/messages", "{}"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("the main lane got %s", body)
	}
	for _, lane := range []string{"a b", "-x", strings.Repeat("x", 65), "ä"} {
		if res, _ := post(t, through(s), address+"/v1/messages", "{}", proxy.LaneHeader, lane); res.Header.Get("X-Soundstage-Code") != string(proxy.CodeLane) {
			t.Errorf("lane %q: %d", lane, res.StatusCode)
		}
	}
	if res, _ := post(t, through(s), address+"/lane/", "{}"); res.Header.Get("X-Soundstage-Code") != string(proxy.CodeLane) {
		t.Errorf("no lane: %d", res.StatusCode)
	}
}

// What a public recorder loses: the namespace of a call, and the difference between
// two requests that have the same last user message.
func TestUnknownFieldsAndSystemCount(t *testing.T) {
	o := options(t, scripted(t, `
lanes:
- {name: title, system: title generator}
turns:
- lane: title
  say: {text: A title}
- say: {calls: [{tool: mcp__studio/list, input: {}}]}
`))
	ask := func(system string) string {
		return fmt.Sprintf(`{"model":"m","stream":true,"instructions":%q,"input":"hello"}`, system)
	}
	s := open(t, o)
	_, main := post(t, through(s), address+"/v1/responses", ask("You are helpful"))
	_, title := post(t, through(s), address+"/v1/responses", ask("You are a title generator"))
	closeSeam(t, s)
	if !strings.Contains(main, `"namespace":"mcp__studio"`) {
		t.Fatalf("the upstream sends no namespace: %s", main)
	}
	s = replay(t, o) // in the other order
	if _, got := post(t, through(s), address+"/v1/responses", ask("You are a title generator")); got != title {
		t.Errorf("title: %s", got)
	}
	if _, got := post(t, through(s), address+"/v1/responses", ask("You are helpful")); got != main {
		t.Errorf("main: %s", got)
	}
}

// A stream that broke off breaks off again.
func TestCutStream(t *testing.T) {
	o := options(t, scripted(t, "turns:\n- say: {text: one two three four, cut_after: 4}\n"))
	o.KeepErrors = true
	read := func(rt http.RoundTripper) (string, error) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/v1/messages", strings.NewReader(voices[0].body))
		res, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return string(b), err
	}
	s := open(t, o)
	want, err := read(through(s))
	if !errors.Is(err, io.ErrUnexpectedEOF) || want == "" {
		t.Fatalf("recorded %q, %v", want, err)
	}
	closeSeam(t, s)
	if got, err := read(through(replay(t, o))); got != want || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("replayed %q, %v; recorded %q", got, err, want)
	}
}

// 64 clients on one cassette, each in its lane, get what each recorded.
func TestManyClients(t *testing.T) {
	o := options(t, upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			fmt.Fprintf(w, "data: {\"lane\":%q,\"n\":%d,\"i\":%d}\n\n", r.Header.Get(proxy.LaneHeader), len(body), i)
			_ = http.NewResponseController(w).Flush()
		}
	})))
	const clients, turns = 64, 5
	body := func(turn int) string { return fmt.Sprintf(`{"messages":%q}`, strings.Repeat("x", turn)) }
	run := func(rt http.RoundTripper) [clients]string {
		var said [clients]string
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				for turn := range turns {
					_, b := post(t, rt, fmt.Sprintf("%s/lane/l%d/v1/messages", address, c), body(turn))
					said[c] += b
				}
			})
		}
		wg.Wait()
		return said
	}
	s := open(t, o)
	want := run(through(s))
	closeSeam(t, s)
	s = replay(t, o)
	if got := run(through(s)); got != want || s.Err() != nil || len(s.Unused()) != 0 {
		t.Errorf("the replay differs: %v, unused %v", s.Err(), s.Unused())
	}
}

func TestUpstreamGone(t *testing.T) {
	o := options(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }))
	s := open(t, o)
	res, body := post(t, through(s), address+"/v1/messages", "{}")
	if res.StatusCode != http.StatusBadRequest || res.Header.Get("X-Soundstage-Code") != string(proxy.CodeUpstream) || !strings.Contains(body, "connection refused") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if err := s.Close(); err != nil && fault.CodeOf(err) == fault.Internal {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// firstDifference shows a little of both texts around where they part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	clip := func(s string) string { return s[max(0, i-60):min(len(s), i+60)] }
	return fmt.Sprintf("byte %d: %q and %q", i, clip(a), clip(b))
}
