package model

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// errWorld is what a request outside our client meets.
var errWorld = errors.New("a test reached for the network")

// TestMain denies the process's default transport: nothing in this package or in
// the libraries below it may use it.
func TestMain(m *testing.M) {
	http.DefaultTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("%w: %s", errWorld, r.URL)
	})
	log.SetOutput(io.Discard) // genai warns of each hostile variable
	os.Exit(m.Run())
}

// everyRef has one model of each family and of each dialect.
var everyRef = []string{
	"anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-6", "azure/gpt-5", "azure/o3-pro",
	"bedrock/us.anthropic.claude-sonnet-4-6", "google/gemini-2.5-pro", "google/gemini-3-pro-preview",
	"openai/gpt-5.5", "openai/o3", "openaicompat/some/model", "ollama/llama3.2", "lmstudio/a", "vllm/b",
	"openrouter/anthropic/claude-sonnet-4.5", "vercel/anthropic/claude-sonnet-4.5",
	"vertexai/gemini-2.5-pro", "vertexai/claude-sonnet-4-6", "xai/grok-4.3",
}

// existing are those of everyRef that the catalogue still has, by family.
func existing(t *testing.T) []string {
	t.Helper()
	seen := map[family]bool{}
	var out []string
	for _, ref := range everyRef {
		if e, err := catalog.find(ref); err == nil {
			seen[e.family] = true
			out = append(out, ref)
		}
	}
	for _, f := range families {
		if !seen[f] {
			t.Errorf("no ref of family %q is tested: choose one of the catalogue's", f)
		}
	}
	return out
}

// A sent is a request as it left.
type sent struct{ method, url, headers, body string }

// capture opens ref and returns the request that req becomes.
func capture(t *testing.T, ref string, cfg Config, req port.Request) sent {
	t.Helper()
	return captureVia(t, ref, cfg, req, func(rt http.RoundTripper) http.RoundTripper { return rt })
}

// captureVia is capture with something between the model and the world.
func captureVia(t *testing.T, ref string, cfg Config, req port.Request, via func(http.RoundTripper) http.RoundTripper) sent {
	t.Helper()
	var got []sent
	cfg.Client = &http.Client{Transport: via(roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var h []string
		for k, v := range r.Header {
			h = append(h, k+": "+strings.Join(v, ","))
		}
		slices.Sort(h)
		got = append(got, sent{r.Method, r.URL.String(), strings.Join(h, "\n"), string(body)})
		return answer(r, 500, "application/json", `{"error":{"message":"enough"}}`), nil
	}))}
	p, err := Open(t.Context(), ref, cfg)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	o := collect(t.Context(), p, req)
	if len(got) != 1 || fault.CodeOf(o.err) != port.CodeBusy {
		t.Fatalf("%s: %d requests and error %v, want one request and %s", ref, len(got), o.err, port.CodeBusy)
	}
	return got[0]
}

