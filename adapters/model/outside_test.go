package model

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// Through Outside, a request with placeholders becomes the one that a live model
// sends, for every provider.
func TestOutsideIsLive(t *testing.T) {
	cfg := live()
	for _, ref := range existing(t) {
		if name := refProvider(ref); name == Compat || local[name] != "" {
			cfg.Access[name] = Access{BaseURL: "https://mine.example/api/" + name, Key: "k"}
		}
	}
	cfg.Access["bedrock"] = Access{AccessKey: "AKID", SecretKey: "secret", SessionToken: "session", Region: "eu-west-9"}
	for _, ref := range existing(t) {
		want := capture(t, ref, cfg, full())
		placed := settings(nil)
		placed.Access = cfg.Access
		mine := map[string]Access{refProvider(ref): cfg.Access[refProvider(ref)]}
		if got := captureVia(t, ref, placed, full(), func(rt http.RoundTripper) http.RoundTripper {
			return Outside(rt, catalog, mine, clock.NewFixed(clock.Epoch))
		}); got != want {
			t.Errorf("%s:\n%+v\nis not\n%+v", ref, got, want)
		}
	}
}

// A key goes to its own provider only.
func TestOutsideKeepsKeysApart(t *testing.T) {
	var seen []string
	rt := Outside(roundTrip(func(r *http.Request) (*http.Response, error) {
		seen = append(seen, r.URL.String()+" "+r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
		return answer(r, 200, "text/plain", ""), nil
	}), catalog, map[string]Access{"anthropic": {Key: "anthropic-key"}, "vllm": {Key: "vllm-key"}, "openai": {}}, clock.NewFixed(clock.Epoch))
	for _, c := range []struct{ url, want string }{
		{"https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages anthropic-key"},
		{"http://api.anthropic.com/v1/messages", "http://api.anthropic.com/v1/messages "},
		{"https://api.anthropic.com.evil.invalid/v1/messages", "https://api.anthropic.com.evil.invalid/v1/messages "},
		{"http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1/chat/completions Bearer vllm-key"},
		{"http://127.0.0.1:8000/v1evil", "http://127.0.0.1:8000/v1evil "},
		{"https://example.com/", "https://example.com/ "},
	} {
		seen = nil
		req, err := http.NewRequestWithContext(t.Context(), "POST", c.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if len(seen) != 1 || seen[0] != c.want {
			t.Errorf("%s: %q, want %q", c.url, seen, c.want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", "https://api.openai.com/v1/responses", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.RoundTrip(req); fault.CodeOf(err) != port.CodeNoKey {
		t.Errorf("without a key: %v", err)
	}
}

// A signature of AWS is in headers, and depends on the clock alone.
func TestBedrockSigns(t *testing.T) {
	cfg := live()
	cfg.Access["bedrock"] = Access{AccessKey: "AKID", SecretKey: "secret", SessionToken: "session", Region: "eu-west-9"}
	a := capture(t, "bedrock/us.anthropic.claude-sonnet-4-6", cfg, full())
	b := capture(t, "bedrock/us.anthropic.claude-sonnet-4-6", cfg, full())
	if a != b || !strings.Contains(a.headers, "AWS4-HMAC-SHA256 Credential=AKID/20260102/eu-west-9/bedrock/aws4_request") ||
		!strings.Contains(a.headers, "X-Amz-Security-Token: session") {
		t.Errorf("%s\nand %s", a.headers, b.headers)
	}
	replay := capture(t, "bedrock/us.anthropic.claude-sonnet-4-6", settings(nil), full())
	if a.body != replay.body || strings.Contains(a.url, "Amz") || strings.Contains(a.headers, "secret") {
		t.Error("the signature is in the body or the URL")
	}
}
