package redact

import (
	"strings"
	"testing"
)

// TestMayBeNamed holds the short cut to what it stands before: it may let a name
// through that is none, and may not keep one back, however it is spelled.
func TestMayBeNamed(t *testing.T) {
	names := append([]string{}, nameEnds...)
	for n := range anyNames {
		names = append(names, n)
	}
	for _, n := range names {
		for _, spelled := range []string{n, strings.ToUpper(n), n + "_", n[:len(n)-1] + "-" + n[len(n)-1:], "my_" + n} {
			if !mayBeNamed([]byte(spelled)) {
				t.Errorf("%q is ruled out", spelled)
			}
		}
	}
	for _, n := range []string{"type", "text", "role", "content", "name", "x", ""} {
		if mayBeNamed([]byte(n)) {
			t.Errorf("%q is let through", n)
		}
	}
}
