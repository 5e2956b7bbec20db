// Package importer reads the cassettes of other tools as episodes of ours: the
// YAML files of go-vcr, of every version from v1 to v4.
//
// It belongs to harness, beside cassette. It computes no keys (package seam
// does), redacts nothing, and writes nothing.
package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeMissing    fault.Code = "IMPORT_MISSING"    // no such file
	CodeUnreadable fault.Code = "IMPORT_UNREADABLE" // not a cassette of go-vcr, or a broken one
	CodeVersion    fault.Code = "IMPORT_VERSION"    // a version of the format that is not known here
)

// MaxFile is the most bytes of a file that is imported: a YAML document takes
// several times its size in memory.
const MaxFile = 64 << 20

// Load reads the go-vcr cassette at path. The episodes have the origin imported,
// no key and no chunks: go-vcr keeps no boundaries.
func Load(path string) ([]cassette.Episode, error) {
	const op = "importer.load"
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(CodeMissing, op, "there is no file %q", path).WithHint("check the path")
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "file %q", path)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "read %q", path)
	}
	return Read(path, data)
}

// Read reads the bytes of a go-vcr cassette; name is for messages.
func Read(name string, data []byte) ([]cassette.Episode, error) {
	const op = "importer.read"
	if len(data) > MaxFile {
		return nil, fault.New(fault.TooLarge, op, "file %q has more than %d bytes", name, MaxFile)
	}
	var file fileYAML
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&file); err != nil {
		return nil, unreadable(op, err, "file %q is not YAML of the shape of a go-vcr cassette", name)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, unreadable(op, err, "file %q goes on after the cassette", name)
	}
	if file.Version != 1 && file.Version != 2 {
		return nil, fault.New(CodeVersion, op, "file %q has cassette version %d; 1 and 2 are known", name, file.Version).
			WithHint("import a file that go-vcr v1 to v4 wrote")
	}
	if len(file.Interactions) > cassette.MaxEpisodes {
		return nil, fault.New(fault.TooLarge, op, "file %q has %d interactions, more than %d", name, len(file.Interactions), cassette.MaxEpisodes)
	}
	episodes := make([]cassette.Episode, len(file.Interactions))
	for i, in := range file.Interactions {
		e, err := in.episode()
		if err != nil {
			return nil, unreadable(op, err, "file %q, interaction %d", name, i)
		}
		episodes[i] = e
	}
	return episodes, nil
}

func unreadable(op string, err error, format string, args ...any) error {
	return fault.Wrap(err, CodeUnreadable, op, format, args...).
		WithHint("check that the file is whole, or record the calls again")
}

// A fileYAML is what every version of go-vcr writes. Version 1 is go-vcr v1 and
// v2, version 2 is v3 and v4; they differ in fields that are not needed here.
type fileYAML struct {
	Version      int                `yaml:"version"`
	Interactions []*interactionYAML `yaml:"interactions"`
}

type interactionYAML struct {
	Request  *requestYAML  `yaml:"request"`
	Response *responseYAML `yaml:"response"`
}

type requestYAML struct {
	Body    string      `yaml:"body"`
	Headers http.Header `yaml:"headers"`
	URL     string      `yaml:"url"`
	Method  string      `yaml:"method"`
}

type responseYAML struct {
	Body     string      `yaml:"body"`
	Headers  http.Header `yaml:"headers"`
	Code     int         `yaml:"code"`
	Duration string      `yaml:"duration"` // a string in all of them; v1 leaves it empty
}

func (in *interactionYAML) episode() (cassette.Episode, error) {
	var none cassette.Episode
	switch {
	case in == nil || in.Request == nil || in.Response == nil:
		return none, errors.New("it has no request or no response")
	case in.Request.URL == "":
		return none, errors.New("the request has no url")
	case in.Response.Code < 100 || in.Response.Code > 999:
		return none, fmt.Errorf("the response has status code %d", in.Response.Code)
	}
	took, err := duration(in.Response.Duration)
	if err != nil {
		return none, err
	}
	method := in.Request.Method
	if method == "" {
		method = http.MethodGet // as net/http has it
	}
	return cassette.Episode{
		Kind: "http", Origin: cassette.Imported,
		Request: cassette.Request{Method: method, URL: in.Request.URL, Header: in.Request.Headers, Body: []byte(in.Request.Body)},
		Response: cassette.Response{
			Status: in.Response.Code, Header: in.Response.Headers, Body: []byte(in.Response.Body),
			Duration: took,
		},
	}, nil
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
