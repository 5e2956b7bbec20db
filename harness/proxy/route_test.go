package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// Where a path leads, as it is recorded.
func TestRoutes(t *testing.T) {
	const anthropic, openai, gemini = "https://api.anthropic.com", "https://api.openai.com", "https://generativelanguage.googleapis.com"
	ups, err := proxy.ParseUpstreams([]string{"groq=https://api.groq.example/openai/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, header, to string }{
		{"/v1/messages", "", anthropic + "/v1/messages"},
		{"/messages", "", anthropic + "/v1/messages"},
		{"/v1/messages/count_tokens?beta=true", "", anthropic + "/v1/messages/count_tokens?beta=true"},
		{"/v1/messages/batches/b1/results", "", anthropic + "/v1/messages/batches/b1/results"},
		{"/v1/files", "Anthropic-Version", anthropic + "/v1/files"},
		{"/anthropic/v1/models/x", "", anthropic + "/v1/models/x"},
		{"/anthropic/messages", "", anthropic + "/v1/messages"},
		{"/v1/chat/completions", "", openai + "/v1/chat/completions"},
		{"/chat/completions", "", openai + "/v1/chat/completions"},
		{"/responses", "", openai + "/v1/responses"},
		{"/v1/responses/resp_1/cancel", "", openai + "/v1/responses/resp_1/cancel"},
		{"/openai/v1/embeddings", "", openai + "/v1/embeddings"},
		{"/openai/chat/completions", "", openai + "/v1/chat/completions"},
		{"/v1/files", "", openai + "/v1/files"},
		{"/v1beta/models/g:generateContent", "", gemini + "/v1beta/models/g:generateContent"},
		{"/v1/models/g:streamGenerateContent?alt=sse", "", gemini + "/v1/models/g:streamGenerateContent?alt=sse"},
		{"/gemini/v1alpha/cachedContents", "", gemini + "/v1alpha/cachedContents"},
		{"/groq/v1/chat/completions", "", "https://api.groq.example/openai/v1/chat/completions"},
		{"/https/api.mistral.example/v1/chat/completions", "", "https://api.mistral.example/v1/chat/completions"},
		{"/http/127.0.0.1:11434/api/chat", "", "http://127.0.0.1:11434/api/chat"},
		{"/v1/messages%2Fx..", "", openai + "/v1/messages%2Fx.."},
		{"/v1/messages%2F..", "", ""},
		{"/groq/../other-tenant/v1", "", ""},
		{"/groq/%2e%2e/other-tenant/v1", "", ""},
		{"/groq/x/./v1", "", ""},
		{"/groq/..%5cother-tenant", "", ""},
		{"/https/h.example/a%2Fb/c%3Fd", "", "https://h.example/a%2Fb/c%3Fd"},
		{"/nothing", "", ""},
		{"/https/", "", ""},
		{"/https/user@h.example/v1", "", ""},
		{"/api/other", "", ""},
	} {
		got := ""
		s := open(t, options(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		})))
		header := []string{}
		if c.header != "" {
			header = []string{c.header, "2023-06-01"}
		}
		res, body := post(t, upstream.NewTransport(proxy.New(proxy.Options{Seam: s, Upstreams: ups})), address+c.path, "{}", header...)
		switch {
		case c.to == "" && (res.StatusCode != http.StatusNotFound || res.Header.Get("X-Soundstage-Code") != string(proxy.CodePath)):
			t.Errorf("%s: %d %s", c.path, res.StatusCode, body)
		case c.to != "" && (got != c.to || s.Calls()[0].URL != c.to):
			t.Errorf("%s: asked %q, recorded %v, want %q", c.path, got, s.Calls(), c.to)
		}
		_ = s.Close()
	}
}

func TestParseUpstreams(t *testing.T) {
	for _, spec := range []string{
		"", "x", "ftp://h", "https://", "https://user:pw@h", "https://h?x=1", "https://h#x", "Groq=https://h", "lane=https://h", "mcp=https://h",
		"v1=https://h", "a b=https://h", "=https://h",
	} {
		if _, err := proxy.ParseUpstreams([]string{spec}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// Where requests go in the world, and that they go nowhere else.
func TestRedirect(t *testing.T) {
	for _, c := range []struct {
		specs    string
		from, to string // to "" is refused
	}{
		{"", "https://api.anthropic.com/v1/messages?beta=true", "https://api.anthropic.com/v1/messages?beta=true"},
		{"http://127.0.0.1:4000", "https://api.anthropic.com/v1/messages", "http://127.0.0.1:4000/v1/messages"},
		{"http://127.0.0.1:4000/base/", "https://api.openai.com/v1/responses", "http://127.0.0.1:4000/base/v1/responses"},
		{"http://127.0.0.1:4000 openai=https://gw.example/x", "https://api.openai.com/v1/files/a%2Fb", "https://gw.example/x/v1/files/a%2Fb"},
		{"http://127.0.0.1:4000 openai=https://gw.example/x", "https://api.anthropic.com/v1/messages", "http://127.0.0.1:4000/v1/messages"},
		{"groq=https://api.groq.example/openai", "https://api.groq.example/openai/v1/chat/completions", "https://api.groq.example/openai/v1/chat/completions"},
		{"groq=https://api.groq.example/openai", "https://api.groq.example/other", ""},
		{"groq=https://api.groq.example/openai", "https://api.groq.example/openaix", ""},
		{"groq=https://api.groq.example", "https://api.groq.example.evil.example/", ""},
		{"", "https://evil.example/", ""},
		{"", "http://api.anthropic.com/v1/messages", ""},
		{"", "http://169.254.169.254/latest", ""},
		{"http://127.0.0.1:4000", "http://127.0.0.1:4000/v1/messages", ""},
	} {
		ups, err := proxy.ParseUpstreams(strings.Fields(c.specs))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		rt := ups.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			if r.Host != r.URL.Host {
				t.Errorf("%s: host %q", c.from, r.Host)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}, nil
		}), false)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.RoundTrip(req)
		if err == nil {
			_ = res.Body.Close()
		}
		if got != c.to || (c.to == "") != (fault.CodeOf(err) == proxy.CodeUpstream) {
			t.Errorf("%q %s: went to %q (%v), want %q", c.specs, c.from, got, err, c.to)
		}
	}
}

