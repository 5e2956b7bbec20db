package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

func regexTools(d Deps) []tool.Tool {
	return []tool.Tool{regexCreateTool(d), regexSettingsTool(d), regexRulesTool(d)}
}

// A Substitution is what becomes of macros in a pattern.
type Substitution string

// Enum lists the substitutions.
func (Substitution) Enum() []string { return []string{"none", "raw", "escaped"} }

// RuleIn is a new rule.
type RuleIn struct {
	RuleID     string       `json:"rule_id,omitempty" jsonschema:"its id in the set; made of the name if left out"`
	Name       string       `json:"name,omitempty" jsonschema:"a name for people"`
	Find       string       `json:"find" jsonschema:"the pattern, without slashes; it is stored, not run"`
	Flags      string       `json:"flags,omitempty" jsonschema:"of the pattern: g for every match, i for any case, m, s, u"`
	Replace    string       `json:"replace,omitempty" jsonschema:"what a match becomes: $1, $<name> and {{match}} stand for parts of it; empty takes it away"`
	Trim       []string     `json:"trim,omitempty" jsonschema:"texts taken out of what is inserted"`
	Placement  []RulePlace  `json:"placement,omitempty" jsonschema:"which texts it works on"`
	Phases     []RulePhase  `json:"phases,omitempty" jsonschema:"where the text changes: stored if left out; display and prompt leave the stored text alone"`
	Disabled   bool         `json:"disabled,omitempty" jsonschema:"keep it switched off"`
	RunOnEdit  bool         `json:"run_on_edit,omitempty" jsonschema:"it runs on edited messages too"`
	Substitute Substitution `json:"substitute,omitempty" jsonschema:"macros in the pattern: none if left out"`
	MinDepth   *int         `json:"min_depth,omitempty" jsonschema:"not for messages nearer to the end"`
	MaxDepth   *int         `json:"max_depth,omitempty" jsonschema:"not for messages further from the end"`
}

// RuleChange changes a rule. What is left out stays.
type RuleChange struct {
	RuleID     string       `json:"rule_id" jsonschema:"the rule's id"`
	Name       *string      `json:"name,omitempty" jsonschema:"a name for people; an empty text clears it"`
	Find       *string      `json:"find,omitempty" jsonschema:"the pattern, without slashes"`
	Flags      *string      `json:"flags,omitempty" jsonschema:"flags of the pattern; an empty text clears them"`
	Replace    *string      `json:"replace,omitempty" jsonschema:"what a match becomes; an empty text takes it away"`
	Trim       *[]string    `json:"trim,omitempty" jsonschema:"texts taken out of what is inserted; the whole list"`
	Placement  *[]RulePlace `json:"placement,omitempty" jsonschema:"which texts it works on; the whole list"`
	Phases     *[]RulePhase `json:"phases,omitempty" jsonschema:"where the text changes; the whole list, empty is stored"`
	RunOnEdit  *bool        `json:"run_on_edit,omitempty" jsonschema:"it runs on edited messages too"`
	Substitute Substitution `json:"substitute,omitempty" jsonschema:"macros in the pattern"`
	MinDepth   *int         `json:"min_depth,omitempty" jsonschema:"not for messages nearer to the end; -1 clears it"`
	MaxDepth   *int         `json:"max_depth,omitempty" jsonschema:"not for messages further from the end; -1 clears it"`
}

// RuleMove moves rules.
type RuleMove struct {
	Rules  []string `json:"rules" jsonschema:"ids of the rules, in their new order"`
	Place  Place    `json:"place" jsonschema:"where they go together"`
	Beside string   `json:"beside,omitempty" jsonschema:"for before and after: a rule's id"`
}

// RegexCreateIn is a new set.
type RegexCreateIn struct {
	ID          string   `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name        string   `json:"name" jsonschema:"the set's name"`
	Description string   `json:"description,omitempty" jsonschema:"what it is for; for people"`
	Rules       []RuleIn `json:"rules,omitempty" jsonschema:"the first rules, in the order in which they run"`
}

func regexCreateTool(d Deps) tool.Tool {
	const id = "studio.regex.create"
	return tool.New(drafting(id, "Create a regex set", "Create a new set of regex rules that rewrite texts of a chat, as a draft.",
		"Only the name is needed. Rules are stored and never run here, and patterns are not compiled. An id that is taken is refused.",
		"new regex script", "make a regex", "find and replace script", "text replacement", "hide text with regex", "format output with regex"),
		func(ctx context.Context, call tool.Call, in RegexCreateIn) (drafted, error) {
			s := RegexSet{Name: in.Name, Description: in.Description}
			return createNoted(ctx, d, call, action{KindRegex, id, in.ID}, in, s, func(s *RegexSet, warn say) error {
				made, err := newRules(s.Rules, in.Rules, warn)
				s.Rules = made
				return err
			})
		})
}

// RegexSettingsIn changes a set but for its rules.
type RegexSettingsIn struct {
	ID          string  `json:"id" jsonschema:"the regex set's id, as studio.list shows it"`
	Name        *string `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Description *string `json:"description,omitempty" jsonschema:"what it is for; an empty text clears it"`
}

func regexSettingsTool(d Deps) tool.Tool {
	const id = "regex.settings.update"
	return tool.New(drafting(id, "Update a regex set's settings", "Change the name and description of a regex set, as a draft.",
		"Give only what should change. Rules are regex.rules.manage's.",
		"rename the regex set", "describe the regex set", "name of the script set"),
		func(ctx context.Context, call tool.Call, in RegexSettingsIn) (drafted, error) {
			return edit(ctx, d, call, action{KindRegex, id, in.ID}, in, func(s *RegexSet, _ say) error {
				put(&s.Name, in.Name)
				put(&s.Description, in.Description)
				return nil
			})
		})
}

// RegexRulesIn changes the rules of a set.
type RegexRulesIn struct {
	ID      string       `json:"id" jsonschema:"the regex set's id, as studio.list shows it"`
	Update  []RuleChange `json:"update,omitempty" jsonschema:"rules to change"`
	Enable  []string     `json:"enable,omitempty" jsonschema:"ids of rules to switch on"`
	Disable []string     `json:"disable,omitempty" jsonschema:"ids of rules to switch off"`
	Remove  []string     `json:"remove,omitempty" jsonschema:"ids of rules to remove"`
	Add     []RuleIn     `json:"add,omitempty" jsonschema:"new rules, in order"`
	Place   Place        `json:"place,omitempty" jsonschema:"where the new rules go; last if left out"`
	Beside  string       `json:"beside,omitempty" jsonschema:"for before and after: a rule's id"`
	Move    []RuleMove   `json:"move,omitempty" jsonschema:"rules to move"`
}

func regexRulesTool(d Deps) tool.Tool {
	const id = "regex.rules.manage"
	return tool.New(drafting(id, "Manage a regex set's rules", "Add, change, enable, disable, move and remove the rules of a regex set, as a draft.",
		"Update, enable, disable, remove, add and move run in this order. Rules are stored and never run here; what is plainly wrong with one is a warning.",
		"edit a regex", "change the pattern", "add a regex rule", "replacement text", "turn off a regex", "order of regex scripts", "delete a rule", "flags"),
		func(ctx context.Context, call tool.Call, in RegexRulesIn) (drafted, error) {
			return edit(ctx, d, call, action{KindRegex, id, in.ID}, in, func(s *RegexSet, warn say) error {
				list, err := manageRules(s.Rules, in, warn)
				s.Rules = list
				return err
			})
		})
}
