package secret_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
)

func TestClean(t *testing.T) {
	mask := redact.New(redact.Options{}).Mask
	key := "sk-ant-api03-" + strings.Repeat("Zq8r", 12)
	for name, tt := range map[string]struct {
		doc, want string
		found     []string
	}{
		"nothing":            {`{"a": "b", "n": 1.0}`, `{"a": "b", "n": 1.0}`, nil},
		"authors write so":   {`{"secret": "She is the spy.", "key": "lamp", "token": "a"}`, `{"secret": "She is the spy.", "key": "lamp", "token": "a"}`, nil},
		"under a name":       {`{"x": {"api_key": "q8Zr2LkP0vXw7TnB4mJc", "n": 1.0}}`, `{"x": {"n": 1.0}}`, []string{"/x/api_key"}},
		"two of a list":      {`{"access_token": ["q8Zr2LkP0vXw7TnB4mJc", "R8Zr2LkP0vXw7TnB4mJd"], "b": 2}`, `{"access_token": [], "b": 2}`, []string{"/access_token/0", "/access_token/1"}},
		"a slash in a name":  {`{"a/b": {"password": "q8Zr2LkP0vXw7TnB4mJc"}}`, `{"a/b": {}}`, []string{"/a~1b/password"}},
		"other words remain": {`{"text": "Use ` + key + ` please."}`, "", []string{"/text"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := canon.ParseTree([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			if found := secret.Clean(doc, mask); !slices.Equal(found, tt.found) {
				t.Errorf("found %q, want %q", found, tt.found)
			}
			got := string(doc.Bytes())
			if tt.want != "" && got != tt.want || strings.Contains(got, key) {
				t.Errorf("it is %s, want %s", got, tt.want)
			}
			if tt.want == "" && (!strings.Contains(got, "Use ") || !strings.Contains(got, " please.")) {
				t.Errorf("other words are gone: %s", got)
			}
		})
	}
}
