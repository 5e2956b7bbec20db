package model

import (
	"reflect"
	"testing"
)

// However the bytes of a body are cut into reads, the scanner sees the same.
func FuzzScanner(f *testing.F) {
	f.Add([]byte(anthropicText), uint8(0), uint8(7))
	f.Add([]byte(chatCall), uint8(1), uint8(1))
	f.Add([]byte("data: {\"usageMetadata\":{\"totalTokenCount\":1}}\r\n\r\n"), uint8(3), uint8(3))
	f.Add([]byte("\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00{\"bytes\":\"e30=\"}\x00\x00\x00\x00"), uint8(4), uint8(5))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), uint8(4), uint8(5))
	f.Fuzz(func(t *testing.T, body []byte, kind, step uint8) {
		d := []dialect{dialectAnthropic, dialectChat, dialectResponses, dialectGoogle}[kind%4]
		media := []string{sse, "application/json", "application/vnd.amazon.eventstream"}[kind/4%3]
		run := func(n int) scanner {
			s := newScanner(d, media)
			for rest := body; len(rest) > 0; {
				k := min(n, len(rest))
				s.write(rest[:k])
				rest = rest[k:]
			}
			s.close()
			s.cut, s.buf = nil, nil
			return s
		}
		if a, b := run(len(body)+1), run(int(step)+1); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v is not %+v", a, b)
		}
	})
}
