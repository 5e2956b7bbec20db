package content

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A Logic is how secondary keys count.
type Logic string

// Enum lists the logics.
func (Logic) Enum() []string { return []string{"and_any", "and_all", "not_any", "not_all"} }

// A TriggerField is what an entry can leave to the book, or to the app, again.
type TriggerField string

// Enum lists the fields.
func (TriggerField) Enum() []string {
	return []string{"logic", "case_sensitive", "whole_words", "scan_depth", "probability", "sticky", "cooldown", "delay"}
}

// LoreTriggersIn changes what brings an entry in.
type LoreTriggersIn struct {
	ID            string         `json:"id" jsonschema:"the lorebook's id, as studio.list shows it"`
	Entry         string         `json:"entry" jsonschema:"the entry's id"`
	Keys          *[]KeyIn       `json:"keys,omitempty" jsonschema:"the whole list of keys; an empty list clears it"`
	AddKeys       []KeyIn        `json:"add_keys,omitempty" jsonschema:"keys to add"`
	RemoveKeys    []string       `json:"remove_keys,omitempty" jsonschema:"texts of keys to take away"`
	Secondary     *[]KeyIn       `json:"secondary,omitempty" jsonschema:"the whole list of secondary keys; an empty list clears it"`
	Logic         Logic          `json:"logic,omitempty" jsonschema:"how secondary keys count: any or all of them have to come up, or must not"`
	Activation    Activation     `json:"activation,omitempty" jsonschema:"keys, constant for always, vector for likeness"`
	CaseSensitive *bool          `json:"case_sensitive,omitempty" jsonschema:"upper and lower case count"`
	WholeWords    *bool          `json:"whole_words,omitempty" jsonschema:"only whole words count"`
	ScanDepth     *int           `json:"scan_depth,omitempty" jsonschema:"messages that are looked at"`
	Probability   *int           `json:"probability,omitempty" jsonschema:"how often it enters, in percent"`
	Sticky        *int           `json:"sticky,omitempty" jsonschema:"messages for which it stays"`
	Cooldown      *int           `json:"cooldown,omitempty" jsonschema:"messages for which it cannot come again"`
	Delay         *int           `json:"delay,omitempty" jsonschema:"messages that the chat must have first"`
	Sources       *[]string      `json:"sources,omitempty" jsonschema:"what is scanned besides the chat: character_description, character_personality, scenario, persona_description …; the whole list"`
	Generations   *[]string      `json:"generations,omitempty" jsonschema:"only for these kinds of generation: normal, continue, impersonate, swipe, regenerate, quiet; the whole list"`
	OnlyFor       *[]string      `json:"only_for,omitempty" jsonschema:"only for characters of these names; the whole list"`
	Clear         []TriggerField `json:"clear,omitempty" jsonschema:"fields to leave to the book, or to the app's default"`
}

func loreTriggersTool(d Deps) tool.Tool {
	const id = "lorebook.triggers.update"
	return tool.New(drafting(id, "Update a lorebook entry's triggers",
		"Change what brings an entry in: keys, secondary keys and logic, matching, probability and timing, as a draft.",
		"Give only what should change; what is cleared is the book's or the app's default again. Patterns are stored and not run.",
		"keywords", "trigger words", "activation keys", "selective", "chance", "sticky", "cooldown", "delay", "regex key", "when does the entry fire"),
		func(ctx context.Context, call tool.Call, in LoreTriggersIn) (drafted, error) {
			return edit(ctx, d, call, action{KindLorebook, id, in.ID}, in, func(b *Lorebook, warn say) error {
				picked, err := chosen(b, []string{in.Entry})
				if err != nil {
					return err
				}
				e := picked[0]
				if err := rekey(e, in); err != nil {
					return err
				}
				if err := retime(e, in); err != nil {
					return err
				}
				worryEntry(*e, warn)
				return checkEntry(b, *e)
			})
		})
}

func rekey(e *LoreEntry, in LoreTriggersIn) error {
	if in.Keys != nil {
		e.Keys = keepChance(e.Keys, loreKeys(*in.Keys))
	}
	if in.Secondary != nil {
		e.Secondary = keepChance(e.Secondary, loreKeys(*in.Secondary))
	}
	keys := rows[LoreKey]{"key", func(k LoreKey) string { return k.Text }}
	kept, _, err := keys.remove(e.Keys, in.RemoveKeys)
	if err != nil {
		return err
	}
	e.Keys = kept
	for _, k := range loreKeys(in.AddKeys) {
		if !slices.ContainsFunc(e.Keys, func(has LoreKey) bool { return has.Text == k.Text && has.Regex == k.Regex }) {
			e.Keys = append(e.Keys, k)
		}
	}
	return nil
}

// keepChance gives keys that stay the probability that they had, which no input says.
func keepChance(had, keys []LoreKey) []LoreKey {
	for i, k := range keys {
		for _, h := range had {
			if h.Text == k.Text && h.Regex == k.Regex {
				keys[i].Probability = h.Probability
			}
		}
	}
	return keys
}

func retime(e *LoreEntry, in LoreTriggersIn) error {
	err := unset("lorebook.triggers.update", words(in.Clear), map[string]func(){
		"logic": wipe(&e.Logic), "case_sensitive": wipe(&e.Matching.CaseSensitive), "whole_words": wipe(&e.Matching.WholeWords),
		"scan_depth": wipe(&e.Matching.ScanDepth), "probability": wipe(&e.Probability),
		"sticky": wipe(&e.Timing.Sticky), "cooldown": wipe(&e.Timing.Cooldown), "delay": wipe(&e.Timing.Delay),
	})
	if in.Logic != "" {
		e.Logic = string(in.Logic)
	}
	if in.Activation != "" {
		e.Activation = string(in.Activation)
	}
	set(&e.Matching.CaseSensitive, in.CaseSensitive)
	set(&e.Matching.WholeWords, in.WholeWords)
	set(&e.Matching.ScanDepth, in.ScanDepth)
	set(&e.Probability, in.Probability)
	set(&e.Timing.Sticky, in.Sticky)
	set(&e.Timing.Cooldown, in.Cooldown)
	set(&e.Timing.Delay, in.Delay)
	put(&e.Sources, in.Sources)
	put(&e.Triggers, in.Generations)
	put(&e.Filter.Names, in.OnlyFor)
	return err
}
