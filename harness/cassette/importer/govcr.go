package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// readGoVCR reads the YAML of every version of go-vcr.
func readGoVCR(b *batch, data []byte) error {
	const op = "importer.govcr"
	var file fileYAML
	if err := oneYAML(data, &file); err != nil {
		return err
	}
	if file.Version != 1 && file.Version != 2 {
		return fault.New(CodeVersion, op, "file %q has cassette version %d; 1 and 2 are known", b.name, file.Version).
			WithHint("import a file that go-vcr v1 to v4 wrote")
	}
	for i, in := range file.Interactions {
		e, err := in.episode()
		if err != nil {
			return fmt.Errorf("interaction %d: %w", i+1, err)
		}
		if in.Response.Uncompressed != nil && *in.Response.Uncompressed {
			delete(e.Response.Header, "Content-Encoding")
		}
		if in.DiscardOnSave {
			b.note(i+1, "marked to be discarded by the tool that wrote it; carried over all the same")
		}
		if err := b.add(i+1, e); err != nil {
			return err
		}
	}
	return nil
}

// oneYAML decodes a file that is one YAML document.
func oneYAML(data []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(into); err != nil {
		return err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("the file goes on after the recording"), err)
	}
	return nil
}

// A fileYAML is what every version of go-vcr writes. Version 1 is go-vcr v1 and
// v2, version 2 is v3 and v4; they differ in fields that are not needed here.
type fileYAML struct {
	Version      int                `yaml:"version"`
	Interactions []*interactionYAML `yaml:"interactions"`
}

type interactionYAML struct {
	Request       *requestYAML  `yaml:"request"`
	Response      *responseYAML `yaml:"response"`
	DiscardOnSave bool          `yaml:"discard_on_save"`
}

type requestYAML struct {
	Body    string      `yaml:"body"`
	Headers http.Header `yaml:"headers"`
	URL     string      `yaml:"url"`
	Method  string      `yaml:"method"`
}

type responseYAML struct {
	Body         string      `yaml:"body"`
	Headers      http.Header `yaml:"headers"`
	Code         int         `yaml:"code"`
	Duration     string      `yaml:"duration"` // a string in all of them; v1 leaves it empty
	Uncompressed *bool       `yaml:"uncompressed"`
}

func (in *interactionYAML) episode() (cassette.Episode, error) {
	var none cassette.Episode
	switch {
	case in == nil || in.Request == nil || in.Response == nil:
		return none, errNoHalf
	case in.Request.URL == "":
		return none, errNoURL
	}
	if err := checkStatus(in.Response.Code); err != nil {
		return none, err
	}
	took, err := duration(in.Response.Duration)
	if err != nil {
		return none, err
	}
	return cassette.Episode{
		Request: cassette.Request{Method: in.Request.Method, URL: in.Request.URL, Header: canonical(in.Request.Headers), Body: []byte(in.Request.Body)},
		Response: cassette.Response{
			Status: in.Response.Code, Header: canonical(in.Response.Headers), Body: []byte(in.Response.Body),
			Duration: took,
		},
	}, nil
}

var (
	errNoHalf = errors.New("it has no request or no response")
	errNoURL  = errors.New("the request has no address")
)

func checkStatus(code int) error {
	if code < 100 || code > 999 {
		return fmt.Errorf("the response has status code %d", code)
	}
	return nil
}

// canonical spells the names of headers as net/http does, and drops those that no
// HTTP/1.1 message has.
func canonical(h map[string][]string) http.Header {
	if h == nil {
		return nil
	}
	out := make(http.Header, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) { // X and x become one: in the same order each time
		if name == "" || name[0] == ':' { // :status, of HTTP/2
			continue
		}
		key := http.CanonicalHeaderKey(name)
		out[key] = append(out[key], h[name]...)
	}
	return out
}

func duration(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		return 0, fmt.Errorf("duration %q is negative", s)
	}
	return d, err
}
