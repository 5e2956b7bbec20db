package regexscript_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/regexscript"
)

func tree(t *testing.T, text string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		`{"scriptName":"s","findRegex":"/a/g","placement":[1,2]}`: true,
		`{"scriptName":"s","findRegex":"a"}`:                      true,
		`{"scriptName":"s","findRegex":"a","placement":["ai"]}`:   false, // another platform's
		`{"scriptName":"s"}`:                                      false,
		`[]`:                                                      false,
	} {
		if regexscript.Is(tree(t, text)) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}

func TestReadAndLay(t *testing.T) {
	list := tree(t, `[{"id":"s1","scriptName":"Stars","findRegex":"/a\\/b/gi","replaceString":"b","trimStrings":[],"placement":[2],"disabled":true,"markdownOnly":true,`+
		`"promptOnly":false,"runOnEdit":false,"substituteRegex":0,"minDepth":null,"maxDepth":4,"vendor":1.50}]`)
	body, problem := regexscript.Read(list)
	if problem != "" {
		t.Fatal(problem)
	}
	for ptr, want := range map[string]string{"/rules/0/flags": `"gi"`, "/rules/0/enabled": `false`, "/rules/0/maxDepth": `4`, "/rules/0/name": `"Stars"`} {
		if got := body.At(ptr); got == nil || string(got.Bytes()) != want {
			t.Errorf("%s is %v, want %s", ptr, got, want)
		}
	}
	rules := body.Field("rules")
	if put, losses := regexscript.Lay(rules, list); len(losses) > 0 || string(put.Bytes()) != string(list.Bytes()) {
		t.Errorf("unedited: %v, %s", losses, put.Bytes())
	}
	if _, err := rules.At("/0").Delete("/find"); err != nil {
		t.Fatal(err)
	}
	if _, losses := regexscript.Lay(rules, list); len(losses) != 1 || losses[0].Path == "" {
		t.Errorf("flags without a pattern: losses %v", losses)
	}
}

// Two lists of rules become one, in which no id stands twice.
func TestJoined(t *testing.T) {
	both := regexscript.Joined(tree(t, `[{"id":"a","name":"1"},{"id":"b","name":"2"}]`), tree(t, `[{"id":"a","name":"3"}]`))
	ids := map[string]bool{}
	for _, r := range both.Items() {
		ids[r.Field("id").Text()] = true
	}
	if both.Len() != 3 || len(ids) != 3 {
		t.Errorf("%s", both.Bytes())
	}
}
