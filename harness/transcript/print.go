package transcript

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// PrintOptions say how much is printed, and what a call cost.
type PrintOptions struct {
	Episode int // only this one, counted from 1; 0: all
	Clip    int // characters of one text that are shown, and no schemas of tools; 0: all
	// Stable leaves out what differs from one recording to the next though it means the
	// same: dates, timings, chunks, tokens; and shows bodies that are not to be had as such.
	Stable bool
	// Cost is what an episode cost, as it is to be shown, or ""; nil: never.
	Cost func(e *cassette.Episode, u *Usage) string
}

// Print writes a cassette as a conversation: each call with what is new since the one
// before it in its lane. The same cassette gives the same text.
func Print(w io.Writer, c *cassette.Cassette, o PrintOptions) error {
	p := printer{w: w, o: o, before: map[string]*Transcript{}}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if fault.CodeOf(err) == cassette.CodeBlob && o.Stable {
			p.printf("\n%d  (a body of this call stands apart, in a file that is not beside this one)\n", i+1)
			continue
		}
		if err != nil {
			return err
		}
		t := Read(&e)
		if o.Episode == 0 {
			p.episode(i+1, &e, &t, p.before[e.Lane])
		} else if o.Episode == i+1 {
			p.episode(i+1, &e, &t, nil)
		}
		if t.Format != None {
			p.before[e.Lane] = &t
		}
	}
	return p.err
}

type printer struct {
	w      io.Writer
	o      PrintOptions
	before map[string]*Transcript // by lane
	err    error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) episode(n int, e *cassette.Episode, t, before *Transcript) {
	at := e.At
	if p.o.Stable {
		at = ""
	}
	p.printf("\n%d  %s %s → %s\n", n, e.Request.Method, e.Request.URL, p.outcome(e))
	facts := []string{"key " + e.Key[:12], "origin " + string(e.Origin)}
	for _, f := range []struct{ name, value string }{{"model", e.Model}, {"lane", e.Lane}, {"kind", other(e.Kind, "http")}, {"recorded", at}} {
		if f.value != "" {
			facts = append(facts, f.name+" "+f.value)
		}
	}
	p.printf("   %s\n", strings.Join(facts, "  "))
	if t.Usage != nil && !p.o.Stable {
		p.printf("   %s\n", p.usage(e, t.Usage))
	}
	if t.Format == None {
		p.line(Line{">", bodyText(e.Request.Body)})
		p.line(Line{"<", bodyText(e.Response.Body)})
		return
	}
	for _, l := range t.Lines(before) {
		if l.Who == "tool" && p.o.Clip > 0 {
			lines := strings.SplitN(l.Text, "\n", 3)
			l.Text = strings.Join(lines[:min(2, len(lines))], ": ")
		}
		p.line(l)
	}
	if t.Problem != "" {
		p.line(Line{"as it came", bodyText(e.Response.Body)})
	}
}

func other(s, usual string) string {
	if s == usual {
		return ""
	}
	return s
}

// outcome is how a call ended.
func (p *printer) outcome(e *cassette.Episode) string {
	r := &e.Response
	text := fmt.Sprint(r.Status)
	if !p.o.Stable {
		text += fmt.Sprintf(", %s sent, %d received", counted(len(e.Request.Body), "byte"), len(r.Body))
	}
	if n := len(r.Chunks); n > 1 && !p.o.Stable {
		text += fmt.Sprintf(" in %d chunks", n)
	}
	if r.Duration > 0 && !p.o.Stable {
		text += ", " + r.Duration.String()
	}
	if r.End != "" {
		text += ", " + r.End
	}
	if r.Error != "" {
		text += ": " + r.Error
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *printer) usage(e *cassette.Episode, u *Usage) string {
	text := fmt.Sprintf("tokens: %d in, %d out", u.Input, u.Output)
	for _, more := range []struct {
		n    int64
		what string
	}{{u.CacheRead, "from the cache"}, {u.CacheWrite, "to the cache"}, {u.Reasoning, "of the output reasoning"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	if p.o.Cost != nil {
		if cost := p.o.Cost(e, u); cost != "" {
			text += "; " + cost
		}
	}
	return text
}

func bodyText(b []byte) string {
	if !utf8.Valid(b) {
		return fmt.Sprintf("(%d bytes, not text)", len(b))
	}
	return string(b)
}

// width is the column in which texts begin.
const width = 12

// line prints who beside a text, whose own lines stand below one another.
func (p *printer) line(l Line) {
	text := strings.TrimRight(l.Text, "\n")
	if n := utf8.RuneCountInString(text); p.o.Clip > 0 && n > p.o.Clip {
		text = string([]rune(text)[:p.o.Clip]) + fmt.Sprintf("… (%d characters)", n)
	}
	if text == "" {
		return
	}
	for i, s := range strings.Split(text, "\n") {
		who := ""
		if i == 0 {
			who = l.Who
		}
		p.printf("%s\n", strings.TrimRight(fmt.Sprintf("   %-*s %s", width, who, s), " \t\r"))
	}
}
