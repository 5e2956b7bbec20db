package twin_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func node(t *testing.T, s string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// both is true where a and b are.
var both = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		return canon.NewBool(doc.Field("a").Raw() == "1" && doc.Field("b").Raw() == "1"), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		to := canon.NewInt(0)
		if val.Raw() == "true" {
			to = canon.NewInt(1)
		}
		_, _ = doc.Set("/a", to), doc.Set("/b", to)
		return []twin.Loss{{Path: "/x", Verdict: twin.Approximated, Reason: "r"}}
	},
}

func TestOver(t *testing.T) {
	fields := []twin.Field{{Path: "/both", Over: &both}}
	const text = `{ "a": 1, "z": null, "b": 0 }`
	doc := node(t, text)
	body, _ := twin.Read(doc, fields)
	if got := string(body.Bytes()); got != `{"both":false}` {
		t.Fatal(got)
	}
	if losses := twin.Lay(doc, fields, body); len(losses) > 0 || string(doc.Bytes()) != text {
		t.Errorf("unchanged: %s, %v", doc.Bytes(), losses)
	}
	losses := twin.Lay(doc, fields, node(t, `{"both":true}`))
	if got := string(doc.Bytes()); got != `{ "a": 1, "z": null, "b": 1 }` || len(losses) != 1 || losses[0].Path != "/both/x" {
		t.Errorf("changed: %s, %v", got, losses)
	}
}

func TestMembersOfObjects(t *testing.T) {
	codec := twin.Objects([]twin.Field{{Path: "/id", Ptr: "/uid", Codec: twin.Text}, {Path: "/c", Ptr: "/content", Codec: twin.Text}}, "/id", "e", `{"uid":""}`)
	fields := []twin.Field{{Path: "/list", Ptr: "/entries", Codec: codec}}
	const text = "{\"entries\": {\n  \"3\": {\"uid\": \"3\", \"x\": 1},\n  \"7\": {\"uid\": \"7\"}\n}}"
	tests := []struct{ name, body, want string }{
		{"one value", `{"list":[{"id":"3","c":"C"},{"id":"7"}]}`, "{\"entries\": {\n  \"3\": {\"uid\": \"3\", \"x\": 1, \"content\": \"C\"},\n  \"7\": {\"uid\": \"7\"}\n}}"},
		{"a new one, by its number", `{"list":[{"id":"3"},{"id":"7"},{"id":"5"}]}`, "{\"entries\": {\n  \"3\": {\"uid\": \"3\", \"x\": 1},\n  \"7\": {\"uid\": \"7\"},\n  \"5\": {\"uid\":\"5\"}\n}}"},
		{"a new one, by the next number", `{"list":[{"id":"3"},{"id":"7"},{"id":"a"}]}`, "{\"entries\": {\n  \"3\": {\"uid\": \"3\", \"x\": 1},\n  \"7\": {\"uid\": \"7\"},\n  \"8\": {\"uid\":\"a\"}\n}}"},
		{"one less", `{"list":[{"id":"7"}]}`, "{\"entries\": {\n  \"7\": {\"uid\": \"7\"}\n}}"},
		{"turned round", `{"list":[{"id":"7"},{"id":"3"}]}`, `{"entries": {"7":{"uid": "7"},"3":{"uid": "3", "x": 1}}}`},
	}
	for _, tt := range tests {
		doc := node(t, text)
		twin.Lay(doc, fields, node(t, tt.body))
		if got := string(doc.Bytes()); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	doc := node(t, `{"entries":{"1":{"uid":"1","content":"old"},"1":{"uid":"1","content":"new"}}}`)
	if body, problems := twin.Read(doc, fields); string(body.Bytes()) != `{"list":[{"id":"1","c":"new"}]}` || len(problems) > 0 {
		t.Errorf("a doubled name: %s, %v", body.Bytes(), problems)
	}
}

func TestObjectAndFlagAndSampler(t *testing.T) {
	fields := []twin.Field{
		{Path: "/filter", Ptr: "/characterFilter", Codec: twin.Object([]twin.Field{
			{Path: "/exclude", Ptr: "/isExclude", Codec: twin.Flag, Required: true}, {Path: "/names", Ptr: "/names", Codec: twin.TextList, Required: true},
		}, `{"isExclude":false,"names":[]}`)},
		{Path: "/n", Ptr: "/n", Codec: twin.Sampler},
	}
	for _, tt := range []struct{ doc, body, changed, want string }{
		{`{"characterFilter":{"isExclude":false,"x":1},"n":null}`, `{"n":null}`, `{"n":1,"filter":{"names":["B"]}}`, `{"characterFilter":{"isExclude":false,"x":1,"names":["B"]},"n":1}`},
		{`{"characterFilter":{"isExclude":true},"n":"1.0"}`, `{"filter":{"exclude":true},"n":1.0}`, `{"n":null}`, `{"n":null}`},
		{`{}`, `{}`, `{"filter":{"exclude":true}}`, `{"characterFilter":{"isExclude":true,"names":[]}}`},
	} {
		doc := node(t, tt.doc)
		body, problems := twin.Read(doc, fields)
		if !canon.Equal(body, node(t, tt.body)) || len(problems) > 0 {
			t.Errorf("%s reads %s, %v", tt.doc, body.Bytes(), problems)
		}
		twin.Lay(doc, fields, body)
		if string(doc.Bytes()) != tt.doc {
			t.Errorf("%s unchanged is %s", tt.doc, doc.Bytes())
		}
		twin.Lay(doc, fields, node(t, tt.changed))
		if string(doc.Bytes()) != tt.want {
			t.Errorf("%s changed is %s, want %s", tt.doc, doc.Bytes(), tt.want)
		}
	}
}
