// Package view is what a state shows: typed elements, rendered to text of so many columns.
//
// It is a part of the story studio above the languages of a story. load makes views out
// of YAML, the machine has them rendered. It decides nothing and knows no machine.
package view

import "github.com/soundstage-dev/soundstage/runtime/studio/story/expr"

// Width is how many columns a page has where nobody asks for others.
const Width = 80

// A View is a page of a state.
type View struct {
	Labels map[string]string // intent in the view's scope → what a choice calls it, where that is fixed
}

// Text renders a view. env has the roots of a page: slots, world, event, run, menu, state.
func (v *View) Text(_ *expr.Env, _ int) (string, error) { return "", nil }
