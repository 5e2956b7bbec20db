package content

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A ChoiceType is how a choice is asked.
type ChoiceType string

// Enum lists the types.
func (ChoiceType) Enum() []string {
	return []string{"one", "many", "toggle", "text", "textarea", "number", "slider"}
}

// OptionIn is one answer of a choice.
type OptionIn struct {
	OptionID string   `json:"option_id,omitempty" jsonschema:"its id in the choice; made of the label if left out"`
	Label    string   `json:"label,omitempty" jsonschema:"what people read"`
	Value    string   `json:"value,omitempty" jsonschema:"what the variable becomes"`
	Blocks   []string `json:"blocks,omitempty" jsonschema:"ids of blocks that it turns on"`
}

// ChoiceIn is a question to the user.
type ChoiceIn struct {
	Key         string      `json:"key" jsonschema:"the variable that prompts read, unique in the preset"`
	Type        ChoiceType  `json:"type,omitempty" jsonschema:"how it is asked; one of several if left out"`
	Label       *string     `json:"label,omitempty" jsonschema:"the question; an empty text clears it"`
	Description *string     `json:"description,omitempty" jsonschema:"a longer explanation; an empty text clears it"`
	Options     *[]OptionIn `json:"options,omitempty" jsonschema:"the whole list of answers"`
	Default     *[]string   `json:"default,omitempty" jsonschema:"ids of the options that are chosen at first, or the text; the whole list"`
	Separator   *string     `json:"separator,omitempty" jsonschema:"stands between several answers"`
	Random      *bool       `json:"random,omitempty" jsonschema:"an answer is drawn"`
	Placeholder *string     `json:"placeholder,omitempty" jsonschema:"stands in an empty field"`
	Min         *float64    `json:"min,omitempty" jsonschema:"the least number"`
	Max         *float64    `json:"max,omitempty" jsonschema:"the greatest number"`
}

// PresetChoicesIn changes the choices of a preset.
type PresetChoicesIn struct {
	ID     string     `json:"id" jsonschema:"the preset's id, as studio.list shows it"`
	Create []ChoiceIn `json:"create,omitempty" jsonschema:"new choices"`
	Update []ChoiceIn `json:"update,omitempty" jsonschema:"choices to change, by key; what is left out stays"`
	Order  []string   `json:"order,omitempty" jsonschema:"keys in their new order; the others follow"`
	Remove []string   `json:"remove,omitempty" jsonschema:"keys of choices to remove"`
}

var (
	choices = rows[Choice]{"choice", func(c Choice) string { return c.Key }}
	options = rows[Option]{"option", func(o Option) string { return o.ID }}
)

func presetChoicesTool(d Deps) tool.Tool {
	const id = "preset.choices.manage"
	return tool.New(drafting(id, "Manage a preset's choices",
		"Add, change, order and remove the choices that a preset asks its user about, as a draft.",
		"A choice sets a variable of the prompts, and its options can turn blocks on. Create, update, order and remove run in this order.",
		"preset variables", "user options", "toggle for the user", "prompt variable", "dropdown", "slider", "let the user choose", "question to the user"),
		func(ctx context.Context, call tool.Call, in PresetChoicesIn) (drafted, error) {
			return edit(ctx, d, call, action{KindPreset, id, in.ID}, in, func(p *Preset, warn say) error { return manageChoices(p, in, warn) })
		})
}

func manageChoices(p *Preset, in PresetChoicesIn, warn say) error {
	taken := choices.taken(p.Choices)
	for _, c := range in.Create {
		key, err := choices.claim(taken, c.Key, "")
		if err != nil {
			return err
		}
		made := Choice{Key: key}
		if err := ask(p, &made, c, warn); err != nil {
			return err
		}
		p.Choices = append(p.Choices, made)
	}
	for _, c := range in.Update {
		i, err := choices.at(p.Choices, c.Key)
		if err != nil {
			return err
		}
		if err := ask(p, &p.Choices[i], c, warn); err != nil {
			return err
		}
	}
	ordered, err := choices.ordered(p.Choices, in.Order)
	if err != nil {
		return err
	}
	kept, gone, err := choices.remove(ordered, in.Remove)
	p.Choices = kept
	for _, c := range gone {
		for _, b := range p.Blocks {
			if reads(b.Content, c.Key) {
				warn("the choice %q goes, and block %q reads its variable", c.Key, b.ID)
			}
		}
	}
	return err
}

// ask lays what is given over a choice.
func ask(p *Preset, c *Choice, in ChoiceIn, warn say) error {
	if in.Type != "" {
		c.Type = string(in.Type)
	}
	put(&c.Label, in.Label)
	put(&c.Description, in.Description)
	put(&c.Separator, in.Separator)
	put(&c.Random, in.Random)
	put(&c.Placeholder, in.Placeholder)
	put(&c.Default, in.Default)
	for _, n := range []struct {
		to    *Number
		given *float64
	}{{&c.Min, in.Min}, {&c.Max, in.Max}} {
		if n.given == nil {
			continue
		}
		raw, err := canon.Marshal(*n.given)
		if err != nil {
			return err
		}
		*n.to = Number(raw)
	}
	if in.Min != nil && in.Max != nil && *in.Min > *in.Max {
		warn("the choice %q has a least number above its greatest", c.Key)
	}
	if in.Options != nil {
		made, err := newOptions(p, *in.Options)
		if err != nil {
			return err
		}
		c.Options = made
	}
	for _, id := range c.Default {
		if len(c.Options) > 0 && !slices.Contains(options.ids(c.Options), id) {
			warn("the choice %q begins with %q, which is none of its options", c.Key, id)
		}
	}
	return nil
}

func newOptions(p *Preset, in []OptionIn) ([]Option, error) {
	if len(in) > maxItems {
		return nil, tooMany("option", len(in))
	}
	taken := map[string]bool{}
	var made []Option
	for _, o := range in {
		id, err := options.claim(taken, o.OptionID, o.Label)
		if err != nil {
			return nil, err
		}
		if _, err := presetBlocks.all(p.Blocks, o.Blocks); err != nil {
			return nil, err
		}
		made = append(made, Option{ID: id, Label: o.Label, Value: o.Value, Blocks: o.Blocks})
	}
	return made, nil
}

// reads says whether a text has a macro that names the variable.
func reads(text, key string) bool {
	for {
		_, rest, ok := strings.Cut(text, "{{")
		if !ok {
			return false
		}
		macro, after, ok := strings.Cut(rest, "}}")
		if !ok {
			return false
		}
		if slices.Contains(strings.FieldsFunc(macro, func(r rune) bool { return strings.ContainsRune(": ,.#?/", r) }), key) {
			return true
		}
		text = after
	}
}
