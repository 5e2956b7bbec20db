package cassette

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Writer records one cassette. Its methods may be called from any goroutine.
// One Writer at a time records at a path: the journal shuts others out.
type Writer struct {
	path    string
	header  Header
	options CreateOptions
	sync    func(*os.File) error

	mu      sync.Mutex
	journal *os.File // nil when the writer has ended
	size    int64    // bytes of the journal
	from    int64    // where the journal's first episode begins
	sums    [][sha256.Size]byte
	origin  Origin // the weakest so far
	broken  error  // the journal could not be written or mended
	amend   *amendment
}

// CreateOptions widen what Create may do.
type CreateOptions struct {
	Replace  bool // a cassette at the path is replaced at Commit
	Continue bool // the journal that a crash left is gone on with
	Again    bool // the episodes can be had again at no cost: only Commit waits for the disk

	over string // of an amendment: the end line of the cassette
}

// Create begins a new cassette at path. It refuses a path that holds one
// (CASSETTE_EXISTS), or the journal of a recording that did not end
// (CASSETTE_UNFINISHED). The header's Format is set and its Origin follows from
// the episodes; Origin counts only for a cassette without any.
func Create(path string, h Header) (*Writer, error) {
	return CreateWith(path, h, CreateOptions{})
}

// CreateWith is Create with options. Until Commit a cassette at path stays as it
// is.
func CreateWith(path string, h Header, o CreateOptions) (*Writer, error) {
	const op = "cassette.create"
	if h.KeyVersion == 0 {
		h.KeyVersion = KeyVersion
	}
	h.Format = Format
	if err := h.check(); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, op, "cassette %q", path)
	}
	if h.Origin != "" && h.Origin.rank() == 0 {
		return nil, fault.New(fault.Invalid, op, "cassette %q: origin %q is not live, imported or scripted", path, h.Origin)
	}
	if !o.Replace {
		if err := refuseExisting(op, path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, notWritten(err, op, "folder of cassette %q", path)
	}
	w := &Writer{path: path, header: h, options: o, sync: (*os.File).Sync}
	if err := w.begin(op); err != nil {
		return nil, err
	}
	return w, nil
}

// begin opens the journal and takes over what is in it.
func (w *Writer) begin(op string) error {
	f, j, err := openJournal(w.path, &w.header, w.options)
	if err != nil && fault.CodeOf(err) != fault.Internal {
		return err
	}
	if err != nil {
		return notWritten(err, op, "journal of cassette %q", w.path)
	}
	w.journal, w.size, w.from = f, j.size, j.size
	for i, line := range j.lines {
		e, err := decodeLine(line)
		if err != nil {
			f.Close()
			return fault.Wrap(err, CodeDamaged, op, "journal %q", journalPath(w.path))
		}
		w.note(&e, line)
		w.amend.note(j.places[i], line, j.starts[i])
		w.from -= int64(len(line)) + 1
	}
	return nil
}

func refuseExisting(op, path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "cassette %q", path)
	}
	return fault.New(CodeExists, op, "cassette %q exists", path).WithHint("add to it with --mode fill, remove it first, or record under another name")
}

// note remembers a line that is in the journal.
func (w *Writer) note(e *Episode, line []byte) {
	w.sums = append(w.sums, sha256.Sum256(line))
	w.origin = weakest(w.origin, e.Origin)
}

// Len is the number of episodes so far, those of a continued journal included.
func (w *Writer) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sums)
}

// Append adds an episode. When it returns nil, the episode is in the journal and
// the journal is on the disk. An error leaves the journal as it was.
func (w *Writer) Append(e Episode) error {
	return w.AppendAt(e, Place{After: math.MaxInt})
}

// AppendAt is Append of an episode that goes somewhere in the cassette that is amended.
// In a new cassette episodes stand in the order in which they were appended.
func (w *Writer) AppendAt(e Episode, at Place) error {
	const op = "cassette.append"
	if err := e.check(); err != nil {
		return fault.Wrap(err, fault.Invalid, op, "cassette %q", w.path)
	}
	line, err := encodeLine(&e)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, op, "cassette %q", w.path)
	}
	if len(line) > MaxLine {
		return fault.New(fault.TooLarge, op, "cassette %q: an episode of %d bytes is more than %d", w.path, len(line), MaxLine)
	}
	back, err := decodeLine(line[:len(line)-1])
	if err != nil || !back.equal(&e) {
		return fault.Wrap(err, CodeCorrupted, op, "cassette %q: the episode does not read back equal", w.path)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at, err = w.amend.clamp(at)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, op, "cassette %q", w.path)
	}
	if err := w.write(w.amend.mark(at, line)); err != nil {
		return err
	}
	w.note(&e, line[:len(line)-1])
	w.amend.note(at, line[:len(line)-1], w.size-int64(len(line)))
	return nil
}

// write puts a line on the disk, or leaves the journal as it was.
func (w *Writer) write(line []byte) error {
	const op = "cassette.append"
	const most = MaxFile - MaxHeader // what Commit adds fits into a header
	old, bytes := w.amend.size()
	switch {
	case w.broken != nil:
		return w.broken
	case w.journal == nil:
		return w.ended(op)
	case old+len(w.sums) >= MaxEpisodes || bytes+w.size+int64(len(line)) > most:
		return fault.New(fault.TooLarge, op, "cassette %q would have more than %d episodes or %d bytes", w.path, MaxEpisodes, most)
	}
	_, err := w.journal.Write(line)
	if err == nil && !w.options.Again {
		err = w.sync(w.journal)
	}
	if err != nil {
		err = notWritten(err, op, "journal of cassette %q", w.path)
		if cut(w.journal, w.size) != nil {
			w.broken = err
		}
		return err
	}
	w.size += int64(len(line))
	return nil
}

