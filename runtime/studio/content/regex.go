package content

import "github.com/soundstage-dev/soundstage/runtime/store"

// A RegexSet is a list of rules that rewrite texts of a chat. Nothing here runs them.
type RegexSet struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Rules       []Rule `json:"rules,omitempty"` // in order of running
}

// A Rule is one pattern and what it becomes.
type Rule struct {
	ID         string   `json:"id"` // unique in the set
	Name       string   `json:"name,omitempty"`
	Find       string   `json:"find,omitempty"`    // the pattern, without slashes
	Flags      string   `json:"flags,omitempty"`   // of the pattern: g, i, m …
	Replace    string   `json:"replace,omitempty"` // in the spelling of SillyTavern: $1, $<name>, {{match}}
	Trim       []string `json:"trim,omitempty"`    // taken out of what is inserted
	Placement  []string `json:"placement,omitempty"`
	Phases     []string `json:"phases,omitempty"` // where it changes the text: stored if absent; display, prompt
	Enabled    bool     `json:"enabled"`
	RunOnEdit  bool     `json:"runOnEdit,omitempty"`
	Substitute string   `json:"substitute,omitempty"` // macros in the pattern: none if absent; raw, escaped
	MinDepth   *int     `json:"minDepth,omitempty"`
	MaxDepth   *int     `json:"maxDepth,omitempty"`
	Order      *int     `json:"order,omitempty"`
}

// The places where a rule can run, and how it changes a text.
var (
	RulePlacements = []string{"user_input", "ai_output", "slash_command", "world_info", "reasoning"}
	RulePhases     = []string{"stored", "display", "prompt"}
)

func (s RegexSet) title() string      { return s.Name }
func (s RegexSet) links() []store.Ref { return nil }

func (s RegexSet) check() error { return checkRules("content.regex", s.Rules) }

func checkRules(op string, rules []Rule) error {
	ids := map[string]bool{}
	for _, r := range rules {
		if err := unique(op, "rule", r.ID, ids); err != nil {
			return err
		}
		where := "rule " + r.ID
		if err := oneOf(op, where, "substitution", r.Substitute, []string{"none", "raw", "escaped"}); err != nil {
			return err
		}
		for _, p := range r.Placement {
			if err := oneOf(op, where, "placement", p, RulePlacements); err != nil {
				return err
			}
		}
		for _, p := range r.Phases {
			if err := oneOf(op, where, "phase", p, RulePhases); err != nil {
				return err
			}
		}
	}
	return nil
}
