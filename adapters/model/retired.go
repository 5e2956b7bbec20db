package model

import "time"

// A retirement is a model that its provider has switched off.
type retirement struct{ model, when, from string }

// The pages on which providers say which models end, as read on 2026-11-30.
const (
	fromAnthropic = "platform.claude.com/docs/en/about-claude/model-deprecations"
	fromOpenAI    = "platform.openai.com/docs/deprecations"
	fromGoogle    = "ai.google.dev/gemini-api/docs/deprecations"
)

// retirements has dates that were announced as such, and none that may still move. They
// hold where the provider itself serves the model: clouds and gateways have their own,
// and their own spellings, which are not in here.
var retirements = []retirement{
	{"claude-2.0", "2025-07-21", fromAnthropic},
	{"claude-2.1", "2025-07-21", fromAnthropic},
	{"claude-3-sonnet-20240229", "2025-07-21", fromAnthropic},
	{"claude-3-5-sonnet-20240620", "2025-10-28", fromAnthropic},
	{"claude-3-5-sonnet-20241022", "2025-10-28", fromAnthropic},
	{"claude-3-opus-20240229", "2026-01-05", fromAnthropic},
	{"claude-3-7-sonnet-20250219", "2026-02-19", fromAnthropic},
	{"codex-mini-latest", "2026-01-16", fromOpenAI},
	{"chatgpt-4o-latest", "2026-02-17", fromOpenAI},
	{"gpt-5-chat-latest", "2026-07-23", fromOpenAI},
	{"gpt-5-codex", "2026-07-23", fromOpenAI},
	{"gpt-5.1-chat-latest", "2026-07-23", fromOpenAI},
	{"gpt-5.1-codex", "2026-07-23", fromOpenAI},
	{"gpt-5.1-codex-max", "2026-07-23", fromOpenAI},
	{"gpt-5.1-codex-mini", "2026-07-23", fromOpenAI},
	{"gpt-5.2-codex", "2026-07-23", fromOpenAI},
	{"gpt-5.2-chat-latest", "2026-08-10", fromOpenAI},
	{"gpt-3.5-turbo", "2026-10-23", fromOpenAI},
	{"gpt-3.5-turbo-0125", "2026-10-23", fromOpenAI},
	{"gpt-4", "2026-10-23", fromOpenAI},
	{"gpt-4-0613", "2026-10-23", fromOpenAI},
	{"gemini-2.5-pro-preview-03-25", "2025-12-02", fromGoogle},
	{"gemini-2.5-pro-preview-05-06", "2025-12-02", fromGoogle},
	{"gemini-2.5-pro-preview-06-05", "2025-12-02", fromGoogle},
	{"gemini-3-pro-preview", "2026-03-09", fromGoogle},
}

// Retired is the date from which a model's own provider serves it no more and the page
// that says so, or "" for a model of which none is known by today. It goes by the name on
// the wire, without a provider.
func Retired(name string, today time.Time) (when, from string) {
	for _, r := range retirements {
		if r.model == name && r.when <= today.Format(time.DateOnly) {
			return r.when, r.from
		}
	}
	return "", ""
}
