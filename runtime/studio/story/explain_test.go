package story_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
)

func TestExplain(t *testing.T) {
	m := &memory{files: map[string]string{"/s/shop/app.yaml": shop}}
	for _, tt := range []struct {
		line               int
		path, kind, name   string
		does, target, when string
		reads, writes      []string
		inside             string
	}{
		{line: 5, path: "world.money", kind: "world", name: "money", does: "a key of the world, int, at first 10"},
		{line: 11, path: "intents.buy.slots", kind: "slot", name: "what", does: "a value that buy takes: enum, required, one of apple, pear", inside: "buy"},
		{line: 13, path: "states.door", kind: "state", name: "door", does: "atomic"},
		{line: 14, path: "states.counter", kind: "state", name: "counter", does: "atomic"},
		{line: 18, path: "states.counter.on.buy[0].when", kind: "arc", name: "buy[0] of counter", does: "stays in counter", target: "counter", when: "world.money >= 5", reads: []string{"world.money"}, inside: "counter"},
		{line: 21, path: "states.counter.on.buy[0].effects[0].set", kind: "effect", name: "set in buy[0] of counter", does: "sets world.money", reads: []string{"world.money"}, writes: []string{"world.money"}, inside: "counter"},
		{line: 22, path: "states.counter.on.buy[0].effects[1].invoke", kind: "effect", name: "invoke in buy[0] of counter", does: "calls host.run", reads: []string{"slots.what"}, writes: []string{"world.last"}},
		{line: 24, path: "states.counter.on.buy[0].effects[1].bind", kind: "bind", name: "world.last", does: "takes stdout of what host.run gives in buy[0] of counter", writes: []string{"world.last"}},
	} {
		e, err := story.Explain(t.Context(), m, "/s/shop", "", "app.yaml", tt.line)
		if err != nil || len(e.Parts) == 0 {
			t.Errorf("line %d: %+v, %v", tt.line, e, err)
			continue
		}
		i := slices.IndexFunc(e.Parts, func(p story.Part) bool { return p.Kind == tt.kind })
		if i < 0 {
			t.Errorf("line %d: no %s in %+v", tt.line, tt.kind, e.Parts)
			continue
		}
		p := e.Parts[i]
		if e.Path != tt.path || p.Name != tt.name || p.Does != tt.does || p.When != tt.when || tt.target != "" && p.Target != tt.target ||
			!slices.Equal(p.Reads, tt.reads) || !slices.Equal(p.Writes, tt.writes) {
			t.Errorf("line %d: %s: %+v", tt.line, e.Path, p)
		}
		if tt.inside != "" && !slices.ContainsFunc(e.Inside, func(p story.Part) bool { return p.Name == tt.inside }) {
			t.Errorf("line %d stands in %+v, want %s", tt.line, e.Inside, tt.inside)
		}
	}
	// A line that begins nothing is a part of what it stands in.
	if e, err := story.Explain(t.Context(), m, "/s/shop", "", "app.yaml", 20); err != nil || e.Path != "states.counter.on.buy[0].effects" || len(e.Parts) > 0 || e.Inside[len(e.Inside)-1].Kind != "arc" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := story.Explain(t.Context(), m, "/s/shop", "", "app.yaml", 900); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// Every line of a story says something: also comments, empty lines and the keys at the top.
func TestExplainSaysSomethingOfEveryLine(t *testing.T) {
	text := "# A shop.\n\n" + shop + "\n  # the end\n"
	m := &memory{files: map[string]string{"/s/shop/app.yaml": text}}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		e, err := story.Explain(t.Context(), m, "/s/shop", "", "app.yaml", i+1)
		if err != nil || len(e.Parts)+len(e.Inside) == 0 {
			t.Errorf("line %d, %q: %+v, %v", i+1, line, e, err)
		}
	}
	for line, want := range map[int]string{1: "a comment", 2: "an empty line", 3: "app", 4: "root", 5: "hosts", 6: "world"} {
		if e, _ := story.Explain(t.Context(), m, "/s/shop", "", "app.yaml", line); len(e.Parts) != 1 || e.Parts[0].Name != want {
			t.Errorf("line %d: %+v, want %s", line, e.Parts, want)
		}
	}
}
