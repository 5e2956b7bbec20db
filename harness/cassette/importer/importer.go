// Package importer reads the recordings of other tools as episodes of ours: the
// cassettes of go-vcr and vcrpy, the recordings of Polly.JS, the fixtures of aimock,
// the traces of httprr, and HAR files.
//
// It belongs to harness, beside cassette and upstream. Which tool wrote a file is seen
// in the file itself. What a format has no place for is told in notes, entry by entry.
// It computes no keys and redacts nothing (package seam does both), and writes nothing.
package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeMissing    fault.Code = "IMPORT_MISSING"    // no such file
	CodeUnreadable fault.Code = "IMPORT_UNREADABLE" // not a file of that format, or a broken one
	CodeVersion    fault.Code = "IMPORT_VERSION"    // a version of the format that is not known here
	CodeFormat     fault.Code = "IMPORT_FORMAT"     // no format of that name, or none that the file looks like
	CodeOurs       fault.Code = "IMPORT_OURS"       // a cassette of this program already
)

// The bounds of one import.
const (
	MaxFile    = 64 << 20  // bytes of a file: a YAML document takes several times its size in memory
	MaxBody    = 32 << 20  // bytes of one body without its encoding
	MaxEntries = 100_000   // of a file: the least of them takes some 5 KB in memory
	MaxBodies  = 256 << 20 // bytes of all bodies of a file without their encodings
)

// A Format is how another tool writes.
type Format string

// The formats.
const (
	GoVCR  Format = "go-vcr" // v1 to v4
	VCRPy  Format = "vcrpy"  // YAML and JSON; pytest-recording too
	Polly  Format = "polly"  // Polly.JS, a HAR with habits of its own
	Aimock Format = "aimock" // fixtures: what was matched and what was said, and no requests
	HTTPRR Format = "httprr"
	HAR    Format = "har" // 1.2: browsers, mitmproxy
)

// reader is one format's.
type reader func(b *batch, data []byte) error

func readers() map[Format]reader {
	return map[Format]reader{GoVCR: readGoVCR, VCRPy: readVCRPy, Polly: readHAR, Aimock: readAimock, HTTPRR: readHTTPRR, HAR: readHAR}
}

// Formats are all formats, in order of their names.
func Formats() []Format {
	var all []Format
	for f := range readers() {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}

// A Note is something that could not be carried over.
type Note struct {
	Entry int    // of the file, counted from 1; 0: the file as a whole
	Text  string // what, and what became of the entry
}

// A Recording is a file of another tool. Its episodes have the origin imported, no
// keys and no chunks, their bodies no content encoding. They are not redacted.
type Recording struct {
	Format   Format
	Episodes []cassette.Episode
	Entries  []int // of each episode, its place in the file, counted from 1
	Notes    []Note
	// Script is an upstream script with the same answers, of a format that keeps no
	// requests; else nil.
	Script []byte
}

// Load reads the recording at path in the format that it looks like.
func Load(path string) ([]cassette.Episode, error) {
	rec, err := LoadAs(path, "")
	if err != nil {
		return nil, err
	}
	return rec.Episodes, nil
}

// LoadAs reads the recording at path. An empty format is what the file looks like.
func LoadAs(path string, format Format) (*Recording, error) {
	const op = "importer.load"
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(CodeMissing, op, "there is no file %q", path).WithHint("check the path")
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "file %q", path)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fault.Wrap(err, CodeUnreadable, op, "read %q", path).WithHint("name a file, not a folder")
	}
	return Read(path, data, format)
}

// Read reads the bytes of a recording; name is for messages.
func Read(name string, data []byte, format Format) (*Recording, error) {
	const op = "importer.read"
	data, err := unpack(name, data)
	if err != nil {
		return nil, err
	}
	if format == "" {
		if format, err = Detect(name, data); err != nil {
			return nil, err
		}
	}
	read, ok := readers()[format]
	if !ok {
		return nil, fault.New(CodeFormat, op, "there is no format %q", format).WithHint("use one of %s", list())
	}
	b := &batch{name: name, rec: Recording{Format: format}}
	if err := read(b, data); err != nil {
		if code := fault.CodeOf(err); code != fault.Internal {
			return nil, err
		}
		return nil, fault.Wrap(err, CodeUnreadable, op, "file %q is no whole %s recording", name, format).
			WithHint("check that the file is whole and of that format, or record the calls again")
	}
	return &b.rec, nil
}

func list() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// unpack takes the gzip off a file that was compressed as a whole, as httprr's are.
func unpack(name string, data []byte) ([]byte, error) {
	const op = "importer.read"
	if len(data) > MaxFile {
		return nil, fault.New(fault.TooLarge, op, "file %q has more than %d bytes", name, MaxFile)
	}
	if !bytes.HasPrefix(data, gzipMagic) {
		return data, nil
	}
	out, err := gunzip(data, MaxFile)
	switch {
	case errors.Is(err, errTooLong):
		return nil, fault.New(fault.TooLarge, op, "file %q has more than %d bytes when it is unpacked", name, MaxFile)
	case err != nil:
		return nil, fault.Wrap(err, CodeUnreadable, op, "file %q begins like gzip", name).WithHint("check that the file is whole")
	}
	return out, nil
}

// A batch collects what a reader finds.
type batch struct {
	name   string
	rec    Recording
	decent int // bytes of bodies so far
}

func (b *batch) note(entry int, format string, args ...any) {
	b.rec.Notes = append(b.rec.Notes, Note{entry, fmt.Sprintf(format, args...)})
}

// add takes an episode in, its bodies without encodings, or leaves it out and says
// why.
func (b *batch) add(entry int, e cassette.Episode) error {
	const op = "importer.read"
	if len(b.rec.Episodes) >= MaxEntries {
		return fault.New(fault.TooLarge, op, "file %q has more than %d entries", b.name, MaxEntries)
	}
	if e.Request.Method == "" {
		e.Request.Method = "GET" // as net/http has it
	}
	e.Request.Method = strings.ToUpper(e.Request.Method)
	e.Kind, e.Origin = "http", cassette.Imported
	for _, side := range []struct {
		what   string
		header map[string][]string
		body   *[]byte
	}{{"request", e.Request.Header, &e.Request.Body}, {"response", e.Response.Header, &e.Response.Body}} {
		body, err := decode(*side.body, side.header)
		if errors.Is(err, errTooLong) {
			return fault.New(fault.TooLarge, op, "file %q, entry %d: the %s has more than %d bytes", b.name, entry, side.what, MaxBody)
		}
		if err != nil {
			b.note(entry, "left out: the body of the %s %v, and so cannot be searched for secrets", side.what, err)
			return nil
		}
		*side.body = body
		b.decent += len(body)
	}
	if b.decent > MaxBodies {
		return fault.New(fault.TooLarge, op, "the bodies of file %q have more than %d bytes", b.name, MaxBodies)
	}
	b.rec.Episodes = append(b.rec.Episodes, e)
	b.rec.Entries = append(b.rec.Entries, entry)
	return nil
}
