package cassette

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Place says where an episode goes in the cassette that is amended.
type Place struct {
	After   int  // behind this episode, counted from 0; -1: before all
	Instead bool // in its place
}

// An amendment is a recording into a cassette that is there. Its lines are written
// once more byte for byte; new ones stand at their places, in the order in which they
// were appended.
type amendment struct {
	base    *Cassette
	lines   []amended
	dropped map[int]bool // episodes of the base that are left out
}

// An amended is a line of the journal.
type amended struct {
	at   Place
	from int64 // in the journal
	size int   // without the line feed
	sum  [sha256.Size]byte
}

// AmendOptions widen what Amend may do.
type AmendOptions struct {
	Continue bool // the journal that a crash left is gone on with
}

// Amend begins a recording into the cassette c, which has been opened. Until Commit
// its file stays as it is. Header and rules stay too; the origin becomes the weakest of
// what there then is.
func Amend(c *Cassette, o AmendOptions) (*Writer, error) {
	w := &Writer{
		path: c.path, header: c.header, sync: (*os.File).Sync, amend: &amendment{base: c, dropped: map[int]bool{}},
		options: CreateOptions{Replace: true, Continue: o.Continue, over: c.end},
	}
	if err := w.begin("cassette.amend"); err != nil {
		return nil, err
	}
	return w, nil
}

// Drop leaves an episode of the amended cassette out.
func (w *Writer) Drop(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.amend.dropped[i] = true
}

// clamp gives an episode that goes nowhere a place behind all others.
func (a *amendment) clamp(at Place) (Place, error) {
	if a == nil {
		return at, nil
	}
	last := a.base.Len() - 1
	if at.Instead && (at.After < 0 || at.After > last) {
		return at, fmt.Errorf("there is no episode %d to replace", at.After+1)
	}
	return Place{min(max(at.After, -1), last), at.Instead}, nil
}

func (a *amendment) note(at Place, line []byte, from int64) {
	if a != nil {
		a.lines = append(a.lines, amended{at, from, len(line), sha256.Sum256(line)})
	}
}

// size is what is there before anything is added.
func (a *amendment) size() (episodes int, bytes int64) {
	if a == nil {
		return 0, 0
	}
	return a.base.Len(), int64(len(a.base.data))
}

// An entry is a line of the amended cassette: of the base, or of the journal.
type entry struct {
	old bool
	i   int
}

// order is all lines as they will stand.
func (a *amendment) order() []entry {
	behind := make(map[int][]entry, len(a.lines))
	replaced := make(map[int]bool)
	for i, l := range a.lines {
		behind[l.at.After] = append(behind[l.at.After], entry{i: i})
		if l.at.Instead {
			replaced[l.at.After] = true
		}
	}
	out := append([]entry(nil), behind[-1]...)
	for i := range a.base.Len() {
		if !replaced[i] && !a.dropped[i] {
			out = append(out, entry{old: true, i: i})
		}
		out = append(out, behind[i]...)
	}
	return out
}

// isNothing reports whether the amended cassette would be the one that there is.
func (a *amendment) isNothing(h *Header) bool {
	return a != nil && len(a.lines) == 0 && len(a.dropped) == 0 && bytes.Equal(h.Prices, a.base.header.Prices)
}

// unchanged refuses a cassette that is another one than was opened.
func (a *amendment) unchanged(op, path string) error {
	if a == nil {
		return nil
	}
	now, _, err := readFile(path)
	if err == nil && !bytes.Equal(now, a.base.data) {
		err = fault.New(fault.Conflict, op, "cassette %q changed while it was recorded into", path)
	}
	if err != nil {
		return fault.Wrap(err, fault.CodeOf(err), op, "amend").
			WithHint("what was recorded is in %q; restore the cassette and continue, or delete the journal", journalPath(path))
	}
	return nil
}

// origin is the weakest of the lines that stay and of a weaker one.
func (a *amendment) origin(o Origin, order []entry) (Origin, error) {
	for _, l := range order {
		if !l.old {
			continue
		}
		e, err := a.base.Episode(l.i)
		if err != nil {
			return "", err
		}
		o = weakest(o, e.Origin)
	}
	return o, nil
}

