package importer

import (
	"bytes"
	"encoding/json"

	yaml "go.yaml.in/yaml/v4"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Detect tells the format of a file by what is in it.
func Detect(name string, data []byte) (Format, error) {
	const op = "importer.detect"
	unknown := fault.New(CodeFormat, op, "file %q looks like no format that is known here", name).
		WithHint("say which it is with --format: %s", list())
	switch {
	case bytes.HasPrefix(data, []byte(httprrMagic)):
		return HTTPRR, nil
	case bytes.HasPrefix(data, []byte("---\nversion: 1\nx-format: ")):
		return "", fault.New(CodeOurs, op, "file %q is a cassette of this program already", name).
			WithHint("copy it below cassettes/, or read it with: soundstage cassette show %s", name)
	}
	if first := bytes.TrimLeft(data, " \t\r\n\ufeff"); bytes.HasPrefix(first, []byte("{")) {
		if f := detectJSON(data); f != "" {
			return f, nil
		}
		return "", unknown
	}
	if f := detectYAML(data); f != "" {
		return f, nil
	}
	return "", unknown
}

// detectJSON looks at names at the top only. The text may be broken further down: the
// reader will say so better.
func detectJSON(data []byte) Format {
	var top struct {
		Log *struct {
			RecordingName *string `json:"_recordingName"`
			Creator       struct {
				Name string `json:"name"`
			} `json:"creator"`
		} `json:"log"`
		Fixtures     json.RawMessage `json:"fixtures"`
		Interactions json.RawMessage `json:"interactions"`
	}
	err := json.Unmarshal(trimBOM(data), &top)
	switch {
	case top.Log != nil && (top.Log.RecordingName != nil || top.Log.Creator.Name == "Polly.JS"):
		return Polly
	case top.Log != nil:
		return HAR
	case top.Fixtures != nil:
		return Aimock
	case top.Interactions != nil:
		return VCRPy
	case err == nil:
		return ""
	}
	head := data[:min(len(data), 4096)]
	for _, by := range []struct {
		text string
		is   Format
	}{{`"_recordingName"`, Polly}, {`"fixtures"`, Aimock}, {`"interactions"`, VCRPy}, {`"log"`, HAR}} {
		if bytes.Contains(head, []byte(by.text)) {
			return by.is
		}
	}
	return ""
}

// detectYAML tells the two that write YAML apart: one calls an address url, the other
// uri.
func detectYAML(data []byte) Format {
	var top struct {
		Version      *int `yaml:"version"`
		Interactions []struct {
			Request struct {
				URL string `yaml:"url"`
				URI string `yaml:"uri"`
			} `yaml:"request"`
		} `yaml:"interactions"`
	}
	err := yaml.Unmarshal(data, &top)
	for _, in := range top.Interactions {
		switch {
		case in.Request.URI != "":
			return VCRPy
		case in.Request.URL != "":
			return GoVCR
		}
	}
	if top.Version != nil && err == nil || bytes.Contains(data[:min(len(data), 4096)], []byte("interactions:")) {
		return GoVCR
	}
	return ""
}

// trimBOM takes the mark off that some browsers and editors begin a file with.
func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }
