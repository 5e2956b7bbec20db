package cassette_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reseal gives an altered text the end line that fits it.
func reseal(text string) []byte {
	body := text[:strings.LastIndex(text, "# end ")]
	return fmt.Appendf([]byte(body), "# end %d %08x\n", strings.Count(body, "\n- {"), crc32.Checksum([]byte(body), castagnoli))
}

func TestOpenMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := cassette.Open(filepath.Join(dir, "none.yaml"))
	wantCode(t, err, cassette.CodeMissing)
	if fault.HintOf(err) == "" {
		t.Error("no hint")
	}
	_, err = cassette.Open(dir)
	wantCode(t, err, fault.Invalid)
}

func TestOpenTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(cassette.MaxFile + 1); err != nil {
		t.Skipf("no sparse file of this size: %v", err)
	}
	_, err = cassette.Open(path)
	wantCode(t, err, fault.TooLarge)
}

// What a file says is checked even when its sums are right.
func TestOpenSealedButWrong(t *testing.T) {
	good := string(read(t, record(t, header(), episode("a"), episode("b"))))
	path := filepath.Join(t.TempDir(), "c.yaml")
	for name, tt := range map[string]struct {
		old, new string
		code     fault.Code
		line     int
	}{
		"newer format":    {"x-format: 2", "x-format: 3", cassette.CodeNewer, 0},
		"older format":    {"x-format: 2", "x-format: 1", cassette.CodeOlder, 0},
		"no format":       {"x-format: 2\n", "", cassette.CodeDamaged, 3},
		"format 02":       {"x-format: 2", "x-format: 02", cassette.CodeDamaged, 3},
		"other version":   {"version: 1\n", "version: 2\n", cassette.CodeDamaged, 1},
		"no key version":  {"x-keyv: 1\n", "", cassette.CodeDamaged, 4},
		"unknown origin":  {"x-origin: scripted", "x-origin: heard", cassette.CodeDamaged, 5},
		"rules no list":   {`x-rules: ["call-ids/1", "volatile/2"]`, "x-rules: 1", cassette.CodeDamaged, 6},
		"unknown field":   {"x-prices:", "x-pricing:", cassette.CodeDamaged, 7},
		"list closed":     {"interactions:\n", "interactions: []\n", cassette.CodeDamaged, 11},
		"key not hex":     {`{"x-key":"`, `{"x-key":"G`, cassette.CodeDamaged, 9},
		"a blank line":    {"interactions:\n", "interactions:\n\n", cassette.CodeDamaged, 9},
		"CRLF everywhere": {"\n", "\r\n", cassette.CodeDamaged, 1},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(good, tt.old, tt.new)
			if text == good {
				t.Fatal("the case changes nothing")
			}
			if err := os.WriteFile(path, reseal(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := cassette.Open(path)
			wantCode(t, err, tt.code)
			if tt.line > 0 && !strings.Contains(err.Error(), fmt.Sprintf("line %d:", tt.line)) {
				t.Errorf("%q does not name line %d", err, tt.line)
			}
			if name == "CRLF everywhere" && !strings.Contains(fault.HintOf(err), ".gitattributes") {
				t.Errorf("hint %q", fault.HintOf(err))
			}
		})
	}
}

// A byte that was altered inside a line is blamed on that line.
func TestDamageNamesTheLine(t *testing.T) {
	good := read(t, record(t, header(), episode("a"), episode("b"), episode("c")))
	bad := bytes.Replace(good, []byte(`\"text\":\"b\"`), []byte(`\"text\":\"B\"`), 1)
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, bad, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.Open(path)
	wantCode(t, err, cassette.CodeDamaged)
	if want := fmt.Sprintf("cassette %q, line 10: x-sum does not fit", path); !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
}

// sealLine gives the only episode of a text the sum that fits it.
func sealLine(text string) string {
	at := strings.Index(text, "\n- {") + 1
	end := at + strings.IndexByte(text[at:], '\n')
	line := text[at:end]
	sum := strings.Index(line, `"x-sum":"`) + len(`"x-sum":"`)
	crc := crc32.Checksum([]byte(line[:sum]+line[sum+8:]), castagnoli)
	return text[:at] + line[:sum] + fmt.Sprintf("%08x", crc) + line[sum+8:] + text[end:]
}

// What a line says is checked even when its sum is right. Open does not look,
// Episode and Verify do.
func TestEpisodeSealedButWrong(t *testing.T) {
	good := string(read(t, record(t, header(), episode("a"))))
	path := filepath.Join(t.TempDir(), "c.yaml")
	for name, tt := range map[string]struct{ old, new string }{
		"as it was written": {"", ""},
		"unknown field":     {`"x-kind"`, `"x-more":1,"x-kind"`},
		"field twice":       {`"x-kind"`, `"x-kind":"http","x-kind"`},
		"no request":        {`"request"`, `"requested"`},
		"raw tab":           {`{\"messages\"`, "\t"},
		"other escape":      {`{\"messages\"`, `\/`},
		"surrogate":         {`{\"messages\"`, `\ud83d\ude00`},
		"not UTF-8":         {`{\"messages\"`, "\xff"},
		"b64 of no base64":  {`"x-kind"`, `"x-b64":["request"],"x-kind"`},
		"chunk of blanks":   {`[[3,10]`, `[[3, 10]`},
		"chunk too long":    {`[[3,10]`, `[[3,11]`},
		"chunk of three":    {`[[3,10]`, `[[3,10,1]`},
		"chunk negative":    {`[[3,10]`, `[[-3,10]`},
		"chunk huge":        {`[[3,10]`, `[[3,99999999999999999999999]`},
		"duration":          {`"1.2s"`, `"soon"`},
		"status":            {`"code":200`, `"code":20000`},
		"origin":            {`"x-origin":"scripted"`, `"x-origin":"heard"`},
		"better origin":     {`"x-origin":"scripted"`, `"x-origin":"live"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := sealLine(strings.Replace(good, tt.old, tt.new, 1))
			if err := os.WriteFile(path, reseal(text), 0o644); err != nil {
				t.Fatal(err)
			}
			open(t, path)
			err := cassette.Verify(path)
			if tt.old == "" && err != nil {
				t.Fatal(err)
			}
			if tt.old != "" {
				wantCode(t, err, cassette.CodeDamaged)
			}
		})
	}
}
