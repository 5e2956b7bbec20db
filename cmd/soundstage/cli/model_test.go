package cli

import (
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/model"
)

// A variable of one provider must not reach another: OpenAI refuses a project that
// is Google's.
func TestAccessIsTheProvidersOwn(t *testing.T) {
	a := &app{doors: Doors{Env: map[string]string{
		"OPENAI_API_KEY": "k-openai", "OPENAI_ORG_ID": "org", "ANTHROPIC_API_KEY": "k-anthropic",
		"GOOGLE_CLOUD_PROJECT": "gcp", "GOOGLE_CLOUD_LOCATION": "europe-west1", "AWS_REGION": "eu-west-1",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
	}}}
	for ref, want := range map[string]model.Access{
		"openai/gpt-5.2":              {Key: "k-openai", Org: "org"},
		"anthropic/claude-sonnet-4-5": {Key: "k-anthropic"},
		"ollama/qwen3":                {},
	} {
		got, err := a.access(config{Model: ref})
		if err != nil {
			t.Errorf("access of %q: %v", ref, err)
			continue
		}
		for _, g := range got {
			if g.Key != want.Key || g.Org != want.Org || g.Project != "" || g.Region != "" || g.AccessKey != "" {
				t.Errorf("access of %q is %+v, want %+v", ref, g, want)
			}
		}
	}
}
