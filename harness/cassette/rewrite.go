package cassette

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Change is what Rewrite makes of an episode. The zero Change keeps its line byte for
// byte.
type Change struct {
	Drop     bool
	Key, Raw string   // put into the line in place of the old ones; Raw may be "" beside a Key
	Episode  *Episode // the whole line is written anew
	Apart    []string // of Episode: "request", "response", whose bodies go to the blobs
}

// Rewrite replaces the file of a cassette by one with the header h and the episodes as
// change says, in the same order, in today's format. It decodes every episode, so that a
// damaged file is refused, and it refuses one that was changed since it was opened or
// that is being recorded. A crash leaves the old file or the new one, whole. It reports
// whether anything was written.
func Rewrite(c *Cassette, h Header, change func(i int) (Change, error)) (changed bool, err error) {
	const op = "cassette.rewrite"
	h.Format = Format
	if h.KeyVersion == 0 {
		h.KeyVersion = KeyVersion
	}
	if err := h.check(); err != nil {
		return false, fault.Wrap(err, fault.Invalid, op, "cassette %q", c.path)
	}
	r := rewriter{c: c, old: map[string][]byte{}, apart: map[string][]byte{}}
	for i := range c.Len() {
		ch, err := change(i)
		if err == nil {
			err = r.take(i, ch)
		}
		if err != nil {
			return false, err
		}
	}
	h.Origin = cmp.Or(r.origin, h.Origin, Scripted)
	top, err := encodeHeader(&h, len(r.lines) == 0)
	if err != nil {
		return false, fault.Wrap(err, fault.Invalid, op, "cassette %q", c.path)
	}
	if r.same(top) {
		return false, nil
	}
	// The journal's lock shuts recordings out, and is refused while there is one.
	f, _, err := openJournal(c.path, &h, CreateOptions{})
	if err != nil {
		return false, notWritten(err, op, "cassette %q", c.path)
	}
	defer func() { err = errors.Join(err, unlock(f)) }()
	if now, _, readErr := readFile(c.path); readErr != nil || !bytes.Equal(now, c.source) {
		return false, fault.New(fault.Conflict, op, "cassette %q was changed meanwhile", c.path).WithHint("run the command again")
	}
	if err := r.write(top); err != nil {
		return false, notWritten(err, op, "cassette %q", c.path)
	}
	return true, nil
}

