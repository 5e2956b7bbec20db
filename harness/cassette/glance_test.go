package cassette_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

func TestGlanceSeesLaneAndBody(t *testing.T) {
	key := strings.Repeat("ab", 32)
	path := filepath.Join(t.TempDir(), "a.yaml")
	w, err := cassette.Create(path, cassette.Header{})
	if err != nil {
		t.Fatal(err)
	}
	bodies := []string{`{"a":"x","request":{"body":"no"},"x-lane":"no"}`, "", "\xff\x00", "a \\ \" \n \u2028 é"}
	lanes := []string{"", "critic", `q"uote`, "a/b"}
	for i, body := range bodies {
		e := cassette.Episode{
			Key: key, Lane: lanes[i], Kind: "http", Origin: cassette.Scripted,
			Request:  cassette.Request{Method: "POST", URL: "https://h/", Body: []byte(body)},
			Response: cassette.Response{Status: 200, Body: []byte(`,"request":{"body":"no","x-lane":"no"`)},
		}
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range bodies {
		lane, quoted := c.Glance(i)
		if string(lane) != string(cassette.Quote([]byte(lanes[i]))) {
			t.Errorf("episode %d: lane %q, want %q", i, lane, lanes[i])
		}
		if want := cassette.Quote([]byte(body)); !bytes.Equal(quoted, want) {
			t.Errorf("episode %d: body %q, want %q", i, quoted, want)
		}
	}
}
