package content

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// BiasIn makes a text more or less likely.
type BiasIn struct {
	Text  string  `json:"text" jsonschema:"the text"`
	Value float64 `json:"value" jsonschema:"by how much: below 0 is less likely"`
}

// VariableIn is the first value of a chat variable.
type VariableIn struct {
	Name  string `json:"name" jsonschema:"the variable's name"`
	Value string `json:"value" jsonschema:"its first value; an empty text removes the variable"`
}

// A Dial is a setting that can be left to the app again.
type Dial string

// Enum lists the dials.
func (Dial) Enum() []string { return []string{"talkativeness", "low_level", "utility"} }

// SettingsIn changes what the author dialled in. What is left out stays.
type SettingsIn struct {
	ID            string       `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Talkativeness *float64     `json:"talkativeness,omitempty" jsonschema:"how readily the character speaks in a group chat, from 0 to 1"`
	Bias          *[]BiasIn    `json:"bias,omitempty" jsonschema:"the whole list of texts made more or less likely; an empty list clears it"`
	Variables     []VariableIn `json:"variables,omitempty" jsonschema:"first values of chat variables; variables that are not named stay"`
	LowLevel      *bool        `json:"low_level,omitempty" jsonschema:"the card's scripts ask for access to the engine: a flag for its own engine, nothing is run here"`
	Utility       *bool        `json:"utility,omitempty" jsonschema:"the card is a tool, and no character to talk to"`
	Unset         []Dial       `json:"unset,omitempty" jsonschema:"settings to leave to the app again"`
}

func settingsTool(d Deps) tool.Tool {
	const id = "character.settings.update"
	return tool.New(drafting(id, "Update a character's settings",
		"Change a character's talkativeness, bias, chat variables and flags for its engine, as a draft.",
		"Flags for scripts are data for the engine that has them; nothing of a card is run here. Give only what should change.",
		"talkativeness", "talkative", "chatty", "quiet in groups", "logit bias", "default variables", "initial variable", "utility bot", "low level access"),
		func(ctx context.Context, call tool.Call, in SettingsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, _ say) error { return c.Settings.update(in) })
		})
}

func (s *Settings) update(in SettingsIn) error {
	if t := in.Talkativeness; t != nil && (*t < 0 || *t > 1) {
		return fault.New(fault.Invalid, "character.settings", "the talkativeness is %v", *t).WithHint("give a number from 0 to 1")
	}
	s.Talkativeness = numeral(s.Talkativeness, in.Talkativeness)
	if in.Bias != nil {
		s.Bias = biases(*in.Bias)
	}
	for _, v := range in.Variables {
		s.Variables = assign(s.Variables, v.Name, v.Value)
	}
	set(&s.LowLevel, in.LowLevel)
	set(&s.Utility, in.Utility)
	return unset("character.settings", words(in.Unset), map[string]func(){
		"talkativeness": wipe(&s.Talkativeness), "low_level": wipe(&s.LowLevel), "utility": wipe(&s.Utility),
	})
}

func biases(in []BiasIn) []Bias {
	var list []Bias
	for _, b := range in {
		list = append(list, Bias{Text: b.Text, Value: numeral(nil, &b.Value)})
	}
	return list
}

// jsonText is a JSON value that came as a text, as it stands.
func jsonText(op, what, text string) (jsontext.Value, error) {
	v := jsontext.Value(slices.Clone([]byte(text)))
	if !v.IsValid() {
		return nil, fault.New(fault.Invalid, op, "%s is %q, which is not JSON", what, clip(text, 80)).WithHint("give a JSON value as a text")
	}
	return v, nil
}
