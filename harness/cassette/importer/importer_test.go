package importer_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

const v4 = `---
version: 2
interactions:
- id: 0
  request:
    proto: HTTP/1.1
    content_length: 9
    host: ""
    body: '{"a": 1}'
    headers: {Content-Type: [application/json]}
    url: https://api.example.com/v1?a=1
    method: POST
  response:
    proto: HTTP/2.0
    uncompressed: true
    body: !!binary gAA=
    headers:
      X-Two: [a, b]
    status: 200 OK
    code: 200
    duration: 1.2s
`

const v1 = `---
version: 1
interactions:
- request:
    body: ""
    form: {}
    headers: {}
    url: http://example.com/
    method: GET
  response:
    body: "\tfoo\nbar\n"
    headers: {}
    status: 404 Not Found
    code: 404
    duration: ""
`

func TestRead(t *testing.T) {
	got, err := episodes(v4)
	if err != nil {
		t.Fatal(err)
	}
	want := []cassette.Episode{{
		Kind: "http", Origin: cassette.Imported,
		Request: cassette.Request{
			Method: "POST", URL: "https://api.example.com/v1?a=1", Body: []byte(`{"a": 1}`),
			Header: map[string][]string{"Content-Type": {"application/json"}},
		},
		Response: cassette.Response{
			Status: 200, Body: []byte{0x80, 0}, Header: map[string][]string{"X-Two": {"a", "b"}},
			Duration: 1200 * time.Millisecond,
		},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("v4\n got %+v\nwant %+v", got, want)
	}
	got, err = episodes(v1)
	if err != nil || len(got) != 1 || got[0].Response.Status != 404 || string(got[0].Response.Body) != "\tfoo\nbar\n" {
		t.Errorf("v1: %+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		data string
		code fault.Code
	}{
		"nothing":        {"", importer.CodeFormat},
		"null":           {"null\n", importer.CodeFormat},
		"a list":         {"- a\n", importer.CodeFormat},
		"ours":           {"---\nversion: 1\nx-format: 1\n", importer.CodeOurs},
		"not YAML":       {"version: 1\ninteractions:\n\t- x\n", importer.CodeUnreadable},
		"newer":          {strings.Replace(v4, "version: 2", "version: 3", 1), importer.CodeVersion},
		"null item":      {"version: 1\ninteractions: [null]\n", importer.CodeUnreadable},
		"no response":    {"version: 1\ninteractions: [{request: {url: a}}]\n", importer.CodeUnreadable},
		"no url":         {strings.Replace(v1, "url: http://example.com/", "url: ''", 1), importer.CodeUnreadable},
		"no code":        {strings.Replace(v1, "code: 404", "code: 0", 1), importer.CodeUnreadable},
		"duration":       {strings.Replace(v1, `duration: ""`, "duration: soon", 1), importer.CodeUnreadable},
		"negative":       {strings.Replace(v1, `duration: ""`, "duration: -1s", 1), importer.CodeUnreadable},
		"two documents":  {v1 + v1, importer.CodeUnreadable},
		"a second bad":   {v1 + "---\n\t{", importer.CodeUnreadable},
		"beyond a bound": {"#" + strings.Repeat(" ", importer.MaxFile), fault.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := episodes(tt.data)
			if fault.CodeOf(err) != tt.code {
				t.Errorf("got %d episodes, error %v, want code %s", len(got), err, tt.code)
			}
			if err != nil && !strings.Contains(err.Error(), `"f"`) {
				t.Errorf("%q does not name the file", err)
			}
		})
	}
	_, err := importer.Load(filepath.Join(t.TempDir(), "none.yaml"))
	if fault.CodeOf(err) != importer.CodeMissing {
		t.Errorf("missing file: %v", err)
	}
}

// Our own files are go-vcr v2 cassettes, so that they import as well.
func TestReadsGoVCR(t *testing.T) {
	c := govcr.New(filepath.Join(t.TempDir(), "c"))
	c.AddInteraction(&govcr.Interaction{
		Request:  govcr.Request{Method: "PUT", URL: "http://example.com/a", Body: "line\n\nline: 'x'"},
		Response: govcr.Response{Code: 201, Body: "\x80\xff", Duration: time.Second},
	})
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := importer.Load(c.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Request.Method != "PUT" || string(got[0].Request.Body) != "line\n\nline: 'x'" ||
		string(got[0].Response.Body) != "\x80\xff" || got[0].Response.Duration != time.Second {
		t.Errorf("read %+v", got)
	}
}

var item = regexp.MustCompile(`(?m)^ *(- )?request:$`)

// Each file of the corpus has as many episodes as it has requests, and each
// episode can be written and read as ours.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "corpus", "cassettes")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus of foreign cassettes is not here: %v", err)
	}
	files, total := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		got, err := importer.Load(path)
		if err != nil {
			t.Error(err)
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if want := len(item.FindAll(data, -1)); len(got) != want || want == 0 {
			t.Errorf("%s: %d episodes, want %d", path, len(got), want)
		}
		total += len(got)
		for i, e := range got {
			if len(e.Response.Body) == 0 || !bytes.HasPrefix([]byte(e.Request.URL), []byte("http")) {
				t.Errorf("%s, episode %d: url %q, %d bytes of body", path, i, e.Request.URL, len(e.Response.Body))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("%d files are not the corpus", files)
	}
	t.Logf("%d files, %d episodes", files, total)
}

// episodes reads a recording whose format is seen in it.
func episodes(data string) ([]cassette.Episode, error) {
	rec, err := importer.Read("f", []byte(data), "")
	if err != nil {
		return nil, err
	}
	return rec.Episodes, nil
}
