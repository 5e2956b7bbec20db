package card

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// v2 is a card with everything that must survive, written by hand.
const v2 = `{
  "spec": "chara_card_v2", "top_unknown": true, "spec_version": "2.0",
  "name": "Ada",
  "data": {
    "name": "Ada", "description": "\u00c9migr\u00e9e", "personality": "", "scenario": "A storm.",
    "first_mes": "Hi.", "mes_example": null,
    "alternate_greetings": [
      "\u0041gain?",
      "More"
    ],
    "tags": ["oc", {"odd": 1}], "creator": "us", "x_unknown": {"big": 12345678901234567890, "u": "\ud800"},
    "extensions": {"talkativeness": "0.50", "fav": false, "depth_prompt": {"prompt": "Be brief.", "depth": 4, "keep": 1}}
  }
}`

func read(t testing.TB, text string) Card {
	t.Helper()
	c, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadBody(t *testing.T) {
	c := read(t, v2)
	const want = `{"attribution":{"creator":"us"},"discovery":{"tags":["oc"]},"greetings":{"alternates":[{"text":"Again?"},{"text":"More"}],"first":"Hi."},` +
		`"identity":{"name":"Ada"},"persona":{"description":"Émigrée","scenario":"A storm."},` +
		`"prompts":{"depthInjections":[{"content":"Be brief.","depth":4,"role":"system"}]},"settings":{"talkativeness":0.50}}`
	got, err := canon.JSON(c.Body.Bytes())
	if err != nil || string(got) != want || c.Version != V2 {
		t.Errorf("%s, %v\n%s\nwant\n%s", c.Version, err, got, want)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "/data/tags: item 1") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// TestOverlay wants each edit to change its own tokens and no other.
func TestOverlay(t *testing.T) {
	tests := []struct {
		name, path, val string // val "" clears
		old, new        string // in the text
	}{
		{"nothing", "", "", "", ""},
		{"text", "/persona/scenario", `"Sun."`, `"A storm."`, `"Sun."`},
		{"the root's copy follows", "/identity/name", `"Eve"`, `"Ada"`, `"Eve"`},
		{"a required field is cleared to its default", "/persona/scenario", "", `"scenario": "A storm."`, `"scenario": ""`},
		{"an optional one goes", "/settings/talkativeness", "", `"talkativeness": "0.50", `, ``},
		{"a number stays a text", "/settings/talkativeness", `0.7`, `"0.50"`, `"0.7"`},
		{"a null is written", "/examples", `"x"`, `"mes_example": null`, `"mes_example": "x"`},
		{
			"list items keep their tokens", "/greetings/alternates", `[{"text":"More"},{"text":"Again?"},{"text":"New"}]`,
			"\"\\u0041gain?\",\n      \"More\"", "\"More\",\n      \"\\u0041gain?\",\n      \"New\"",
		},
		{"what a list holds and nobody reads stays", "/discovery/tags", `["a","b"]`, `["oc", {"odd": 1}]`, `["a", "b", {"odd": 1}]`},
		{"unknown keys of an object stay", "/prompts/depthInjections/0/content", `"No."`, `"Be brief."`, `"No."`},
		{"a new key", "/prompts/system", `"S"`, "\n  }\n}", `, "system_prompt": "S"` + "\n  }\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, v2)
			body := c.Body.Clone()
			if tt.path != "" && tt.val == "" {
				if ok, err := body.Delete(tt.path); !ok || err != nil {
					t.Fatal(ok, err)
				}
			} else if tt.path != "" {
				val, err := canon.ParseTree([]byte(tt.val))
				if err != nil {
					t.Fatal(err)
				}
				if err := body.Set(tt.path, val); err != nil {
					t.Fatal(err)
				}
			}
			doc, losses := Write(body, V2, &c)
			want := v2
			if tt.name == "a new key" {
				want = strings.Replace(v2, `"keep": 1}}`+tt.old, `"keep": 1}},`+"\n    "+`"system_prompt": "S"`+tt.old, 1)
				want = strings.Replace(want, ",\n    \"system_prompt\"", ",\n    \"system_prompt\"", 1)
			} else if tt.old != "" {
				want = strings.ReplaceAll(v2, tt.old, tt.new)
			}
			if got := string(doc.Bytes()); got != want || len(losses) > 0 {
				t.Errorf("losses %v, got\n%s\nwant\n%s", losses, got, want)
			}
			if string(c.Doc.Bytes()) != v2 {
				t.Error("the twin was changed")
			}
		})
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		name, in string
		version  Version
		warn     string
		code     fault.Code
	}{
		{name: "flat", in: `{"name":"a","description":""}`, version: V1},
		{name: "no spec", in: `{"data":{"name":"a"}}`, version: V2, warn: "spec missing"},
		{name: "no spec, v3 fields", in: `{"data":{"name":"a","assets":[]}}`, version: V3, warn: "spec missing"},
		{name: "unknown spec", in: `{"spec":"chara_card_v9","data":{"name":"a"}}`, version: V2, warn: "not known"},
		{name: "spec without data", in: `{"spec":"chara_card_v2","name":"a","first_mes":"x"}`, version: V1, warn: "no data object"},
		{name: "number version", in: `{"spec":"chara_card_v2","spec_version":2.0,"data":{}}`, version: V2, warn: "spec_version type"},
		{name: "no version", in: `{"spec":"chara_card_v2","data":{}}`, version: V2, warn: "spec_version type"},
		{name: "minor version", in: `{"spec":"chara_card_v3","spec_version":"3.7","data":{}}`, version: V3},
		{name: "next version", in: `{"spec":"chara_card_v3","spec_version":"4.0","data":{}}`, version: V3, warn: "version"},
		{name: "greetings as a text", in: `{"name":"a","description":"","spec":"x","data":{"name":"a","alternate_greetings":"1687"}}`, version: V2, warn: "list of one"},
		{name: "marinara", in: `{"type":"marinara_character","data":{}}`, code: CodeFormat},
		{name: "agnai", in: `{"kind":"character","name":"a","persona":{}}`, code: CodeFormat},
		{name: "pygmalion", in: `{"char_name":"a","char_persona":"b"}`, code: CodeFormat},
		{name: "rolecall persona", in: `{"spec":"chara_card_v2","data":{"extensions":{"rolecall":{"type":"persona"}}}}`, code: CodeFormat},
		{name: "world book", in: `{"name":"a","description":"b","entries":{}}`, code: CodeNotCard},
		{name: "lorebook v3", in: `{"spec":"lorebook_v3","data":{"name":"x"}}`, code: CodeNotCard},
		{name: "regex", in: `{"scriptName":"a","findRegex":"b"}`, code: CodeNotCard},
		{name: "a name only", in: `{"name":"a"}`, code: CodeNotCard},
		{name: "a list", in: `[1]`, code: CodeNotCard},
		{name: "too many tags", in: `{"data":{"name":"a","tags":[` + strings.Repeat(`"",`, MaxItems) + `""]}}`, code: CodeTooMany},
		{name: "not JSON", in: `{`, code: canon.CodeTreeSyntax},
		{name: "deep", in: strings.Repeat(`{"a":`, 300), code: canon.CodeTreeDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Read([]byte(tt.in))
			if fault.CodeOf(err) != tt.code || c.Version != tt.version && err == nil {
				t.Fatalf("got %s, %v", c.Version, err)
			}
			if all := strings.Join(c.Warnings, "\n"); !strings.Contains(all, tt.warn) || tt.warn == "" && all != "" {
				t.Errorf("warnings %q, want %q", all, tt.warn)
			}
		})
	}
}

