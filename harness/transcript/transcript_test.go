package transcript_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/transcript"
)

// corpusDir holds recordings of real providers that others made; see its README.
const corpusDir = "../../../shared/corpus/cassettes"

// A foreign is a go-vcr v4 cassette, as far as a transcript needs it.
type foreign struct {
	Interactions []struct {
		Request struct {
			Body, URL, Method string
		}
		Response struct {
			Body     string
			Code     int
			Duration time.Duration
		}
	}
}

// corpus gives each file's name and episodes; without a corpus it skips the test.
func corpus(t *testing.T) map[string][]cassette.Episode {
	t.Helper()
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skipf("there is no corpus here: %v", err)
	}
	files := map[string][]cassette.Episode{}
	err := filepath.WalkDir(corpusDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var f foreign
		if err := yaml.Unmarshal(text, &f); err != nil {
			return err
		}
		for _, i := range f.Interactions {
			files[path] = append(files[path], cassette.Episode{
				Kind: "http", Request: cassette.Request{Method: i.Request.Method, URL: i.Request.URL, Body: []byte(i.Request.Body)},
				Response: cassette.Response{Status: i.Response.Code, Body: []byte(i.Response.Body), Duration: i.Response.Duration},
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every call to a model that anybody recorded reads as one: with messages, with an
// answer or a failure, with usage, and without a problem.
func TestCorpus(t *testing.T) {
	formats := map[transcript.Format]int{}
	streams, calls := 0, 0
	files := corpus(t)
	for path, episodes := range files {
		for i := range episodes {
			tr := transcript.Read(&episodes[i])
			formats[tr.Format]++
			if tr.Stream {
				streams++
			}
			for _, m := range tr.Reply {
				for _, p := range m.Parts {
					if p.Kind == transcript.Call {
						calls++
					}
				}
			}
			url := episodes[i].Request.URL
			switch {
			case tr.Format == transcript.None || tr.Problem != "":
				t.Errorf("%s, episode %d (%s): format %q, problem %q", path, i+1, url, tr.Format, tr.Problem)
			case len(tr.Messages) == 0:
				t.Errorf("%s, episode %d (%s): no messages", path, i+1, url)
			case tr.Failure == "" && len(tr.Reply) == 0 && !strings.HasSuffix(url, "count_tokens"):
				t.Errorf("%s, episode %d (%s): neither an answer nor a failure", path, i+1, url)
			case tr.Failure == "" && tr.Usage == nil:
				t.Errorf("%s, episode %d (%s): no usage", path, i+1, url)
			case len(tr.Lines(nil)) == 0:
				t.Errorf("%s, episode %d: no lines", path, i+1)
			}
		}
	}
	if len(files) != 242 || len(formats) != 4 || streams < 100 || calls < 100 {
		t.Errorf("%d files, %v, %d streams, %d calls", len(files), formats, streams, calls)
	}
}

// Our own cassettes read as well, whatever they are recordings of.
func TestCommitted(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../../cassettes", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		c, err := cassette.Open(path)
		if err != nil {
			return err
		}
		for i := range c.Len() {
			e, err := c.Episode(i)
			if err != nil {
				return err
			}
			tr := transcript.Read(&e)
			if e.Model != "" && (tr.Format == transcript.None || len(tr.Messages) == 0) {
				t.Errorf("%s, episode %d: format %q, %d messages", path, i+1, tr.Format, len(tr.Messages))
			}
			if e.Response.End == "" && tr.Problem != "" && e.Response.Status == 200 {
				t.Logf("%s, episode %d: %s", path, i+1, tr.Problem)
			}
			n++
		}
		return nil
	})
	if err != nil || n < 100 {
		t.Errorf("%d episodes, %v", n, err)
	}
}

func TestRead(t *testing.T) {
	for _, tt := range reads {
		t.Run(tt.name, func(t *testing.T) {
			e := cassette.Episode{
				Kind: "http", Request: cassette.Request{Method: "POST", URL: tt.url, Body: []byte(tt.request)},
				Response: cassette.Response{Status: max(tt.status, 200), Body: []byte(tt.response)},
			}
			got := transcript.Read(&e)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, tt := range reads {
		f.Add(tt.url, []byte(tt.request), []byte(tt.response))
	}
	f.Fuzz(func(t *testing.T, url string, request, response []byte) {
		e := cassette.Episode{
			Kind: "http", Request: cassette.Request{Method: "POST", URL: url, Body: request},
			Response: cassette.Response{Status: 200, Body: response},
		}
		tr := transcript.Read(&e)
		tr.Lines(nil)
		if tr.Format == transcript.None && (len(tr.Messages) > 0 || len(tr.Reply) > 0) {
			t.Error("what is no model call has messages")
		}
	})
}
