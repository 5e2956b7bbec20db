package upkeep_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/upkeep"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// call is an episode as a recording would have it, key and all.
func call(t testing.TB, body, answer string) cassette.Episode {
	t.Helper()
	e := cassette.Episode{
		Kind: "http", Origin: cassette.Scripted, At: "2026-01-02",
		Request:  cassette.Request{Method: "POST", URL: "https://a.test/x", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)},
		Response: cassette.Response{Status: 200, Body: []byte(answer), Duration: time.Second},
	}
	var err error
	if e.Key, e.Raw, err = seam.KeyOf(seam.DefaultRules(), "", e.Kind, e.Request); err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t testing.TB, path string, rules []string, episodes ...cassette.Episode) []byte {
	t.Helper()
	w, err := cassette.CreateWith(path, cassette.Header{Rules: rules}, cassette.CreateOptions{Replace: true})
	for _, e := range episodes {
		if err == nil {
			err = w.Append(e)
		}
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func episodes(t *testing.T, path string) []cassette.Episode {
	t.Helper()
	if err := cassette.Verify(path); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]cassette.Episode, c.Len())
	for i := range out {
		if out[i], err = c.Episode(i); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Errorf("error %v has code %q, want %q", err, got, code)
	}
}

// notes is a report on one line.
func notes(r upkeep.Report) string {
	var out []string
	for _, n := range r.Notes {
		out = append(out, fmt.Sprint(n.Episode, " ", n.What))
	}
	return strings.Join(out, "; ")
}

// every is each command that rewrites a file.
var every = map[string]func(path string, dry bool) (upkeep.Report, error){
	"migrate": upkeep.Migrate,
	"rekey":   func(p string, dry bool) (upkeep.Report, error) { return upkeep.Rekey(p, []string{}, dry) },
	"redact":  func(p string, dry bool) (upkeep.Report, error) { return upkeep.Redact(p, redactor(), dry) },
	"prune": func(p string, dry bool) (upkeep.Report, error) {
		return upkeep.Prune(p, func(i int) bool { return i == 1 }, dry)
	},
	"dedupe": func(p string, dry bool) (upkeep.Report, error) { return upkeep.Dedupe(p, false, dry) },
}

func redactor() *redact.Redactor {
	return redact.New(redact.Options{Env: map[string]string{"LEAKED_KEY": "value number 7"}})
}