func TestOtherVersions(t *testing.T) {
	v3doc := `{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Ada","nickname":"A","x_unknown":1,"assets":[{"type":"icon","uri":"ccdefault:","name":"main","ext":"png"}],` +
		`"group_only_greetings":["All."],"creation_date":1700000000000,"character_book":{"entries":[{"use_regex":true}]},"extensions":{"vendor":2}}}`
	tests := []struct {
		name, in string
		to       Version
		want     string // the document
		losses   string // path verdict, in order
	}{
		{
			"3 to 2", v3doc, V2,
			`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","x_unknown":1,"character_book":{"entries":[{"use_regex":true}]},` +
				`"extensions":{"vendor":2,"soundstage":{"nickname":"A","created":1700000000},"group_only_greetings":["All."]}}}`,
			"original:/data/character_book approximated, /identity/nickname embedded, /greetings/groupOnly embedded, /media/assets dropped, /attribution/created embedded",
		},
		{
			"2 to 3", `{"spec":"chara_card_v2","spec_version":2,"data":{"name":"Ada","x_unknown":1,"character_book":{"entries":[{"keys":[]}]},"extensions":{"vendor":2}}}`, V3,
			`{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Ada","x_unknown":1,"character_book":{"entries":[{"keys":[],"use_regex":false}]},"extensions":{"vendor":2},"group_only_greetings":[]}}`,
			"",
		},
		{
			"3 to 1", v3doc, V1, strings.Replace(templates[V1], `"name": ""`, `"name": "Ada"`, 1),
			"original:/data/x_unknown dropped, original:/data/character_book dropped, original:/data/extensions/vendor dropped, " +
				"/identity/nickname dropped, /greetings/groupOnly dropped, /media/assets dropped, /attribution/created dropped",
		},
		{"1 to 2", `{"name":"Ada","description":"D","personality":"","scenario":"","first_mes":"","mes_example":"","x_unknown":1,"creatorcomment":"c"}`, V2, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, tt.in)
			doc, losses := Write(c.Body, tt.to, &c)
			if got := string(doc.Bytes()); tt.want != "" && got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			var said []string
			for _, l := range losses {
				said = append(said, l.Path+" "+string(l.Verdict))
				if l.Reason == "" || l.Target != tt.to.String() {
					t.Errorf("loss %+v", l)
				}
			}
			if got := strings.Join(said, ", "); got != tt.losses {
				t.Errorf("losses\n%s\nwant\n%s", got, tt.losses)
			}
			again := read(t, string(doc.Bytes()))
			if again.Version != tt.to || len(losses) == 0 && !canon.Equal(again.Body, c.Body) {
				t.Errorf("%s means\n%s\nand meant\n%s", again.Version, again.Body.Bytes(), c.Body.Bytes())
			}
		})
	}
}

