package weather_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/soundstage-dev/soundstage/docs/examples/weather"
	"github.com/soundstage-dev/soundstage/harness/seamtest"
)

// counter counts what an SDK sends, its own retries among it.
type counter struct {
	below http.RoundTripper
	sent  int
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent++
	return c.below.RoundTrip(r)
}

// expected notes the failure that this test wants.
type expected struct {
	testing.TB
	errs  string
	ended []func()
}

func (e *expected) Cleanup(f func())                  { e.ended = append(e.ended, f) }
func (e *expected) Error(args ...any)                 { e.errs += fmt.Sprintln(args...) }
func (e *expected) Errorf(format string, args ...any) { e.errs += fmt.Sprintf(format+"\n", args...) }

// Somebody changes the question: at the default retries of each SDK the miss is one
// request, its error is the provider's own and says where the request differs, and the
// test fails also where the agent swallows the error.
func TestAMissIsOneRequest(t *testing.T) {
	if os.Getenv(seamtest.EnvRecord) != "" {
		t.Skip("a recording has no miss")
	}
	const asked = "How cold is it in Paris?"
	tests := []struct {
		cassette, pointer string
		ask               func(c *http.Client) (status int, kind, message string)
	}{
		{"claude", "/messages/0/content/0/text", func(c *http.Client) (int, string, string) {
			client := anthropic.NewClient(anthropicoption.WithHTTPClient(c), anthropicoption.WithAPIKey("none"))
			_, err := weather.AskClaude(t.Context(), client, mild, asked)
			var e *anthropic.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no error of the SDK", err)
			}
			return e.StatusCode, kindIn(e.RawJSON()), e.Error()
		}},
		{"chat", "/messages/1/content", func(c *http.Client) (int, string, string) {
			client := openai.NewClient(openaioption.WithHTTPClient(c), openaioption.WithAPIKey("none"))
			_, err := weather.AskChat(t.Context(), client, mild, asked)
			return openAIError(t, err)
		}},
		{"responses", "/input/0/content", func(c *http.Client) (int, string, string) {
			client := openai.NewClient(openaioption.WithHTTPClient(c), openaioption.WithAPIKey("none"))
			_, err := weather.AskResponses(t.Context(), client, mild, asked)
			return openAIError(t, err)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.cassette, func(t *testing.T) {
			probe := &expected{TB: t}
			stage := seamtest.ForTest(probe, tt.cassette)
			count := &counter{below: stage.Transport()}
			status, kind, message := tt.ask(&http.Client{Transport: count})
			if count.sent != 1 || status != http.StatusBadRequest || kind != "invalid_request_error" {
				t.Errorf("%d requests, status %d, type %q", count.sent, status, kind)
			}
			for _, f := range probe.ended {
				f()
			}
			for _, text := range []string{message, probe.errs} {
				if !strings.Contains(text, "SEAM_MISS") || !strings.Contains(text, tt.pointer+": recorded") || !strings.Contains(text, "cold") {
					t.Errorf("it does not say where: %s", text)
				}
			}
		})
	}
}

func openAIError(t *testing.T, err error) (int, string, string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no error of the SDK", err)
	}
	return e.StatusCode, e.Type, e.Message
}

// kindIn is the inner type of an error body of Anthropic.
func kindIn(body string) string {
	_, rest, _ := strings.Cut(body, `"error":`)
	_, rest, _ = strings.Cut(rest, `"type":"`)
	kind, _, _ := strings.Cut(rest, `"`)
	return kind
}
