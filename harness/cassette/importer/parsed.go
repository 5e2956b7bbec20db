package importer

import (
	"encoding/json"
	"errors"
	"fmt"

	yaml "go.yaml.in/yaml/v4"
)

// parsedVCRPy is a body that a serializer stored as a value, so that people can read
// it: it is JSON again here, with numbers as they are written.
type parsedVCRPy []byte

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *parsedVCRPy) UnmarshalYAML(n *yaml.Node) error {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil
	}
	w := jsonWriter{left: MaxBody}
	if err := w.value(n, 0); err != nil {
		return err
	}
	*v = w.out
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *parsedVCRPy) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		*v = append(parsedVCRPy{}, b...)
	}
	return nil
}

// A jsonWriter spells a YAML value as JSON. Anchors may make a short file long, so
// that what it may write is bounded.
type jsonWriter struct {
	out  []byte
	left int
}

// maxDepth bounds the nesting of a value.
const maxDepth = 1000

func (w *jsonWriter) put(text string) error {
	if w.left -= len(text); w.left < 0 {
		return errors.New("a body is too long")
	}
	w.out = append(w.out, text...)
	return nil
}

func (w *jsonWriter) value(n *yaml.Node, depth int) error {
	n = target(n)
	if depth > maxDepth {
		return fmt.Errorf("a body is nested deeper than %d", maxDepth)
	}
	open, end, step := "[", "]", 1
	switch n.Kind {
	case yaml.ScalarNode:
		return w.scalar(n)
	case yaml.MappingNode:
		open, end, step = "{", "}", 2
	case yaml.SequenceNode:
	default:
		return errBody
	}
	if err := w.put(open); err != nil {
		return err
	}
	for i := 0; i+step <= len(n.Content); i += step {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if step == 2 {
			name, _ := json.Marshal(n.Content[i].Value) // a string
			if err := w.put(string(name) + ":"); err != nil {
				return err
			}
		}
		if err := w.value(n.Content[i+step-1], depth+1); err != nil {
			return err
		}
	}
	return w.put(end)
}

func (w *jsonWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		return w.put("null")
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return err
		}
		return w.put(fmt.Sprint(b))
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return w.put(n.Value)
		}
	}
	text, err := scalarBytes(n)
	if err != nil {
		return err
	}
	b, err := json.Marshal(string(text))
	if err != nil {
		return err
	}
	return w.put(string(b))
}
