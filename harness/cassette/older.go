package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// In format 1 the hash of a request as sent was a SHA-256. For some weeks files with
// today's lines said format 1 as well; both are read.
const oldRawLen = 64

// upgrade turns a whole file of an older format into today's, in memory. A line whose
// hash of the request as sent is computed in another way today loses it: the key finds
// the episode all the same.
func upgrade(path string, data []byte) (now []byte, format int, err error) {
	body, end := splitEnd(data)
	h, rest, _, err := parseHeader(body)
	if err != nil {
		return nil, 0, damaged(path, data, lineOf(err), err.Error())
	}
	top := body[:len(body)-len(rest)]
	now = make([]byte, 0, len(data))
	from := len(topLines) + len(formatLine)
	now = append(now, top[:from]...)
	now = strconv.AppendInt(now, Format, 10)
	now = append(now, top[from+len(strconv.Itoa(h.Format)):]...)
	n, at := 0, bytes.Count(top, []byte{'\n'})
	for line := range bytes.Lines(rest) {
		n++
		line, whole := bytes.CutSuffix(line, []byte{'\n'})
		if whole {
			line, err = upgradeLine(line)
		}
		if err != nil || !whole {
			return nil, 0, damaged(path, data, at+n, fmt.Sprint("the line is not whole: ", err))
		}
		now = append(append(now, line...), '\n')
	}
	if want := fmt.Sprintf(endLineText, n, fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli()))); end != want {
		return nil, 0, damaged(path, data, at+n+1, fmt.Sprintf("the end line is %q, but the file is that of %q", clip(end), want))
	}
	sum := crc32.Checksum(now, castagnoli())
	return fmt.Appendf(now, endLineText, n, fmt.Sprintf("%08x", sum)), h.Format, nil
}

var errOldLine = errors.New("it is of no format that is known")

func upgradeLine(line []byte) ([]byte, error) {
	if checkHead(line) == "" {
		if what := checkSum(line); what != "" {
			return nil, errors.New(what)
		}
		return line, nil
	}
	const longer = oldRawLen - rawLen
	if len(line) < headLen+longer+1 || !isHex(line[rawAt:rawAt+oldRawLen]) {
		return nil, errOldLine
	}
	sum := sumAt + longer
	want, err := strconv.ParseUint(string(line[sum:sum+sumLen]), 16, 32)
	got := crc32.Update(crc32.Checksum(line[:sum], castagnoli()), castagnoli(), line[sum+sumLen:])
	if err != nil || uint32(want) != got {
		return nil, errors.New("x-sum does not fit the line")
	}
	now := append(bytes.Clone(line[:rawAt]), noRaw...)
	now = append(now, line[rawAt+oldRawLen:]...)
	if what := checkHead(now); what != "" {
		return nil, errors.New(what)
	}
	seal(now)
	return now, nil
}

// seal gives a line the sum that fits it.
func seal(line []byte) { copy(line[sumAt:], fmt.Sprintf("%08x", lineSum(line))) }
