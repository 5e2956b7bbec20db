package importer

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
)

var (
	gzipMagic  = []byte{0x1f, 0x8b}
	errTooLong = errors.New("is too long")
)

// decode undoes the content encodings that a header tells of, and takes the headers
// away that would be wrong then. Many tools store a body decoded and leave the header
// as it was: a body that is not encoded stays as it is.
func decode(body []byte, header http.Header) ([]byte, error) {
	encodings := strings.Split(strings.ToLower(strings.Join(header["Content-Encoding"], ",")), ",")
	if len(body) > MaxBody {
		return nil, errTooLong
	}
	for _, e := range slices.Backward(encodings) {
		var err error
		if body, err = undo(strings.TrimSpace(e), body); err != nil {
			return nil, err
		}
	}
	delete(header, "Content-Encoding")
	delete(header, "Content-Length")
	delete(header, "Transfer-Encoding")
	return body, nil
}

func undo(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		if !bytes.HasPrefix(body, gzipMagic) {
			return body, nil
		}
		return named(encoding)(gunzip(body, MaxBody))
	}
	if utf8.Valid(body) { // it was decoded before it was stored
		return body, nil
	}
	switch encoding {
	case "br":
		return named(encoding)(readBounded(brotli.NewReader(bytes.NewReader(body)), MaxBody))
	case "deflate": // with the wrapper that the standard asks for, or as some servers send it
		if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
			return named(encoding)(readBounded(z, MaxBody))
		}
		return named(encoding)(readBounded(flate.NewReader(bytes.NewReader(body)), MaxBody))
	}
	return nil, fmt.Errorf("is in the encoding %q, which is not read here", encoding)
}

func named(encoding string) func([]byte, error) ([]byte, error) {
	return func(b []byte, err error) ([]byte, error) {
		if err != nil && !errors.Is(err, errTooLong) {
			return nil, fmt.Errorf("is no whole %s: %w", encoding, err)
		}
		return b, err
	}
}

func gunzip(data []byte, most int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readBounded(z, most)
}

func readBounded(r io.Reader, most int) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(out) > most {
		err = errTooLong
	}
	return out, err
}
