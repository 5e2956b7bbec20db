package carrier

import (
	"bytes"
	"compress/zlib"
	"io"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// keyword is what a text chunk is about; false for a chunk of another kind.
func keyword(c chunk) (string, bool) {
	if c.kind != "tEXt" && c.kind != "zTXt" && c.kind != "iTXt" {
		return "", false
	}
	word, _, ok := bytes.Cut(c.data, []byte{0})
	return string(word), ok
}

// chunkText is the text of a tEXt, zTXt or iTXt chunk, at most limit bytes of it.
func chunkText(c chunk, limit int) ([]byte, error) {
	word, rest, _ := bytes.Cut(c.data, []byte{0})
	switch c.kind {
	case "tEXt":
		return latin1(rest), nil
	case "zTXt":
		if len(rest) < 1 || rest[0] != 0 {
			return nil, malformed(c, word)
		}
		return inflate(rest[1:], limit, word)
	}
	// iTXt: a flag, a method, a language, a translated keyword, the text
	if len(rest) < 2 {
		return nil, malformed(c, word)
	}
	packed := rest[0] == 1
	_, rest, ok1 := bytes.Cut(rest[2:], []byte{0})
	_, rest, ok2 := bytes.Cut(rest, []byte{0})
	if !ok1 || !ok2 {
		return nil, malformed(c, word)
	}
	if packed {
		return inflate(rest, limit, word)
	}
	return rest, nil
}

// latin1 reads what the PNG standard says a tEXt chunk is, unless it is UTF-8,
// which is what most tools write.
func latin1(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for _, b := range text {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}

func inflate(packed []byte, limit int, word []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fault.Wrap(err, CodePayload, "carrier.png", "the %q chunk does not inflate", word)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if len(out) > limit {
		return nil, tooMuchText(string(word))
	}
	if err != nil {
		return nil, fault.Wrap(err, CodePayload, "carrier.png", "the %q chunk does not inflate", word)
	}
	return out, nil
}

func tooMuchText(key string) error {
	return fault.New(CodeTooLarge, "carrier.png", "the text of the %q chunk is longer than %d bytes", key, MaxText)
}

func malformed(c chunk, word []byte) error {
	return fault.New(CodePayload, "carrier.png", "the %s chunk %q is not well formed", c.kind, word)
}
