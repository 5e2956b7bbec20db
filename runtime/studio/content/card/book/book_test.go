package book_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card/book"
)

func node(t testing.TB, s string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// one is a book of one entry with these members.
func one(members string) string {
	return `{"extensions":{},"entries":[{"keys":["k"],"enabled":true,` + members + `}]}`
}

// entry is the canonical form of the first entry, without what one gives it.
func entry(t *testing.T, doc *canon.Node) string {
	t.Helper()
	body, _ := book.Read(doc)
	e := body.At("/entries/0")
	for _, ptr := range []string{"/id", "/keys"} {
		if _, err := e.Delete(ptr); err != nil {
			t.Fatal(err)
		}
	}
	out, err := canon.JSON(e.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEntriesAreRead(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"a comment is the title", `"comment":"T"`, `{"enabled":true,"title":"T"}`},
		{"a name and a comment", `"name":"T","comment":"N"`, `{"enabled":true,"note":"N","title":"T"}`},
		{"the same twice", `"name":"T","comment":"T"`, `{"enabled":true,"title":"T"}`},
		{"depth", `"content":"@@depth 0\n@@role assistant\nText"`, `{"content":"Text","enabled":true,"placement":{"depth":0,"position":"depth","role":"assistant"}}`},
		{"position is stronger than depth", `"content":"@@depth 3\n@@position before_desc\nText"`, `{"content":"@@depth 3\nText","enabled":true,"placement":{"position":"before"}}`},
		{"an extension is stronger", `"content":"@@depth 3\nText","extensions":{"position":1}`, `{"content":"@@depth 3\nText","enabled":true,"placement":{"position":"after"}}`},
		{"a fallback that is not needed", `"content":"@@role user\n@@@instruct_depth 2\nText"`, `{"content":"Text","enabled":true,"placement":{"role":"user"}}`},
		{"a fallback that is", `"content":"@@instruct_depth 2\n@@@depth 2\nText"`, `{"content":"Text","enabled":true,"placement":{"depth":2,"position":"depth"}}`},
		{"an unknown one", `"content":"@@mood sad\nText"`, `{"content":"@@mood sad\nText","enabled":true}`},
		{"all of them", `"content":"@@scan_depth 3\r\n@@activate_only_after 2\r\n@@activate\r\n@@dont_activate\r\nText"`, `{"activation":"constant","content":"Text","enabled":true,"matching":{"scanDepth":3},"timing":{"delay":2}}`},
		{"off", `"content":"@@dont_activate"`, `{"enabled":false}`},
		{"keys that must not be", `"content":"@@exclude_keys dark, night\n@@exclude_keys fog\nText"`, `{"content":"Text","enabled":true,"logic":"not_any","secondary":[{"text":"dark"},{"text":"night"},{"text":"fog"}]}`},
		{"one list for two", `"content":"@@additional_keys oil\n@@exclude_keys fog\nText"`, `{"content":"@@exclude_keys fog\nText","enabled":true,"logic":"and_any","secondary":[{"text":"oil"}]}`},
		{"not a number", `"content":"@@depth deep\nText"`, `{"content":"@@depth deep\nText","enabled":true}`},
		{"Risu's chance", `"extensions":{"risu_activationPercent":40}`, `{"enabled":true,"probability":40}`},
		{"a chance that does not count", `"extensions":{"probability":40,"useProbability":false}`, `{"enabled":true}`},
		{"vector", `"extensions":{"vectorized":true,"delay_until_recursion":true}`, `{"activation":"vector","enabled":true,"recursion":{"delayUntil":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := entry(t, node(t, one(tt.doc))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestOneEditChangesOneValue edits each value of an entry that says all, and of one that
// says nothing, and wants the edit, and nothing else.
func TestOneEditChangesOneValue(t *testing.T) {
	full := one(`"content":"@@depth 1\n@@role user\n@@scan_depth 4\n@@activate_only_after 1\n@@exclude_keys fog\nText","id":3,"name":"T","comment":"N","insertion_order":5,"x":1`)
	tavern := one(`"content":"Text","id":3,"comment":"T","constant":false,"selective":true,"secondary_keys":["s"],"position":"after_char","insertion_order":5,"use_regex":true,` +
		`"extensions":{"position":4,"depth":2,"role":1,"probability":70,"useProbability":true,"selectiveLogic":3,"group":"g","sticky":2,"scan_depth":null,"vectorized":false,"case_sensitive":null,"match_scenario":true,"x_unknown":"keep"}`)
	edits := map[string]string{
		"title": `"New"`, "note": `"Other"`, "content": `"New text"`, "enabled": `false`, "activation": `"constant"`,
		"keys": `[{"text":"a b","regex":true,"flags":"i"},{"text":"w"}]`, "secondary": `[{"text":"z"}]`, "logic": `"and_all"`,
		"matching": `{"caseSensitive":true,"wholeWords":false,"scanDepth":9}`, "placement": `{"position":"outlet","depth":7,"role":"assistant","outlet":"O"}`,
		"sortOrder": `7`, "priority": `8`, "displayIndex": `9`, "probability": `10`, "timing": `{"sticky":1,"cooldown":2,"delay":3}`,
		"recursion": `{"exclude":true,"prevent":true,"delayUntil":2}`, "group": `{"name":"h","override":true,"weight":3,"scoring":false}`,
		"filter": `{"exclude":true,"names":["A"],"tags":["t"]}`, "sources": `["persona_description"]`, "triggers": `["normal"]`,
		"ignoreBudget": `true`, "locked": `true`, "automationId": `"a"`, "tags": `["t"]`,
	}
	for name, doc := range map[string]string{"decorators": full, "extensions": tavern, "nothing": one(`"insertion_order":1`)} {
		for key, val := range edits {
			for _, to := range []string{val, "", "twice"} {
				n := node(t, doc)
				body, _ := book.Read(n)
				was := body.Clone()
				ptr := "/entries/0/" + key
				if to == "" {
					if _, err := body.Delete(ptr); err != nil {
						t.Fatal(err)
					}
					if key == "enabled" || key == "sortOrder" {
						continue // always there
					}
				} else if err := body.Set(ptr, node(t, val)); err != nil {
					t.Fatal(err)
				}
				book.Lay(n, body)
				again, _ := book.Read(n)
				if !canon.Equal(again, body) {
					t.Errorf("%s, %s %s: got\n%s\nwant\n%s\nin %s", name, key, to, again.Bytes(), body.Bytes(), n.Bytes())
				}
				if to != "twice" {
					continue
				}
				book.Lay(n, was)
				if back, _ := book.Read(n); !canon.Equal(back, was) {
					t.Errorf("%s, %s and back: got\n%s\nwant\n%s", name, key, back.Bytes(), was.Bytes())
				}
			}
		}
	}
}

func TestNewEntriesAreNumbered(t *testing.T) {
	n := node(t, `{"entries":[{"keys":[],"enabled":true,"id":4},{"keys":[],"enabled":true}],"x":1}`)
	body, _ := book.Read(n)
	if err := body.Set("/entries/2", node(t, `{"id":"lamp","title":"Lamp","enabled":true,"keys":[{"text":"lamp","probability":50}]}`)); err != nil {
		t.Fatal(err)
	}
	losses := book.Lay(n, body)
	want := `{"entries":[{"keys":[],"enabled":true,"id":4},{"keys":[],"enabled":true},` +
		`{"id":5,"keys":["lamp"],"content":"","extensions":{},"enabled":true,"insertion_order":100,"name":"Lamp","comment":"Lamp"}],"x":1}`
	if got := string(n.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(losses) != 2 || losses[0].Path != "/entries/2/id" || losses[1].Path != "/entries/2/keys/0/probability" {
		t.Errorf("%+v", losses)
	}
}

func FuzzBook(f *testing.F) {
	f.Add([]byte(one(`"content":"@@depth 1\n@@@role user\nText","id":"a","extensions":{"position":4}`)))
	f.Add([]byte(`{"entries":{"0":{"keys":"k","id":null},"1":{"keys":["/a/i"],"id":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := canon.ParseTree(data)
		if err != nil || !book.Is(n) {
			return
		}
		body, _ := book.Read(n)
		before := n.Bytes()
		if losses := book.Lay(n, body); len(losses) > 0 || !bytes.Equal(n.Bytes(), before) {
			t.Fatalf("unedited: %v\n%s\nwant\n%s", losses, n.Bytes(), before)
		}
		if body.Field("name") == nil {
			if err := body.Set("/name", canon.NewText("n")); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := canon.JSON(body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		b, err := content.Parse[content.Lorebook](raw)
		if err != nil {
			if strings.Contains(err.Error(), "in the folder") {
				return // a folder of ours that somebody took out
			}
			t.Fatal(err)
		}
		if again, err := content.Bytes(b); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("not its own canonical form, %v\n%s\n%s", err, raw, again)
		}
	})
}
