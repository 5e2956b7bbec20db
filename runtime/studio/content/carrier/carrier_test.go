package carrier

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

const doc = `{"name":"Ada"}`

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func deflate(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func raw(kind, data string) string {
	body := kind + data
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(out, body...)
	return string(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(body))))
}

func picture(chunks ...string) []byte {
	return []byte(string(pngMagic) + raw("IHDR", "0123456789abc") + strings.Join(chunks, "") + raw("IEND", ""))
}

func TestReadPNG(t *testing.T) {
	idat := raw("IDAT", "pixels")
	tests := []struct {
		name string
		data []byte
		want string // of the first payload
		warn string
		code fault.Code
	}{
		{name: "before the pixels", data: picture(raw("tEXt", "chara\x00"+b64(doc)), idat), want: doc},
		{name: "after the pixels", data: picture(idat, raw("tEXt", "ccv3\x00"+b64(doc))), want: doc},
		{name: "upper case", data: picture(raw("tEXt", "Chara\x00"+b64(doc))), want: doc},
		{name: "zTXt", data: picture(raw("zTXt", "chara\x00\x00"+deflate(b64(doc)))), want: doc},
		{name: "iTXt", data: picture(raw("iTXt", "chara\x00\x00\x00en\x00t\x00"+b64(doc))), want: doc},
		{name: "iTXt packed", data: picture(raw("iTXt", "chara\x00\x01\x00\x00\x00"+deflate(b64(doc)))), want: doc},
		{name: "plain", data: picture(raw("iTXt", "chara\x00\x00\x00\x00\x00"+doc)), want: doc, warn: "not base64"},
		{name: "latin 1", data: picture(raw("tEXt", "chara\x00{\"n\":\"\xe9\"}")), want: `{"n":"é"}`, warn: "not base64"},
		{name: "lines", data: picture(raw("tEXt", "chara\x00"+b64(doc)[:8]+"\r\n "+b64(doc)[8:])), want: doc},
		{name: "no padding", data: picture(raw("tEXt", "chara\x00"+strings.TrimRight(b64(doc+" "), "="))), want: doc},
		{name: "bom inside", data: picture(raw("tEXt", "chara\x00"+b64("\ufeff"+doc))), want: doc},
		{name: "two", data: picture(raw("tEXt", "chara\x00"+b64(doc)), raw("tEXt", "chara\x00"+b64(`{}`))), want: doc, warn: "2 chara chunks"},
		{name: "second is good", data: picture(raw("tEXt", "chara\x00%%"), raw("tEXt", "chara\x00"+b64(doc))), want: doc, warn: "2 chara chunks"},
		{name: "other is bad", data: picture(raw("tEXt", "ccv3\x00%%"), raw("tEXt", "chara\x00"+b64(doc))), want: doc, warn: "ccv3 chunk cannot be read"},
		{name: "crc", data: bytes.Replace(picture(raw("tEXt", "chara\x00"+b64(doc)), idat), []byte("pixels"), []byte("pixelz"), 1), want: doc, warn: "crc"},
		{name: "none", data: picture(idat, raw("tEXt", "Author\x00me")), code: CodeNoCard},
		{name: "bad", data: picture(raw("tEXt", "chara\x00%%")), code: CodePayload},
		{name: "bad zTXt", data: picture(raw("zTXt", "chara\x00\x00nope")), code: CodePayload},
		{name: "bad method", data: picture(raw("zTXt", "chara\x00\x07nope")), code: CodePayload},
		{name: "short iTXt", data: picture(raw("iTXt", "chara\x00\x00")), code: CodePayload},
		{name: "bomb", data: picture(raw("zTXt", "chara\x00\x00"+deflate(strings.Repeat("A", MaxText+1)))), code: CodeTooLarge},
		{name: "encrypted", data: picture(raw("tEXt", "chara\x00rcc||rccv1||xx")), code: CodeUnsupported},
		{name: "cut", data: picture(idat)[:40], code: CodeTruncated},
		{name: "no end", data: picture(idat)[:len(picture(idat))-12], code: CodeTruncated},
		{name: "only magic", data: pngMagic, code: CodeTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Read(tt.data)
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want %q", err, tt.code)
			}
			if err != nil {
				return
			}
			if got := string(f.Payloads[0].Text); got != tt.want {
				t.Errorf("text %q", got)
			}
			if all := strings.Join(f.Warnings, "\n"); !strings.Contains(all, tt.warn) || (tt.warn == "" && all != "") {
				t.Errorf("warnings %q, want %q", all, tt.warn)
			}
		})
	}
}

func TestWritePNG(t *testing.T) {
	stale := []string{
		raw("zTXt", "chara\x00\x00"+deflate(b64(doc))), raw("tEXt", "note\x00keep"),
		raw("iTXt", "CCV3\x00\x00\x00\x00\x00"+b64(doc)), raw("IDAT", "pixels"), raw("tEXt", "Chara\x00"+b64(doc)),
	}
	in := append(picture(stale...), "tail"...)
	got, err := WritePNG(in, []byte(`{"v":2}`), []byte(`{"v":3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := append(picture(stale[1], stale[3], raw("tEXt", "chara\x00"+b64(`{"v":2}`)), raw("tEXt", "ccv3\x00"+b64(`{"v":3}`))), "tail"...)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if _, err := WritePNG([]byte("{}"), nil, nil); fault.CodeOf(err) != CodeUnknown {
		t.Errorf("not a picture: %v", err)
	}
	if _, err := WritePNG(in[:50], nil, nil); fault.CodeOf(err) != CodeTruncated {
		t.Errorf("cut: %v", err)
	}
}

func TestJSONFile(t *testing.T) {
	in := []byte("\ufeff\r\n{\"a\":1}\r\n")
	f, err := Read(in)
	if err != nil || string(f.Payloads[0].Text) != `{"a":1}` {
		t.Fatalf("%q, %v", f.Payloads, err)
	}
	if got := WriteJSON(in, []byte("{}")); string(got) != "\ufeff\r\n{}\r\n" {
		t.Errorf("got %q", got)
	}
	if got := WriteJSON(nil, []byte("{}")); string(got) != "{}\n" {
		t.Errorf("got %q", got)
	}
}

func TestSniffRefuses(t *testing.T) {
	tests := map[string]fault.Code{
		"PK\x03\x04": CodeArchive, "\xff\xd8\xff\xe0": CodeNoCard, "name: Ada": CodeUnknown, "": CodeUnknown,
	}
	for in, want := range tests {
		if _, err := Read([]byte(in)); fault.CodeOf(err) != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	if _, err := Read(make([]byte, MaxFile+1)); fault.CodeOf(err) != CodeTooLarge {
		t.Errorf("over the bound: %v", err)
	}
}

func FuzzPNG(f *testing.F) {
	f.Add(picture(raw("tEXt", "chara\x00"+b64(doc)), raw("IDAT", "x")))
	f.Add(picture(raw("iTXt", "ccv3\x00\x01\x00\x00\x00"+deflate(b64(doc)))))
	f.Add([]byte("\ufeff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(data)
		if err != nil || file.Kind != PNG {
			return
		}
		out, err := WritePNG(data, []byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(out)
		if err != nil || len(again.Payloads) != 1 || string(again.Payload(Chara)) != doc {
			t.Fatalf("wrote a card that is not there: %q, %v", again.Payloads, err)
		}
		twice, err := WritePNG(out, []byte(doc), nil)
		if err != nil || !bytes.Equal(out, twice) {
			t.Fatal("writing the same card again changed the picture")
		}
	})
}
