package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
)

// The terminal's gate: it shows what would happen and takes one key.
//
//   - y or Enter says yes once; s says yes for this session, where that is offered.
//   - n, d or Escape says no.
//   - The end of input means that nobody is there; it is never taken for a no.

// A terminal asks on out and reads from in. It implements the loop's Asker.
type terminal struct {
	in  *bufio.Reader
	raw *os.File // set where single keys can be read
	out io.Writer
}

// newTerminal takes single keys where in is a terminal, else lines.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out}
	if in == nil {
		in = strings.NewReader("")
	}
	t.in = bufio.NewReader(in)
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.raw = f
	}
	return t
}

// Ask shows q and waits for a key, or for ctx.
func (t *terminal) Ask(ctx context.Context, q gate.Question) gate.Answer {
	t.show(q)
	keys := make(chan string, 1)
	go func() { keys <- t.key() }()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return gate.Answer{Choice: gate.TimedOut, By: gate.Nobody}
	case k := <-keys:
		return t.answer(k, q)
	}
}

func (t *terminal) answer(key string, q gate.Question) gate.Answer {
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "eof":
		fmt.Fprintln(t.out, "(nobody there)")
		return gate.Answer{Choice: gate.Absent, By: gate.Nobody}
	case "", "y", "yes":
		fmt.Fprintln(t.out, "yes")
		return gate.Answer{Choice: gate.Once, By: gate.Person}
	case "s":
		if q.MayRemember {
			fmt.Fprintln(t.out, "yes, for this session")
			return gate.Answer{Choice: gate.ThisSession, By: gate.Person}
		}
	}
	fmt.Fprintln(t.out, "no")
	return gate.Answer{Choice: gate.No, By: gate.Person}
}

// key reads one key or line; "eof" where the input has ended.
func (t *terminal) key() string {
	if t.raw != nil {
		if old, err := term.MakeRaw(int(t.raw.Fd())); err == nil {
			defer term.Restore(int(t.raw.Fd()), old) //nolint:errcheck // nothing to do about it
			var b [1]byte
			if _, err := t.raw.Read(b[:]); err != nil {
				return "eof"
			}
			switch b[0] {
			case 3, 4, 27: // Ctrl-C, Ctrl-D, Escape
				return "n"
			case '\r', '\n':
				return ""
			}
			return string(b[:])
		}
	}
	line, err := t.in.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		return "eof"
	}
	return line
}

func (t *terminal) show(q gate.Question) {
	fmt.Fprintf(t.out, "\n%s\n", q.Title)
	if q.Review != nil {
		writeReview(t.out, *q.Review)
	} else if q.Input != "" && q.Input != "{}" {
		fmt.Fprintf(t.out, "  %s %s\n", q.Tool, clip(q.Input, 400))
	}
	switch {
	case q.Review != nil && q.MayRemember:
		fmt.Fprint(t.out, "[y] apply  [s] apply, and for this session  [n] discard > ")
	case q.Review != nil:
		fmt.Fprint(t.out, "[y] apply  [n] discard > ")
	case q.MayRemember:
		fmt.Fprint(t.out, "[y] once  [s] for this session  [n] no > ")
	default:
		fmt.Fprint(t.out, "[y] once  [n] no > ")
	}
}

// writeReview prints a card: the target, bounded rows, warnings and impact.
func writeReview(w io.Writer, r draft.Review) {
	verb := "change"
	if r.Create {
		verb = "create"
	}
	fmt.Fprintf(w, "  %s %s", verb, r.Target)
	if r.Title != "" {
		fmt.Fprintf(w, "  %q", r.Title)
	}
	fmt.Fprintf(w, "  (draft %s)\n", r.Draft)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "    %s\n", row.Label)
		if row.Before != "" {
			fmt.Fprintf(w, "      - %s\n", oneLine(row.Before))
		}
		if row.After != "" {
			fmt.Fprintf(w, "      + %s\n", oneLine(row.After))
		}
	}
	if r.More > 0 {
		fmt.Fprintf(w, "    and %d more\n", r.More)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "    warning: %s\n", warning)
	}
	for _, i := range r.Impact {
		fmt.Fprintf(w, "    on %s: %s\n", i.Platform, i.Effect)
	}
}

// oneLine makes line ends visible, so that a row stays a row.
func oneLine(s string) string { return strings.ReplaceAll(clip(s, 200), "\n", "⏎") }

// clip cuts s behind max runes and says so.
func clip(s string, max int) string {
	n := 0
	for i := range s {
		if n == max {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
