package lint_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/cassette/lint"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/transcript"
)

const body = `{"model":"m-1","system":"Be kind.","tools":[{"name":"add","description":"Adds.","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`

// call is a call to a model on a day, with its key.
func call(t *testing.T, request string) cassette.Episode {
	t.Helper()
	e := cassette.Episode{
		Kind: "http", Origin: cassette.Live, At: "2026-01-02", Model: "m-1",
		Request:  cassette.Request{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Header: http.Header{}, Body: []byte(request)},
		Response: cassette.Response{Status: 200, Header: http.Header{}, Body: []byte(`{"content":[{"type":"text","text":"hello"}]}`)},
	}
	var err error
	if e.Key, e.Raw, err = seam.KeyOf(seam.DefaultRules(), "", e.Kind, e.Request); err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t *testing.T, h cassette.Header, episodes ...cassette.Episode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	w, err := cassette.Create(path, h)
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
	return path
}

// today is what a call is held against when nothing is wrong with it.
func today() lint.Options {
	return lint.Options{
		Today: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), MaxAge: 90 * 24 * time.Hour, MaxSize: 1 << 20,
		Retired: func(string, time.Time) (string, string) { return "", "" },
		Tools:   []transcript.Tool{{Name: "add", Description: "Adds.", Schema: `{"type":"object"}`}},
		System:  []string{"Be kind."},
	}
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(e *cassette.Episode, o *lint.Options, h *cassette.Header)
		want    string // codes
		episode int
		says    string
	}{
		"nothing": {change: func(*cassette.Episode, *lint.Options, *cassette.Header) {}},
		"a secret": {func(e *cassette.Episode, o *lint.Options, _ *cassette.Header) {
			e.Response.Body = []byte(`{"said":"correct-horse-battery"}`)
			o.Redactor = redact.New(redact.Options{Env: map[string]string{"A_KEY": "correct-horse-battery"}})
		}, "SECRET", 1, "A_KEY"},
		"another key":  {func(e *cassette.Episode, _ *lint.Options, _ *cassette.Header) { e.Request.Body = []byte(body + " ") }, "", 0, ""},
		"a stale key":  {func(e *cassette.Episode, _ *lint.Options, _ *cassette.Header) { e.Lane = "other" }, "STALE_KEY", 1, "nothing finds it"},
		"other keys":   {func(_ *cassette.Episode, _ *lint.Options, h *cassette.Header) { h.KeyVersion = 9 }, "OLD_KEYS", 0, "version 9"},
		"unknown rule": {func(_ *cassette.Episode, _ *lint.Options, h *cassette.Header) { h.Rules = []string{"x/9"} }, "STALE_KEY", 1, "x/9"},
		"unused":       {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.Unused = []int{0} }, "UNUSED", 1, "no scenario"},
		"old":          {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.MaxAge = 29 * 24 * time.Hour }, "AGE", 1, "2026-01-02"},
		"young enough": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.MaxAge = 30 * 24 * time.Hour }, "", 0, ""},
		"scripted": {func(e *cassette.Episode, o *lint.Options, _ *cassette.Header) {
			e.Origin, o.MaxAge = cassette.Scripted, 1
		}, "", 0, ""},
		"large":          {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.MaxSize = 100 }, "SIZE", 0, "more than 100"},
		"a bad key":      {func(e *cassette.Episode, _ *lint.Options, _ *cassette.Header) { e.Response.Status = 401 }, "AUTH_STORED", 1, "401"},
		"not understood": {func(e *cassette.Episode, _ *lint.Options, _ *cassette.Header) { e.Response.Body = []byte("?") }, "UNREADABLE", 1, "neither"},
		"retired": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) {
			o.Retired = func(model string, _ time.Time) (string, string) { return "2026-01-01", "the page of " + model }
		}, "RETIRED", 1, "the page of m-1"},
		"a prompt": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.System = []string{"Be brief."} }, "PROMPT", 1, `"Be kind." → "Be brief."`},
		"a schema": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) {
			o.Tools[0].Schema = `{"type":"string"}`
		}, "TOOL", 1, `schema /type: "object" → "string"`},
		"a description": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) { o.Tools[0].Description = "Sums." }, "TOOL", 1, "Sums."},
		"tools of somebody else": {func(_ *cassette.Episode, o *lint.Options, _ *cassette.Header) {
			o.Tools, o.System = []transcript.Tool{{Name: "other"}}, []string{"Be brief."}
		}, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, o, h := call(t, body), today(), cassette.Header{Rules: seam.DefaultRules()}
			tt.change(&e, &o, &h)
			found := lint.Check("a/b", write(t, h, e), o)
			if got := codes(found); got != tt.want {
				t.Fatalf("found %q, want %q: %+v", got, tt.want, found)
			}
			if len(found) > 0 && (found[0].Episode != tt.episode || !strings.Contains(found[0].Message, tt.says) || found[0].Fix == "" || found[0].Cassette != "a/b") {
				t.Errorf("%+v", found[0])
			}
			if len(found) > 0 && strings.Contains(found[0].Message+found[0].Place+found[0].Fix, "horse") {
				t.Error("the secret is told")
			}
		})
	}
}

func codes(found []lint.Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

func TestFileFindings(t *testing.T) {
	e := call(t, body)
	path := write(t, cassette.Header{Rules: seam.DefaultRules()}, e, e)
	for _, beside := range []string{strings.TrimSuffix(path, ".yaml") + ".blobs", path + ".part"} {
		if err := os.WriteFile(beside, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := codes(lint.Check("a", path, today())); got != "BLOBS JOURNAL DUPLICATE" {
		t.Error(got)
	}
	if got := codes(lint.Check("a", "../testdata/format1.yaml", today())); got != "OLD_FORMAT" {
		t.Error(got)
	}
	if err := os.WriteFile(path, []byte("---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := codes(lint.Check("a", path, today())); got != "DAMAGED" {
		t.Error(got)
	}
}

// Real traffic holds much that looks like a credential and is none.
func TestCorpusHasNoSecrets(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "corpus", "cassettes")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus of foreign cassettes is not here: %v", err)
	}
	files, r := 0, redact.New(redact.Options{})
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		rec, err := importer.LoadAs(path, "")
		if err != nil {
			return err
		}
		for i := range rec.Episodes {
			e := &rec.Episodes[i]
			e.Request.URL, e.Request.Body, e.Response.Body = r.URL(e.Request.URL), r.Mask(e.Request.Body), r.Mask(e.Response.Body)
			e.Request.Header, e.Response.Header = r.RequestHeader(e.Request.Header), r.ResponseHeader(e.Response.Header)
			if found := lint.Secrets(r, e); len(found) > 0 {
				t.Errorf("%s, episode %d: %+v", path, i+1, found)
			}
		}
		return nil
	})
	if err != nil || files != 242 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestSecretsNamesEveryPlace(t *testing.T) {
	const value = "correct-horse-battery"
	e := call(t, `{"a":"`+value+`"}`)
	e.Lane, e.Model, e.Request.URL, e.Response.Error = value, value, "https://a.test/"+value, value
	e.Response.Body = []byte(value)
	e.Request.Header, e.Response.Header = http.Header{"X-A": {value}}, http.Header{"X-B": {value}}
	var places []string
	for _, s := range lint.Secrets(redact.New(redact.Options{Env: map[string]string{"A_KEY": value}}), &e) {
		places = append(places, s.Place)
	}
	want := []string{"request.url", "request.body", "response.body", "response.error", "lane", "model", "request.header X-A", "response.header X-B"}
	if !slices.Equal(places, want) {
		t.Errorf("%q, want %q", places, want)
	}
}
