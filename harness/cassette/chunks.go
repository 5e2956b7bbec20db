package cassette

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A chunkList is written [[ms,len],…]. A stream has hundreds of chunks and is
// decoded on every hit, so that it is read here and not by reflection.
type chunkList []Chunk

var errChunks = errors.New("x-chunks is not a list of [ms,bytes]")

// MarshalJSONTo writes the list without blanks.
func (l chunkList) MarshalJSONTo(enc *jsontext.Encoder) error {
	b := []byte{'['}
	for i, c := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '['), c.AtMS, 10)
		b = strconv.AppendInt(append(b, ','), int64(c.Len), 10)
		b = append(b, ']')
	}
	return enc.WriteValue(append(b, ']'))
}

// UnmarshalJSONFrom takes what MarshalJSONTo writes, and no other spelling.
func (l *chunkList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err == nil {
		*l, err = parseChunks(v)
	}
	return err
}

func parseChunks(v []byte) (chunkList, error) {
	n := bytes.Count(v, []byte{'['}) - 1
	if n < 1 || n > maxChunks || v[0] != '[' {
		return nil, errChunks
	}
	l := make(chunkList, 0, n)
	for rest := v[1:]; ; {
		var at, size int64
		var err error
		if at, rest, err = cutInt(rest, '[', ','); err != nil {
			return nil, err
		}
		if size, rest, err = cutInt(rest, ',', ']'); err != nil {
			return nil, err
		}
		l = append(l, Chunk{AtMS: at, Len: int(size)})
		switch {
		case len(rest) == 2 && rest[1] == ']':
			return l, nil
		case len(rest) < 2 || rest[1] != ',':
			return nil, errChunks
		}
		rest = rest[2:]
	}
}

// cutInt takes the digits between two bytes; what follows begins with the second.
func cutInt(b []byte, open, end byte) (n int64, rest []byte, err error) {
	if len(b) == 0 || b[0] != open {
		return 0, nil, errChunks
	}
	i := 1
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9' && n < math.MaxInt32; i++ {
		n = 10*n + int64(b[i]-'0')
	}
	if i == 1 || i == len(b) || b[i] != end {
		return 0, nil, errChunks
	}
	return n, b[i:], nil
}
