package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A RulePlace is where a rule runs, in its own engine.
type RulePlace string

// Enum lists the places.
func (RulePlace) Enum() []string { return RulePlacements }

// A RulePhase is what a rule changes, in its own engine.
type RulePhase string

// Enum lists the phases.
func (RulePhase) Enum() []string { return RulePhases }

// A ScriptRule is a rule that a card brings. In an overlay what is left out stays.
type ScriptRule struct {
	ID        string      `json:"id,omitempty" jsonschema:"the rule's id; needed in overlay, made of the name in add if left out"`
	Name      *string     `json:"name,omitempty" jsonschema:"its name"`
	Find      *string     `json:"find,omitempty" jsonschema:"the pattern without slashes; stored as text, never run here"`
	Flags     *string     `json:"flags,omitempty" jsonschema:"flags of the pattern, such as gi; an empty text clears them"`
	Replace   *string     `json:"replace,omitempty" jsonschema:"what takes its place, with $1 for groups; an empty text removes what matches"`
	Placement []RulePlace `json:"placement,omitempty" jsonschema:"which texts it is for"`
	Phases    []RulePhase `json:"phases,omitempty" jsonschema:"what it changes: the stored text, what is displayed, what is sent"`
	Enabled   *bool       `json:"enabled,omitempty" jsonschema:"whether its engine would run it; true if left out in add"`
}

// A ScriptTrigger is a script that a card brings, sealed. In an overlay what is left out
// stays.
type ScriptTrigger struct {
	ID     string  `json:"id,omitempty" jsonschema:"the trigger's id; needed in overlay, made of the name in add if left out"`
	Name   *string `json:"name,omitempty" jsonschema:"its name"`
	Engine *string `json:"engine,omitempty" jsonschema:"whose script it is: risu, rolecall, tavern_helper"`
	On     *bool   `json:"on,omitempty" jsonschema:"whether its engine would run it; true if left out in add"`
	Data   *string `json:"data,omitempty" jsonschema:"the script as JSON text; kept as it stands, never run here"`
}

// ScriptsIn manages the scripts that a card brings.
type ScriptsIn struct {
	ID              string          `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	AddRules        []ScriptRule    `json:"add_rules,omitempty" jsonschema:"regex rules to append"`
	OverlayRules    []ScriptRule    `json:"overlay_rules,omitempty" jsonschema:"regex rules to change, by id"`
	RemoveRules     []string        `json:"remove_rules,omitempty" jsonschema:"ids of regex rules to remove"`
	OrderRules      []string        `json:"order_rules,omitempty" jsonschema:"ids of regex rules in a new order"`
	AddTriggers     []ScriptTrigger `json:"add_triggers,omitempty" jsonschema:"triggers to append"`
	OverlayTriggers []ScriptTrigger `json:"overlay_triggers,omitempty" jsonschema:"triggers to change, by id"`
	RemoveTriggers  []string        `json:"remove_triggers,omitempty" jsonschema:"ids of triggers to remove"`
	OrderTriggers   []string        `json:"order_triggers,omitempty" jsonschema:"ids of triggers in a new order"`
}

var (
	cardRuleRoll = rows[Rule]{"rule", func(r Rule) string { return r.ID }}
	triggerRoll  = rows[Trigger]{"trigger", func(t Trigger) string { return t.ID }}
)

func scriptsTool(d Deps) tool.Tool {
	const id = "character.behavior-scripts.manage"
	return tool.New(drafting(id, "Manage the scripts that a card brings",
		"Add, overlay, remove and reorder the regex rules and triggers embedded in a character, as a draft.",
		"They are data for the card's own engine: stored, shown and carried, never run here. Add, overlay, remove and order run in this order. "+
			"A regex set of the studio is another thing: link it with character.links.update.",
		"embedded regex", "regex script in the card", "trigger", "trigger script", "card script", "automation", "lua", "behaviour", "disable a script"),
		func(ctx context.Context, call tool.Call, in ScriptsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, _ say) error {
				if err := c.Behavior.rules(in); err != nil {
					return err
				}
				return c.Behavior.triggers(in)
			})
		})
}

func (s *Scripts) rules(in ScriptsIn) error {
	taken := cardRuleRoll.taken(s.Regex)
	for _, a := range in.AddRules {
		id, err := cardRuleRoll.claim(taken, a.ID, text(a.Name))
		if err != nil {
			return err
		}
		r := Rule{ID: id, Enabled: true}
		a.over(&r)
		s.Regex = append(s.Regex, r)
	}
	for _, o := range in.OverlayRules {
		i, err := cardRuleRoll.at(s.Regex, o.ID)
		if err != nil {
			return err
		}
		o.over(&s.Regex[i])
	}
	var err error
	if s.Regex, _, err = cardRuleRoll.remove(s.Regex, in.RemoveRules); err == nil {
		s.Regex, err = cardRuleRoll.ordered(s.Regex, in.OrderRules)
	}
	return err
}

func (o ScriptRule) over(r *Rule) {
	put(&r.Name, o.Name)
	put(&r.Find, o.Find)
	put(&r.Flags, o.Flags)
	put(&r.Replace, o.Replace)
	put(&r.Enabled, o.Enabled)
	if o.Placement != nil {
		r.Placement = words(o.Placement)
	}
	if o.Phases != nil {
		r.Phases = words(o.Phases)
	}
}

func (s *Scripts) triggers(in ScriptsIn) error {
	taken := triggerRoll.taken(s.Triggers)
	for _, a := range in.AddTriggers {
		id, err := triggerRoll.claim(taken, a.ID, text(a.Name))
		if err != nil {
			return err
		}
		t := Trigger{ID: id, On: true}
		if err := a.over(&t); err != nil {
			return err
		}
		s.Triggers = append(s.Triggers, t)
	}
	for _, o := range in.OverlayTriggers {
		i, err := triggerRoll.at(s.Triggers, o.ID)
		if err != nil {
			return err
		}
		if err := o.over(&s.Triggers[i]); err != nil {
			return err
		}
	}
	var err error
	if s.Triggers, _, err = triggerRoll.remove(s.Triggers, in.RemoveTriggers); err == nil {
		s.Triggers, err = triggerRoll.ordered(s.Triggers, in.OrderTriggers)
	}
	return err
}

func (o ScriptTrigger) over(t *Trigger) error {
	put(&t.Name, o.Name)
	put(&t.Engine, o.Engine)
	put(&t.On, o.On)
	if o.Data == nil {
		return nil
	}
	var err error
	t.Data, err = jsonText("character.behavior-scripts", "the script of trigger "+t.ID, *o.Data)
	return err
}

// text is what a pointer holds, or nothing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
