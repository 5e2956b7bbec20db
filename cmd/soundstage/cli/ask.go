package cli

import (
	"bufio"
	"context"
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
//   - Ctrl-C cancels the turn; nothing was chosen.
//   - The end of input means that nobody is there; it is never taken for a no.
//   - Any other key asks again: a slip of the finger decides nothing.

// A terminal asks on out and reads from in. It implements the loop's Asker.
type terminal struct {
	in     *bufio.Reader
	raw    *os.File // set where single keys can be read
	out    io.Writer
	cancel context.CancelFunc
}

// The keys that are no letter.
const (
	keyEnd    = "eof"  // the input has ended
	keyCancel = "\x03" // Ctrl-C
	keyEscape = "\x1b"
)

// newTerminal takes single keys where in is a terminal, else lines. cancel is what
// Ctrl-C does: a terminal that is asking for a key gets it as one.
func newTerminal(in io.Reader, out io.Writer, cancel context.CancelFunc) *terminal {
	t := &terminal{out: out, cancel: cancel}
	if in == nil {
		in = strings.NewReader("")
	}
	t.in = bufio.NewReader(in)
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.raw = f
	}
	return t
}

// Ask shows q and waits for a key that answers it, or for ctx.
func (t *terminal) Ask(ctx context.Context, q gate.Question) gate.Answer {
	t.show(q)
	for {
		keys := make(chan string, 1)
		go func() { keys <- t.key() }()
		select {
		case <-ctx.Done():
			fmt.Fprintln(t.out)
			return gate.Answer{Choice: gate.TimedOut, By: gate.Nobody}
		case k := <-keys:
			if a, ok := t.answer(k, q); ok {
				return a
			}
			fmt.Fprintf(t.out, "%q is no answer\n%s", clip(strings.TrimSpace(k), 20), prompt(q))
		}
	}
}

// answer is what a key means; not ok where it means nothing here.
func (t *terminal) answer(key string, q gate.Question) (a gate.Answer, ok bool) {
	say := func(text string, c gate.Choice, by gate.By) (gate.Answer, bool) {
		fmt.Fprintln(t.out, text)
		return gate.Answer{Choice: c, By: by}, true
	}
	switch key = strings.ToLower(strings.TrimSpace(key)); key {
	case keyEnd:
		return say("(nobody there)", gate.Absent, gate.Nobody)
	case keyCancel:
		t.cancel()
		return say("(cancelled)", gate.TimedOut, gate.Nobody)
	case "", "y", "yes":
		return say("yes", gate.Once, gate.Person)
	case "n", "no", "d", keyEscape:
		return say("no", gate.No, gate.Person)
	case "s":
		if q.MayRemember {
			return say("yes, for this session", gate.ThisSession, gate.Person)
		}
	}
	return gate.Answer{}, false
}

// key reads one key or line.
func (t *terminal) key() string {
	if t.raw != nil {
		if old, err := term.MakeRaw(int(t.raw.Fd())); err == nil {
			defer term.Restore(int(t.raw.Fd()), old) //nolint:errcheck // nothing to do about it
			// One read takes a whole key: an arrow is an Escape with more behind it.
			var b [16]byte
			n, err := t.raw.Read(b[:])
			if err != nil || b[0] == 4 { // Ctrl-D
				return keyEnd
			}
			return string(b[:n])
		}
	}
	line, err := t.in.ReadString('\n')
	if err != nil && line == "" {
		return keyEnd
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
	fmt.Fprint(t.out, prompt(q))
}

// prompt lists the keys that answer q.
func prompt(q gate.Question) string {
	switch {
	case q.Review != nil && q.MayRemember:
		return "[y] apply  [s] apply all of this session  [n] discard > "
	case q.Review != nil:
		return "[y] apply  [n] discard > "
	case q.MayRemember:
		return "[y] once  [s] always in this session  [n] no > "
	}
	return "[y] once  [n] no > "
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
