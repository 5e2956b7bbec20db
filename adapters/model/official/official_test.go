package official_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// heard is what a provider's own client made of a reply.
type heard struct {
	Text, Reasoning, Proof, Refusal string
	Calls                           []heardCall
	Stop                            string
	In, Cached, Written             int // as this provider counts
	Out, Thought                    int
}

type heardCall struct{ ID, Name, Args string }

// both has what is asked twice, whole and as a stream, and then what goes wrong.
const both = `
turns:
  - expect: {user: hello, tools: [add, multiply], absent: [divide], system: kind, results: [], rounds: 0, model: the-model, stream: false}
    say:
      reasoning: Two calls are needed, so both at once.
      text: I'll add and multiply — at the same time.
      calls:
        - {tool: add, input: {a: 2, b: 3}}
        - {tool: multiply, input: {a: 2, b: 3, note: "é <b> & 日本語"}}
      usage: {input: 100, cache_read: 40, cache_write: 7, output: 60, reasoning: 20}
  - expect: {user: hello, tools: [add, multiply], stream: true}
    say:
      reasoning: Two calls are needed, so both at once.
      text: I'll add and multiply — at the same time.
      calls:
        - {tool: add, input: {a: 2, b: 3}}
        - {tool: multiply, input: {a: 2, b: 3, note: "é <b> & 日本語"}}
      usage: {input: 100, cache_read: 40, cache_write: 7, output: 60, reasoning: 20}
  - expect: {results: [{tool: add, contains: five}, {tool: multiply, contains: six, error: true}], rounds: 1}
    let: {sum: 'f\w+'}
    say: {text: "The sum is ${sum}."}
  - say: {text: This is cut by the limit, stop: length}
  - say: {refusal: I will not say that.}
  - say: {refusal: I will not say that.}
  - fail: {status: 429, message: slow down, retry_after: 1500ms, final: true}
  - say: {text: This stream does not come to its end., cut_after: 2}
  - expect: {user: something else}
    say: {text: never}
`

// stage is a client of a server that plays both.
func stage(t *testing.T) (*http.Client, *upstream.Server) {
	t.Helper()
	s, err := upstream.Parse("both.upstream.yaml", []byte(both))
	if err != nil {
		t.Fatal(err)
	}
	server := upstream.New(s)
	return &http.Client{Transport: upstream.NewTransport(server)}, server
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

const (
	bothText   = "I'll add and multiply — at the same time."
	bothThink  = "Two calls are needed, so both at once."
	addArgs    = `{"a":2,"b":3}`
	multArgs   = `{"a":2,"b":3,"note":"é <b> & 日本語"}`
	refusal    = "I will not say that."
	cutText    = "This is cut by the limit"
	resultText = "The sum is five."
)