// A script's answer is not recorded as a provider's.
func TestScriptedIsNotLive(t *testing.T) {
	below := roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{proxy.OriginHeader: {"scripted"}}, Body: http.NoBody}, nil
	})
	var none proxy.Upstreams
	for _, declared := range []bool{false, true} {
		o := options(t, none.Transport(below, declared))
		s := open(t, o)
		res, _ := post(t, through(s), address+"/v1/messages", "{}")
		if declared != (res.StatusCode == http.StatusOK) || !declared && res.Header.Get("X-Soundstage-Code") != string(proxy.CodeScripted) {
			t.Errorf("declared %v: %d %v", declared, res.StatusCode, res.Header)
		}
		_ = s.Close()
	}
}

// A client that looks around before it asks misses nothing.
func TestProbes(t *testing.T) {
	o := options(t, scripted(t, "turns:\n- say: {text: hello}\n"))
	s := open(t, o)
	post(t, through(s), address+"/v1/messages", voices[0].body)
	closeSeam(t, s)
	s = replay(t, o)
	for _, c := range []struct{ method, path, contains string }{
		{http.MethodHead, "/api/hello", ""},
		{http.MethodHead, "/", ""},
		{http.MethodHead, "/v1/models", ""},
		{http.MethodGet, "/", "soundstage"},
		{http.MethodGet, "/v1/models", `"id":"claude-x"`},
		{http.MethodGet, "/v1/models/claude-y", `"id":"claude-y"`},
		{http.MethodGet, "/anthropic/v1/models", `"id":"claude-x"`},
		{http.MethodGet, "/v1beta/models", `"name":"models/claude-x"`},
		{http.MethodPost, "/v1/messages/count_tokens", `"input_tokens":`},
		{http.MethodPost, "/v1beta/models/g:countTokens", `"totalTokens":`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, address+c.path, strings.NewReader(voices[0].body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := through(s).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 4096)
		n, _ := res.Body.Read(body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || !strings.Contains(string(body[:n]), c.contains) || (c.method == http.MethodHead) != (n == 0) {
			t.Errorf("%s %s: %d %s", c.method, c.path, res.StatusCode, body[:n])
		}
	}
	if s.Err() != nil || len(s.Calls()) != 0 {
		t.Errorf("%v, calls %v", s.Err(), s.Calls())
	}
}

// A probe that was recorded is replayed.
func TestRecordedProbe(t *testing.T) {
	o := options(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		return upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"input_tokens":7}`))
		})).RoundTrip(r)
	}))
	s := open(t, o)
	post(t, through(s), address+"/v1/messages/count_tokens", voices[0].body)
	closeSeam(t, s)
	s = replay(t, o)
	if _, body := post(t, through(s), address+"/v1/messages/count_tokens", voices[0].body); body != `{"input_tokens":7}` || len(s.Unused()) != 0 {
		t.Errorf("%s, unused %v", body, s.Unused())
	}
	if _, body := post(t, through(s), address+"/v1/messages/count_tokens", voices[0].body); !strings.Contains(body, "input_tokens") || s.Err() != nil {
		t.Errorf("asked once more: %s, %v", body, s.Err())
	}
}

func TestClients(t *testing.T) {
	known := map[string]bool{}
	for _, p := range seam.Presets() {
		known[p.Name] = true
	}
	for _, c := range proxy.Clients() {
		if !known[c.Preset] {
			t.Errorf("%s: no preset %q", c.Name, c.Preset)
		}
		all := strings.Join(append(c.Env("http://a:1", "k"), c.Notes("http://a:1")...), "\n")
		if !strings.Contains(all, "http://a:1") || strings.Contains(all, "{") {
			t.Errorf("%s: %s", c.Name, all)
		}
		if strings.Contains(strings.Join(c.Env("u", ""), "\n"), "KEY=") {
			t.Errorf("%s: a recording sets the key", c.Name)
		}
	}
	if _, err := proxy.ClientNamed("nobody"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}