// full is a request with everything in it.
func full() port.Request {
	req := hello()
	req.Reasoning = "medium"
	req.MaxOutput = 20_000
	png := []byte("\x89PNG\r\n\x1a\n")
	req.Messages = []port.Message{
		{Role: port.User, Parts: []port.Part{
			{Kind: port.Text, Text: "look", Cache: true},
			{Kind: port.Image, Data: png, MediaType: "image/png"},
			{Kind: port.Document, Data: []byte("%PDF-1.4"), MediaType: "application/pdf", Name: "a_b.pdf"},
		}},
		{Role: port.Assistant, Parts: []port.Part{
			{Kind: port.Reasoning, Text: "hm", Opaque: []byte(`[{"provider":"anthropic","signature":"c2ln"},{"provider":"google","signature":"/wD+"}]`)},
			{Kind: port.Text, Text: "I look."},
			{Kind: port.CallPart, Call: &port.ToolCall{ID: "t1r1c0", Name: "studio_list", Input: `{"z":1,"kind":"x","n":12345678901234567890}`}},
			{Kind: port.CallPart, Call: &port.ToolCall{ID: "t1r1c1", Name: "studio_read", Input: `{broken`}},
		}},
		{Role: port.ToolRole, Parts: []port.Part{
			{Kind: port.ResultPart, Result: &port.ToolResult{ID: "t1r1c0", Name: "studio_list", Text: "a picture", Images: []port.Blob{{Data: png, MediaType: "image/png"}}}},
			{Kind: port.ResultPart, Result: &port.ToolResult{ID: "t1r1c1", Name: "studio_read", Text: "broken input", Error: true}},
		}},
		{Role: port.User, Parts: []port.Part{{Kind: port.Text, Text: "go on"}}},
	}
	req.Tools = append(req.Tools, port.ToolSpec{Name: "studio_read", Description: "reads", Schema: []byte(`{"type":"object"}`)})
	req.Options = []port.RawOptions{
		{Provider: "anthropic", JSON: []byte(`{"extra_body":{"x1":1,"x2":2,"x3":3,"x4":4}}`)},
		{Provider: "openrouter", JSON: []byte(`{"extra_body":{"x1":1,"x2":2,"x3":3,"x4":4}}`)},
		{Provider: "ollama", JSON: []byte(`{"extra_body":{"x1":1,"x2":2,"x3":3,"x4":4}}`)},
	}
	return req
}

// live is a Config as a user has it.
func live() Config {
	cfg := settings(nil)
	cfg.Replay = false
	cfg.Access = map[string]Access{}
	for _, name := range []string{"anthropic", "bedrock", "google", "groq", "openrouter", "vercel", "xai", "vertexai", "openai", "azure"} {
		cfg.Access[name] = Access{Key: "key-of-" + name, Org: "org", Project: "proj", Region: "eu-west-9"}
	}
	a := cfg.Access["azure"]
	a.BaseURL = "https://mine.openai.azure.com/"
	cfg.Access["azure"] = a
	return cfg
}

// The same request has the same bytes, however the maps of the library fall.
func TestBytesAreStable(t *testing.T) {
	for _, ref := range existing(t) {
		want := capture(t, ref, settings(nil), full())
		for range 50 {
			if got := capture(t, ref, settings(nil), full()); got != want {
				t.Fatalf("%s:\n%v\nand then\n%v", ref, want, got)
			}
		}
	}
}

