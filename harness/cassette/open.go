package cassette

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Cassette is a file that was opened for reading: its bytes and an index. It
// never changes, so that any number of goroutines may read it.
type Cassette struct {
	path   string
	header Header
	data   []byte
	source []byte // the file's bytes: data, unless OpenAny read an older format
	blobs  *blobs
	starts []uint32 // where each line begins; one more for the end of the last
	first  int      // lines before the first episode
	end    string   // the end line, which names these bytes
	byKey  table
	byRaw  table
}

// Open reads and indexes the file at path; it decodes no episode. A file that is
// truncated or altered anywhere is refused.
func Open(path string) (*Cassette, error) {
	data, sum, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data, sum)
}

// OpenAny is Open, and reads older formats too: to show them, and to migrate them by
// Rewrite. The header says which format the file has. Hashes of requests as sent that
// this version does not compute are left out.
func OpenAny(path string) (*Cassette, error) {
	data, sum, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parse(path, data, sum)
	if fault.CodeOf(err) != CodeOlder {
		return c, err
	}
	now, format, err := upgrade(path, data)
	if err != nil {
		return nil, err
	}
	if c, err = parse(path, now, crc32.Checksum(now[:max(0, len(now)-tailLen)], castagnoli())); err != nil {
		return nil, err
	}
	c.header.Format, c.source = format, data
	return c, nil
}

// tailLen is more than an end line has.
const tailLen = 64

// readFile reads a whole file into one buffer of exactly its size. It sums all
// but the last tailLen bytes as they come, while they are in the processor's
// cache: summing a large file afterwards costs a second trip to memory.
func readFile(path string) (data []byte, sum uint32, err error) {
	const op = "cassette.open"
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fault.New(CodeMissing, op, "there is no cassette %q", path).WithHint("record it first")
	}
	if err != nil {
		return nil, 0, fault.Wrap(err, fault.Internal, op, "cassette %q", path)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fault.Wrap(err, fault.Internal, op, "cassette %q", path)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fault.New(fault.Invalid, op, "cassette %q is not a file", path)
	}
	if info.Size() > MaxFile {
		return nil, 0, fault.New(fault.TooLarge, op, "cassette %q has %d bytes, more than %d", path, info.Size(), MaxFile)
	}
	data = make([]byte, info.Size())
	const piece = 128 << 10
	for at := 0; at < len(data); at += piece {
		p := data[at:min(at+piece, len(data))]
		if _, err := io.ReadFull(f, p); err != nil {
			return nil, 0, fault.Wrap(err, fault.Internal, op, "read cassette %q", path)
		}
		p = p[:min(len(p), max(0, len(data)-tailLen-at))]
		sum = crc32.Update(sum, castagnoli(), p)
	}
	return data, sum, nil
}

// ownFile refuses a file beside a cassette that is a link or no file at all. Whoever
// made a link wants what it leads to read, or written over, and that may be anywhere.
func ownFile(op, name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "file %q", name)
	}
	return fault.New(fault.Invalid, op, "%q is a link, a folder or a device, and not a file", name).
		WithHint("see where it came from, and remove it")
}