func FuzzCard(f *testing.F) {
	f.Add([]byte(v2), "x")
	f.Add([]byte(`{"name":"a","description":"","tags":"t","talkativeness":1}`), "")
	f.Add([]byte(`{"spec":"chara_card_v3","spec_version":3,"data":{"name":1,"extensions":null,"assets":[{}],"creation_date":1e400}}`), "y")
	f.Add([]byte(`{"data":{"name":"a","extensions":"x","source":["a",{}],"creator_notes_multilingual":{"a":1,"a":"2"}}}`), "z")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		c, err := Read(text)
		if err != nil {
			return
		}
		before := string(c.Doc.Bytes())
		doc, losses := Write(c.Body, c.Version, &c)
		if string(doc.Bytes()) != before || len(losses) > 0 {
			t.Fatalf("an unedited card changed, losses %v:\n%q\n%q", losses, doc.Bytes(), before)
		}
		body := c.Body.Clone()
		if err := body.Set("/identity/name", canon.NewText("n"+name)); err != nil {
			t.Fatal(err)
		}
		for to := V1; to <= V3; to++ {
			doc, losses := Write(body, to, &c)
			again, err := Read(doc.Bytes())
			if err != nil || again.Version != to {
				t.Fatalf("to %s: %v, %s: %q", to, err, again.Version, doc.Bytes())
			}
			for _, fl := range fields {
				if lost(losses, fl.path) {
					continue
				}
				if now, want := again.Body.At(fl.path), body.At(fl.path); !canon.Equal(now, want) {
					t.Fatalf("to %s: %s is %q, want %q, without a loss", to, fl.path, now.Bytes(), want.Bytes())
				}
			}
		}
		if string(c.Doc.Bytes()) != before {
			t.Fatal("the twin was changed")
		}
	})
}

func lost(losses []Loss, path string) bool {
	for _, l := range losses {
		if l.Path == path {
			return true
		}
	}
	return false
}
