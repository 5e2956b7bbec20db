package model

import (
	"encoding/json"
	"maps"
	"slices"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"charm.land/fantasy/providers/openrouter"
	"charm.land/fantasy/providers/vercel"

	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// levels are all levels of reasoning, from none to most.
var levels = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// clamp is the level of the model that is nearest to want, the lower of two; ""
// when the model has none or nothing was wanted.
func clamp(want string, have []string) string {
	w := slices.Index(levels, want)
	if w < 0 {
		return ""
	}
	best, dist := "", len(levels)
	for i, l := range levels {
		if d := max(w-i, i-w); slices.Contains(have, l) && d < dist {
			best, dist = l, d
		}
	}
	return best
}

// Budgets of thinking tokens, for models that have no levels of their own.
var budgets = map[string]int64{"minimal": 1024, "low": 2048, "medium": 8192, "high": 24_576, "xhigh": 32_768, "max": 65_536}

// minBudget is the least that Anthropic takes.
const minBudget = 1024

// options are the provider's own settings: the level of reasoning, and over it
// what the caller gave as JSON.
func (p *provider) options(req port.Request, out int64, warn func(string, ...any)) (fantasy.ProviderOptions, error) {
	m := p.reasoning(req.Reasoning, out, warn)
	for _, o := range req.Options {
		if !p.answersTo(o.Provider) {
			warn("options of provider %q are not used by %s", o.Provider, p.info.Ref)
			continue
		}
		var over map[string]any
		if err := json.Unmarshal(o.JSON, &over); err != nil || over == nil {
			return nil, fault.New(fault.Invalid, "model.request", "the options of provider %q are not a JSON object", o.Provider)
		}
		maps.Copy(m, over)
	}
	if len(m) == 0 {
		return nil, nil
	}
	opts, err := p.parse(m)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "model.request", "the options for %q do not fit its provider", p.info.Ref)
	}
	return opts, nil
}

// answersTo says whether options for name are ours: the name in the ref or that
// of the family.
func (p *provider) answersTo(name string) bool {
	return name == string(p.family) || name == refProvider(p.info.Ref)
}

// parse turns settings into the family's own type.
func (p *provider) parse(m map[string]any) (fantasy.ProviderOptions, error) {
	switch p.family {
	case familyOpenRouter:
		o, err := openrouter.ParseOptions(m)
		return fantasy.ProviderOptions{openrouter.Name: o}, err
	case familyVercel:
		o, err := vercel.ParseOptions(m)
		return fantasy.ProviderOptions{vercel.Name: o}, err
	case familyCompat:
		o, err := openaicompat.ParseOptions(m)
		return fantasy.ProviderOptions{openaicompat.Name: o}, err
	}
	switch p.family.dialect(p.info.Ref) {
	case dialectAnthropic:
		o, err := anthropic.ParseOptions(m)
		return fantasy.ProviderOptions{anthropic.Name: o}, err
	case dialectGoogle:
		o, err := google.ParseOptions(m)
		return fantasy.ProviderOptions{google.Name: o}, err
	case dialectResponses:
		o, err := openai.ParseResponsesOptions(m)
		return fantasy.ProviderOptions{openai.Name: o}, err
	}
	o, err := openai.ParseOptions(m)
	return fantasy.ProviderOptions{openai.Name: o}, err
}

// reasoning is the family's setting for the level, or nothing.
func (p *provider) reasoning(want string, out int64, warn func(string, ...any)) map[string]any {
	m := map[string]any{}
	if want == "" {
		return m
	}
	if !slices.Contains(levels, want) {
		warn("there is no reasoning level %q", want)
		return m
	}
	level := clamp(want, p.info.Reasoning)
	if level == "" {
		return m
	}
	switch {
	case p.family == familyOpenRouter, p.family == familyVercel:
		if want == "none" && level != "none" {
			m["reasoning"] = map[string]any{"enabled": false}
			return m
		}
		m["reasoning"] = map[string]any{"effort": level}
	case p.family.dialect(p.info.Ref) == dialectAnthropic:
		return p.anthropicThinking(want, level, out)
	case p.family.dialect(p.info.Ref) == dialectGoogle:
		return p.googleThinking(want, level, out)
	default:
		m["reasoning_effort"] = level
	}
	return m
}

// anthropicThinking: models with levels of effort think as they see fit; the
// others get a budget, which must be less than the output.
func (p *provider) anthropicThinking(want, level string, out int64) map[string]any {
	switch {
	case want == "none":
		return map[string]any{}
	case !p.budgeted:
		return map[string]any{"effort": level}
	}
	budget := min(budgets[level], out/2)
	if budget < minBudget {
		return map[string]any{}
	}
	return map[string]any{"thinking": map[string]any{"budget_tokens": budget}}
}

// googleThinking: Gemini 3 has levels, Gemini 2.5 a budget.
func (p *provider) googleThinking(want, level string, out int64) map[string]any {
	t := map[string]any{"include_thoughts": want != "none"}
	if p.budgeted {
		t["thinking_budget"] = min(budgets[level], max(out/2, 128))
	} else {
		t["thinking_level"] = googleLevels[level]
	}
	return map[string]any{"thinking_config": t}
}

var googleLevels = map[string]string{
	"none": google.ThinkingLevelMinimal, "minimal": google.ThinkingLevelMinimal, "low": google.ThinkingLevelLow,
	"medium": google.ThinkingLevelMedium, "high": google.ThinkingLevelHigh,
	"xhigh": google.ThinkingLevelHigh, "max": google.ThinkingLevelHigh,
}

// messageOptions are cache points of whole messages; no provider of ours has
// another option there.
func (p *provider) messageOptions(list []port.RawOptions, warn func(string, ...any)) (fantasy.ProviderOptions, error) {
	var out fantasy.ProviderOptions
	for _, o := range list {
		var v struct {
			CacheControl *struct {
				Type string `json:"type"`
			} `json:"cache_control"`
		}
		if err := json.Unmarshal(o.JSON, &v); err != nil {
			return nil, fault.New(fault.Invalid, "model.request", "the message options of provider %q are not a JSON object", o.Provider)
		}
		if !p.answersTo(o.Provider) || v.CacheControl == nil {
			warn("message options of provider %q are not used by %s", o.Provider, p.info.Ref)
			continue
		}
		b := builder{p: p}
		out = b.cache(true, out)
	}
	return out, nil
}
