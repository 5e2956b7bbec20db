package load_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

const shop = `
app: { id: shop }
intents:
  buy:
    slots:
      what: { type: enum, values: [bread, ale] }
      many: { type: int }
root: bar
states:
  bar:
    view:
`

func TestWhatIsWrongWithViews(t *testing.T) {
	t.Parallel()
	const single = "- choice: { mode: single, items: [%s] }"
	for _, c := range []struct{ yaml, want string }{
		{"- §{ when: world.x }", "error element has no kind"},
		{"- §{ prose: a, code: b }", "error multiple kinds set (prose, code)"},
		{"- { prose: §[a] }", "error is a list, and not a text"},
		{"- { prose: a, §wehn: b }", `warning unknown key "wehn" (perhaps "when")`},
		{"- { prose: §'{{ world.x' }", "warning of the page"},
		{"- { prose: a, when: §'world.x ==' }", "warning when: "},
		{"- { list: §{} }", "error list requires items:"},
		{"- { list: { items: [§''] } }", "error empty string is not allowed"},
		{"- { list: { items: [§{ hint: x }] } }", "error label is required"},
		{"- { list: { items: [{ label: x, §hnit: x }] } }", "error unknown key"},
		{"- { list: { items: [a], when: §x } }", "error must be a sibling of `list:`"},
		{"- { kv: §{ pairs: {} } }", "error kv requires pairs:"},
		{"- { kv: { pairs: { a: §5 } } }", "error kv pair 0 (a): value must be a string"},
		{"- { banner: §{ subtitle: x } }", "error banner requires a non-empty text"},
		{"- { media: §{ kind: image } }", "error media requires a non-empty handle"},
		{"{ extends: base, template_file: §x.pongo }", "error mutually exclusive"},
		{"§{ blocks: {} }", "error must be a string, an array of elements, or an {extends, blocks} mapping"},
		{"{ extends: §base }", `warning the page "base.pongo": unable to resolve template`},
		{"{ template_file: §../../secret }", `warning the page "../../secret"`},
		{"{ extends: base, blocks: { b: [{ prose: x, §y: z }] } }", "error unknown key"},
		{"{ extends: base, blocks: { b: [§{ choice: { mode: single, items: [{ label: a, intent: buy }] } }] } }", "error not allowed inside extends/blocks"},
		{"- { choice: §{ items: [] } }", "error mode is required"},
		{"- { choice: { mode: §some } }", `error mode is "some"`},
		{"- { choice: §{ mode: single } }", "error items: is required"},
		{"- { choice: { mode: single, prompt: §5, items: [{ label: a, intent: buy }] } }", "error prompt is the int 5"},
		{fmt.Sprintf(single, "§{ label: a }"), "error intent is required"},
		{fmt.Sprintf(single, "§{ label: a, intent: sell }"), `error intent "sell" not declared`},
		{fmt.Sprintf(single, "{ label: a, intent: §'a b' }"), "error not a name of letters"},
		{fmt.Sprintf(single, "{ label: a, intent: buy, §hnit: x }"), "error unknown key"},
		{fmt.Sprintf(single, "{ label: a, intent: buy, slots: { §x: 1 } }"), `error key "x" is not a declared slot`},
		{fmt.Sprintf(single, "{ label: a, intent: buy, slots: { §what: pie } }"), `error value "pie" is not in the slot's enum`},
		{fmt.Sprintf(single, "{ label: a, intent: buy, slots: { what: §'{{ world' } }"), "error of the page"},
		{fmt.Sprintf(single, "{ label: a, intent: buy, when: §'1 + 1' }"), "error when: "},
		{fmt.Sprintf(single, "{ label: a, intent: buy, param: §{ slot: x, type: int } }"), `error "x" is not a declared slot`},
		{fmt.Sprintf(single, "{ label: a, intent: buy, param: §{ slot: many, type: enum } }"), "error values is required"},
		{fmt.Sprintf(single, "{ label: a, intent: buy, slots: { many: 1 }, param: §{ slot: many, type: int } }"), "error already pre-bound"},
		{"- { choice: §{ mode: multi, intent: buy, slot: x, items: [{ value: a }] } }", `error slot "x" is not a declared slot`},
		{"- { choice: { mode: multi, intent: buy, slot: what, min: §-1, items: [{ value: '{{ a }}' }] } }", "error min is the int -1"},
		{"- { choice: { mode: multi, intent: buy, slot: what, items: [{ value: §'{{ a }}' }] } }", "error must be a string literal"},
		{"- { choice: { mode: form, intent: buy, template: §'a {b}', fields: { what: { type: string } } } }", "error template references {b}"},
		{"- { choice: { mode: form, intent: buy, template: '{b}', fields: { §b: { type: string } } } }", `error fields.b: not a declared slot of intent "buy"`},
		{"- { choice: { mode: form, intent: buy, template: '{b}', fields: { §b: { type: int, readonly: true } } } }", "error requires expr:"},
		{"- { choice: { mode: form, intent: buy, template: '{many}', fields: { many: { type: §integer } } } }", `error type is "integer"`},
		{"- { choice: { mode: single, items: [{ label: a, intent: buy }] } }\n      - §{ choice: { mode: single, items: [{ label: a, intent: buy }] } }", "error only one choice element"},
	} {
		before, after, _ := strings.Cut(c.yaml, "§")
		text := shop + "      " + before
		line := strings.Count(text, "\n") + 1
		column := len(text) - strings.LastIndex(text, "\n")
		s, found, err := load.Load(t.Context(), load.Options{Files: files{"/s/app.yaml": text + after + "\n"}, App: "/s"})
		if err != nil {
			t.Fatal(err)
		}
		severity, message, _ := strings.Cut(c.want, " ")
		ok := false
		for _, f := range found {
			ok = ok || string(f.Severity) == severity && f.Line == line && f.Column == column && strings.Contains(f.Message, message)
		}
		if !ok {
			t.Errorf("%s: %v", c.yaml, found)
		}
		if (s == nil) != (severity == "error") {
			t.Errorf("%s: a story with %v is %v", c.yaml, found, s != nil)
		}
	}
}
