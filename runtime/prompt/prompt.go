// Package prompt holds the words for what people do often: a person picks a prompt in a
// client, fills in its arguments, and a model gets the text.
//
// It is part of the kernel, above tool. A prompt names the tools that it needs, and is
// not there where one of them is missing: a read-only session offers nothing that
// drafts. It runs nothing, reads nothing, and allows nothing: what the text asks for
// goes through the gate like everything else.
package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// MaxValue is how long the value of an argument may be, in characters.
const MaxValue = 4_000

// The codes of this package.
const (
	CodeUnknown  fault.Code = "PROMPT_UNKNOWN"  // no prompt of that name here
	CodeArgument fault.Code = "PROMPT_ARGUMENT" // an argument is missing, unknown or too long
)

// An Argument is one field that a person fills in.
type Argument struct {
	Name, Title, Description string

	Required bool
}

// A Prompt is one text with fields.
type Prompt struct {
	Name        string // lower snake: "edit_piece"
	Title       string
	Description string
	Arguments   []Argument
	Needs       []string // ids of tools
	// Text has {name} where an argument goes. A paragraph with an argument that was left
	// out is left out too.
	Text string
}

// A Book is the prompts of one session.
type Book struct{ prompts []Prompt }

// NewBook keeps the prompts whose tools a registry has, on one skin.
func NewBook(r *tool.Registry, skin tool.Skin, prompts ...Prompt) *Book {
	b := &Book{}
	for _, p := range prompts {
		if !slices.ContainsFunc(p.Needs, func(id string) bool {
			t, ok := r.Get(id)
			return !ok || !t.On(skin) || !t.Here()
		}) {
			b.prompts = append(b.prompts, p)
		}
	}
	return b
}

// All is every prompt, in the order of the table.
func (b *Book) All() []Prompt { return slices.Clone(b.prompts) }

// Fill gives the text of a prompt with its arguments in it.
func (b *Book) Fill(name string, args map[string]string) (string, error) {
	const op = "prompt.fill"
	i := slices.IndexFunc(b.prompts, func(p Prompt) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(b.prompts))
		for i, p := range b.prompts {
			names[i] = p.Name
		}
		return "", fault.New(CodeUnknown, op, "no prompt %q", clip(name)).WithHint("use one of %s", strings.Join(names, ", "))
	}
	p := b.prompts[i]
	for given := range args {
		if !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == given }) {
			return "", fault.New(CodeArgument, op, "the prompt %q has no argument %q", name, clip(given)).WithHint("%s", p.usage())
		}
	}
	var pairs []string
	left := map[string]bool{}
	for _, a := range p.Arguments {
		value := strings.TrimSpace(args[a.Name])
		switch n := utf8.RuneCountInString(value); {
		case n == 0 && a.Required:
			return "", fault.New(CodeArgument, op, "the prompt %q needs the argument %q", name, a.Name).WithHint("%s", p.usage())
		case n > MaxValue:
			return "", fault.New(CodeArgument, op, "the argument %q has %d characters, the most is %d", a.Name, n, MaxValue).WithHint("give a shorter one")
		}
		left["{"+a.Name+"}"] = value == ""
		pairs = append(pairs, "{"+a.Name+"}", value)
	}
	paragraphs := slices.DeleteFunc(strings.Split(p.Text, "\n\n"), func(text string) bool {
		for field, out := range left {
			if out && strings.Contains(text, field) {
				return true
			}
		}
		return false
	})
	return strings.NewReplacer(pairs...).Replace(strings.Join(paragraphs, "\n\n")), nil
}

func (p Prompt) usage() string {
	var names []string
	for _, a := range p.Arguments {
		if a.Required {
			names = append(names, a.Name)
		} else {
			names = append(names, a.Name+" (optional)")
		}
	}
	if len(names) == 0 {
		return "it takes no arguments"
	}
	return "its arguments are " + strings.Join(names, ", ")
}

func clip(s string) string {
	const most = 80
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}
