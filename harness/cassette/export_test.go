package cassette

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
)

// HeadLen is the length of a line's fixed head.
const HeadLen = headLen

// WithoutSync lets a test write thousands of episodes without thousands of waits
// for the disk.
func (w *Writer) WithoutSync() { w.sync = func(*os.File) error { return nil } }

// Parse is Open of a file that holds data.
func Parse(data []byte) (*Cassette, error) {
	return parse("c.yaml", data, crc32.Checksum(data[:max(0, len(data)-tailLen)], castagnoli()))
}

// ParseOlder is OpenAny of a file of an older format that holds data.
func ParseOlder(data []byte) (*Cassette, error) {
	now, _, err := upgrade("c.yaml", data)
	if err != nil {
		return nil, err
	}
	return Parse(now)
}

// ReadBlob is a body of a file of bodies that holds data.
func ReadBlob(path, ref string) ([]byte, error) { return (&blobs{path: path}).get(ref) }

// EncodeLine is a line as Append writes it, without its line feed.
func EncodeLine(e Episode) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	line, err := encodeLine(&e)
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// DecodeLine reads a line as Episode does.
func DecodeLine(line []byte) (Episode, error) {
	if what := checkHead(line); what != "" {
		return Episode{}, errors.New(what)
	}
	return decodeLine(line)
}

// SealLine gives an altered line the sum that fits it.
func SealLine(line []byte) []byte {
	copy(line[sumAt:], fmt.Sprintf("%08x", lineSum(line)))
	return line
}
