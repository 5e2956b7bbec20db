package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lint"
)

// Each rule has a body that it finds, at its place; and a sound one finds nothing.
func TestRules(t *testing.T) {
	long := strings.Repeat("x", lint.LongText+1)
	tests := []struct{ kind, body, want string }{
		{"lorebook", `{"name":"B","entries":[{"id":"1","enabled":true,"keys":[{"text":"a"}],"content":"c"},{"id":"2","enabled":false}]}`, ""},
		{"lorebook", `{"name":"B","entries":[{"id":"1","enabled":true,"content":"c","activation":"constant"}]}`, ""},
		{"lorebook", `{"name":"B","entries":[{"id":"1","enabled":true,"content":"c"}]}`, "key-empty /entries/0/keys"},
		{"lorebook", `{"name":"B","entries":[{"id":"1","enabled":true,"keys":[{"text":"a"}]}]}`, "entry-empty /entries/0/content"},
		{"lorebook", `{"name":"B","entries":[{"id":"1","enabled":true,"content":"c","keys":[{"text":" "},{"text":"a"},{"text":"a"}]}]}`, "key-blank /entries/0/keys/0, key-duplicate /entries/0/keys/2"},
		{"lorebook", `{"name":"B","description":"` + long + `"}`, "size-text /description"},
		{"lorebook", `{"name":"B","nonsense":1}`, "body "},
		{"preset", `{"name":"P","blocks":[{"id":"a","enabled":true},{"id":"b","enabled":true,"marker":"persona"},{"id":"c","enabled":true,"unlisted":true}]}`, "block-ghost /blocks/0, block-unlisted /blocks/2"},
		{"preset", `{"name":"P","choices":[{"key":"k","options":[{"id":"o","blocks":["gone"]}]}]}`, "choice-dead /choices/0/options/0/blocks/0"},
		{"regex", `{"name":"R","rules":[{"id":"1","name":"n","enabled":true,"placement":["ai_output"],"flags":"g"},{"id":"2","name":"n","enabled":true,"find":"x"}]}`, "regex-empty /rules/0/find, regex-placement /rules/1/placement, regex-no-g /rules/1/flags, name-duplicate /rules/1/name"},
		{"regex", `{"name":"R","rules":[{"id":"1","enabled":false,"minDepth":3,"maxDepth":1}]}`, "regex-depth /rules/0/minDepth"},
		{"persona", `{"name":"M","book":"gone"}`, "link-dead "},
		{"persona", `{"name":"M","content":"sk-ant-api03-` + strings.Repeat("Zq8r", 12) + `"}`, "secret /content"},
		{"character", `{"identity":{"name":"A"},"behavior":{"regex":[{"id":"1","enabled":true,"find":"x","placement":["ai_output"]}]}}`, "regex-no-g /behavior/regex/0/flags"},
	}
	known := map[string]bool{}
	for _, r := range lint.Rules() {
		known[r.ID] = true
	}
	l := lint.New()
	for _, tt := range tests {
		p := store.Piece{Ref: store.Ref{Kind: tt.kind, ID: "x"}, Body: []byte(tt.body)}
		found, err := l.Lint(p, func(store.Ref) (bool, error) { return false, nil })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Rule+" "+f.Path)
			if !known[f.Rule] || f.Severity == "" || f.Message == "" || f.Piece != tt.kind+"/x" {
				t.Errorf("finding %+v", f)
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%.120s: found %q, want %q", tt.body, got, tt.want)
		}
	}
	original := store.Piece{Ref: store.Ref{Kind: "preset", ID: "x"}, Body: []byte(`{"name":"P"}`), Escrow: []store.Escrow{{Format: "f", Raw: []byte(`{"proxy_password":"hunter2"}`)}}}
	if found, err := l.Lint(original, nil); err != nil || len(found) == 0 || found[0].Rule != "secret-original" {
		t.Errorf("an original: %v, %v", found, err)
	}
	if !slices.IsSortedFunc(lint.Rules(), func(a, b lint.Rule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the rules are not in order")
	}
}
