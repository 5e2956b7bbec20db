package content

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// SamplersIn are numbers of a request. What is left out stays.
type SamplersIn struct {
	Temperature       *float64 `json:"temperature,omitempty" jsonschema:"how freely it writes, mostly 0 to 2"`
	TopP              *float64 `json:"top_p,omitempty" jsonschema:"0 to 1"`
	TopK              *float64 `json:"top_k,omitempty" jsonschema:"0 is off in most apps"`
	TopA              *float64 `json:"top_a,omitempty" jsonschema:"0 to 1"`
	MinP              *float64 `json:"min_p,omitempty" jsonschema:"0 to 1"`
	TypicalP          *float64 `json:"typical_p,omitempty" jsonschema:"0 to 1"`
	TailFree          *float64 `json:"tail_free,omitempty" jsonschema:"0 to 1"`
	RepetitionPenalty *float64 `json:"repetition_penalty,omitempty" jsonschema:"1 is none"`
	RepetitionRange   *float64 `json:"repetition_range,omitempty" jsonschema:"tokens that it looks back"`
	FrequencyPenalty  *float64 `json:"frequency_penalty,omitempty" jsonschema:"-2 to 2"`
	PresencePenalty   *float64 `json:"presence_penalty,omitempty" jsonschema:"-2 to 2"`
	Seed              *int64   `json:"seed,omitempty" jsonschema:"-1 is a new one each time in most apps"`
	N                 *int     `json:"n,omitempty" jsonschema:"answers at once"`
	MaxContext        *int     `json:"max_context,omitempty" jsonschema:"tokens of the whole request"`
	MaxTokens         *int     `json:"max_tokens,omitempty" jsonschema:"tokens of an answer"`
}

// A Sampler is the name of one.
type Sampler string

// Enum lists the samplers.
func (Sampler) Enum() []string {
	var names []string
	for _, s := range samplers(&Samplers{}, SamplersIn{}) {
		names = append(names, s.name)
	}
	return names
}

// PresetSamplersIn changes the numbers of a request.
type PresetSamplersIn struct {
	ID              string     `json:"id" jsonschema:"the preset's id, as studio.list shows it"`
	Set             SamplersIn `json:"set,omitzero" jsonschema:"new values"`
	ProviderDefault []Sampler  `json:"provider_default,omitempty" jsonschema:"samplers to write as null: the preset says that the provider's default holds"`
	Clear           []Sampler  `json:"clear,omitempty" jsonschema:"samplers to take out: the preset says nothing of them"`
}

func presetSamplersTool(d Deps) tool.Tool {
	const id = "preset.samplers.update"
	return tool.New(drafting(id, "Update a preset's samplers",
		"Change a preset's temperature, top p, penalties, context size, answer length and other samplers, as a draft.",
		"A null in a file (the provider's default) is another thing than an absent number: provider_default writes the one, clear makes the other.",
		"temperature", "top_p", "top_k", "min_p", "repetition penalty", "frequency penalty", "max tokens", "response length", "context size", "seed", "more creative", "less random"),
		func(ctx context.Context, call tool.Call, in PresetSamplersIn) (drafted, error) {
			return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, warn say) error {
				no := map[string]func(){}
				yes := map[string]func(){}
				for _, s := range samplers(&p.Samplers, in.Set) {
					no[s.name] = wipe(s.to)
					yes[s.name] = func() { *s.to = Number("null") }
				}
				if err := unset(id, words(in.Clear), no); err != nil {
					return err
				}
				if err := unset(id, words(in.ProviderDefault), yes); err != nil {
					return err
				}
				return sample(&p.Samplers, in.Set, warn)
			})
		})
}

type sampler struct {
	name      string
	to        *Number
	given     *float64
	low, high float64 // what it is mostly between; equal is no matter
}

// samplers pairs what a preset has with what is given. It is the one list of them.
func samplers(s *Samplers, in SamplersIn) []sampler {
	return []sampler{
		{"temperature", &s.Temperature, in.Temperature, 0, 2},
		{"top_p", &s.TopP, in.TopP, 0, 1},
		{"top_k", &s.TopK, in.TopK, 0, 0},
		{"top_a", &s.TopA, in.TopA, 0, 1},
		{"min_p", &s.MinP, in.MinP, 0, 1},
		{"typical_p", &s.TypicalP, in.TypicalP, 0, 1},
		{"tail_free", &s.TailFree, in.TailFree, 0, 1},
		{"repetition_penalty", &s.RepetitionPenalty, in.RepetitionPenalty, 0, 3},
		{"repetition_range", &s.RepetitionRange, in.RepetitionRange, 0, 0},
		{"frequency_penalty", &s.FrequencyPenalty, in.FrequencyPenalty, -2, 2},
		{"presence_penalty", &s.PresencePenalty, in.PresencePenalty, -2, 2},
		{"seed", &s.Seed, float(in.Seed), 0, 0},
		{"n", &s.N, float(in.N), 1, 8},
		{"max_context", &s.MaxContext, float(in.MaxContext), 1, 10_000_000},
		{"max_tokens", &s.MaxTokens, float(in.MaxTokens), 1, 1_000_000},
	}
}

// float is a whole number as the others are. Those of samplers are far below 2^53.
func float[T int | int64](n *T) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// sample sets what is given.
func sample(to *Samplers, in SamplersIn, warn say) error {
	for _, s := range samplers(to, in) {
		if s.given == nil {
			continue
		}
		raw, err := canon.Marshal(*s.given)
		if err != nil {
			return err
		}
		*s.to = Number(jsontext.Value(raw))
		if s.low != s.high && (*s.given < s.low || *s.given > s.high) {
			warn("%s is %s, and is mostly between %v and %v", s.name, raw, s.low, s.high)
		}
	}
	return nil
}
