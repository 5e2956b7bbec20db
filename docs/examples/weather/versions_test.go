package weather_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/soundstage-dev/soundstage/docs/examples/weather"
)

// Importing the harness does not move the versions of the code under test: each SDK
// says in its requests what it was built as, and that is what go.mod asks for. Had the
// harness asked for more, go.mod would not fit any longer and nothing would build.
func TestVersionsStay(t *testing.T) {
	var claude, gpt version
	_, _ = weather.AskClaude(t.Context(), anthropic.NewClient(
		anthropicoption.WithHTTPClient(&http.Client{Transport: &claude}), anthropicoption.WithAPIKey("none")), mild, question)
	_, _ = weather.AskChat(t.Context(), openai.NewClient(
		openaioption.WithHTTPClient(&http.Client{Transport: &gpt}), openaioption.WithAPIKey("none")), mild, question)
	if claude != "1.19.0" || gpt != "3.8.1" {
		t.Errorf("built with Anthropic's %q and OpenAI's %q, want 1.19.0 and 3.8.1", claude, gpt)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"anthropics/anthropic-sdk-go v1.19.0\n", "openai/openai-go/v3 v3.8.1\n",
		"tidwall/gjson v1.18.0 ", "tidwall/sjson v1.2.5 ", // what the SDKs themselves ask for
	} {
		if !strings.Contains(string(mod), "\tgithub.com/"+line) {
			t.Errorf("go.mod has no line %q", line)
		}
	}
}

// A version is a transport that hears which version an SDK has, and answers nothing.
type version string

func (v *version) RoundTrip(r *http.Request) (*http.Response, error) {
	*v = version(r.Header.Get("X-Stainless-Package-Version"))
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
