package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The file of the bodies that stand apart:
//
//	# x-blobs: 1
//	{"x-ref":"sha256:<64 hex>","body":"…"}
//	{"x-ref":"sha256:<64 hex>","x-b64":"…"}
//	# end 2 <8 hex>
//
// in order of their names, with the end line of a cassette. It is read when the first
// body of it is asked for, and never by a cassette that has no x-ref.
const (
	blobsTop  = "# x-blobs: 1\n"
	openBlob  = `{"x-ref":"`
	blobText  = `","body":"`
	blobB64   = `","x-b64":"`
	closeBlob = `"}`

	refStart = "sha256:"
	refLen   = len(refStart) + 2*sha256.Size
)

// blobsPath is where the bodies of a cassette stand that stand apart.
func blobsPath(path string) string { return strings.TrimSuffix(path, ".yaml") + ".blobs" }

// refOf names a body.
func refOf(body []byte) string {
	h := sha256.Sum256(body)
	return refStart + hex.EncodeToString(h[:])
}

func (r *refsJSON) of(which string) string {
	switch {
	case r == nil:
		return ""
	case which == "request":
		return r.Request
	}
	return r.Response
}

// blobs are the bodies of one cassette that stand apart. They are read once.
type blobs struct {
	path string
	once sync.Once
	err  error
	at   map[string][]byte // the line's rest after the name
}

// get is a body by its name, proven to be it.
func (b *blobs) get(ref string) ([]byte, error) {
	if b == nil {
		return nil, fault.New(CodeBlob, "cassette.blob", "a body stands apart, in a place where none can")
	}
	b.once.Do(b.load)
	if b.err != nil {
		return nil, b.err
	}
	rest, ok := b.at[ref]
	if !ok {
		return nil, b.bad("does not hold %q", clip(ref))
	}
	body, err := decodeBlob(rest)
	if err != nil || refOf(body) != ref {
		return nil, b.bad("holds another body as %q", clip(ref))
	}
	return body, nil
}

func (b *blobs) bad(format string, args ...any) error {
	return fault.New(CodeBlob, "cassette.blob", "file %q %s", b.path, fmt.Sprintf(format, args...)).
		WithHint("restore it from version control beside its cassette, or record the cassette again")
}

func (b *blobs) load() {
	if err := ownFile("cassette.blob", b.path); err != nil {
		b.err = b.bad("is not a file of its own")
		return
	}
	data, _, err := readFile(b.path)
	if err != nil {
		if fault.CodeOf(err) == CodeMissing {
			err = b.bad("is missing")
		}
		b.err = err
		return
	}
	body, end := splitEnd(data)
	rest, ok := bytes.CutPrefix(body, []byte(blobsTop))
	if !ok || end != blobsEnd(body) {
		b.err = b.bad("is damaged: it was cut or altered")
		return
	}
	b.at = map[string][]byte{}
	for line := range bytes.Lines(rest) {
		if len(line) < len(openBlob)+refLen+1 || !bytes.HasPrefix(line, []byte(openBlob)) {
			b.err = b.bad("is damaged: a line has no name")
			return
		}
		ref := string(line[len(openBlob) : len(openBlob)+refLen])
		b.at[ref] = line[len(openBlob)+refLen : len(line)-1]
	}
}

func blobsEnd(body []byte) string {
	return fmt.Sprintf(endLineText, bytes.Count(body, []byte{'\n'})-1, fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli())))
}

func decodeBlob(rest []byte) ([]byte, error) {
	base, text := bytes.CutPrefix(rest, []byte(blobText))
	if !text {
		var ok bool
		if base, ok = bytes.CutPrefix(rest, []byte(blobB64)); !ok {
			return nil, errNoRequest
		}
	}
	body, after, err := unquote(base)
	if err != nil || string(after) != closeBlob {
		return nil, errNoRequest
	}
	if text {
		return body, nil
	}
	return base64.StdEncoding.AppendDecode(nil, body)
}

// encodeBlobs is the file of bodies by name.
func encodeBlobs(set map[string][]byte) []byte {
	out := []byte(blobsTop)
	for _, ref := range slices.Sorted(maps.Keys(set)) {
		body, mark := set[ref], blobText
		if !utf8.Valid(body) {
			body, mark = base64.StdEncoding.AppendEncode(nil, body), blobB64
		}
		out = append(append(append(out, openBlob...), ref...), mark...)
		out = append(append(quote(out, body), closeBlob...), '\n')
	}
	return append(out, blobsEnd(out)...)
}

// putBlobs makes the file hold exactly set; an empty set removes it.
func putBlobs(path string, set map[string][]byte) error {
	if len(set) == 0 {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	return replaceFile(path, func(f *os.File) error {
		_, err := f.Write(encodeBlobs(set))
		return err
	}, nil)
}
