package weather_test

import (
	"os"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/soundstage-dev/soundstage/docs/examples/weather"
	"github.com/soundstage-dev/soundstage/harness/seamtest"
)

const question = "How warm is it in Paris?"

// script stands in for the provider while recording. Leave it out to record a real one.
var script = seamtest.Scripted("testdata/provider.upstream.yaml")

func TestMain(m *testing.M) { os.Exit(seamtest.Main(m)) }

func mild(string) (float64, error) { return 21.5, nil }

func TestClaude(t *testing.T) {
	stage := seamtest.ForTest(t, "claude", script)
	client := anthropic.NewClient(
		anthropicoption.WithHTTPClient(stage.Client()), anthropicoption.WithAPIKey(stage.Key("ANTHROPIC_API_KEY")))
	got, err := weather.AskClaude(t.Context(), client, mild, question)
	check(t, got, err)
}

func TestChat(t *testing.T) {
	got, err := weather.AskChat(t.Context(), openAI(seamtest.ForTest(t, "chat", script)), mild, question)
	check(t, got, err)
}

func TestResponses(t *testing.T) {
	got, err := weather.AskResponses(t.Context(), openAI(seamtest.ForTest(t, "responses", script)), mild, question)
	check(t, got, err)
}

func openAI(stage *seamtest.Stage) openai.Client {
	return openai.NewClient(
		openaioption.WithHTTPClient(stage.Client()), openaioption.WithAPIKey(stage.Key("OPENAI_API_KEY")))
}

func check(t *testing.T, got string, err error) {
	t.Helper()
	if want := "It is a mild 21.5 °C in Paris."; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