// variables are all that the SDKs look at, from their sources.
var variables = strings.Fields(`
ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_AWS_API_KEY ANTHROPIC_AWS_BASE_URL ANTHROPIC_AWS_WORKSPACE_ID
ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_MANTLE_BASE_URL ANTHROPIC_CONFIG_DIR ANTHROPIC_CREDENTIALS_FILE ANTHROPIC_CUSTOM_HEADERS
ANTHROPIC_ENVIRONMENT_ID ANTHROPIC_ENVIRONMENT_KEY ANTHROPIC_FEDERATION_RULE_ID ANTHROPIC_GOOGLE_CLOUD_BASE_URL
ANTHROPIC_GOOGLE_CLOUD_LOCATION ANTHROPIC_GOOGLE_CLOUD_PROJECT ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID ANTHROPIC_IDENTITY_TOKEN
ANTHROPIC_IDENTITY_TOKEN_FILE ANTHROPIC_LIVE ANTHROPIC_ORGANIZATION_ID ANTHROPIC_PROFILE ANTHROPIC_SCOPE ANTHROPIC_SERVICE_ACCOUNT_ID
ANTHROPIC_SESSION_ID ANTHROPIC_WEBHOOK_SIGNING_KEY ANTHROPIC_WORKSPACE_ID ANTHROPIC_WORK_ID
OPENAI_ADMIN_KEY OPENAI_API_KEY OPENAI_BASE_URL OPENAI_CUSTOM_HEADERS OPENAI_ORG_ID OPENAI_PROJECT_ID OPENAI_WEBHOOK_SECRET
AZURE_OPENAI_API_KEY AZURE_OPENAI_ENDPOINT AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_CLIENT_SECRET OPENAI_API_VERSION
OPENROUTER_API_KEY VERCEL_API_KEY AI_GATEWAY_API_KEY
AWS_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_ACCOUNT_ID AWS_AUTH_SCHEME_PREFERENCE AWS_BEARER_TOKEN_BEDROCK AWS_BEDROCK_BASE_URL AWS_CA_BUNDLE
AWS_CONFIG_FILE AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI
AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_DEFAULTS_MODE AWS_DEFAULT_PROFILE AWS_DEFAULT_REGION AWS_DISABLE_REQUEST_COMPRESSION
AWS_EC2_METADATA_DISABLED AWS_EC2_METADATA_SERVICE_ENDPOINT AWS_ENDPOINT_URL AWS_EXECUTION_ENV AWS_LOGIN_CACHE_DIRECTORY AWS_MAX_ATTEMPTS AWS_PROFILE
AWS_REGION AWS_REQUEST_CHECKSUM_CALCULATION AWS_RETRY_MODE AWS_ROLE_ARN AWS_ROLE_SESSION_NAME AWS_SDK_UA_APP_ID
AWS_SECRET_ACCESS_KEY AWS_SECRET_KEY AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE AWS_USE_DUALSTACK_ENDPOINT AWS_USE_FIPS_ENDPOINT
AWS_WEB_IDENTITY_TOKEN_FILE
GEMINI_API_KEY GCE_METADATA_HOST GOOGLE_API_CERTIFICATE_CONFIG GOOGLE_API_GO_EXPERIMENTAL_ENABLE_NEW_AUTH_LIB GOOGLE_API_KEY
GOOGLE_API_USE_CLIENT_CERTIFICATE GOOGLE_API_USE_MTLS GOOGLE_API_USE_MTLS_ENDPOINT GOOGLE_APPLICATION_CREDENTIALS
GOOGLE_AUTH_TRUST_BOUNDARY_ENABLED GOOGLE_CLOUD_LOCATION GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_QUOTA_PROJECT GOOGLE_CLOUD_REGION
GOOGLE_CLOUD_UNIVERSE_DOMAIN GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES GOOGLE_GEMINI_BASE_URL GOOGLE_GENAI_REPLAYS_DIRECTORY
GOOGLE_GENAI_USE_ENTERPRISE GOOGLE_GENAI_USE_VERTEXAI GOOGLE_SDK_GO_LOGGING_LEVEL GOOGLE_SDK_GO_TRACING GOOGLE_VERTEX_BASE_URL
GOOGLE_SDK_GO_EXPERIMENTAL_LOGGING GOOGLE_SDK_GO_EXPERIMENTAL_METRICS GOOGLE_SDK_GO_EXPERIMENTAL_TRACING
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy HOME XDG_CONFIG_HOME APPDATA`)

// hostile is a value that would show.
func hostile(name, dir string) string {
	file := filepath.Join(dir, "hostile")
	switch {
	case name == "HOME", name == "XDG_CONFIG_HOME", name == "APPDATA", strings.HasSuffix(name, "_DIR"), strings.HasSuffix(name, "_DIRECTORY"):
		return dir
	case strings.HasSuffix(name, "_FILE"), strings.HasSuffix(name, "_CREDENTIALS"), strings.HasSuffix(name, "_BUNDLE"):
		return file
	case strings.HasSuffix(name, "_HEADERS"):
		return "X-Hostile: 1\nAuthorization: Bearer hostile\nAnthropic-Beta: hostile\nUser-Agent: hostile"
	case strings.Contains(name, "_USE_"), strings.Contains(name, "ENABLE"), strings.Contains(name, "DISABLE"), strings.Contains(name, "EXPERIMENTAL"):
		return "true"
	case strings.Contains(name, "URL"), strings.Contains(name, "ENDPOINT"), strings.Contains(name, "HOST"), strings.Contains(strings.ToUpper(name), "PROXY"):
		return "http://hostile.invalid:1/"
	}
	return "hostile"
}