// notWritten is the error of a disk that does not take a file; one that has a code
// already keeps it.
func notWritten(err error, op, format string, args ...any) *fault.Error {
	code := fault.CodeOf(err)
	if code == fault.Internal {
		code = CodeNotWritten
	}
	return fault.Wrap(err, code, op, format, args...).WithHint("%s", cmp.Or(fault.HintOf(err), "check the room on the disk and who may write there; what was there before is as it was"))
}

// tmpPath is the file that Commit writes and renames.
func tmpPath(path string) string { return path + ".tmp" }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (w *Writer) ended(op string) error {
	return fault.New(fault.Invalid, op, "the recording of cassette %q has ended", w.path)
}

// Abandon ends the recording and keeps the journal, for Resume and Continue. A
// journal without an episode is removed.
func (w *Writer) Abandon() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil {
		return nil
	}
	err := removeIfThere(tmpPath(w.path)) // of a Commit that was killed
	if len(w.sums) == 0 {
		return errors.Join(err, w.removeJournal())
	}
	return errors.Join(err, w.close())
}

func (w *Writer) close() error {
	if w.journal == nil {
		return nil
	}
	err := w.journal.Close()
	w.journal = nil
	return err
}

// removeJournal removes the name before the lock goes with the close, so that the
// journal of the next recording is never removed. Windows removes no open file.
func (w *Writer) removeJournal() error {
	if err := os.Remove(journalPath(w.path)); err == nil {
		return w.close()
	}
	return errors.Join(w.close(), os.Remove(journalPath(w.path)))
}

// Commit makes the journal a cassette: it writes a file beside it, reads that
// back and compares every episode, and puts it in the place. A crash leaves the
// old cassette or the new one, whole. After an error the journal is still there,
// and Commit may be tried again.
func (w *Writer) Commit() error {
	const op = "cassette.commit"
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil {
		return w.ended(op)
	}
	if !w.options.Replace {
		if err := refuseExisting(op, w.path); err != nil {
			return err
		}
	}
	if err := w.amend.unchanged(op, w.path); err != nil {
		return err
	}
	if w.amend.isNothing(&w.header) {
		return w.removeJournal()
	}
	tmp := tmpPath(w.path)
	if err := w.writeFile(tmp); err != nil {
		err = notWritten(err, op, "write cassette %q", w.path)
		return errors.Join(err, removeIfThere(tmp))
	}
	if err := w.compare(tmp); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := errors.Join(os.Rename(tmp, w.path), syncDir(w.path)); err != nil {
		return notWritten(err, op, "put cassette %q in its place", w.path)
	}
	if w.amend == nil { // nothing of a new recording stands apart
		if err := putBlobs(blobsPath(w.path), nil); err != nil {
			return notWritten(err, op, "cassette %q is written, but the bodies of the old one stay", w.path)
		}
	}
	if err := w.removeJournal(); err != nil {
		return notWritten(err, op, "cassette %q is written, but its journal stays", w.path)
	}
	return nil
}

// CommitPriced is Commit with a price list for the header that was not known when
// the recording began.
func (w *Writer) CommitPriced(prices []byte) error {
	h := w.header
	h.Prices = prices
	if err := h.check(); err != nil {
		return fault.Wrap(err, fault.Invalid, "cassette.commit", "cassette %q", w.path)
	}
	w.mu.Lock()
	w.header.Prices = prices
	w.mu.Unlock()
	return w.Commit()
}

// writeFile writes the cassette: header, the journal's lines, end line.
func (w *Writer) writeFile(name string) error {
	h, n := w.header, len(w.sums)
	h.Origin = cmp.Or(w.origin, h.Origin, Scripted)
	copyLines := func(out io.Writer) error {
		_, err := io.Copy(out, io.NewSectionReader(w.journal, w.from, w.size-w.from))
		return err
	}
	if w.amend != nil {
		order := w.amend.order()
		origin, err := w.amend.origin(w.origin, order)
		if err != nil {
			return err
		}
		n, h.Origin = len(order), cmp.Or(origin, h.Origin)
		copyLines = func(out io.Writer) error { return w.amend.copyLines(out, w.journal, order) }
	}
	top, err := encodeHeader(&h, n == 0)
	if err != nil {
		return err
	}
	f, err := freshFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := crc32.New(castagnoli())
	out := io.MultiWriter(f, sum)
	if _, err := out.Write(top); err != nil {
		return err
	}
	if err := copyLines(out); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, endLineText, n, fmt.Sprintf("%08x", sum.Sum32())); err != nil {
		return err
	}
	return errors.Join(w.sync(f), f.Close())
}

// compare reads the written file back: every line must be the one that was
// appended, and decode. (Append has compared the decoded line with the episode.)
func (w *Writer) compare(name string) error {
	const op = "cassette.commit"
	c, err := Open(name)
	if err == nil {
		c.blobs = &blobs{path: blobsPath(w.path)}
		err = c.verify()
	}
	if err != nil {
		return fault.Wrap(err, CodeCorrupted, op, "cassette %q did not read back", w.path)
	}
	sums := w.sums
	if w.amend != nil {
		sums = w.amend.sums(w.amend.order())
	}
	if c.Len() != len(sums) || !c.header.sameRun(&w.header) {
		return fault.New(CodeCorrupted, op, "cassette %q read back with %d of %d episodes", w.path, c.Len(), len(sums))
	}
	for i, want := range sums {
		if sha256.Sum256(c.line(i)) != want {
			return fault.New(CodeCorrupted, op, "cassette %q: episode %d did not read back equal", w.path, i)
		}
	}
	return nil
}