// freshFile makes the file that is written before it takes another's place. What a
// killed run left under its name goes, and so does a link: it is not followed.
func freshFile(name string) (*os.File, error) {
	if err := removeIfThere(name); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// parse checks and indexes a whole file; summed is what readFile summed.
func parse(path string, data []byte, summed uint32) (*Cassette, error) {
	body, end := splitEnd(data)
	if from := max(0, len(data)-tailLen); from <= len(body) {
		summed = crc32.Update(summed, castagnoli(), body[from:])
	}
	sum := fmt.Sprintf("%08x", summed)
	h, rest, empty, err := parseHeader(body)
	if err != nil {
		return nil, damaged(path, data, lineOf(err), err.Error())
	}
	if h.Format > Format && strings.HasSuffix(end, sum+"\n") {
		return nil, fault.New(CodeNewer, "cassette.open", "cassette %q has format %d; this version reads up to %d",
			path, h.Format, Format).WithHint("use a newer soundstage, or record it again with this one")
	}
	if h.Format != Format && !strings.HasSuffix(end, sum+"\n") {
		return nil, damaged(path, data, formatAt, "the format is another one, but the end line does not fit")
	}
	if h.Format < Format {
		return nil, fault.New(CodeOlder, "cassette.open", "cassette %q has format %d; this version replays format %d", path, h.Format, Format).
			WithHint("migrate it: soundstage cassette migrate %s", path)
	}
	top := len(body) - len(rest)
	c := &Cassette{path: path, header: h, data: data, source: data, blobs: &blobs{path: blobsPath(path)}, first: bytes.Count(data[:top], []byte{'\n'}), end: end}
	if err := c.index(top, len(body)); err != nil {
		return nil, err
	}
	want := fmt.Sprintf(endLineText, c.Len(), sum)
	if end != want || empty != (c.Len() == 0) {
		return nil, c.locate(end, want)
	}
	c.byKey, c.byRaw = c.buildTable(keyAt), c.buildTable(rawAt)
	return c, nil
}

// splitEnd cuts the end line off; end is "" when the last line is none.
func splitEnd(data []byte) (body []byte, end string) {
	at := 0
	if len(data) > 0 {
		at = bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	}
	if !bytes.HasPrefix(data[at:], []byte(endLineStart)) {
		return data, ""
	}
	return data[:at], string(data[at:])
}

// index notes where each line of data[from:to] begins and checks its fixed head.
func (c *Cassette) index(from, to int) error {
	for at := from; at < to; {
		line := c.first + len(c.starts) + 1
		n := bytes.IndexByte(c.data[at:to], '\n')
		if n < 0 {
			return damaged(c.path, c.data, line, "the line does not end: the file is cut")
		}
		if n > MaxLine || len(c.starts) >= MaxEpisodes {
			return fault.New(fault.TooLarge, "cassette.open", "cassette %q, line %d: beyond %d bytes a line or %d episodes",
				c.path, line, MaxLine, MaxEpisodes)
		}
		if what := checkHead(c.data[at : at+n]); what != "" {
			return damaged(c.path, c.data, line, what)
		}
		c.starts = append(c.starts, uint32(at))
		at += n + 1
	}
	c.starts = append(c.starts, uint32(to))
	return nil
}

// locate finds the line to blame for an end line that does not fit.
func (c *Cassette) locate(end, want string) error {
	for i := range c.Len() {
		if what := checkSum(c.line(i)); what != "" {
			return damaged(c.path, c.data, c.first+i+1, what)
		}
	}
	if end == "" {
		return damaged(c.path, c.data, c.first+c.Len()+1, "the end line is missing: the file is cut")
	}
	return damaged(c.path, c.data, c.first+c.Len()+1,
		fmt.Sprintf("the end line is %q, but the file is that of %q", clip(end), want))
}

// damaged names file and line.
func damaged(path string, data []byte, line int, what string) error {
	e := fault.New(CodeDamaged, "cassette.open", "cassette %q, line %d: %s", path, line, what)
	if bytes.Contains(data[:min(len(data), MaxHeader)], []byte("\r\n")) {
		return e.WithHint("line ends were changed: give the file the attribute -text in .gitattributes and check it out again")
	}
	return e.WithHint("restore the file from version control or record it again; it is not written by hand")
}

// line is the i-th episode's line without its line feed.
func (c *Cassette) line(i int) []byte { return c.data[c.starts[i] : c.starts[i+1]-1] }

// Header is the top of the file.
func (c *Cassette) Header() Header { return c.header }

// Len is the number of episodes.
func (c *Cassette) Len() int { return len(c.starts) - 1 }

// Path is the path that the cassette was opened with.
func (c *Cassette) Path() string { return c.path }

// Episode decodes the i-th episode, in recorded order, and checks its sum. What
// it returns belongs to the caller.
func (c *Cassette) Episode(i int) (Episode, error) {
	e, err := decodeApart(c.line(i), c.blobs)
	if err != nil {
		return Episode{}, c.blame(i, err)
	}
	return e, nil
}

// Response decodes only the response of the i-th episode: what a hit needs, in a
// third of the time.
func (c *Cassette) Response(i int) (Response, error) {
	r, err := decodeResponse(c.line(i), c.blobs)
	if err != nil {
		return Response{}, c.blame(i, err)
	}
	return r, nil
}

// blame is the error of a line that does not decode; the line of a blob that is
// missing is itself in order.
func (c *Cassette) blame(i int, err error) error {
	if fault.CodeOf(err) == CodeBlob {
		return fault.Wrap(err, CodeBlob, "cassette.open", "cassette %q, line %d", c.path, c.first+i+1)
	}
	return damaged(c.path, c.data, c.first+i+1, err.Error())
}

// ByKey returns the episodes with a key, in recorded order.
func (c *Cassette) ByKey(key string) []int { return c.lookup(&c.byKey, keyAt, keyLen, key) }

// ByRaw returns the episodes whose request was sent with exactly these bytes, in
// recorded order.
func (c *Cassette) ByRaw(raw string) []int {
	if raw == noRaw {
		return nil
	}
	return c.lookup(&c.byRaw, rawAt, rawLen, raw)
}

// Keys ranges over the episodes and their keys.
func (c *Cassette) Keys() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range c.Len() {
			if !yield(i, string(c.line(i)[keyAt:keyAt+keyLen])) {
				return
			}
		}
	}
}

// Close is there for the caller's symmetry: the file was closed by Open, and the
// memory goes with the last reference.
func (c *Cassette) Close() error { return nil }

// A table finds episodes by the first 64 bits of a hash. Equal heads are chained,
// and the whole hash is compared in the file's bytes: the index stays small.
type table struct {
	heads map[uint64]uint32
	next  []uint32 // 0 ends a chain: an episode is never followed by the first
}

// buildTable goes backwards, so that each chain is in recorded order.
func (c *Cassette) buildTable(at int) table {
	n := c.Len()
	t := table{heads: make(map[uint64]uint32, n), next: make([]uint32, n)}
	for i := n - 1; i >= 0; i-- {
		h := prefix(c.data[int(c.starts[i])+at:])
		if after, ok := t.heads[h]; ok {
			t.next[i] = after
		}
		t.heads[h] = uint32(i)
	}
	return t
}

func (c *Cassette) lookup(t *table, at, length int, hash string) []int {
	if len(hash) != length {
		return nil
	}
	i, ok := t.heads[prefix([]byte(hash))]
	if !ok {
		return nil
	}
	var found []int
	for {
		if line := c.line(int(i)); string(line[at:at+length]) == hash {
			found = append(found, int(i))
		}
		if i = t.next[i]; i == 0 {
			return found
		}
	}
}

// prefix is the first 64 bits of a hash in hex. What is not hex, which no line
// holds, is 0: a chain that is then searched in vain.
func prefix(digits []byte) uint64 {
	var b [8]byte
	if _, err := hex.Decode(b[:], digits[:16]); err != nil {
		return 0
	}
	return binary.BigEndian.Uint64(b[:])
}
