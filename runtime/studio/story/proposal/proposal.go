// Package proposal is how something lives that a story proposes: it is drafted, looked at,
// drafted again with what was said of it, and then done, or dropped.
//
// It is a part of the story studio between program, which says what kinds there are, and
// engine, which makes the call that does it. It is pure, and the whole of it is one value
// that lies in the world under Key. Who writes a draft is not its business: a model that is
// given the prompts of the kind, a script, or a person.
package proposal

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// Key is the key of the world under which the proposal lies.
const Key = "$proposal"

// MaxVersions is how many drafts are kept; the oldest go first.
const MaxVersions = 100

// The codes of this package.
const (
	CodeDraft  fault.Code = "STORY_PROPOSAL_DRAFT"  // a draft that is not what its kind says
	CodeStatus fault.Code = "STORY_PROPOSAL_STATUS" // it cannot be done to a proposal that stands so
)

// A Status is how a proposal stands.
type Status string

// The statuses.
const (
	Drafting        Status = "drafting"
	Reviewing       Status = "reviewing" // a person looks at it
	Executing       Status = "executing" // in the background
	ReviewingResult Status = "reviewing_result"
	Done            Status = "done"
	Failed          Status = "failed"
	Cancelled       Status = "cancelled"
)

// Statuses are all of them.
func Statuses() []Status {
	return []Status{Drafting, Reviewing, Executing, ReviewingResult, Done, Failed, Cancelled}
}

// Types are the types of a draft's fields.
var Types = []string{"string", "int", "number", "bool", "list", "map"}

// Type is a type under the name that it has here, or "".
func Type(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	if other, ok := map[string]string{"integer": "int", "float": "number", "boolean": "bool", "array": "list", "object": "map"}[word]; ok {
		return other
	}
	if slices.Contains(Types, word) {
		return word
	}
	return ""
}

// A Proposal is one of a kind. The zero value is none.
type Proposal struct {
	Kind    string // folded
	Status  Status
	Current value.Value // the draft that counts
	History []Version
	Result  value.Value // {ok, data, error}, once it was tried
	Job     string      // that does it in the background
}

// A Version is a draft, and what was said of it, which the next one answers.
type Version struct {
	Number   int
	Draft    value.Value
	Feedback string
}

// New is a proposal with its first draft.
func New(kind *program.Proposal, draft value.Value) (Proposal, error) {
	if err := fits(kind, draft); err != nil {
		return Proposal{}, err
	}
	return Proposal{Kind: kind.Name, Status: Reviewing, Current: draft, History: []Version{{Number: 1, Draft: draft}}}, nil
}

// Refined is p with another draft, which answers feedback.
func (p Proposal) Refined(kind *program.Proposal, draft value.Value, feedback string) (Proposal, error) {
	again := kind.Repeatable && p.Status == Done
	if p.Status != Reviewing && p.Status != Failed && !again {
		return p, p.stands("drafted again")
	}
	if err := fits(kind, draft); err != nil {
		return p, err
	}
	p.History = slices.Clone(p.History)
	last := len(p.History) - 1
	p.History[last].Feedback = feedback
	p.History = append(p.History, Version{Number: p.History[last].Number + 1, Draft: draft})
	p.History = p.History[max(len(p.History)-MaxVersions, 0):]
	p.Current, p.Status, p.Result, p.Job = draft, Reviewing, value.Value{}, ""
	return p, nil
}

// Begun is p while it is done. A kind that is repeatable is done as often as it is wished.
func (p Proposal) Begun(kind *program.Proposal) (Proposal, error) {
	if kind.Execute == nil || kind.Execute.Invoke == "" {
		return p, fault.New(CodeStatus, "story.proposal", "a proposal %q does nothing: it has no execute", p.Kind)
	}
	if again := kind.Repeatable && p.Status == Done; p.Status != Reviewing && p.Status != Failed && !again {
		return p, p.stands("done")
	}
	p.Status, p.Result = Executing, value.Value{}
	return p, nil
}

// Ended is p with what came of it. problem is "" where it worked.
func (p Proposal) Ended(data value.Value, problem string) Proposal {
	result := map[string]value.Value{"ok": value.Of(problem == "")}
	if !data.IsNil() {
		result["data"] = data
	}
	p.Status = Done
	if problem != "" {
		p.Status, result["error"] = Failed, value.Of(problem)
	}
	p.Result = value.NewMap(result)
	return p
}

// Dropped is p when nobody wants it any more.
func (p Proposal) Dropped() (Proposal, error) {
	if p.Status == Executing || p.Status == Cancelled || p.Kind == "" {
		return p, p.stands("dropped")
	}
	p.Status = Cancelled
	return p, nil
}

func (p Proposal) stands(what string) error {
	if p.Kind == "" {
		return fault.New(CodeStatus, "story.proposal", "nothing is proposed, so nothing can be %s", what).WithHint("propose something first")
	}
	return fault.New(CodeStatus, "story.proposal", "the proposal %q is %s, and cannot be %s", p.Kind, p.Status, what)
}

// fits is the error of a draft that is not what its kind says: each field, and no other.
func fits(kind *program.Proposal, draft value.Value) error {
	if draft.Kind() != value.Map {
		return fault.New(CodeDraft, "story.proposal", "a draft of %q is %s, and no object", kind.Name, draft.Kind())
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(kind.Schema)) {
		v, ok := draft.Get(name)
		if want := kind.Schema[name]; !ok {
			wrong = append(wrong, name+" is missing")
		} else if !allows(want, v) {
			wrong = append(wrong, name+" is "+v.Kind().String()+", and not "+want)
		}
	}
	for name := range draft.Members() {
		if _, ok := kind.Schema[name]; !ok && len(kind.Schema) > 0 {
			wrong = append(wrong, name+" is no field")
		}
	}
	if len(wrong) > 0 {
		return fault.New(CodeDraft, "story.proposal", "a draft of %q: %s", kind.Name, strings.Join(wrong, "; "))
	}
	return nil
}

func allows(want string, v value.Value) bool {
	switch want {
	case "int":
		_, ok := v.Int()
		return ok
	case "number":
		_, ok := v.Float()
		return ok
	case "":
		return true // a type that is none: the load said so
	}
	return map[string]value.Kind{"string": value.String, "bool": value.Bool, "list": value.List, "map": value.Map}[want] == v.Kind()
}
