package view

import (
	"maps"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
)

// Sources are the texts of an element, as they were written.
func Sources(b Body) []string {
	var all []string
	parts(b, func(l Leaf) {
		if text := l.Source(); text != "" {
			all = append(all, text)
		}
	}, func(*expr.Expr) {})
	return all
}

// Reads are the roots with what is taken of them by anything in a view, sorted:
// "world.money".
func (v *View) Reads() []string {
	var all []string
	leaf := func(l Leaf) {
		if l.Template != nil {
			all = append(all, l.Template.Reads()...)
		}
	}
	when := func(e *expr.Expr) {
		if e != nil {
			all = append(all, e.Reads()...)
		}
	}
	elements := func(list []Element) {
		for _, e := range list {
			when(e.When.Expr)
			parts(e.Body, leaf, when)
		}
	}
	leaf(v.Page)
	elements(v.Elements)
	for _, b := range v.Blocks {
		elements(b.Elements)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parts visits the texts and the expressions of an element.
func parts(b Body, leaf func(Leaf), when func(*expr.Expr)) {
	switch b := b.(type) {
	case Prose:
		leaf(b.Body)
	case Heading:
		leaf(b.Body)
	case Code:
		leaf(b.Body)
	case Template:
		leaf(b.Body)
	case Banner:
		leaf(b.Title)
		leaf(b.Subtitle)
	case Media:
		leaf(b.Handle)
		leaf(b.Caption)
		leaf(b.Path)
	case List:
		for _, i := range b.Items {
			leaf(i.Label)
			leaf(i.Hint)
			when(i.When.Expr)
		}
	case KV:
		for _, p := range b.Pairs {
			leaf(p.Value)
		}
	case *Choice:
		b.parts(leaf, when)
	}
}

func (c *Choice) parts(leaf func(Leaf), when func(*expr.Expr)) {
	leaf(c.Prompt)
	for _, o := range c.Options {
		leaf(o.Label)
		leaf(o.Hint)
		when(o.When.Expr)
		for _, name := range slices.Sorted(maps.Keys(o.Slots)) {
			leaf(o.Slots[name].Text)
		}
		if o.Param != nil {
			leaf(o.Param.Placeholder)
		}
	}
	leaf(c.Template)
	for _, f := range c.Fields {
		leaf(f.Shown)
		when(f.Expr)
		when(f.When.Expr)
	}
}