// copyLines writes all lines as they will stand.
func (a *amendment) copyLines(out io.Writer, journal io.ReaderAt, order []entry) error {
	for _, l := range order {
		if l.old {
			i := l.i
			if _, err := out.Write(a.base.data[a.base.starts[i]:a.base.starts[i+1]]); err != nil {
				return err
			}
			continue
		}
		n := a.lines[l.i]
		if _, err := io.Copy(out, io.NewSectionReader(journal, n.from, int64(n.size)+1)); err != nil {
			return err
		}
	}
	return nil
}

// sums are those of all lines as they will stand.
func (a *amendment) sums(order []entry) [][sha256.Size]byte {
	out := make([][sha256.Size]byte, len(order))
	for i, l := range order {
		if l.old {
			out[i] = sha256.Sum256(a.base.line(l.i))
		} else {
			out[i] = a.lines[l.i].sum
		}
	}
	return out
}

// The lines of an amendment's journal that are no episodes.
const (
	overLine    = "# over " // and the end line of the cassette
	afterMark   = "# after %d"
	insteadMark = "# instead %d"
)

// mark puts the line that says where an episode goes before the episode's.
func (a *amendment) mark(at Place, line []byte) []byte {
	if a == nil {
		return line
	}
	return append(markLine(at, line[:len(line)-1]), line...)
}

// markLine has a sum over itself and the episode's line, so that a mark is never read
// as that of another one.
func markLine(at Place, line []byte) []byte {
	form := afterMark
	if at.Instead {
		form = insteadMark
	}
	text := fmt.Sprintf(form, at.After)
	sum := crc32.Update(crc32.Checksum([]byte(text), castagnoli()), castagnoli(), line)
	return fmt.Appendf(nil, "%s %08x\n", text, sum)
}

// parseMark reads a mark, and says what is wrong with it, or "".
func parseMark(mark, line []byte) (at Place, what string) {
	if _, err := fmt.Sscanf(string(mark), afterMark, &at.After); err != nil {
		at.Instead = true
		if _, err := fmt.Sscanf(string(mark), insteadMark, &at.After); err != nil {
			return at, "nothing says where it goes"
		}
	}
	if !bytes.Equal(mark, markLine(at, line)) {
		return at, "where it goes was altered"
	}
	return at, ""
}

// cutOver takes the line off that names the amended cassette.
func cutOver(rest []byte) (over string, after []byte, ok bool) {
	n := bytes.IndexByte(rest, '\n') + 1
	if n == 0 || !bytes.HasPrefix(rest, []byte(overLine)) {
		return "", rest, false
	}
	return strings.TrimPrefix(string(rest[:n]), overLine), rest[n:], true
}

// within reports whether all lines of the journal are in c.
func (j *journalText) within(c *Cassette) bool {
	for _, line := range j.lines {
		found := false
		for _, i := range c.ByKey(string(line[keyAt : keyAt+keyLen])) {
			found = found || bytes.Equal(c.line(i), line)
		}
		if !found {
			return false
		}
	}
	return true
}

// otherBase is the error of a journal that belongs to another cassette, or to none.
func otherBase(journal, want, got string) error {
	const op = "cassette.create"
	hint := "restore the cassette that it was recorded into, or delete the journal and record again"
	switch {
	case got == "":
		return fault.New(fault.Conflict, op, "journal %q is of a recording from the beginning", journal).WithHint("continue that recording, or delete the journal")
	case want == "":
		return fault.New(fault.Conflict, op, "journal %q was recorded into a cassette that was there", journal).WithHint("%s", hint)
	}
	return fault.New(fault.Conflict, op, "journal %q was recorded into the cassette with %q, and this one has %q",
		journal, strings.TrimSpace(got), strings.TrimSpace(want)).WithHint("%s", hint)
}

// Lines are where in the cassette the appended episodes stand, counted from 0, once all
// are appended.
func (w *Writer) Lines() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := make([]int, len(w.sums))
	for i := range lines {
		lines[i] = i
	}
	if w.amend != nil {
		for at, l := range w.amend.order() {
			if !l.old {
				lines[l.i] = at
			}
		}
	}
	return lines
}
