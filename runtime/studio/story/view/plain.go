package view

import (
	"strings"

	"github.com/muesli/reflow/ansi"
	"github.com/muesli/reflow/wordwrap"
)

// Prose is a paragraph: line breaks of the author are spaces.
type Prose struct{ Body Leaf }

// Kind is "prose".
func (Prose) Kind() string { return "prose" }

func (e Prose) text(p *pen) (string, error) {
	text, err := e.Body.text(p.env)
	if err != nil {
		return "", err
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	return wordwrap.String(strings.TrimSpace(strings.Join(words, " ")), p.width), nil
}

// Heading is a line above what follows.
type Heading struct{ Body Leaf }

// Kind is "heading".
func (Heading) Kind() string { return "heading" }

func (e Heading) text(p *pen) (string, error) {
	text, err := e.Body.text(p.env)
	return even(strings.TrimSpace(text)), err
}

// Code is shown as it stands.
type Code struct{ Body Leaf }

// Kind is "code".
func (Code) Kind() string { return "code" }

func (e Code) text(p *pen) (string, error) {
	text, err := e.Body.text(p.env)
	return strings.TrimRight(text, "\n"), err
}

// Template is Markdown, shown as it stands.
type Template struct{ Body Leaf }

// Kind is "template".
func (Template) Kind() string { return "template" }

func (e Template) text(p *pen) (string, error) { return e.Body.text(p.env) }

// Banner says which part of a story this is.
type Banner struct {
	Title, Subtitle Leaf
	Color           string // for surfaces that have colours
}

// Kind is "banner".
func (Banner) Kind() string { return "banner" }

// minRule is the shortest rule above and below a banner.
const minRule = 40

func (e Banner) text(p *pen) (string, error) {
	title, err := e.Title.text(p.env)
	if err != nil {
		return "", err
	}
	if title = strings.TrimSpace(title); title == "" {
		return "", nil
	}
	subtitle, err := e.Subtitle.text(p.env)
	if err != nil {
		return "", err
	}
	line := "  " + title
	if subtitle = strings.TrimSpace(subtitle); subtitle != "" {
		line += "  ·  " + subtitle
	}
	n := runes(line) + 2
	if p.width >= minRule {
		n = min(n, p.width)
	}
	rule := strings.Repeat("═", max(n, minRule))
	return rule + "\n" + even(line) + "\n" + rule, nil
}

// Media points to something that a text cannot show. Its words stand there as they were
// written: templates among them are for surfaces that show the thing itself.
type Media struct {
	Handle, Caption, Path          Leaf
	What                           string // video, image, pdf, html, slideshow
	AnnotateIntent, AnnotationSlot string
}

// Kind is "media".
func (Media) Kind() string { return "media" }

func (e Media) text(*pen) (string, error) {
	label, target := e.Caption.Source(), e.Path.Source()
	if label == "" {
		label = e.Handle.Source()
	}
	if target == "" {
		target = e.Handle.Source()
	}
	return even(sign(e.What)+"  "+label) + "\n" + even("   → "+target), nil
}

func sign(kind string) string {
	switch strings.ToLower(kind) {
	case "video":
		return "📹"
	case "image":
		return "🖼"
	case "pdf":
		return "📄"
	case "html":
		return "🌐"
	case "slideshow":
		return "📊"
	}
	return "📎"
}

// even is a text that surfaces colour as one box: tabs are spaces, and all lines are as
// wide as the widest.
func even(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", "    ")
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	widest := 0
	for _, l := range lines {
		widest = max(widest, ansi.PrintableRuneWidth(l))
	}
	for i, l := range lines {
		lines[i] = l + strings.Repeat(" ", widest-ansi.PrintableRuneWidth(l))
	}
	return strings.Join(lines, "\n")
}

func runes(s string) int { return len([]rune(s)) }

// pad is s with spaces up to n runes.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-runes(s), 0)) }