// unlock removes the name before the lock goes with the close; Windows removes no open
// file.
func unlock(f *os.File) error {
	if os.Remove(f.Name()) == nil {
		return f.Close()
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// A rewriter collects the lines of the new file.
type rewriter struct {
	c          *Cassette
	lines      [][]byte // without line feeds
	origin     Origin
	size       int
	old, apart map[string][]byte // bodies that stand apart, by name: before, and now
}

// take adds what a change makes of an episode.
func (r *rewriter) take(i int, ch Change) error {
	const op = "cassette.rewrite"
	e, err := r.c.Episode(i)
	if err != nil {
		return err
	}
	before, err := r.refs(i)
	if err != nil {
		return err
	}
	note(r.old, before, &e)
	if ch.Drop {
		return nil
	}
	line, refs := r.c.line(i), before
	switch {
	case ch.Episode != nil:
		e, refs = *ch.Episode, refsOf(ch.Episode, ch.Apart)
		if err := e.check(); err != nil {
			return fault.Wrap(err, fault.Invalid, op, "cassette %q, episode %d", r.c.path, i+1)
		}
		if line, err = encodeApart(&e, refs); err != nil {
			return fault.Wrap(err, fault.Invalid, op, "cassette %q, episode %d", r.c.path, i+1)
		}
		line = line[:len(line)-1]
	case ch.Key != "":
		e.Key, e.Raw = ch.Key, ch.Raw
		if err := e.check(); err != nil {
			return fault.Wrap(err, fault.Invalid, op, "cassette %q, episode %d", r.c.path, i+1)
		}
		line = bytes.Clone(line)
		copy(line[keyAt:], ch.Key)
		copy(line[rawAt:], cmp.Or(ch.Raw, noRaw))
		seal(line)
	}
	note(r.apart, refs, &e)
	if r.size += len(line) + 1; len(line) > MaxLine || r.size > MaxFile-MaxHeader {
		return fault.New(fault.TooLarge, op, "cassette %q, episode %d: beyond %d bytes a line or %d a file", r.c.path, i+1, MaxLine, MaxFile)
	}
	r.lines, r.origin = append(r.lines, line), weakest(r.origin, e.Origin)
	return nil
}

// refs are the names of an episode's bodies that stand apart; nil for none.
func (r *rewriter) refs(i int) (*refsJSON, error) {
	line := r.c.line(i)
	if before, _, ok := cutAfter(line[headLen:], openResponse); !ok || !bytes.Contains(before, []byte(`,"x-ref":{`)) {
		return nil, nil
	}
	p, rest, err := takeResponse(line)
	if err != nil {
		return nil, err
	}
	_, after, err := unquote(rest)
	if err != nil {
		return nil, err
	}
	j, err := p.decode(after)
	if err != nil {
		return nil, err
	}
	return j.Refs, nil
}

// Apart reports which bodies of the i-th episode stand apart, as Change has it.
func (c *Cassette) Apart(i int) ([]string, error) {
	r := rewriter{c: c}
	refs, err := r.refs(i)
	if err != nil || refs == nil {
		return nil, err
	}
	var out []string
	for _, which := range []string{"request", "response"} {
		if refs.of(which) != "" {
			out = append(out, which)
		}
	}
	return out, nil
}

func refsOf(e *Episode, apart []string) *refsJSON {
	if len(apart) == 0 {
		return nil
	}
	r := &refsJSON{}
	for _, which := range apart {
		if which == "request" {
			r.Request = refOf(e.Request.Body)
		} else {
			r.Response = refOf(e.Response.Body)
		}
	}
	return r
}

func note(set map[string][]byte, refs *refsJSON, e *Episode) {
	if ref := refs.of("request"); ref != "" {
		set[ref] = e.Request.Body
	}
	if ref := refs.of("response"); ref != "" {
		set[ref] = e.Response.Body
	}
}

// same reports that the new file is the old one, down to the bodies that stand apart.
func (r *rewriter) same(top []byte) bool {
	rest, ok := bytes.CutPrefix(r.c.source, top)
	if !ok {
		return false
	}
	for _, line := range r.lines {
		if rest, ok = bytes.CutPrefix(rest, line); !ok || len(rest) == 0 || rest[0] != '\n' {
			return false
		}
		rest = rest[1:]
	}
	return bytes.HasPrefix(rest, []byte(endLineStart))
}

// write puts the bodies that both files need on the disk, then the new file in its
// place, then only the bodies that it needs.
func (r *rewriter) write(top []byte) error {
	path := blobsPath(r.c.path)
	if len(r.apart) > 0 {
		both := map[string][]byte{}
		for _, set := range []map[string][]byte{r.old, r.apart} {
			for ref, body := range set {
				both[ref] = body
			}
		}
		if err := putBlobs(path, both); err != nil {
			return err
		}
	}
	err := replaceFile(r.c.path, func(f *os.File) error { return r.print(f, top) }, r.compare)
	if err != nil || len(r.old)+len(r.apart) == 0 {
		return err
	}
	return putBlobs(path, r.apart)
}

func (r *rewriter) print(f io.Writer, top []byte) error {
	sum := crc32.New(castagnoli())
	out := io.MultiWriter(f, sum)
	if _, err := out.Write(top); err != nil {
		return err
	}
	for _, line := range r.lines {
		if _, err := out.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(f, endLineText, len(r.lines), fmt.Sprintf("%08x", sum.Sum32()))
	return err
}

// compare reads the written file back.
func (r *rewriter) compare(name string) error {
	c, err := Open(name)
	if err == nil {
		c.blobs = &blobs{path: blobsPath(r.c.path)}
		err = c.verify()
	}
	if err != nil {
		return fault.Wrap(err, CodeCorrupted, "cassette.rewrite", "what was written did not read back")
	}
	for i, line := range r.lines {
		if c.Len() != len(r.lines) || !bytes.Equal(c.line(i), line) {
			return fault.New(CodeCorrupted, "cassette.rewrite", "episode %d did not read back equal", i+1)
		}
	}
	return nil
}

// replaceFile puts a file in the place of path, whole or not at all.
func replaceFile(path string, write func(*os.File) error, check func(name string) error) error {
	tmp := path + ".tmp"
	f, err := freshFile(tmp)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil && check != nil {
		err = check(tmp)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return errors.Join(os.Rename(tmp, path), syncDir(path))
}
