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

// A text with a character beyond ASCII is none that a machine made, however JSON spells it.
func TestForeignTextsAreHandmade(t *testing.T) {
	r := New(Options{})
	const uuid = "6f1c1c7a-93b1-4c0e-9d5b-0a1b2c3d4e5f"
	for text, kept := range map[string]bool{
		`{"key":"` + uuid + `"}`:                                false,
		`{"key":"\u0041` + uuid + `"}`:                          false, // an A
		"{\"key\":\"\uf000folder:" + uuid + "\"}":               true,
		`{"key":"\uf000folder:` + uuid + `"}`:                   true,
		`{"a":"{\"key\":\"\\uF000folder:` + uuid + `\"}"}`:      true,
		`{"password":"\uf000folder:` + uuid + `"}`:              false, // the name tells
		`{"key":"\uf000folder:sk-` + `ant-api03-` + uuid + `"}`: false, // the shape does
	} {
		if got := r.Mask([]byte(text)); (string(got) == text) != kept {
			t.Errorf("%s becomes %s", text, got)
		}
		if found := r.Find([]byte(text)); (len(found) == 0) != kept {
			t.Errorf("%s: found %v", text, found)
		}
	}
}