// profiles puts hostile files where the SDKs look for them.
func profiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hostile":                        "[default]\nregion = hostile\naws_access_key_id = hostile\naws_secret_access_key = hostile\n[profile hostile]\nregion = hostile\n",
		".aws/config":                    "[default]\nregion = hostile\nendpoint_url = http://hostile.invalid\n",
		".aws/credentials":               "[default]\naws_access_key_id = hostile\naws_secret_access_key = hostile\n",
		"anthropic/configs/default.json": `{"base_url":"http://hostile.invalid","authentication":{"type":"api_key"}}`,
		"configs/default.json":           `{"base_url":"http://hostile.invalid","authentication":{"type":"user_oauth"}}`,
		"configs/hostile.json":           `{"base_url":"http://hostile.invalid","authentication":{"type":"user_oauth"}}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// No variable that an SDK reads changes a request: each alone, all together, and
// all without those that hide others.
func TestEnvironmentIsNotRead(t *testing.T) {
	refs := existing(t)
	for _, v := range variables {
		t.Setenv(v, "") // what this machine has
	}
	type key struct {
		ref    string
		replay bool
	}
	configs := map[bool]Config{true: settings(nil), false: live()}
	want := map[key]sent{}
	for replay, cfg := range configs {
		for _, ref := range refs {
			want[key{ref, replay}] = capture(t, ref, cfg, full())
		}
	}
	dir := profiles(t)
	var few []string // one of each family
	for _, ref := range refs {
		if !slices.ContainsFunc(few, func(s string) bool { return refProvider(s) == refProvider(ref) }) && local[refProvider(ref)] == "" {
			few = append(few, ref)
		}
	}
	try := func(t *testing.T, names []string) {
		for _, v := range names {
			t.Setenv(v, hostile(v, dir))
		}
		for k, w := range want {
			if len(names) == 1 && (k.replay || !slices.Contains(few, k.ref)) {
				continue
			}
			if got := capture(t, k.ref, configs[k.replay], full()); got != w {
				t.Errorf("%v: %v\nis not\n%v", k, got, w)
			}
		}
	}
	for _, v := range variables {
		t.Run(v, func(t *testing.T) { try(t, []string{v}) })
	}
	rest := variables
	for _, v := range []string{"", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_CONFIG_DIR", "GOOGLE_API_KEY", "HOME"} {
		rest = slices.DeleteFunc(slices.Clone(rest), func(s string) bool { return s == v })
		t.Run("all without "+v, func(t *testing.T) { try(t, rest) })
	}
}

// What a request says of its user is what Access says.
func TestAccess(t *testing.T) {
	for _, c := range []struct{ ref, url, header string }{
		{"anthropic/claude-sonnet-4-5", "https://api.anthropic.com/v1/messages", "X-Api-Key: key-of-anthropic"},
		{"bedrock/us.anthropic.claude-sonnet-4-6", "https://bedrock-runtime.eu-west-9.amazonaws.com/model/us.anthropic.claude-sonnet-4-6/invoke-with-response-stream", "Authorization: Bearer key-of-bedrock"},
		{"azure/gpt-5", "https://mine.openai.azure.com/openai/v1/responses", "Api-Key: key-of-azure"},
		{"google/gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "X-Goog-Api-Key: key-of-google"},
		{"openai/gpt-5.5", "https://api.openai.com/v1/responses", "Openai-Organization: org\nOpenai-Project: proj"},
		{"openrouter/anthropic/claude-sonnet-4.5", "https://openrouter.ai/api/v1/chat/completions", "Authorization: Bearer key-of-openrouter"},
		{"vertexai/gemini-2.5-pro", "https://eu-west-9-aiplatform.googleapis.com/v1beta1/projects/proj/locations/eu-west-9/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "Authorization: Bearer key-of-vertexai"},
		{"vertexai/claude-sonnet-4-6", "https://eu-west-9-aiplatform.googleapis.com/v1/projects/proj/locations/eu-west-9/publishers/anthropic/models/claude-sonnet-4-6:streamRawPredict", "Authorization: Bearer key-of-vertexai"},
		{"ollama/llama3.2", "http://127.0.0.1:11434/v1/chat/completions", "Content-Type: application/json"},
	} {
		got := capture(t, c.ref, live(), full())
		if got.url != c.url {
			t.Errorf("%s: URL %s, want %s", c.ref, got.url, c.url)
		}
		if !strings.Contains(got.headers, c.header) {
			t.Errorf("%s: headers\n%s\nhave no %s", c.ref, got.headers, c.header)
		}
		if strings.Contains(got.body, "key-of") || strings.Contains(got.url, "key-of") || strings.Contains(got.headers+got.body, placeholder) {
			t.Errorf("%s: a key or a placeholder is where it does not belong: %+v", c.ref, got)
		}
	}
}

// Replay knows nothing of its user.
func TestReplayHasPlaceholders(t *testing.T) {
	cfg := live()
	cfg.Replay = true
	for _, ref := range existing(t) {
		if got, want := capture(t, ref, cfg, full()), capture(t, ref, settings(nil), full()); got != want {
			t.Errorf("%s: %+v\nis not\n%+v", ref, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	ok := settings(roundTrip(nil))
	ok.Replay = false
	for _, c := range []struct {
		name, ref string
		change    func(*Config)
		code      fault.Code
		hint      string
	}{
		{"no key", "anthropic/claude-sonnet-4-5", func(*Config) {}, port.CodeNoKey, "ANTHROPIC_API_KEY"},
		{"no transport", "anthropic/claude-sonnet-4-5", func(c *Config) { c.Client = &http.Client{} }, fault.Internal, ""},
		{"no clock", "anthropic/claude-sonnet-4-5", func(c *Config) { c.Clock = nil }, fault.Internal, ""},
		{"unknown", "anthropic/claude-sonet-4-5", func(*Config) {}, port.CodeUnknown, "anthropic/claude-sonnet-4-6"},
		{"a key of two lines", "anthropic/claude-sonnet-4-5", func(c *Config) { c.Access = map[string]Access{"anthropic": {Key: "a\nb"}} }, fault.Invalid, ""},
		{"azure without address", "azure/gpt-5", func(c *Config) { c.Access = map[string]Access{"azure": {Key: "k"}} }, fault.Invalid, ""},
		{"vertex without project", "vertexai/gemini-2.5-pro", func(c *Config) { c.Access = map[string]Access{"vertexai": {Key: "k"}} }, fault.Invalid, ""},
		{"bad address", "vllm/x", func(c *Config) { c.Access = map[string]Access{"vllm": {BaseURL: "ftp://x"}} }, fault.Invalid, ""},
	} {
		cfg := ok
		cfg.Client, cfg.Clock = &http.Client{Transport: roundTrip(nil)}, clock.NewFixed(clock.Epoch)
		c.change(&cfg)
		_, err := Open(t.Context(), c.ref, cfg)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: %v with hint %q, want %s and a hint with %q", c.name, err, fault.HintOf(err), c.code, c.hint)
		}
		if err != nil && strings.Contains(err.Error(), "a\nb") {
			t.Errorf("%s: the key is in the message", c.name)
		}
	}
}

// A redirect is not followed: the key would go with it.
func TestRedirect(t *testing.T) {
	n := 0
	cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
		n++
		resp := answer(r, 307, "text/plain", "elsewhere")
		resp.Header.Set("Location", "http://elsewhere.invalid/")
		return resp, nil
	}))
	for _, ref := range existing(t) {
		n = 0
		p, err := Open(t.Context(), ref, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if o := collect(t.Context(), p, hello()); n != 1 || fault.CodeOf(o.err) != port.CodeRefused {
			t.Errorf("%s: %d requests, %v", ref, n, o.err)
		}
	}
}
