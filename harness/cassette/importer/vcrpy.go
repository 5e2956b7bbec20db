package importer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	yaml "go.yaml.in/yaml/v4"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A fileVCRPy is a cassette of vcrpy, in YAML or in JSON.
type fileVCRPy struct {
	Version      *int                `yaml:"version" json:"version"`
	Interactions []*interactionVCRPy `yaml:"interactions" json:"interactions"`
}

type interactionVCRPy struct {
	Request  *requestVCRPy  `yaml:"request" json:"request"`
	Response *responseVCRPy `yaml:"response" json:"response"`
}

type requestVCRPy struct {
	Method  string       `yaml:"method" json:"method"`
	URI     string       `yaml:"uri" json:"uri"`
	Headers headersVCRPy `yaml:"headers" json:"headers"`
	Body    bodyVCRPy    `yaml:"body" json:"body"`
	Parsed  parsedVCRPy  `yaml:"parsed_body" json:"parsed_body"`
}

type responseVCRPy struct {
	Status struct {
		Code int `yaml:"code" json:"code"`
	} `yaml:"status" json:"status"`
	Headers headersVCRPy `yaml:"headers" json:"headers"`
	Body    bodyVCRPy    `yaml:"body" json:"body"`
	Parsed  parsedVCRPy  `yaml:"parsed_body" json:"parsed_body"`
	// What the first stubs for httpx wrote.
	StatusCode int       `yaml:"status_code" json:"status_code"`
	Content    bodyVCRPy `yaml:"content" json:"content"`
}

// readVCRPy reads vcrpy's cassettes, which pytest-recording writes too.
func readVCRPy(b *batch, data []byte) error {
	var file fileVCRPy
	var err error
	if bytes.HasPrefix(bytes.TrimLeft(trimBOM(data), " \t\r\n"), []byte("{")) {
		err = json.Unmarshal(trimBOM(data), &file)
	} else {
		err = oneYAML(data, &file)
	}
	if err != nil {
		return err
	}
	if file.Version == nil || *file.Version != 1 {
		v := 0
		if file.Version != nil {
			v = *file.Version
		}
		return fault.New(CodeVersion, "importer.vcrpy", "file %q has cassette version %d; 1 is known", b.name, v).
			WithHint("bring it up to date with vcrpy's own migration, or record it again")
	}
	for i, in := range file.Interactions {
		e, err := in.episode()
		if err != nil {
			return fmt.Errorf("interaction %d: %w", i+1, err)
		}
		if in.Request.Parsed != nil || in.Response.Parsed != nil {
			b.note(i+1, "a body was stored as a value: its spelling is made anew, its meaning is the same")
		}
		if err := b.add(i+1, e); err != nil {
			return err
		}
	}
	return nil
}

func (in *interactionVCRPy) episode() (cassette.Episode, error) {
	var e cassette.Episode
	switch {
	case in == nil || in.Request == nil || in.Response == nil:
		return e, errNoHalf
	case in.Request.URI == "":
		return e, errNoURL
	}
	req, res := in.Request, in.Response
	e.Request = cassette.Request{Method: req.Method, URL: req.URI, Header: canonical(req.Headers), Body: req.Body}
	if req.Parsed != nil {
		e.Request.Body = req.Parsed
	}
	e.Response = cassette.Response{Status: res.Status.Code, Header: canonical(res.Headers), Body: res.Body}
	if res.Status.Code == 0 {
		e.Response.Status = res.StatusCode
	}
	switch {
	case res.Parsed != nil:
		e.Response.Body = res.Parsed
	case res.Body == nil:
		e.Response.Body = res.Content
	}
	return e, checkStatus(e.Response.Status)
}

// headersVCRPy have a list of values each, or one.
type headersVCRPy map[string][]string

// UnmarshalYAML implements yaml.Unmarshaler.
func (h *headersVCRPy) UnmarshalYAML(n *yaml.Node) error {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return errors.New("headers are no mapping")
	}
	*h = make(headersVCRPy, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := n.Content[i].Value, target(n.Content[i+1])
		items := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			items = v.Content
		}
		for _, item := range items {
			text, err := scalarBytes(target(item))
			if err != nil {
				return fmt.Errorf("header %.40q is no text", name)
			}
			(*h)[name] = append((*h)[name], string(text))
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *headersVCRPy) UnmarshalJSON(b []byte) error {
	var raw map[string]oneOrMany
	err := json.Unmarshal(b, &raw)
	*h = make(headersVCRPy, len(raw))
	for name, values := range raw {
		(*h)[name] = values
	}
	return err
}

// bodyVCRPy is a text, bytes, or a mapping with either.
type bodyVCRPy []byte

var errBody = errors.New("a body is neither a text nor bytes")

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *bodyVCRPy) UnmarshalYAML(n *yaml.Node) error {
	n = target(n)
	if n.Kind == yaml.ScalarNode {
		text, err := scalarBytes(n)
		*v = text
		return err
	}
	if n.Kind != yaml.MappingNode {
		return errBody
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := target(n.Content[i+1])
		switch n.Content[i].Value {
		case "string":
			text, err := scalarBytes(value)
			*v = text
			return err
		case "base64_string":
			text, err := base64.StdEncoding.DecodeString(value.Value)
			*v = text
			return err
		case "state": // a file that Python had in memory: its bytes come first
			if value.Kind == yaml.SequenceNode && len(value.Content) > 0 {
				text, err := scalarBytes(target(value.Content[0]))
				*v = text
				return err
			}
		}
	}
	if len(n.Content) == 0 {
		return nil
	}
	return errBody
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *bodyVCRPy) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err == nil {
		if text != nil {
			*v = bodyVCRPy(*text)
		}
		return nil
	}
	var m struct {
		String *string `json:"string"`
		Base64 []byte  `json:"base64_string"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return errors.Join(errBody, err)
	}
	if *v = m.Base64; m.String != nil {
		*v = bodyVCRPy(*m.String)
	}
	return nil
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// scalarBytes are the bytes of a text, of !!binary, or of a null. Tags of Python's own
// for a text say nothing more.
func scalarBytes(n *yaml.Node) ([]byte, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return nil, errBody
	case n.ShortTag() == "!!null":
		return nil, nil
	case n.ShortTag() == "!!binary":
		var s string
		err := n.Decode(&s)
		return []byte(s), err
	}
	return []byte(n.Value), nil
}
