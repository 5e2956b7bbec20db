package server_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/server"
)

func parse(t *testing.T, text string) *server.List {
	t.Helper()
	l, err := server.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// An entry that says what it must not disables itself alone, with a reason.
func TestEntries(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command":"a"}`: "",
		`{"command":"/bin/a","args":["-x"],"env":{"A":"b"},"cwd":"/srv","timeout":600,"type":"stdio"}`: "",
		`{"url":"https://a.example/mcp","headers":{"Authorization":"Bearer x"},"type":"http"}`:         "",
		`{"url":"http://127.0.0.1:1/mcp"}`: "",
		`{}`:                               "either a command or a url",
		`[]`:                               "no object",
		`{"command":"a","url":"https://a.example"}`: "either a command or a url",
		`{"command":"./a"}`:                         "neither a name nor an absolute path",
		`{"command":"a","sneaky":1}`:                "member sneaky",
		`{"command":"a","args":"x"}`:                "member args",
		`{"command":"a","command":"b"}`:             "no object of the members",
		`{"command":"a","env":{"A=B":"c"}}`:         "variable",
		`{"command":"a","headers":{"X":"y"}}`:       "headers and oauth are for a url",
		`{"command":"a","oauth":{}}`:                "headers and oauth are for a url",
		`{"url":"https://a.example","oauth":{"client_id":"x","client_secret":"y","grant":"machine","issuer":"https://b.example"}}`: "",
		`{"url":"https://a.example","oauth":{"grant":"machine","client_id":"x"}}`:                                                  "and a client_secret",
		`{"url":"https://a.example","oauth":{"grant":"implicit"}}`:                                                                 "neither person nor machine",
		`{"url":"https://a.example","oauth":{"client_secret":"x"}}`:                                                                "goes with a client_id",
		`{"url":"https://a.example","oauth":{"issuer":"http://b.example"}}`:                                                        "no address of https",
		`{"url":"https://a.example","oauth":{"token":"x"}}`:                                                                        "member oauth/token",
		`{"command":"a","cwd":"x"}`:                                    "not absolute",
		`{"command":"a","scope":"x"}`:                                  "scope",
		`{"command":"a","timeout":601}`:                                "timeout",
		`{"command":"a","type":"http"}`:                                "does not fit",
		`{"command":"a\u0000"}`:                                        "zero byte",
		`{"command":"a","timeout":"soon"}`:                             `not what it should be: "soon"`,
		`{"url":"ftp://u:p@a.example/x?key=secret"}`:                   `"ftp://…@a.example/x?…" is no address`,
		`{"url":"ftp://a.example"}`:                                    "no address",
		`{"url":"http://a.example"}`:                                   "leaves this machine",
		`{"url":"https://me:pw@a.example"}`:                            "a name or a password",
		`{"url":"https://a.example","env":{"A":"b"}}`:                  "for a command",
		`{"url":"https://a.example","headers":{"Host":"b"}}`:           "header",
		`{"url":"https://a.example","headers":{"X":"a\r\nY: b"}}`:      "header",
		`{"url":"https://a.example","headers":{"Mcp-Session-Id":"b"}}`: "header",
		`{"command":"` + strings.Repeat("a", 17<<10) + `"}`:            "longer than",
	} {
		if runtime.GOOS == "windows" && want == "" {
			continue // its paths are others
		}
		l := parse(t, `{"mcpServers":{"other":{"command":"ok"},"it":`+entry+`}}`)
		_, err := l.Get("it")
		switch {
		case want == "" && err != nil, want != "" && (fault.CodeOf(err) != server.CodeEntry || !strings.Contains(err.Error(), want)):
			t.Errorf("%.80s: %v, want %q", entry, err, want)
		case strings.Contains(err2(err), "pw"):
			t.Errorf("%.80s: the reason holds a password: %v", entry, err)
		}
		if _, err := l.Get("other"); err != nil {
			t.Errorf("%.80s: the other entry: %v", entry, err)
		}
		if n := len(l.Rejects()); n != map[bool]int{true: 0, false: 1}[want == ""] {
			t.Errorf("%.80s: %d rejects", entry, n)
		}
	}
}

func err2(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFilesAsAWhole(t *testing.T) {
	for _, text := range []string{"[]", "{", `{"servers":{}}`, `{"mcpServers":[]}`, `{"mcpServers":{},"x":1}`, strings.Repeat(" ", server.MaxFile+1)} {
		if _, err := server.Parse([]byte(text)); fault.CodeOf(err) != server.CodeFile {
			t.Errorf("%.40q: %v, want %s", text, err, server.CodeFile)
		}
	}
	for _, text := range []string{"", "{}", `{"mcpServers":{}}`} {
		if l, err := server.Parse([]byte(text)); err != nil || len(l.Entries()) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	names := make([]string, server.MaxEntries+1)
	for i := range names {
		names[i] = `"s` + strings.Repeat("x", i%20) + string(rune('a'+i/20)) + `":{"command":"a"}`
	}
	if l := parse(t, `{"mcpServers":{`+strings.Join(names, ",")+`}}`); len(l.Entries()) != server.MaxEntries || len(l.Rejects()) != 1 {
		t.Errorf("%d entries, %d rejects", len(l.Entries()), len(l.Rejects()))
	}
}

// What is stored stays: secrets that are not given again, entries that cannot be used.
func TestPutAndSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", server.FileName)
	l := parse(t, `{"mcpServers":{"bad name":{"odd":1},"a":{"command":"x","env":{"K":"v"}}}}`)
	if err := l.Put(server.Entry{Name: "a", Command: "y"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Put(server.Entry{Name: "b", URL: "https://a.example", Headers: map[string]string{"X": "secret"}, Enabled: true, Timeout: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	l, err := server.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := l.Get("a")
	b, _ := l.Get("b")
	if a.Command != "y" || a.Env["K"] != "v" || a.Enabled || a.Scope != server.Everywhere || b.Headers["X"] != "secret" || len(l.Rejects()) != 1 {
		t.Errorf("a %+v, b %+v, rejects %v", a, b, l.Rejects())
	}
	if err := l.Put(server.Entry{Name: "b", URL: "https://evil.example"}); err != nil {
		t.Fatal(err)
	}
	if b, _ = l.Get("b"); len(b.Headers) != 0 {
		t.Error("another address got the headers")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(path); fault.CodeOf(err) != server.CodeFile || fault.HintOf(err) == "" {
		t.Errorf("mode 0640: %v", err)
	}
}

// Whatever is read is written back as something that reads the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","env":{"K":"v"}},"a":{},"b":{"url":"https://a.example"}}}`))
	f.Add([]byte(`{"mcpServers":{"\ud800":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := server.Parse(b)
		if err != nil {
			return
		}
		again, err := server.Parse(l.Text())
		if err != nil || len(again.Entries()) != len(l.Entries()) || len(again.Rejects()) != len(l.Rejects()) {
			t.Fatalf("%q became %q: %v", b, l.Text(), err)
		}
		for _, e := range l.Entries() {
			if err := e.Check(); err != nil {
				t.Errorf("an entry that is used does not hold: %v", err)
			}
		}
	})
}
