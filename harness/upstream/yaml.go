package upstream

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"gopkg.in/yaml.v3"
)

// gopkg.in/yaml.v3 was taken because go-vcr v2 brings it into the build anyway and
// its nodes have lines. Its own decoder is not used: it follows aliases, merges
// keys, and names Go types in its errors.

// A source turns YAML nodes into values and remembers where they stood.
type source struct{ name string }

// errorf makes an error that names the file and the line.
func (r source) errorf(n *yaml.Node, format string, args ...any) error {
	return fault.New(CodeScript, "upstream.parse", "%s:%d: %s", r.name, max(n.Line, 1), fmt.Sprintf(format, args...)).
		WithHint("the format is in docs/reference/upstream-scripts.md")
}

// A field reads the value of one key.
type field func(*yaml.Node) error

// fields reads a mapping whose keys are all in table.
func (r source) fields(n *yaml.Node, what string, table map[string]field) error {
	if err := r.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return r.errorf(n, "%s must be a mapping of keys to values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		f, ok := table[k.Value]
		if !ok || k.Kind != yaml.ScalarNode {
			return r.errorf(k, "unknown key %q in %s: it has %s", k.Value, what, keys(table))
		}
		if seen[k.Value] {
			return r.errorf(k, "key %q stands twice in %s", k.Value, what)
		}
		seen[k.Value] = true
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

func keys(table map[string]field) string {
	var names []string
	for k := range table {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// plain refuses aliases and anchors: a script says things where it says them.
func (r source) plain(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return r.errorf(n, "anchors and aliases are not used in scripts")
	}
	return nil
}

// each calls f with each item of a list of at most limit items.
func (r source) each(n *yaml.Node, what string, limit int, f field) error {
	if err := r.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.SequenceNode {
		return r.errorf(n, "%s must be a list", what)
	}
	if len(n.Content) > limit {
		return r.errorf(n, "%s has %d items, more than %d", what, len(n.Content), limit)
	}
	for _, item := range n.Content {
		if err := f(item); err != nil {
			return err
		}
	}
	return nil
}

// str reads a text that is not empty.
func (r source) str(what string, to *string) field {
	return func(n *yaml.Node) error {
		if err := r.scalar(n, what, "!!str"); err != nil {
			return err
		}
		if n.Value == "" {
			return r.errorf(n, "%s is empty: leave it out", what)
		}
		*to = n.Value
		return nil
	}
}

// strs reads one text or a list of texts.
func (r source) strs(what string, to *[]string) field {
	one := func(n *yaml.Node) error {
		var s string
		if err := r.str(what, &s)(n); err != nil {
			return err
		}
		*to = append(*to, s)
		return nil
	}
	return func(n *yaml.Node) error {
		if n.Kind == yaml.SequenceNode {
			return r.each(n, what, MaxTurns, one)
		}
		return one(n)
	}
}

// tmpl reads a text with references.
func (r source) tmpl(what string, to *template) field {
	return func(n *yaml.Node) error {
		var s string
		if err := r.str(what, &s)(n); err != nil {
			return err
		}
		t, err := parseTemplate(s)
		if err != nil {
			return r.errorf(n, "%s: %v", what, err)
		}
		if t.json {
			return r.errorf(n, "%s is text: %s belongs in an input", what, t.text)
		}
		*to = t
		return nil
	}
}

// num reads a whole number from least to most.
func (r source) num(what string, least, most int, to *int) field {
	return func(n *yaml.Node) error {
		if err := r.scalar(n, what, "!!int"); err != nil {
			return err
		}
		i, err := strconv.Atoi(n.Value)
		if err != nil || i < least || i > most {
			return r.errorf(n, "%s is %q, not a whole number from %d to %d", what, n.Value, least, most)
		}
		*to = i
		return nil
	}
}

// flag reads true or false.
func (r source) flag(what string, to *bool) field {
	return func(n *yaml.Node) error {
		if err := r.scalar(n, what, "!!bool"); err != nil {
			return err
		}
		*to = strings.EqualFold(n.Value, "true")
		return nil
	}
}

func (r source) scalar(n *yaml.Node, what, tag string) error {
	if err := r.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != tag {
		kinds := map[string]string{"!!str": "a text (quote it)", "!!int": "a whole number", "!!bool": "true or false"}
		return r.errorf(n, "%s must be %s", what, kinds[tag])
	}
	return nil
}
