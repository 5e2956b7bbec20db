package official_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// says are replies that together use every field.
var says = []string{
	`{text: Just some words., usage: {input: 3, output: 2}}`,
	`{reasoning: I think that I am., text: And so I say., usage: {cache_read: 5, cache_write: 6}}`,
	`{calls: [{tool: add, input: {a: 1}}, {tool: nothing}]}`,
	`{reasoning: Both., text: Then., calls: [{tool: add, input: {list: [1, true, null, x]}}]}`,
	`{text: Cut by the limit, stop: length}`,
	`{refusal: I will not.}`,
}

// request is a body that every format reads; each takes the keys it knows.
func request(stream bool) string {
	return fmt.Sprintf(`{"model":"m","stream":%t,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],
		"input":"hi","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, stream)
}

// sayEverything collects the keys of all that is said to a voice.
func sayEverything(t *testing.T, v voice) keySet {
	t.Helper()
	var script strings.Builder
	script.WriteString("turns:\n")
	for _, say := range says {
		fmt.Fprintf(&script, "  - say: %s\n  - say: %s\n", say, say)
	}
	s, err := upstream.Parse("everything.upstream.yaml", []byte(script.String()))
	if err != nil {
		t.Fatal(err)
	}
	server := upstream.New(s)
	client := &http.Client{Transport: upstream.NewTransport(server)}
	out := keySet{}
	for range says {
		for _, stream := range []bool{false, true} {
			to := v.url
			if stream && v.streamURL != "" {
				to = v.streamURL
			}
			res, err := client.Post(to, "application/json", strings.NewReader(request(stream)))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if cerr := res.Body.Close(); err != nil || cerr != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s %v %v", v.name, res.StatusCode, body, err, cerr)
			}
			if isStream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"); isStream != stream {
				t.Errorf("%s: stream %t is answered with %s", v.name, stream, res.Header.Get("Content-Type"))
			}
			out.addBody(body)
		}
	}
	if err := server.Done(); err != nil {
		t.Error(err)
	}
	return out
}
