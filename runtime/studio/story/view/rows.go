package view

import (
	"path"
	"regexp"
	"strings"

	"github.com/muesli/reflow/wordwrap"
)

// gutter stands between two columns.
const gutter = "  "

// A List is a list with a mark before each item, and a second column where an item has a
// hint.
type List struct {
	Items []Item
	Mark  string // "" is a bullet
}

// An Item is one of a list.
type Item struct {
	Label, Hint Leaf
	When        When
}

// Kind is "list".
func (List) Kind() string { return "list" }

// A row is an item as it is shown.
type row struct{ label, hint string }

func (i Item) row(p *pen) (r row, shown bool, err error) {
	if shown, err = i.When.holds(p.env); err != nil || !shown {
		return row{}, false, err
	}
	if r.label, err = i.Label.text(p.env); err != nil {
		return row{}, false, err
	}
	if r.hint, err = i.Hint.text(p.env); err != nil {
		return row{}, false, err
	}
	r.label, r.hint = strings.TrimRight(r.label, " \t"), strings.TrimSpace(r.hint)
	return r, true, nil
}

func (e List) text(p *pen) (string, error) {
	var rows []row
	hints := false
	for _, item := range e.Items {
		r, shown, err := item.row(p)
		if err != nil {
			return "", err
		}
		if shown {
			rows = append(rows, r)
			hints = hints || r.hint != ""
		}
	}
	mark := e.Mark
	if mark == "" {
		mark = "•"
	}
	mark += " "
	if !hints {
		return oneColumn(rows, mark, p.width), nil
	}
	return twoColumns(rows, mark, p.width), nil
}

// oneColumn wraps labels, with what follows below their beginning.
func oneColumn(rows []row, mark string, width int) string {
	lines := make([]string, 0, len(rows))
	under := "\n" + strings.Repeat(" ", runes(mark))
	for _, r := range rows {
		label := wordwrap.String(r.label, max(width-runes(mark), 1))
		lines = append(lines, mark+strings.ReplaceAll(label, "\n", under))
	}
	return strings.Join(lines, "\n")
}

// minHints is how many columns hints keep, however long a label is.
const minHints = 40

// twoColumns wraps hints beside labels. A label that would leave the hints less than
// minHints stands out of its column.
func twoColumns(rows []row, mark string, width int) string {
	longest := 0
	for _, r := range rows {
		longest = max(longest, runes(r.label))
	}
	if most := width - runes(mark) - len(gutter) - minHints; most >= 1 {
		longest = min(longest, most)
	}
	longest = max(longest, 1)
	left := max(width-runes(mark)-longest-len(gutter), 8)
	under := "\n" + strings.Repeat(" ", runes(mark)+longest+len(gutter))
	lines := make([]string, 0, len(rows))
	for _, r := range rows {
		if r.hint == "" {
			lines = append(lines, mark+strings.TrimRight(r.label, " "))
			continue
		}
		hint := wordwrap.String(r.hint, left)
		lines = append(lines, mark+pad(r.label, longest)+gutter+strings.ReplaceAll(hint, "\n", under))
	}
	return strings.Join(lines, "\n")
}

// KV is a table of names and values, in the author's order.
type KV struct{ Pairs []Pair }

// A Pair is a row of a KV.
type Pair struct {
	Name  string
	Value Leaf
}

// Kind is "kv".
func (KV) Kind() string { return "kv" }

func (e KV) text(p *pen) (string, error) {
	longest := 0
	for _, pair := range e.Pairs {
		longest = max(longest, runes(pair.Name))
	}
	left := max(p.width-longest-1-len(gutter), 1)
	under := "\n" + strings.Repeat(" ", longest+1+len(gutter))
	lines := make([]string, 0, len(e.Pairs))
	for _, pair := range e.Pairs {
		text, err := pair.Value.text(p.env)
		if err != nil {
			return "", err
		}
		if link := p.link(text, left); link != "" {
			text = link
		} else {
			parts := strings.Split(text, "\n")
			for i, part := range parts {
				parts[i] = wordwrap.String(part, left)
			}
			text = strings.ReplaceAll(strings.Join(parts, "\n"), "\n", under)
		}
		lines = append(lines, pad(pair.Name+":", longest+1)+gutter+text)
	}
	return strings.Join(lines, "\n"), nil
}

var markdownFile = regexp.MustCompile(`\S+\.md$`)

// link is a value that names a page which a person can open, as a link of terminals (OSC
// 8), or "". A value that has to be wrapped is none.
func (p *pen) link(text string, left int) string {
	if p.links == "" || strings.TrimSpace(text) != text || strings.Contains(text, "\n") || runes(text) > left || !markdownFile.MatchString(text) {
		return ""
	}
	to := text
	if !path.IsAbs(to) {
		to = path.Join(p.links, to)
	}
	return "\x1b]8;;file://" + path.Clean(to) + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