// A file of twenty episodes that was cut or altered at any byte is an error of every
// reader and of every command that rewrites, and stays the bytes that it was.
func TestDamageAtEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	var twenty []cassette.Episode
	for i := range 20 {
		e := call(t, fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf("value number %d", i))
		e.Request.Header, e.Response.Header = nil, nil
		twenty = append(twenty, e)
	}
	whole := write(t, path, seam.DefaultRules(), twenty...)
	refused := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string) (*cassette.Cassette, error){cassette.Open, cassette.OpenAny} {
			if _, err := open(path); fault.CodeOf(err) != cassette.CodeDamaged && fault.CodeOf(err) != cassette.CodeNewer {
				t.Fatalf("%s: opened, error %v", what, err)
			}
		}
		for name, do := range every {
			if _, err := do(path, false); err == nil {
				t.Fatalf("%s: %s takes it", what, name)
			}
		}
		if now := read(t, path); !bytes.Equal(now, data) {
			t.Fatalf("%s: a command changed it", what)
		}
	}
	for i := range whole {
		refused(fmt.Sprint("cut at ", i), whole[:i])
		altered := bytes.Clone(whole)
		altered[i] ^= 1
		refused(fmt.Sprint("altered at ", i), altered)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A dry run says what a run does, and writes nothing; run twice, the second does
// nothing.
func TestDryRunAndTwice(t *testing.T) {
	for name, do := range every {
		if name == "prune" {
			continue // a second run has another second episode
		}
		path := filepath.Join(t.TempDir(), "c.yaml")
		large := call(t, `{"a":1}`, strings.Repeat("x", upkeep.LargeBody+1))
		leak := call(t, `{"a":2,"user":"u"}`, "the value number 7 is in here")
		before := write(t, path, seam.DefaultRules(), large, leak)
		if name == "migrate" {
			before = read(t, "../testdata/format1.yaml")
			if err := os.WriteFile(path, before, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		dry, err := do(path, true)
		if err != nil || !dry.Changed || len(dry.Notes) == 0 || !bytes.Equal(read(t, path), before) {
			t.Errorf("%s, dry: %+v, %v", name, dry, err)
		}
		real, err := do(path, false)
		if err != nil || notes(real) != notes(dry) || !real.Changed || bytes.Equal(read(t, path), before) {
			t.Errorf("%s: %+v, %v", name, real, err)
		}
		again, err := do(path, false)
		if err != nil || again.Changed || len(again.Notes) > 0 {
			t.Errorf("%s, again: %+v, %v", name, again, err)
		}
		episodes(t, path)
	}
}

func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, read(t, "../testdata/format1.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, do := range every {
		if name == "migrate" {
			continue
		}
		if _, err := do(path, false); fault.CodeOf(err) != cassette.CodeOlder {
			t.Errorf("%s takes format 1: %v", name, err)
		}
	}
	if _, err := upkeep.Migrate(path, false); err != nil {
		t.Fatal(err)
	}
	for i, e := range episodes(t, path) {
		key, raw, err := seam.KeyOf(seam.DefaultRules(), e.Lane, e.Kind, e.Request)
		if err != nil || key != e.Key || raw != e.Raw {
			t.Errorf("episode %d: key %s, raw %s, %v", i+1, e.Key, e.Raw, err)
		}
	}
}

func TestRekey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	a, b, c := call(t, `{"q":1,"user":"ann"}`, "one"), call(t, `{"q":1,"user":"bob"}`, "one"), call(t, `{"q":2}`, "two")
	for _, e := range []*cassette.Episode{&a, &b, &c} {
		var err error
		if e.Key, e.Raw, err = seam.KeyOf(nil, "", e.Kind, e.Request); err != nil {
			t.Fatal(err)
		}
	}
	before := bytes.SplitAfter(write(t, path, nil, a, b, c), []byte("\n"))
	r, err := upkeep.Rekey(path, seam.DefaultRules(), false)
	if err != nil || len(r.Notes) != 3 { // the rules, and the two that have a user
		t.Fatalf("%s, %v", notes(r), err)
	}
	got := episodes(t, path)
	if got[0].Key != got[1].Key || got[0].Key == a.Key || got[2].Key != c.Key || string(got[1].Request.Body) != string(b.Request.Body) {
		t.Errorf("%+v", got)
	}
	after := bytes.SplitAfter(read(t, path), []byte("\n"))
	if !bytes.Equal(before[len(before)-3], after[len(after)-3]) {
		t.Error("the line whose key stays is another one")
	}
	_, err = upkeep.Rekey(path, []string{"nobody/9"}, false)
	wantCode(t, err, seam.CodeRule)

	b.Response.Body = []byte("another")
	same := write(t, path, nil, a, b, c)
	_, err = upkeep.Rekey(path, seam.DefaultRules(), false)
	wantCode(t, err, upkeep.CodeAmbiguous)
	if err == nil || !strings.Contains(err.Error(), "episodes 1 and 2") || !bytes.Equal(read(t, path), same) {
		t.Errorf("%v", err)
	}
}

func TestRedact(t *testing.T) {
	const value = "correct-horse-battery"
	path := filepath.Join(t.TempDir(), "c.yaml")
	leak := call(t, `{"q":"my `+value+`"}`, "you said "+value+", and more")
	leak.Response.Chunks = []cassette.Chunk{{AtMS: 1, Len: 12}, {AtMS: 2, Len: len(leak.Response.Body) - 12}}
	leak.Request.Header.Set("Cookie", "session="+value)
	write(t, path, seam.DefaultRules(), call(t, `{"q":1}`, "one"), leak)
	before := bytes.SplitAfter(read(t, path), []byte("\n"))
	r, err := upkeep.Redact(path, redact.New(redact.Options{Env: map[string]string{"MY_TOKEN": value}}), false)
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 masked request.headers, request.body, response.body"; notes(r) != want {
		t.Errorf("%s, want %s", notes(r), want)
	}
	after := read(t, path)
	if bytes.Contains(after, []byte(value)) || strings.Contains(notes(r), value) {
		t.Error("the value is still there, or told")
	}
	if !bytes.Equal(before[len(before)-4], bytes.SplitAfter(after, []byte("\n"))[len(before)-4]) {
		t.Error("the other line is another one")
	}
	e := episodes(t, path)[1]
	key, _, err := seam.KeyOf(seam.DefaultRules(), "", e.Kind, e.Request)
	if err != nil || key != e.Key || string(e.Response.Body) != "you said {{secret:MY_TOKEN}}, and more" {
		t.Errorf("%+v, %v", e, err)
	}
	n := 0
	for _, c := range e.Response.Chunks {
		n += c.Len
	}
	if n != len(e.Response.Body) {
		t.Errorf("chunks of %d bytes for a body of %d", n, len(e.Response.Body))
	}
}

