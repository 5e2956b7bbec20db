package content_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// shelf is a bench with one piece of each of these kinds, each with an original.
func shelf(t *testing.T) *bench {
	b := newBench(t)
	for kind, body := range map[string]string{
		"character": `{"identity":{"name":"Ada","tagline":"t"},"persona":{"description":"d"},"media":{"assets":[{"type":"icon","uri":"data:,x","name":"main","ext":"png"}]},` +
			`"greetings":{"alternates":[{"text":"Hi"},{"text":"Ho"}]},"discovery":{"tags":["oc","Sea"]},"variants":[{"id":"old","label":"Old","fields":{"persona":{"description":"older"}}}],` +
			`"behavior":{"regex":[{"id":"r1","find":"(a+)+$","enabled":true}],"triggers":[{"id":"t1","on":true,"data":{"effect":[{"type":"runLLM"}],"n":1.50}}]}}`,
		"persona": `{"name":"Me","brief":"shelf","content":"I am me."}`,
		"pack":    `{"name":"Faces","items":[{"id":"joy","label":"joy","ref":"asset:1"},{"id":"sad","label":"sad","ref":"asset:2"}],"groups":[{"name":"Mild","items":["joy","sad"]}],"default":"joy"}`,
		"htmldoc": `{"name":"Panel","html":"<p>one</p><p>two</p>"}`,
	} {
		for _, k := range content.Kinds() {
			if k.Name() == kind {
				title, err := k.Title([]byte(body))
				if err != nil {
					t.Fatal(err)
				}
				p := store.Piece{Ref: store.Ref{Kind: kind, ID: "x"}, Title: title, Body: []byte(body), Escrow: []store.Escrow{{Format: "json-v2", Raw: []byte(`{"native":{"secret":1}}`)}}}
				if _, err := b.store.Create(t.Context(), p, store.Stamp{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return b
}

// cases are a change by each capability, and the places of the body that it may change.
var cases = []struct{ id, in, under string }{
	{"character.identity.update", `{"id":"x","full_name":"Ada King"}`, "/identity"},
	{"character.identity.update", `{"id":"x","variant":"old","age":"80"}`, "/variants"},
	{"character.prompts.update", `{"id":"x","prefill":"Well,","traits":{"kind":"wpp","text":"[character(\"Ada\") {\nspecies(\"human\")\n}]"}}`, "/prompts /persona"},
	{"character.greetings.update", `{"id":"x","order":[2,1],"replace":[{"position":1,"title":"First"}]}`, "/greetings"},
	{"character.metadata.update", `{"id":"x","add_tags":["SEA","new"],"rating":"sfw","multilingual":[{"language":"de","notes":"n"}]}`, "/discovery"},
	{"character.presentation.update", `{"id":"x","palette":[{"color":"#fff"}],"background":{"opacity":0.5},"html":"<script>x</script>"}`, "/presentation"},
	{"character.media.update", `{"id":"x","portrait":"asset:9","update":[{"name":"main","ext":"webp"}]}`, "/media"},
	{"character.links.update", `{"id":"x","add_packs":["x"],"add_lorebooks":["gone"]}`, "/links"},
	{"character.variants.manage", `{"id":"x","add":[{"label":"Young","own":["persona.description"]}]}`, "/variants"},
	{"character.settings.update", `{"id":"x","talkativeness":0.25,"variables":[{"name":"hp","value":"3"}]}`, "/settings"},
	{"character.behavior-scripts.manage", `{"id":"x","overlay_triggers":[{"id":"t1","on":false}]}`, "/behavior"},
	{"persona.identity.update", `{"id":"x","content":"I am I."}`, "/content"},
	{"persona.profile.update", `{"id":"x","quirks":"hums","subjective":"they"}`, "/sections /pronouns"},
	{"persona.injection.update", `{"id":"x","position":"depth","depth":2,"role":"user"}`, "/injection"},
	{"persona.presentation.update", `{"id":"x","portrait":"https://example.org/a.png","add_tags":["me"]}`, "/portrait /tags"},
	{"pack.settings.update", `{"id":"x","default":"sad"}`, "/default"},
	{"pack.items.manage", `{"id":"x","add":[{"label":"Joy","ref":"asset:3"}],"remove":["sad"],"order":["joy-2"]}`, "/items /groups"},
	{"pack.groups.manage", `{"id":"x","update":[{"name":"Mild","remove":["sad"]}]}`, "/groups"},
	{"htmldoc.document.update", `{"id":"x","patch":[{"old":"two","new":"2"}]}`, "/html"},
}

// TestContract is what holds for every capability: it changes its own part of the body,
// neither the identity nor the original, and writes nothing.
func TestContract(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases {
		seen[c.id] = true
		t.Run(c.id, func(t *testing.T) {
			b := shelf(t)
			tl, _ := b.reg.Get(c.id)
			ref := store.Ref{Kind: tl.Kind, ID: "x"}
			before, err := b.store.Get(t.Context(), ref, 0)
			if err != nil {
				t.Fatal(err)
			}
			out := b.must(c.id, c.in)
			d, err := b.drafts.Get(t.Context(), out["draft"].(string))
			if err != nil {
				t.Fatal(err)
			}
			if d.Proposed.Ref != ref || d.Baseline.Ref != ref || !store.EqualEscrow(d.Proposed.Escrow, before.Escrow) || out["saved"] != false {
				t.Errorf("the draft is of %s, saved %v", d.Proposed.Ref, out["saved"])
			}
			for _, ch := range out["changes"].([]any) {
				path := ch.(map[string]any)["path"].(string)
				ok := false
				for under := range strings.FieldsSeq(c.under) {
					ok = ok || strings.HasPrefix(path, under)
				}
				if !ok {
					t.Errorf("it changed %s", path)
				}
			}
			after, err := b.store.Get(t.Context(), ref, 0)
			if err != nil || !bytes.Equal(after.Body, before.Body) || after.Revision != before.Revision {
				t.Errorf("a preview wrote: %v", err)
			}
		})
	}
	for _, tl := range newBench(t).reg.All() {
		if deferred := tl.Exposure == tool.Deferred; tl.Effect != tool.Draft || deferred == (tl.ID == "preset.copy_blocks") {
			t.Errorf("%s is %s and %s", tl.ID, tl.Effect, tl.Exposure)
		}
		mine := tl.Kind == "character" || tl.Kind == "persona" || tl.Kind == "pack" || tl.Kind == "htmldoc"
		if mine && tl.Action != "create" && !seen[tl.ID] {
			t.Errorf("%s has no case", tl.ID)
		}
	}
}

// What stands only in the original is not of the body: no capability names it.
func TestOriginalOnlyFieldsAreNotEditable(t *testing.T) {
	b := shelf(t)
	for _, c := range cases {
		var in map[string]any
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"native", "original", "escrow", "extensions", "raw"} {
			in[name] = map[string]any{"secret": 2}
			raw, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			b.refused(c.id, string(raw), fault.Invalid)
			delete(in, name)
		}
	}
	if rows, err := b.drafts.List(t.Context(), true); err != nil || len(rows) != 0 {
		t.Errorf("a refusal left a draft: %v, %v", rows, err)
	}
}

// Scripts are carried as they stand: a pattern that would run for ever is text here, and
// a trigger keeps every token.
func TestScriptsAreData(t *testing.T) {
	b := shelf(t)
	b.must("character.behavior-scripts.manage", `{"id":"x","add_rules":[{"name":"Évil","find":"(x+x+)+y","replace":"<script>$1</script>"},{"find":"["}],"order_rules":["rule"],`+
		`"add_triggers":[{"name":"Lua","engine":"risu","data":"{\"b\":1e3,\"a\":[null,\"os.exit()\"]}"}]}`)
	out := b.must("character.behavior-scripts.manage", `{"id":"x","overlay_rules":[{"id":"r1","enabled":false}],"overlay_triggers":[{"id":"t1","name":"On start"}]}`)
	r := b.apply(out)
	p, err := b.store.Get(t.Context(), r.Target, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"data":{"a":[null,"os.exit()"],"b":1e3},"engine":"risu","id":"lua","name":"Lua","on":true}`,
		`{"data":{"effect":[{"type":"runLLM"}],"n":1.50},"id":"t1","name":"On start","on":true}`,
		`"regex":[{"enabled":true,"find":"[","id":"rule"},{"enabled":false,"find":"(a+)+$","id":"r1"},{"enabled":true,"find":"(x+x+)+y","id":"evil","name":"Évil","replace":"<script>$1</script>"}]`,
	} {
		if !bytes.Contains(p.Body, []byte(want)) {
			t.Errorf("the body lacks %s:\n%s", want, p.Body)
		}
	}
	b.refused("character.behavior-scripts.manage", `{"id":"x","overlay_triggers":[{"id":"t1","data":"return 1"}]}`, fault.Invalid)
	b.refused("character.behavior-scripts.manage", `{"id":"x","overlay_rules":[{"id":"nope"}]}`, content.CodeNoItem)
	b.refused("character.behavior-scripts.manage", `{"id":"x","add_triggers":[{"id":"t1"}]}`, content.CodeTaken)
}

// after is the body of a piece behind one change.
func (b *bench) after(id, in string) (body string, warnings []any) {
	b.t.Helper()
	out := b.must(id, in)
	d, err := b.drafts.Get(b.t.Context(), out["draft"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	warnings, _ = out["warnings"].([]any)
	return string(d.Proposed.Body), warnings
}

func TestReducers(t *testing.T) {
	for _, c := range []struct{ name, id, in, has, warns string }{
		{"a variant owns a copy", "character.variants.manage", `{"id":"x","update":[{"id":"old","own":["identity.tagline"],"label":"Later"}]}`, `{"fields":{"identity":{"tagline":"t"},"persona":{"description":"older"}},"id":"old","label":"Later"}`, ""},
		{"inheriting clears", "character.variants.manage", `{"id":"x","update":[{"id":"old","inherit":["persona.description"]}]}`, `"variants":[{"id":"old","label":"Old"}]`, ""},
		{"alone has nothing to inherit", "character.variants.manage", `{"id":"x","update":[{"id":"old","mode":"alone","inherit":["persona.description"]}]}`, `"mode":"alone"`, "is alone"},
		{"nothing to own", "character.variants.manage", `{"id":"x","add":[{"label":"Two","own":["examples"]}]}`, `{"id":"two","label":"Two"}`, "has no examples"},
		{"ids are made once", "character.variants.manage", `{"id":"x","add":[{"label":"Old"}],"order":["old-2"]}`, `[{"id":"old-2","label":"Old"},{`, ""},
		{"tags are one in any case", "character.metadata.update", `{"id":"x","add_tags":["sea","New"],"remove_tags":["OC"]}`, `"tags":["Sea","New"]`, ""},
		{"a dead link stays", "character.links.update", `{"id":"x","add_lorebooks":["gone"],"add_packs":["x"]}`, `"links":{"lorebooks":["gone"],"packs":["x"]}`, "no lorebook/gone"},
		{"a title alone", "character.greetings.update", `{"id":"x","replace":[{"position":2,"title":"Two"}]}`, `"alternates":[{"text":"Hi"},{"text":"Ho","title":"Two"}]`, ""},
		{"a clash of labels", "pack.items.manage", `{"id":"x","add":[{"label":"JOY","ref":"data:image/png;base64,AA=="}]}`, `"id":"joy-2"`, `the label "joy" is on 2 items`},
		{"the default goes with its item", "pack.items.manage", `{"id":"x","remove":["joy"]}`, `"groups":[{"items":["sad"],"name":"Mild"}]`, "none is shown first"},
		{"a brief alone", "persona.identity.update", `{"id":"x","content":""}`, `{"brief":"shelf","name":"Me"}`, "never sent"},
		{"depth without the position", "persona.injection.update", `{"id":"x","depth":1}`, `"injection":{"depth":1}`, "only count"},
		{"traits name another", "character.prompts.update", `{"id":"x","traits":{"kind":"sbf","text":"[ character: \"Eve\"; hair: \"red\", \"long\" ]"}}`, `"structured":{"attributes":{"hair":["red","long"]},"kind":"sbf"}`, `"Eve"`},
		{"a part of the markup", "htmldoc.document.update", `{"id":"x","patch":[{"old":"<p>one</p>","new":""}]}`, `"html":"<p>two</p>"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := shelf(t).after(c.id, c.in)
			if !strings.Contains(body, c.has) {
				t.Errorf("no %s in\n%s", c.has, body)
			}
			raw, err := json.Marshal(warnings)
			said := strings.ReplaceAll(string(raw), `\"`, `"`)
			if err != nil || (c.warns == "") != (len(warnings) == 0) || !strings.Contains(said, c.warns) {
				t.Errorf("warnings %s, want one with %q", said, c.warns)
			}
		})
	}
}

func TestReducersRefuse(t *testing.T) {
	b := shelf(t)
	for _, c := range []struct {
		id, in string
		code   fault.Code
	}{
		{"character.variants.manage", `{"id":"x","update":[{"id":"new","label":"a"}]}`, content.CodeNoItem},
		{"character.variants.manage", `{"id":"x","update":[{"id":"old","own":["examples"],"inherit":["examples"]}]}`, fault.Invalid},
		{"character.variants.manage", `{"id":"x","update":[{"id":"old","own":["media.portrait"]}]}`, fault.Invalid},
		{"character.settings.update", `{"id":"x","talkativeness":1.5}`, fault.Invalid},
		{"character.presentation.update", `{"id":"x","background":{"opacity":2}}`, fault.Invalid},
		{"character.media.update", `{"id":"x","portrait":"javascript:alert(1)"}`, content.CodeBody},
		{"character.media.update", `{"id":"x","add":[{"type":"icon","uri":"data:,x","name":"a","ext":".PNG"}]}`, fault.Invalid},
		{"character.prompts.update", `{"id":"x","traits":{"kind":"boostyle","attributes":[{"name":"hair","values":["red"]}]}}`, content.CodeTraits},
		{"character.links.update", `{"id":"x","remove_packs":["no"]}`, content.CodeNoItem},
		{"pack.settings.update", `{"id":"x","default":"nobody"}`, content.CodeNoItem},
		{"pack.items.manage", `{"id":"x","order":["joy","joy"]}`, content.CodeOrder},
		{"pack.items.manage", `{"id":"x","add":[{"ref":"file:///etc/passwd"}]}`, content.CodeBody},
		{"pack.groups.manage", `{"id":"x","add":[{"name":"Mild"}]}`, content.CodeBody},
		{"pack.groups.manage", `{"id":"x","add":[{"name":"Wild","items":["no"]}]}`, content.CodeBody},
		{"persona.injection.update", `{"id":"x","depth":-1}`, fault.Invalid},
		{"persona.identity.update", `{"id":"x","name":""}`, content.CodeBody},
		{"htmldoc.document.update", `{"id":"x","patch":[{"old":"<p>","new":""}]}`, content.CodePlace},
		{"htmldoc.document.update", `{"id":"x","html":"` + strings.Repeat("é", content.MaxHTML+1) + `"}`, content.CodeTooLong},
		{"studio.pack.create", `{"name":"P","items":[{"label":"a","ref":"asset:1"}],"default":"b"}`, content.CodeNoItem},
		{"studio.htmldoc.create", `{"name":"Panel","id":"x"}`, fault.Conflict},
	} {
		b.refused(c.id, c.in, c.code)
	}
	if rows, err := b.drafts.List(context.Background(), true); err != nil || len(rows) != 0 {
		t.Errorf("a refusal left a draft: %v, %v", rows, err)
	}
}
