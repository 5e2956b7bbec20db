// Package carrier takes the JSON of a card out of the file that carries it, and
// puts a changed one back without touching the rest of the file.
//
// It is a pure codec of the content studio: bytes in, bytes out. It reads plain
// JSON files, PNG pictures (tEXt, zTXt and iTXt chunks) and CHARX archives, also behind
// a JPEG. It does not know what the JSON means (content/card does), never decodes a
// picture, and unpacks nothing to a disk.
package carrier

import (
	"bytes"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds.
const (
	MaxFile = 64 << 20 // bytes of a file that is no archive
	MaxText = 32 << 20 // bytes of all text chunks of one file, inflated
)

// The codes of this package.
const (
	CodeUnknown     fault.Code = "CARRIER_UNKNOWN"     // not a kind of file that carries cards
	CodeUnsupported fault.Code = "CARRIER_UNSUPPORTED" // recognised, and not read
	CodeTruncated   fault.Code = "CARRIER_TRUNCATED"   // the file ends inside a chunk
	CodeNoCard      fault.Code = "CARRIER_NO_CARD"     // a sound file without a card
	CodePayload     fault.Code = "CARRIER_BAD_PAYLOAD" // a card chunk that does not decode
	CodeTooLarge    fault.Code = "CARRIER_TOO_LARGE"   // a bound of bytes
)

// A Kind is a kind of file.
type Kind string

// The kinds.
const (
	JSON    Kind = "json"
	PNG     Kind = "png"
	Archive Kind = "archive" // zip: charx, byaf
	JPEG    Kind = "jpeg"    // perhaps with an archive behind it
	Other   Kind = "other"
)

// Keywords under which a picture carries JSON.
const (
	Chara     = "chara"     // a card, versions 1 and 2
	CCV3      = "ccv3"      // a card, version 3
	NAIData   = "naidata"   // a lorebook of NovelAI
	RCPersona = "rcpersona" // a persona of RoleCall
)

// keywords are those that are read, what counts more first.
var keywords = []string{CCV3, Chara, NAIData, RCPersona}

// A Payload is one JSON text that a file carries.
type Payload struct {
	Keyword string // of a picture's chunk; "" in a JSON file and an archive
	Text    []byte // without a byte order mark
}

// A File is what Read found.
type File struct {
	Kind     Kind
	Payloads []Payload       // at least one; of each keyword at most one, in file order
	Assets   map[string]bool // numbers of the assets that a picture carries in chunks of their own
	Entries  map[string]bool // names of the files in an archive
	Warnings []string
}

// Payload returns the text under a keyword, or nil.
func (f File) Payload(keyword string) []byte {
	for _, p := range f.Payloads {
		if p.Keyword == keyword {
			return p.Text
		}
	}
	return nil
}

var (
	pngMagic = []byte("\x89PNG\r\n\x1a\n")
	bom      = []byte("\xef\xbb\xbf")
)

const jsonSpace = " \t\r\n"

// Sniff tells the kind of a file by its first bytes, never by its name.
func Sniff(data []byte) Kind {
	switch {
	case bytes.HasPrefix(data, pngMagic):
		return PNG
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return Archive
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	}
	head := bytes.TrimLeft(bytes.TrimPrefix(data, bom), jsonSpace)
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		return JSON
	}
	return Other
}

// Read takes the card texts out of a file.
func Read(data []byte) (File, error) {
	const op = "carrier.read"
	kind := Sniff(data)
	most := MaxFile
	if kind == Archive || kind == JPEG {
		most = MaxArchive
	}
	if len(data) > most {
		return File{}, fault.New(CodeTooLarge, op, "the file has %d bytes, the bound is %d", len(data), most)
	}
	if len(data) == 0 {
		return File{}, fault.New(CodeUnknown, op, "the file is empty").WithHint("give a character card as .json, .png or .charx")
	}
	switch kind {
	case JSON:
		start, end := jsonSpan(data)
		return File{Kind: JSON, Payloads: []Payload{{Text: data[start:end]}}}, nil
	case PNG:
		return readPNG(data)
	case Archive, JPEG:
		return readArchive(data, kind)
	}
	return File{}, fault.New(CodeUnknown, op, "the file is neither JSON nor a PNG nor an archive: it begins with %q", data[:min(len(data), 12)]).
		WithHint("give a character card as .json, .png or .charx")
}

// WriteJSON puts doc where the JSON value of the original stands: its byte order
// mark and the white space around it stay. A nil original gives doc and a newline.
func WriteJSON(original, doc []byte) []byte {
	if Sniff(original) != JSON {
		return append(bytes.Clone(doc), '\n')
	}
	start, end := jsonSpan(original)
	return bytes.Join([][]byte{original[:start], doc, original[end:]}, nil)
}

// jsonSpan is where the JSON value of a file begins and ends.
func jsonSpan(data []byte) (start, end int) {
	head := bytes.TrimLeft(bytes.TrimPrefix(data, bom), jsonSpace)
	start = len(data) - len(head)
	return start, start + len(bytes.TrimRight(head, jsonSpace))
}