// What masking cannot take out is refused, and the value is not told.
func TestRedactRefusesWhatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	hidden := call(t, `{"q":1}`, `{"text":"{\"text\":\"\\u0063orrect-horse-battery\"}"}`)
	before := write(t, path, seam.DefaultRules(), hidden)
	_, err := upkeep.Redact(path, redact.New(redact.Options{Env: map[string]string{"MY_TOKEN": "correct-horse-battery"}}), false)
	wantCode(t, err, cassette.CodeNotSafe)
	if err == nil || strings.Contains(err.Error(), "horse") || !bytes.Equal(read(t, path), before) {
		t.Errorf("%v", err)
	}
}

func TestDedupe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	shared := strings.Repeat("s", upkeep.SharedBody+1)
	all := []cassette.Episode{
		call(t, `{"a":1}`, shared), call(t, `{"a":2}`, shared), call(t, `{"a":3}`, shared),
		call(t, `{"a":4}`, strings.Repeat("l", upkeep.LargeBody+1)), call(t, `{"a":5}`, strings.Repeat("m", upkeep.LargeBody)),
	}
	inline := write(t, path, seam.DefaultRules(), all...)
	if _, err := upkeep.Dedupe(path, false, false); err != nil {
		t.Fatal(err)
	}
	blobs := strings.TrimSuffix(path, ".yaml") + ".blobs"
	if got := read(t, path); len(got) > len(inline)-upkeep.LargeBody-2*upkeep.SharedBody || bytes.Count(read(t, blobs), []byte("sha256:")) != 2 {
		t.Errorf("%d bytes of %d", len(got), len(inline))
	}
	for i, e := range episodes(t, path) {
		if !bytes.Equal(e.Response.Body, all[i].Response.Body) {
			t.Errorf("episode %d has another body", i+1)
		}
	}
	// A command that changes such a file leaves its bodies where they are, and takes out
	// those that nothing needs any more.
	if _, err := upkeep.Prune(path, func(i int) bool { return i == 3 }, false); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(read(t, blobs), []byte("sha256:")); n != 1 {
		t.Errorf("%d bodies stand apart", n)
	}
	if _, err := upkeep.Dedupe(path, true, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(blobs); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	if got, want := read(t, path), write(t, path, seam.DefaultRules(), append(all[:3:3], all[4])...); !bytes.Equal(got, want) {
		t.Error("inline again, it is another file")
	}
}

// Keys of a version to come are not computed by this one: the file stays as it is.
func TestKeysOfANewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	w, err := cassette.CreateWith(path, cassette.Header{Rules: seam.DefaultRules(), KeyVersion: cassette.KeyVersion + 1}, cassette.CreateOptions{})
	if err == nil {
		err = w.Append(call(t, `{"a":1}`, "one"))
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	for name, change := range map[string]func() (upkeep.Report, error){
		"rekey":  func() (upkeep.Report, error) { return upkeep.Rekey(path, nil, false) },
		"redact": func() (upkeep.Report, error) { return upkeep.Redact(path, redact.New(redact.Options{}), false) },
		"prune":  func() (upkeep.Report, error) { return upkeep.Prune(path, func(int) bool { return true }, false) },
	} {
		if _, err := change(); fault.CodeOf(err) != cassette.CodeNewer || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := read(t, path); !bytes.Equal(after, before) {
		t.Error("the file was changed")
	}
}
