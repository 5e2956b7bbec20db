package cassette_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// refusal reports whether an error of Open is one of those that may be.
func refusal(err error) bool {
	switch fault.CodeOf(err) {
	case cassette.CodeDamaged, cassette.CodeNewer, cassette.CodeOlder, fault.TooLarge:
		return true
	}
	return false
}

// FuzzOpen: whatever stands in a file, as it is or under an end line that fits,
// it is refused with a code or read without a panic.
func FuzzOpen(f *testing.F) {
	good := read(f, record(f, header(), episode("a"), episode("b")))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(read(f, record(f, cassette.Header{})))
	f.Add([]byte("---\nversion: 1\nx-format: 9\n# end 0 00000000\n"))
	f.Add(read(f, "testdata/format1.yaml"))
	f.Fuzz(func(t *testing.T, data []byte) {
		texts := [][]byte{data}
		if at := bytes.LastIndex(data, []byte("# end ")); at >= 0 {
			texts = append(texts, reseal(string(data)))
		}
		for _, text := range texts {
			c, err := cassette.Parse(text)
			if fault.CodeOf(err) == cassette.CodeOlder {
				c, err = cassette.ParseOlder(text)
			}
			if err != nil {
				if !refusal(err) {
					t.Errorf("error %v", err)
				}
				continue
			}
			for i, key := range c.Keys() {
				c.ByKey(key)
				if _, err := c.Episode(i); err != nil && !refusal(err) {
					t.Errorf("episode %d: %v", i, err)
				}
				if _, err := c.Response(i); err != nil && !refusal(err) {
					t.Errorf("response %d: %v", i, err)
				}
			}
		}
	})
}

// FuzzLine: bodies of any bytes and fields of any text are written and read back
// equal, and the line is one that YAML takes: printable, and no second line.
func FuzzLine(f *testing.F) {
	f.Add([]byte("\n\tfoo\u0085\u2028"), []byte("\x80\xff"), "lane", "https://a/b?c")
	f.Add([]byte(`,"request":{"body":"`), []byte("\ufeff---\n"), "\x00\x7f", "")
	f.Fuzz(func(t *testing.T, request, response []byte, lane, url string) {
		e := episode("a")
		e.Request.Body, e.Response.Body, e.Response.Chunks = request, response, nil
		e.Lane, e.Request.URL = lane, url
		line, err := cassette.EncodeLine(e)
		if err != nil {
			if utf8.ValidString(lane) && utf8.ValidString(url) && len(lane) < 1<<16 && len(url) < 1<<16 {
				t.Errorf("refused: %v", err)
			}
			return
		}
		got, err := cassette.DecodeLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Request.Body, request) || !bytes.Equal(got.Response.Body, response) || got.Lane != lane || got.Request.URL != url {
			t.Errorf("read back %+v", got)
		}
		for _, r := range string(line) {
			if r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
				t.Errorf("the line holds %U", r)
			}
		}
	})
}

// FuzzDecode: any text in the place of the members, under a sum that fits, is
// decoded or refused.
func FuzzDecode(f *testing.F) {
	line, err := cassette.EncodeLine(episode("a"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line[cassette.HeadLen:])
	f.Fuzz(func(t *testing.T, members []byte) {
		text := append(bytes.Clone(line[:cassette.HeadLen]), members...)
		e, err := cassette.DecodeLine(cassette.SealLine(text))
		if err != nil {
			return
		}
		if _, err := cassette.EncodeLine(e); err != nil {
			t.Errorf("decoded, but not written: %v", err)
		}
	})
}

// FuzzBlobs: whatever stands in a file of bodies, also under an end line that fits, a
// body is the one that its name says, or it is refused.
func FuzzBlobs(f *testing.F) {
	const top = "# x-blobs: 1\n"
	body := `{"x-ref":"sha256:` + hash("a") + `","body":"a"}` + "\n"
	f.Add([]byte(top + body))
	f.Add([]byte(top + `{"x-ref":"sha256:` + hash("a") + `","x-b64":"YQ=="}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "c.blobs")
		data = append(data, fmt.Sprintf("# end %d %08x", bytes.Count(data, []byte("\n"))-1, crc32.Checksum(data, castagnoli))...)
		if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := cassette.ReadBlob(path, "sha256:"+hash("a"))
		if err == nil && string(got) != "a" || err != nil && fault.CodeOf(err) != cassette.CodeBlob {
			t.Errorf("%q, %v", got, err)
		}
	})
}
