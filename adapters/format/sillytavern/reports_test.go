package sillytavern_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A change of a body: pointers and JSON values; no value deletes.
type change struct{ ptr, value string }

// TestReports are what people reported of other programs' imports, as edits of files:
// what is read, and what comes out.
func TestReports(t *testing.T) {
	const (
		script = `{"id":"1","scriptName":"s","findRegex":"/a/g","replaceString":"b","trimStrings":["x"],"placement":[1,2,3,5,6],"disabled":false,"markdownOnly":false,"promptOnly":true,"runOnEdit":true,"substituteRegex":2,"minDepth":-1,"maxDepth":null}`
		list   = `{"entries":[{"uid":0,"key":["a"],"content":"A"},{"uid":1,"key":["b"],"content":"B"},{"uid":2,"key":["c"],"content":"C","x":1}]}`
		world  = `{"entries":{"3":{"uid":3,"key":["a"],"order":1,"position":9,"role":7,"x_entry":[1]}},"x_root":{"y":null},"originalData":{"entries":[]}}`
		chat   = `{"reasoning_effort":"auto","assistant_prefill":"Sure","frequency_penalty":null,"prompts":[{"identifier":"main","content":"M","x":1},{"identifier":"u"},{"identifier":"u","content":"double"}],"prompt_order":[{"character_id":100000,"order":[{"identifier":"u","enabled":true},{"identifier":"ghost","enabled":true},{"identifier":"main","enabled":true}]}]}`
		old    = `{"main_prompt":"M","nsfw_prompt":"N","jailbreak_prompt":"J","nsfw_toggle":false,"temp_openai":1}`
		set    = `{"version":2,"name":"Q","qrList":[{"id":3,"label":"x"},{"id":7,"label":"y"}],"idIndex":9}`
		slots  = `{"name":"Q","quickReplySlots":[{"mes":"m","label":"l","enabled":true}],"numberOfSlots":1,"selectedPreset":"Q"}`
	)
	for _, tt := range []struct {
		report, file string
		reads        map[string]string // of the body
		edit         []change
		want         string // of the file; "" is not looked at
		losses       string
	}{
		{"a prompt-only script becomes display-only", script, map[string]string{
			"/rules/0/phases": `["prompt"]`, "/rules/0/placement": `["user_input","ai_output","slash_command","world_info","reasoning"]`,
			"/rules/0/substitute": `"escaped"`, "/rules/0/minDepth": "-1", "/rules/0/trim": `["x"]`,
		}, []change{{"/rules/0/name", `"t"`}}, strings.Replace(script, `"s"`, `"t"`, 1), ""},
		{"a rule without g replaces once", script, nil, []change{{"/rules/0/flags", ""}}, strings.Replace(script, "/a/g", "/a/", 1), ""},
		{"a second script makes a list", script, nil, []change{{"/rules/-", `{"id":"2","enabled":true}`}}, "", ""},
		{
			"books scrambled by a list", list,
			map[string]string{"/entries/2/id": `"2"`},
			[]change{{"/entries/1", ""}},
			`{"entries":[{"uid":0,"key":["a"],"content":"A"},{"uid":2,"key":["c"],"content":"C","x":1}]}`, "",
		},
		{
			"unknown keys and words are lost", world,
			map[string]string{"/entries/0/sortOrder": "1"},
			[]change{{"/entries/0/title", `"T"`}},
			`{"entries":{"3":{"uid":3,"key":["a"],"order":1,"position":9,"role":7,"x_entry":[1],"comment":"T"}},"x_root":{"y":null}}`, "original:/originalData",
		},
		{"an empty book is no book", `{"entries":{}}`, nil, []change{{"/entries", `[{"id":"first","enabled":true}]`}}, "", "/entries/0/id"},
		{"auto reasoning becomes off, prefill and null are lost", chat, map[string]string{
			"/behavior/reasoning": `"auto"`, "/prompts/prefill": `"Sure"`, "/samplers/frequencyPenalty": "null", "/blocks/0/id": `"u"`,
		}, []change{{"/blocks/1/enabled", "false"}}, strings.Replace(chat, `"main","enabled":true`, `"main","enabled":false`, 1), ""},
		{
			"a block is removed, its double with it", chat, nil,
			[]change{{"/blocks/0", ""}},
			`{"reasoning_effort":"auto","assistant_prefill":"Sure","frequency_penalty":null,"prompts":[{"identifier":"main","content":"M","x":1}],"prompt_order":[{"character_id":100000,"order":[{"identifier":"main","enabled":true},{"identifier":"ghost","enabled":true}]}]}`, "",
		},
		{"the three texts stay three texts", old, map[string]string{"/blocks/1/enabled": "false"}, []change{{"/blocks/2/content", `"K"`}}, strings.Replace(old, `"J"`, `"K"`, 1), ""},
		{"the three texts cannot hold it", old, nil, []change{{"/blocks/2/role", `"user"`}}, "", "/blocks"},
		{"numbers of replies are never used twice", set, nil, []change{{"/replies/1", ""}, {"/replies/-", `{"id":"new"}`}}, "", "/replies/1/id"},
		{"slots stay slots", slots, nil, []change{{"/replies/0/label", `"k"`}}, strings.Replace(slots, `"l"`, `"k"`, 1), ""},
		{"slots cannot hold it", slots, nil, []change{{"/color", `"red"`}}, "", "original:/numberOfSlots original:/selectedPreset"},
	} {
		t.Run(tt.report, func(t *testing.T) {
			im, err := table.Import("x.json", []byte(tt.file))
			must(t, err)
			p := formattest.Main(im)
			formattest.Canonical(t, p)
			b := formattest.Body(t, p)
			for ptr, want := range tt.reads {
				if got := string(b.At(ptr).Bytes()); got != want {
					t.Errorf("%s is %s, want %s", ptr, got, want)
				}
			}
			for _, c := range tt.edit {
				if c.value == "" {
					_, err = b.Delete(c.ptr)
				} else {
					err = b.Set(c.ptr, twin.Parsed(c.value))
				}
				must(t, err)
			}
			p.Body, err = canon.JSON(b.Bytes())
			must(t, err)
			out := write(t, p, im.Pieces)
			if got := strings.TrimSpace(string(out.Data)); tt.want != "" && got != tt.want {
				t.Errorf("written\n%s\nwant\n%s", got, tt.want)
			}
			var lost []string
			for _, l := range out.Losses {
				lost = append(lost, l.Path)
			}
			if got := strings.Join(lost, " "); got != tt.losses {
				t.Errorf("losses %q, want %q", got, tt.losses)
			}
			after(t, tt.report, out.Data)
		})
	}
}

