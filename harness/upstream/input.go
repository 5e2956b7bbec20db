package upstream

import (
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// input reads any YAML value that has a JSON form.
func (r source) input(n *yaml.Node, what string, depth int) (value, error) {
	if err := r.plain(n); err != nil {
		return value{}, err
	}
	if depth > MaxDepth {
		return value{}, r.errorf(n, "%s is nested deeper than %d levels", what, MaxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.objectInput(n, what, depth)
	case yaml.SequenceNode:
		v := value{kind: list}
		for _, c := range n.Content {
			item, err := r.input(c, what, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		return v, nil
	}
	return r.scalarInput(n, what)
}

func (r source) objectInput(n *yaml.Node, what string, depth int) (value, error) {
	v := value{kind: object}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || k.Anchor != "" || k.ShortTag() == "!!merge" {
			return v, r.errorf(k, "a key of %s must be a text", what)
		}
		if seen[k.Value] {
			return v, r.errorf(k, "key %q stands twice in %s", k.Value, what)
		}
		seen[k.Value] = true
		item, err := r.input(n.Content[i+1], what, depth+1)
		if err != nil {
			return v, err
		}
		v.keys, v.items = append(v.keys, k.Value), append(v.items, item)
	}
	return v, nil
}

func (r source) scalarInput(n *yaml.Node, what string) (value, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp": // a bare date is the text that stands there
		t, err := parseTemplate(n.Value)
		if err != nil {
			return value{}, r.errorf(n, "%s: %v", what, err)
		}
		return value{kind: text, text: t}, nil
	case "!!null":
		return value{kind: literal, literal: "null"}, nil
	case "!!bool":
		return value{kind: literal, literal: strings.ToLower(n.Value)}, nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return value{kind: literal, literal: n.Value}, nil
		}
		return value{}, r.errorf(n, "%s: %q is no JSON number", what, n.Value)
	}
	return value{}, r.errorf(n, "%s: %s values have no JSON form", what, n.Tag)
}
