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
	"github.com/soundstage-dev/soundstage/runtime/plain"
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
	if t.raw != nil {
		dropTyped(t.raw) // keys that were pressed before the question stood there answer nothing
	}
	t.show(q)
	for {
		k, ok := t.key(ctx)
		if !ok {
			fmt.Fprintln(t.out)
			return gate.Answer{Choice: gate.TimedOut, By: gate.Nobody}
		}
		if a, ok := t.answer(k, q); ok {
			return a
		}
		fmt.Fprintf(t.out, "%q is no answer\n%s", plain.Clip(strings.TrimSpace(k), 20), prompt(q))
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

// key waits for one key or line; not ok where ctx ended first. The terminal is as it
// was when key returns, though a read may still wait for it.
func (t *terminal) key(ctx context.Context) (key string, ok bool) {
	read := t.line
	if t.raw != nil {
		if old, err := term.MakeRaw(int(t.raw.Fd())); err == nil {
			defer term.Restore(int(t.raw.Fd()), old) //nolint:errcheck // nothing to do about it
			read = t.press
		}
	}
	keys := make(chan string, 1)
	go func() { keys <- read() }()
	select {
	case <-ctx.Done():
		return "", false
	case key = <-keys:
		return key, true
	}
}

// press reads one key. One read takes a whole one: an arrow is an Escape with more
// behind it.
func (t *terminal) press() string {
	var b [16]byte
	n, err := t.raw.Read(b[:])
	if err != nil || b[0] == 4 { // Ctrl-D
		return keyEnd
	}
	return string(b[:n])
}

// line reads one line.
func (t *terminal) line() string {
	line, err := t.in.ReadString('\n')
	if err != nil && line == "" {
		return keyEnd
	}
	return line
}

func (t *terminal) show(q gate.Question) {
	fmt.Fprintf(t.out, "\n%s\n", plain.Line(q.Title, 400))
	if q.Review != nil {
		writeReview(t.out, *q.Review)
	} else if q.Input != "" && q.Input != "{}" {
		fmt.Fprintf(t.out, "  %s %s\n", q.Tool, plain.Line(q.Input, 400))
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

// writeReview prints a card: the target, bounded rows, warnings and impact. Each is one
// line of harmless characters: what is decided on must not be able to forge its own card.
func writeReview(w io.Writer, r draft.Review) {
	verb := "change"
	if r.Create {
		verb = "create"
	}
	fmt.Fprintf(w, "  %s %s", verb, r.Target)
	if r.Title != "" {
		fmt.Fprintf(w, "  %q", plain.Clip(r.Title, 80))
	}
	fmt.Fprintf(w, "  (draft %s)\n", r.Draft)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "    %s\n", plain.Line(row.Label, 80))
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
		fmt.Fprintf(w, "    warning: %s\n", plain.Line(warning, 400))
	}
	for _, i := range r.Impact {
		fmt.Fprintf(w, "    on %s: %s\n", plain.Line(i.Platform, 80), plain.Line(i.Effect, 400))
	}
}

// oneLine is a value as one row shows it.
func oneLine(s string) string { return plain.Line(s, 200) }