// after looks closer at files of which a table cannot say all.
func after(t *testing.T, report string, data []byte) {
	t.Helper()
	doc := twin.Parsed(string(data))
	is := map[string]map[string]string{
		"numbers of replies are never used twice": {"/idIndex": "10", "/qrList/1/id": "10", "/qrList/0/id": "3"},
		"slots cannot hold it":                    {"/version": "2", "/color": `"red"`, "/qrList/0/id": "1", "/idIndex": "1", "/qrList/0/message": `"m"`},
		"a second script makes a list":            {"/0/id": `"1"`, "/1/id": `"2"`, "/1/findRegex": `""`},
		"an empty book is no book":                {"/entries/0/uid": "0", "/entries/0/position": "0", "/entries/0/disable": "false"},
		"the three texts cannot hold it": {
			"/prompts/0/identifier": `"main"`, "/prompts/2/role": `"user"`, "/prompt_order/0/character_id": "100001", "/main_prompt": "null", "/temp_openai": "1",
			"/prompt_order/0/order/1/identifier": `"worldInfoBefore"`, "/prompt_order/0/order/9/identifier": `"chatHistory"`, "/prompt_order/0/order/10/identifier": `"jailbreak"`,
		},
	}[report]
	for ptr, want := range is {
		if got := string(doc.At(ptr).Bytes()); got != want {
			t.Errorf("%s is %s, want %s\n%s", ptr, got, want, data)
		}
	}
}

// TestPresetsScriptsGoBack edits the regex set that a preset came with.
func TestPresetsScriptsGoBack(t *testing.T) {
	const file = `{"prompts":[{"identifier":"main"}],"prompt_order":[],"extensions":{"regex_scripts":[{"id":"1","scriptName":"s","findRegex":"/a/g","x":1}],"y":2}}`
	im, err := table.Import("mine.json", []byte(file))
	must(t, err)
	if len(im.Pieces) != 2 || im.Pieces[0].Kind != content.KindRegex || string(formattest.Body(t, formattest.Main(im)).At("/regexes").Bytes()) != `["mine-scripts"]` {
		t.Fatalf("%d pieces, %s", len(im.Pieces), formattest.Main(im).Body)
	}
	b := formattest.Body(t, im.Pieces[0])
	must(t, b.Set("/rules/0/name", canon.NewText("renamed")))
	im.Pieces[0].Body, err = canon.JSON(b.Bytes())
	must(t, err)
	out := write(t, formattest.Main(im), im.Pieces)
	if got := strings.TrimSpace(string(out.Data)); got != strings.Replace(file, `"s"`, `"renamed"`, 1) || len(out.Losses) > 0 {
		t.Errorf("%s\n%v", got, out.Losses)
	}
	if got := strings.TrimSpace(string(write(t, formattest.Main(im), nil).Data)); got != file {
		t.Errorf("a set that is not at hand: %s", got)
	}
}

func TestHugeBackupIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"personas":{`)
	for i := range 400 {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"` + strings.Repeat("a", i) + `.png":"A"`)
	}
	b.WriteString(`},"persona_descriptions":{},"x":"` + strings.Repeat("y", 200_000) + `"}`)
	if _, err := table.Import("x.json", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "the bounds are") {
		t.Errorf("got %v", err)
	}
}
