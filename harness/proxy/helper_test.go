package proxy_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

const address = "http://127.0.0.1:9"

// scripted is a provider that plays a script.
func scripted(t testing.TB, turns string) *upstream.Transport {
	t.Helper()
	s, err := upstream.Parse("test.upstream.yaml", []byte(turns))
	if err != nil {
		t.Fatal(err)
	}
	return upstream.NewTransport(upstream.New(s))
}

func options(t testing.TB, below http.RoundTripper) seam.Options {
	t.Helper()
	return seam.Options{
		Mode: seam.Record, Cassette: filepath.Join(t.TempDir(), "c.yaml"), Name: "a/c", Origin: cassette.Scripted,
		Clock: clock.NewFixed(clock.Epoch), Rules: seam.DefaultRules(), Transport: below,
	}
}

func open(t testing.TB, o seam.Options) *seam.Seam {
	t.Helper()
	s, err := seam.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func replay(t testing.TB, o seam.Options) *seam.Seam {
	t.Helper()
	o.Mode, o.Transport = seam.Replay, nil
	return open(t, o)
}

func closeSeam(t testing.TB, s *seam.Seam) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// through is a client whose requests all go to a proxy over s, in this process.
func through(s *seam.Seam) http.RoundTripper {
	return upstream.NewTransport(proxy.New(proxy.Options{Seam: s}))
}

// post sends a body with the headers that a client sends.
func post(t testing.TB, rt http.RoundTripper, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatalf("POST %s: %v", url, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read %s: %v", url, err)
	}
	return res, string(b)
}

// A voice is one wire format at its path.
type voice struct{ name, plain, mounted, world, body string }

var voices = []voice{
	{
		"anthropic", "/v1/messages?beta=true", "/anthropic/v1/messages?beta=true", "https://api.anthropic.com/v1/messages?beta=true",
		`{"model":"claude-x","stream":true,"system":"You are careful.","messages":[{"role":"user","content":"hi"}]}`,
	},
	{
		"chat", "/v1/chat/completions", "/openai/v1/chat/completions", "https://api.openai.com/v1/chat/completions",
		`{"model":"gpt-x","stream":true,"messages":[{"role":"system","content":"You are careful."},{"role":"user","content":"hi"}]}`,
	},
	{
		"responses", "/v1/responses", "/openai/responses", "https://api.openai.com/v1/responses",
		`{"model":"gpt-x","stream":true,"instructions":"You are careful.","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}`,
	},
	{
		"gemini", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "/gemini/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
		"https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
		`{"systemInstruction":{"parts":[{"text":"You are careful."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	},
}
