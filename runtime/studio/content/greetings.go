package content

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// GreetingIn is a new alternate greeting.
type GreetingIn struct {
	Text  string `json:"text" jsonschema:"the whole greeting"`
	Title string `json:"title,omitempty" jsonschema:"a short name for the shelf"`
}

// ReplaceIn is a new text or title for a greeting that is there.
type ReplaceIn struct {
	Position int     `json:"position" jsonschema:"which alternate greeting, counted from 1"`
	Text     *string `json:"text,omitempty" jsonschema:"the whole new greeting; left out it stays"`
	Title    *string `json:"title,omitempty" jsonschema:"a new short name; left out it stays, an empty text clears it"`
}

// GreetingsIn changes how a chat begins. What is left out stays.
type GreetingsIn struct {
	ID        string       `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Variant   string       `json:"variant,omitempty" jsonschema:"edit this variant instead of the character itself"`
	First     *string      `json:"first,omitempty" jsonschema:"the first message; an empty text clears it"`
	Replace   []ReplaceIn  `json:"replace,omitempty" jsonschema:"alternate greetings to rewrite or give a title, in place"`
	Remove    []int        `json:"remove,omitempty" jsonschema:"positions of alternate greetings to remove, counted from 1 before anything is removed"`
	Add       []GreetingIn `json:"add,omitempty" jsonschema:"alternate greetings to append at the end"`
	Order     []int        `json:"order,omitempty" jsonschema:"the new order of all alternate greetings, by their positions after replace, remove and add, counted from 1"`
	GroupOnly *[]string    `json:"group_only,omitempty" jsonschema:"the whole list of greetings for group chats; an empty list clears it"`
}

func greetingsTool(d Deps) tool.Tool {
	const id = "character.greetings.update"
	return tool.New(drafting(id, "Update a character's greetings",
		"Change a character's first message, alternate greetings and group-only greetings, as a draft.",
		"Replace, remove, add and order run in this order within one call. Several calls compose into one draft.",
		"first message", "opening", "alternate greeting", "swipe", "group greeting", "intro", "reorder greetings", "title of a greeting"), func(ctx context.Context, call tool.Call, in GreetingsIn) (tool.Reply[preview.Drafted], error) {
		return editFields(ctx, d, call, action{KindCharacter, id, in.ID}, in.Variant, in, func(f *Fields) error {
			put(&f.Greetings.First, in.First)
			put(&f.Greetings.GroupOnly, in.GroupOnly)
			list, err := rearrange(slices.Clone(f.Greetings.Alternates), in)
			f.Greetings.Alternates = list
			return err
		})
	})
}

// rearrange runs the four list operations on a list that it may change.
func rearrange(list []Greeting, in GreetingsIn) ([]Greeting, error) {
	for _, r := range in.Replace {
		if err := position(r.Position, len(list), "replace"); err != nil {
			return nil, err
		}
		g := &list[r.Position-1]
		put(&g.Text, r.Text)
		put(&g.Title, r.Title)
	}
	gone := slices.Sorted(slices.Values(in.Remove))
	for _, p := range slices.Backward(slices.Compact(gone)) {
		if err := position(p, len(list), "remove"); err != nil {
			return nil, err
		}
		list = slices.Delete(list, p-1, p)
	}
	for _, g := range in.Add {
		list = append(list, Greeting(g))
	}
	for i, g := range list {
		if g.Text == "" {
			return nil, fault.New(CodeGreeting, "content.greetings", "alternate greeting %d would be empty", i+1).
				WithHint("use remove to take a greeting away")
		}
	}
	if in.Order == nil {
		return list, nil
	}
	sorted := slices.Sorted(slices.Values(in.Order))
	for i, p := range sorted {
		if p != i+1 || len(sorted) != len(list) {
			return nil, badOrder(in.Order, len(list))
		}
	}
	if len(sorted) != len(list) {
		return nil, badOrder(in.Order, len(list))
	}
	ordered := make([]Greeting, 0, len(list))
	for _, p := range in.Order {
		ordered = append(ordered, list[p-1])
	}
	return ordered, nil
}

func badOrder(order []int, n int) error {
	return fault.New(CodeGreeting, "content.greetings", "the order %v does not name each of the %d alternate greetings once", order, n).
		WithHint("list every position from 1 to %d once", n)
}

func position(p, n int, what string) error {
	if p >= 1 && p <= n {
		return nil
	}
	return fault.New(CodeGreeting, "content.greetings", "there is no alternate greeting %d to %s: there are %d", p, what, n).
		WithHint("read the character for its greetings; positions count from 1")
}
