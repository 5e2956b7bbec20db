package upstream

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A let takes a value that the author could not know from what is new in a
// request: the tool results, then the user text.
type let struct {
	name string
	find *regexp.Regexp
}

// take returns the first group of the first match, or the whole match when the
// expression has no group.
func (l let) take(a ask) (string, bool) {
	for _, r := range a.results {
		if v, ok := l.match(r.text); ok {
			return v, true
		}
	}
	return l.match(a.user)
}

func (l let) match(s string) (string, bool) {
	m := l.find.FindStringSubmatch(s)
	switch {
	case m == nil:
		return "", false
	case len(m) > 1:
		return m[1], true
	}
	return m[0], true
}

var (
	letName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })
	reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{([^}]*)\}?`) })
)

// A template is text in which ${name} stands for a value taken by let. $${ is a
// plain ${.
type template struct {
	text string
	refs []string
	json bool // the whole text is ${name|json}: the value is spliced in as JSON
}

func parseTemplate(s string) (template, error) {
	t := template{text: s}
	for _, m := range reference().FindAllStringSubmatch(s, -1) {
		if strings.HasPrefix(m[0], "$$") {
			continue
		}
		name, spliced := strings.CutSuffix(m[1], "|json")
		if !strings.HasSuffix(m[0], "}") || !letName().MatchString(name) {
			return t, fmt.Errorf("%q is no reference: write ${name}, or $${ for a plain ${", m[0])
		}
		if spliced && m[0] != s {
			return t, fmt.Errorf("%q must be the whole text", m[0])
		}
		t.json = spliced
		t.refs = append(t.refs, name)
	}
	return t, nil
}

// fill puts the values in. The parser has seen to it that each is there.
func (t template) fill(vars map[string]string) string {
	return reference().ReplaceAllStringFunc(t.text, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		return vars[strings.TrimSuffix(m[2:len(m)-1], "|json")]
	})
}
