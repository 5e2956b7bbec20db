package carrier

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// pack is a zip of these entries.
func pack(t testing.TB, entries ...func(*zip.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, add := range entries {
		if err := add(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func entry(name, data string) func(*zip.Writer) error {
	return func(w *zip.Writer) error {
		return addEntry(w, zip.FileHeader{Name: name, Method: zip.Deflate}, []byte(data))
	}
}

// header is an entry without contents that says this of itself.
func header(h zip.FileHeader) func(*zip.Writer) error {
	return func(w *zip.Writer) error {
		_, err := w.CreateRaw(&h)
		return err
	}
}

func link(name string) func(*zip.Writer) error {
	h := zip.FileHeader{Name: name}
	h.SetMode(fs.ModeSymlink | 0o777)
	return func(w *zip.Writer) error { return addEntry(w, h, []byte("/etc/passwd")) }
}

func TestArchiveRefuses(t *testing.T) {
	sound := entry(CardName, doc)
	var many []func(*zip.Writer) error
	for i := range MaxEntries {
		many = append(many, entry(fmt.Sprint(i), ""))
	}
	lying := zip.FileHeader{Name: CardName, Method: zip.Deflate, UncompressedSize64: 1, CompressedSize64: 0}
	tests := []struct {
		name string
		data []byte
		code fault.Code
		says string
	}{
		{"no card", pack(t, entry("x.json", doc)), CodeNoCard, `no "card.json"`},
		{"a card in a folder", pack(t, entry("Ada/card.json", doc)), CodeNoCard, `"Ada/card.json" and not at its root`},
		{"Backyard", pack(t, entry("manifest.json", "{}")), CodeUnsupported, "Backyard"},
		{"twice", pack(t, sound, sound), CodeDuplicate, "twice"},
		{"twice under one path", pack(t, sound, entry("a/", ""), entry("a", "x")), CodeDuplicate, "twice"},
		{"too many", pack(t, append(many, sound)...), CodeEntries, "513 files"},
		{"up", pack(t, sound, entry("../x", "")), CodeUnsafe, "1 files"},
		{"up inside", pack(t, sound, entry("a/../../x", "")), CodeUnsafe, ""},
		{"absolute", pack(t, sound, entry("/x", "")), CodeUnsafe, ""},
		{"a drive", pack(t, sound, entry("C:x", "")), CodeUnsafe, ""},
		{"backslashes", pack(t, sound, entry(`a\..\x`, "")), CodeUnsafe, ""},
		{"NUL", pack(t, sound, entry("a\x00.png", "")), CodeUnsafe, ""},
		{"no name", pack(t, sound, entry("", "")), CodeUnsafe, ""},
		{"a link", pack(t, sound, link("assets/x")), CodeUnsafe, ""},
		{"encrypted", pack(t, sound, header(zip.FileHeader{Name: "x", Flags: 1})), CodeEncrypted, ""},
		{"an unknown method", pack(t, sound, header(zip.FileHeader{Name: "x", Method: 99})), CodeUnsupported, "method 99"},
		{"an entry too large", pack(t, sound, header(zip.FileHeader{Name: "x", UncompressedSize64: MaxEntry + 1})), CodeTooLarge, ""},
		{"all too large", pack(t, sound, header(zip.FileHeader{Name: "x", UncompressedSize64: MaxEntry}), header(zip.FileHeader{Name: "y", UncompressedSize64: MaxEntry})), CodeTooLarge, "together"},
		{"a size that is not true", pack(t, header(lying)), CodeArchive, ""},
		{"cut off", pack(t, sound)[:40], CodeArchive, "cut off"},
		{"no archive behind the picture", []byte("\xff\xd8\xff\xe0picture"), CodeNoCard, "JPEG"},
		{"an empty directory", []byte("PK\x03\x04" + strings.Repeat("x", 40) + "PK\x05\x06" + strings.Repeat("\x00", 18)), CodeNoCard, ""},
		{"a card that is a bomb", pack(t, entry(CardName, strings.Repeat(" ", MaxText+1))), CodeTooLarge, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.data)
			if fault.CodeOf(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("got %v, want %s with %q", err, tt.code, tt.says)
			}
		})
	}
}

func TestArchiveKeepsItsOtherFiles(t *testing.T) {
	in := pack(t, entry("assets/a.png", "AAAA"), entry(CardName, doc), func(w *zip.Writer) error {
		return addEntry(w, zip.FileHeader{Name: "stored", Comment: "c", Extra: []byte{1, 2, 0, 0}}, []byte("BBBB"))
	})
	for name, data := range map[string][]byte{"an archive": in, "behind a JPEG": append([]byte("\xff\xd8\xff\xe0 picture \xff\xd9"), in...)} {
		f, err := Read(data)
		if err != nil || string(f.Payloads[0].Text) != doc || len(f.Entries) != 3 {
			t.Fatalf("%s: %q, %v", name, f.Payloads, err)
		}
		out, err := WriteArchive(data, []byte(`{"new":1}`), Extra{"extra", []byte("X")}, Extra{"stored", []byte("no")})
		if err != nil {
			t.Fatal(err)
		}
		was, _ := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		now, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
		if err != nil || len(now.File) != 4 {
			t.Fatalf("%s: %v", name, err)
		}
		for i, e := range was.File {
			n := now.File[i]
			if n.Name != e.Name || n.Method != e.Method || n.Comment != e.Comment || e.Name != CardName && (n.CRC32 != e.CRC32 || n.CompressedSize64 != e.CompressedSize64) {
				t.Errorf("%s: %+v became %+v", name, e.FileHeader, n.FileHeader)
			}
		}
		if got, err := Entry(out, CardName); err != nil || string(got) != `{"new":1}` {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := Entry(out, "stored"); err != nil || string(got) != "BBBB" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A rewritten archive is the kind of file that it was: its picture stays before it, byte
// for byte, also one that has the marks of an archive within.
func TestArchiveStaysBehindItsPicture(t *testing.T) {
	const front = "\xff\xd8\xff\xe0 a PK\x03\x04 picture \xff\xd9"
	add := []func(*zip.Writer) error{entry("assets/a.txt", "a secret word"), entry(CardName, doc), entry("b", "BBBB")}
	counted := func() []byte { // offsets from the picture's beginning, as some programs write
		var b bytes.Buffer
		w := behind(&b, []byte(front))
		for _, a := range add {
			if err := a(w); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}()
	mask := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("secret"), []byte("******")) }
	for name, c := range map[string]struct {
		data  []byte
		front string
	}{
		"appended": {append([]byte(front), pack(t, add...)...), front}, "with offsets": {counted, front}, "alone": {pack(t, add...), ""},
	} {
		rewritten, err := RewriteArchive(c.data, []byte(`{"new":1}`))
		if err != nil {
			t.Fatal(name, err)
		}
		masked, found, err := Masked(rewritten, mask)
		if err != nil || len(found) != 1 {
			t.Fatal(name, found, err)
		}
		for _, out := range [][]byte{rewritten, masked} {
			if !bytes.HasPrefix(out, []byte(c.front+"PK\x03\x04")) || Sniff(out) != Sniff(c.data) {
				t.Errorf("%s: begins %q", name, out[:40])
			}
			f, err := Read(out)
			if err != nil || string(f.Payloads[0].Text) != `{"new":1}` || len(f.Entries) != 3 {
				t.Errorf("%s: %+v, %v", name, f, err)
			}
		}
		if got, err := Entry(masked, "assets/a.txt"); err != nil || string(got) != "a ****** word" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(pack(f, entry(CardName, doc), entry("assets/a.png", "A")))
	f.Add(append([]byte("\xff\xd8\xff\xe0"), pack(f, entry(CardName, doc))...))
	f.Add(pack(f, entry("a/card.json", doc)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(data)
		if err != nil || file.Kind != Archive && file.Kind != JPEG {
			return
		}
		out, err := WriteArchive(data, []byte(doc))
		if err != nil {
			return // an entry that cannot be packed anew is an error, not a panic
		}
		again, err := Read(out)
		if err != nil || string(again.Payloads[0].Text) != doc || len(again.Entries) != len(file.Entries) {
			t.Fatalf("wrote a card that is not there: %q, %v", again.Payloads, err)
		}
	})
}
