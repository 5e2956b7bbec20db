package cassette

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A journal is a cassette without its end line, beside the cassette: what was
// recorded so far. Each episode is synced before the next is written, so that
// only its last line can be torn.
//
// The journal of an amendment has two more kinds of lines, which are comments to
// YAML: one that names the cassette that is amended, and before each episode one
// that says where it goes (amend.go).

// journalPath is where the journal of a cassette is.
func journalPath(path string) string { return path + ".part" }

// A journalText is a journal that was read back.
type journalText struct {
	header Header
	over   string   // the end line of the cassette that is amended; "" for a new one
	lines  [][]byte // whole lines, without line feeds
	starts []int64  // where each begins
	places []Place  // of an amendment: where each line goes
	size   int64    // bytes up to the end of the last whole line
}

// Resume returns the whole episodes of the journal that a crash left beside the
// cassette at path; none when there is no journal, or when all of it is in the
// cassette already.
func Resume(path string) ([]Episode, error) {
	j, err := readJournal(path)
	if err != nil || len(j.lines) == 0 || j.committed(path) {
		return nil, err
	}
	episodes := make([]Episode, len(j.lines))
	for i, line := range j.lines {
		if episodes[i], err = decodeLine(line); err != nil {
			return nil, fault.Wrap(err, CodeDamaged, "cassette.resume", "journal %q, episode %d", journalPath(path), i)
		}
	}
	return episodes, nil
}

// readJournal reads the journal beside the cassette at path, without its torn
// end. A missing journal is an empty one.
func readJournal(path string) (journalText, error) {
	name := journalPath(path)
	if err := ownFile("cassette.resume", name); err != nil {
		return journalText{}, err
	}
	data, _, err := readFile(name)
	if fault.CodeOf(err) == CodeMissing {
		return journalText{}, nil
	}
	if err != nil {
		return journalText{}, err
	}
	if top := topLines[:min(len(topLines), len(data))]; string(data[:len(top)]) != top {
		return journalText{}, fault.New(CodeDamaged, "cassette.resume", "journal %q is none: it does not begin as one", name).
			WithHint("see what it is, and move it away")
	}
	if end := bytes.LastIndexByte(data, '\n') + 1; !bytes.Contains(data[:end], []byte("\n"+listLine)) {
		return journalText{}, nil // the crash came before the first episode
	}
	h, rest, _, err := parseHeader(data)
	if err != nil {
		return journalText{}, fault.Wrap(err, CodeDamaged, "cassette.resume", "journal %q", name)
	}
	if h.Format > Format {
		return journalText{}, fault.New(CodeNewer, "cassette.resume", "journal %q has format %d; this version reads up to %d", name, h.Format, Format)
	}
	if h.Format < Format {
		return journalText{}, fault.New(CodeOlder, "cassette.resume", "journal %q has format %d; this version goes on with format %d", name, h.Format, Format).
			WithHint("end that recording with the version that began it, or delete the journal and record again")
	}
	j := journalText{header: h, size: int64(len(data) - len(rest))}
	if over, after, ok := cutOver(rest); ok {
		j.over, j.size, rest = over, j.size+int64(len(rest)-len(after)), after
	}
	return j, j.read(name, rest)
}

// read takes the lines of a journal. A bad line that others follow is no torn
// end.
func (j *journalText) read(name string, rest []byte) error {
	for len(rest) > 0 {
		mark := 0
		if j.over != "" {
			if mark = bytes.IndexByte(rest, '\n') + 1; mark == 0 {
				return nil
			}
		}
		n := bytes.IndexByte(rest[mark:], '\n')
		if n < 0 {
			return nil
		}
		line := rest[mark : mark+n]
		what := checkHead(line)
		if what == "" {
			what = checkSum(line)
		}
		var at Place
		if what == "" && j.over != "" {
			at, what = parseMark(rest[:mark], line)
		}
		rest = rest[mark+n+1:]
		if what != "" && len(rest) > 0 {
			return fault.New(CodeDamaged, "cassette.resume", "journal %q, episode %d: %s", name, len(j.lines), what).
				WithHint("keep a copy of the journal, delete it and record again")
		}
		if what != "" {
			return nil
		}
		j.lines = append(j.lines, line)
		j.starts = append(j.starts, j.size+int64(mark))
		j.places = append(j.places, at)
		j.size += int64(mark+n) + 1
	}
	return nil
}

// committed reports whether the cassette at path holds exactly the journal's
// episodes: the crash came after the rename.
func (j *journalText) committed(path string) bool {
	c, err := Open(path)
	if j.over != "" {
		return err == nil && c.end != j.over && j.within(c)
	}
	if err != nil || c.Len() != len(j.lines) || !c.header.sameRun(&j.header) {
		return false
	}
	for i, line := range j.lines {
		if !bytes.Equal(line, c.line(i)) {
			return false
		}
	}
	return true
}

// openJournal makes the journal of a new recording, or opens the one that a
// crash left and cuts off its torn end. The file is locked until it is closed.
func openJournal(path string, h *Header, o CreateOptions) (*os.File, journalText, error) {
	if err := ownFile("cassette.create", journalPath(path)); err != nil {
		return nil, journalText{}, err
	}
	f, err := os.OpenFile(journalPath(path), os.O_RDWR|os.O_CREATE|nonBlock|noFollow, 0o644)
	if err != nil {
		return nil, journalText{}, err
	}
	j, err := startJournal(f, path, h, o)
	if err != nil {
		f.Close()
		return nil, j, err
	}
	return f, j, nil
}

func startJournal(f *os.File, path string, h *Header, o CreateOptions) (journalText, error) {
	const op = "cassette.create"
	ok, err := lock(f)
	if err != nil {
		return journalText{}, err
	}
	if !ok {
		return journalText{}, fault.New(CodeUnfinished, op, "cassette %q is being recorded by somebody else", path).
			WithHint("wait until that recording has ended")
	}
	j, err := readJournal(path)
	switch {
	case err != nil:
		return j, err
	case len(j.lines) == 0 || j.committed(path):
		if j, err = beginJournal(f, path, h, o.over); err != nil {
			_ = os.Remove(f.Name()) // nothing is in it
		}
		return j, err
	case !o.Continue:
		return j, fault.New(CodeUnfinished, op, "journal %q holds %d episodes of a recording that did not end", f.Name(), len(j.lines)).
			WithHint("continue that recording, or delete the journal")
	case o.over != j.over:
		return j, otherBase(f.Name(), o.over, j.over)
	case !h.sameRun(&j.header):
		return j, fault.New(fault.Conflict, op, "journal %q was recorded under other rules or prices", f.Name()).
			WithHint("delete the journal and record again")
	}
	return j, cut(f, j.size)
}

// cut ends f after size bytes and writes on from there.
func cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}

// beginJournal writes the header into an emptied file and makes sure that a crash
// keeps the file.
func beginJournal(f *os.File, path string, h *Header, over string) (journalText, error) {
	top := *h
	if top.Origin == "" {
		top.Origin = Scripted // Commit writes what it is
	}
	text, err := encodeHeader(&top, false)
	if over != "" {
		text = append(text, overLine+over...)
	}
	if err == nil {
		err = cut(f, 0)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = errors.Join(f.Sync(), syncDir(path))
	}
	return journalText{header: top, over: over, size: int64(len(text))}, err
}

// Discard removes the journal that a recording of path left, if there is one: for a
// recording that costs nothing to make again.
func Discard(path string) error {
	if err := os.Remove(journalPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.Internal, "cassette.discard", "remove the journal of cassette %q", path)
	}
	return nil
}
