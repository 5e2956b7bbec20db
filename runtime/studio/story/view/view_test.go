package view_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/view"
)

// files are the files of a test, by absolute name.
type files = loadtest.Files

const head = `
app: { id: inn }
intents:
  buy:
    slots:
      what: { type: enum, values: [bread, ale], required: true }
      many: { type: int }
      tags: { type: list }
root: bar
states:
  bar:
    view:`

// of reads the view of a state: indented by nothing, as it stands in a manifest.
func of(t *testing.T, yaml string, more files) *view.View {
	t.Helper()
	f := files{"/inn/app.yaml": head + strings.ReplaceAll("\n"+strings.Trim(yaml, "\n"), "\n", "\n      ") + "\n"}
	for name, text := range more {
		f["/inn/views/"+name] = text
	}
	s, found, err := load.Load(t.Context(), load.Options{Files: f, App: "/inn", Work: "/work"})
	if err != nil || s == nil {
		t.Fatalf("%v %v", err, found)
	}
	return s.States["bar"].View
}

func env() *expr.Env {
	return expr.NewEnv().With(expr.World, value.NewMap(map[string]value.Value{
		"name": value.Of("Ada"), "money": value.Of(42), "file": value.Of("notes/plan.md"), "no": value.NewList(),
		"list": value.NewList(value.Of("a"), value.Of("b")),
	}))
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		yaml, want string
		files      files
		width      int
	}{
		"a page": {yaml: "|\n  # {{ world.name }}\n  {% for x in world.list %}- {{ x }}\n  {% endfor %}", want: "# Ada\n- a\n- b\n\n"},
		"prose is one paragraph, wrapped": {
			yaml: "- prose: |\n    The   {{ world.name }}\n    of the\tbar says hello\n", width: 16, want: "The Ada of the\nbar says hello",
		},
		"elements have a blank line between them, rows of tables none": {
			yaml: "- heading: ' Inn '\n- kv: { pairs: { Guest: '{{ world.name }}', Has: '{{ world.money }}' } }\n- kv: { pairs: { Rooms: '' } }\n- code: \"\\n  $ ls\\n\\n\"\n",
			want: "Inn\n\nGuest:  Ada\nHas:    42\nRooms:  \n\n\n  $ ls",
		},
		"a condition hides": {
			yaml: "- prose: a\n  when: world.no\n- prose: b\n  when: world.none.deep\n- prose: c\n  when: world.money\n- list: { items: [{ label: x, when: 'world.money > 50' }] }\n",
			want: "c",
		},
		"a list": {yaml: "- list: { marker: '-', items: [one, 'two three four'] }", width: 12, want: "- one\n- two three\n  four"},
		"a list with hints": {
			yaml:  "- list:\n    items:\n      - { label: go, hint: leave the bar and never come back to it at all }\n      - { label: stay put }\n",
			width: 60,
			want:  "• go        leave the bar and never come back to it at all\n• stay put",
		},
		"a hint below itself": {
			yaml: "- list:\n    items:\n      - { label: go, hint: leave the bar and never come back to it at all my friend }\n", width: 50,
			want: "• go  leave the bar and never come back to it at\n      all my friend",
		},
		"a file is a link": {
			yaml: "- kv: { pairs: { Plan: '{{ world.file }}', Other: 'x.txt' } }",
			want: "Plan:   \x1b]8;;file:///work/notes/plan.md\x1b\\notes/plan.md\x1b]8;;\x1b\\\nOther:  x.txt",
		},
		"a banner": {
			yaml: "- banner: { text: BAR, subtitle: 'for {{ world.name }}', color: '#fff' }",
			want: strings.Repeat("═", 40) + "\n  BAR  ·  for Ada\n" + strings.Repeat("═", 40),
		},
		"media": {yaml: "- media: { handle: 'cut#1', kind: video, caption: The cut, path: a.mp4 }\n- media: { handle: x }", want: "📹  The cut\n   → a.mp4\n\n📎  x\n   → x"},
		"one of some": {
			yaml: "- choice:\n    mode: single\n    prompt: What\n    items:\n      - { label: Bread, intent: buy, hint: fresh, slots: { what: bread } }\n      - { label: Some, intent: buy, param: { slot: many, type: int } }\n      - { label: Ale, intent: buy, param: { slot: many, type: int, placeholder: '{{ world.money }} pints' } }\n      - { label: Wine, intent: buy, when: 'world.money > 99' }\n",
			want: "What:\n\n  Bread           fresh\n  Some (many?)\n  Ale [42 pints]\n\n[↑/↓ move • Enter pick • Tab chat • Esc cancel]",
		},
		"some of many": {
			yaml: "- choice: { mode: multi, prompt: 'Which:', intent: buy, slot: tags, min: 1, max: 2, items: [{ value: a, hint: h }, { value: bb, label: B }] }",
			want: "Which: (1–2)\n\n  [ ] a  h\n  [ ] B\n\n[↑/↓ • Space toggle • Enter submit • Tab chat • Esc cancel]",
		},
		"a form": {
			yaml: "- choice:\n    mode: form\n    intent: buy\n    template: |\n      I buy {many} of {what} for {sum}\n      and {gone}.\n    fields:\n      many: { type: int, default: 3, unit: pints }\n      what: { type: string, placeholder: '{{ world.name }} ale' }\n      sum: { type: int, readonly: true, expr: world.money * 2 }\n      gone: { type: int, readonly: true, expr: world.x, when: 'false' }\n",
			want: "  I buy _3__________ pints of _Ada ale_ for _84_________\n  and ____________.\n\n[Tab/↑↓ field • Enter submit • Esc cancel]",
		},
		"blocks of a page": {
			yaml:  "extends: base\nblocks:\n  body: [{ prose: 'Hi {{ world.name }} {not a tag}' }]\n",
			files: files{"base.pongo": "= {% block head %}{{ world.money }}{% endblock %} =\n{% block body %}none{% endblock %}\n.\n"},
			want:  "= 42 =\nHi Ada {not a tag}\n.\n",
		},
		"a file": {yaml: "template_file: a.pongo", files: files{"a.pongo": "{{ world.none ?? 'none' }}"}, want: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := of(t, c.yaml, c.files).Text(env(), c.width)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatABlockShowsIsNoTemplate(t *testing.T) {
	t.Parallel()
	e := env().With(expr.World, value.NewMap(map[string]value.Value{"name": value.Of("{{ world.money }}{% include 'x' %}")}))
	got, err := of(t, "extends: base\nblocks: { body: [{ prose: '{{ world.name }}' }] }", files{"base.pongo": "{% block body %}{% endblock %}"}).Text(e, 80)
	if err != nil || got != "{{ world.money }}{% include 'x' %}" {
		t.Errorf("%q %v", got, err)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	v := of(t, "- choice: { mode: single, items: [{ label: Bread, intent: buy }, { label: Again, intent: buy }] }", nil)
	if v.Labels["buy"] != "Bread" {
		t.Errorf("%v", v.Labels)
	}
}

func BenchmarkText(b *testing.B) {
	v := &view.View{}
	pages := expr.NewPages(nil)
	for range 10 {
		t, err := pages.Page("Hello {{ world.name }}, you have {{ world.money }}")
		if err != nil {
			b.Fatal(err)
		}
		v.Elements = append(v.Elements, view.Element{Body: view.Prose{Body: view.Leaf{Template: t}}})
	}
	e := env()
	for b.Loop() {
		if _, err := v.Text(e, view.Width); err != nil {
			b.Fatal(err)
		}
	}
}
