package view

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Mode is how a choice is made.
type Mode string

// The modes.
const (
	Single Mode = "single" // one of its options, each an intent
	Multi  Mode = "multi"  // some of its options, as a list in a slot
	Form   Mode = "form"   // fields in a text
)

// A Choice is where a person chooses. This text shows it; surfaces that can, let it be
// worked with.
type Choice struct {
	Mode     Mode
	Prompt   Leaf
	Intent   string // of Multi and Form
	Slot     string // of Multi
	Options  []Option
	Min, Max *int
	Template Leaf // of Form, with the variable of each field where the author wrote {name}
	Fields   []Field
	Pos      source.Pos
}

// An Option is one that can be chosen.
type Option struct {
	Label, Hint Leaf
	Value       string // of Multi
	Intent      string // of Single
	Slots       map[string]Slot
	Param       *Param
	When        When
	Pos         source.Pos
}

// A Slot is a value that an option gives to its intent.
type Slot struct {
	Literal value.Value
	Text    Leaf // where it is a text
	Pos     source.Pos
}

// A Param is a slot that a person fills in after choosing.
type Param struct {
	Slot, Type  string
	Placeholder Leaf
	Values      []string
	Required    bool
	Pos         source.Pos
}

// A Field is a place in the text of a form.
type Field struct {
	Name, Type, Hint, Unit string
	Values                 []string
	Default                value.Value
	Placeholder            Leaf
	Min, Max               value.Value
	Required, Readonly     bool
	Expr                   *expr.Expr // what a Readonly shows
	Shown                  Leaf       // the place with what stands in it
	When                   When
	Pos                    source.Pos
}

// Kind is "choice".
func (*Choice) Kind() string { return "choice" }

func (c *Choice) text(p *pen) (string, error) {
	prompt, err := c.Prompt.text(p.env)
	if err != nil {
		return "", err
	}
	body, bounds, keys := "", "", "[↑/↓ move • Enter pick • Tab chat • Esc cancel]"
	switch c.Mode {
	case Form:
		keys = "[Tab/↑↓ field • Enter submit • Esc cancel]"
		body, err = c.form(p)
	case Multi:
		keys = "[↑/↓ • Space toggle • Enter submit • Tab chat • Esc cancel]"
		body, bounds, err = c.options(p)
	default:
		body, _, err = c.options(p)
	}
	if err != nil {
		return "", err
	}
	var parts []string
	head := strings.TrimSpace(prompt)
	colon := head != "" && !strings.HasSuffix(head, ":")
	if bounds != "" {
		head = strings.TrimSpace(head + " " + bounds)
	}
	if colon {
		head += ":"
	}
	for _, part := range []string{head, body, keys} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// options are the rows of what can be chosen, and how many may be.
func (c *Choice) options(p *pen) (body, bounds string, err error) {
	var rows []row
	longest := 0
	for _, o := range c.Options {
		r, shown, err := o.row(p, c.Mode)
		if err != nil {
			return "", "", err
		}
		if !shown {
			continue
		}
		rows = append(rows, r)
		longest = max(longest, runes(r.label))
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		mark := gutter // where a cursor goes
		if c.Mode == Multi {
			mark += "[ ] "
		}
		lines[i] = mark + r.label
		if r.hint != "" {
			lines[i] = mark + pad(r.label, longest) + gutter + r.hint
		}
	}
	return strings.Join(lines, "\n"), c.bounds(len(rows)), nil
}

func (o Option) row(p *pen, mode Mode) (row, bool, error) {
	r, shown, err := Item{Label: o.Label, Hint: o.Hint, When: o.When}.row(p)
	if err != nil || !shown || o.Param == nil || mode == Multi {
		return r, shown, err
	}
	place, err := o.Param.Placeholder.text(p.env)
	if place = strings.TrimSpace(place); place != "" {
		r.label += " [" + place + "]"
	} else {
		r.label += " (" + o.Param.Slot + "?)"
	}
	return r, true, err
}

func (c *Choice) bounds(shown int) string {
	if shown == 0 || c.Min == nil && c.Max == nil {
		return ""
	}
	least, most := 0, shown
	if c.Min != nil {
		least = *c.Min
	}
	if c.Max != nil {
		most = *c.Max
	}
	if least == most {
		return fmt.Sprintf("(%d)", least)
	}
	return fmt.Sprintf("(%d–%d)", least, most)
}

// Place is where the author of a form wrote {name}.
var Place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Places is a form's text with a variable for each place in it.
func Places(template string) string {
	return Place.ReplaceAllStringFunc(template, func(place string) string {
		return "{{ " + fieldVariable(strings.Trim(place, "{}")) + " }}"
	})
}

func fieldVariable(name string) string { return "_field_" + name }

// minPlace is how many columns a place has at least, between its ends.
const minPlace = 10

// Underline is how a place shows what stands in it.
func Underline(text string) string {
	text = strings.TrimSpace(text)
	return "_" + text + strings.Repeat("_", max(minPlace-runes(text), 0)) + "_"
}

func (c *Choice) form(p *pen) (string, error) {
	env := p.env
	for _, f := range c.Fields {
		text := Underline("")
		shown, err := f.When.holds(p.env)
		if err != nil {
			return "", err
		}
		if shown {
			if text, err = f.text(p.env); err != nil {
				return "", err
			}
		}
		env = env.With(fieldVariable(f.Name), value.Of(text))
	}
	body, err := c.Template.text(env)
	if err != nil {
		return "", err
	}
	if body = strings.TrimRight(body, "\n"); body == "" {
		return "  (no fields visible)", nil
	}
	return "  " + strings.ReplaceAll(body, "\n", "\n  "), nil
}

func (f Field) text(env *expr.Env) (string, error) {
	if f.Readonly && f.Expr != nil {
		if v, err := f.Expr.Eval(env); err == nil && !v.IsNil() {
			return f.With(v.Text()), nil
		}
	}
	return f.Shown.text(env)
}

// With is the place of a field with a text in it, and its unit.
func (f Field) With(text string) string {
	text = Underline(text)
	if unit := strings.TrimSpace(f.Unit); unit != "" {
		text += " " + unit
	}
	return text
}

// Standing is what stands in a place before anybody writes there.
func (f Field) Standing() string {
	if f.Default.Kind() != value.String && !f.Default.IsNil() {
		return f.Default.Text()
	}
	for _, text := range []string{f.Default.Str(), f.Placeholder.Source()} {
		if text != "" {
			return text
		}
	}
	return f.Name
}
