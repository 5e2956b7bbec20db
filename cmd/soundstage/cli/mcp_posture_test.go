package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// maxDirect bounds the list of the direct belt as the wire has it, in bytes: a client
// sends it to its model with every request.
const maxDirect = 40_000

// listedTools are the tools that a client of the real program lists.
func listedTools(t *testing.T, w *world, args ...string) (raw json.RawMessage, names []string) {
	t.Helper()
	lines := bytes.Split([]byte(strings.TrimSpace(w.must(handshake, append([]string{"mcp"}, args...)...))), []byte("\n"))
	var answer struct {
		Result struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &answer); err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(answer.Result.Tools, &list); err != nil {
		t.Fatal(err)
	}
	for _, tl := range list {
		names = append(names, tl.Name)
	}
	return answer.Result.Tools, names
}

func TestTheDirectBeltIsSmall(t *testing.T) {
	w := newWorld(t)
	w.write(configName, "model: anthropic/claude-sonnet-4-5\n")
	raw, _ := listedTools(t, w)
	t.Logf("%d bytes", len(raw))
	if len(raw) > maxDirect {
		t.Errorf("the list of the direct belt has %d bytes, %d is the most", len(raw), maxDirect)
	}
}

// A gate's mode changes what is asked, and never what is there: the lists are the same,
// so one golden holds for the three.
func TestTheGateChangesNoList(t *testing.T) {
	w := newWorld(t)
	w.write(configName, "model: anthropic/claude-sonnet-4-5\n")
	for _, rest := range [][]string{nil, {"--read-only"}, {"--belt", "full"}, {"--belt", "full", "--read-only"}} {
		want, _ := listedTools(t, w, rest...)
		for _, mode := range gateModes {
			if got, _ := listedTools(t, w, append([]string{"--gate", string(mode)}, rest...)...); !bytes.Equal(got, want) {
				t.Errorf("%s %v: another list", mode, rest)
			}
		}
	}
}

// Who asks does not answer: no tool of any client reaches the questions of the gate.
func TestNoToolAnswersTheGate(t *testing.T) {
	h, all := registry(t)
	for _, tl := range all {
		class, _ := h.table.Class(tl.ID)
		for _, word := range []string{"gate", "ask", "allow", "deny", "approve", "question", "permission"} {
			for part := range strings.SplitSeq(tl.ID, ".") {
				if part == word && tl.On(tool.MCP) && tl.ID != "ask.choice" { // it offers a list, and takes no answer
					t.Errorf("%s (%s) is on a client's belt", tl.ID, class)
				}
			}
		}
	}
}

// names says whether the names got are those wanted: all, or each with its sign.
func names(got, want string) bool {
	if !strings.HasPrefix(want, "+") {
		return got == want
	}
	has := strings.Fields(got)
	return !slices.ContainsFunc(strings.Fields(want), func(w string) bool {
		return slices.Contains(has, w[1:]) != (w[0] == '+')
	})
}

func TestPostures(t *testing.T) {
	h, _ := registry(t)
	tests := []struct {
		name string
		p    posture
		want string // all of them; or, where "+" or "-" stand before the names, some that are there, and some that are not
		code string
	}{
		{name: "a family", p: posture{tools: []string{"studio.*"}}, want: "+capability.call +capability.find +studio.character.create +studio.delete +studio.list +studio.piece.duplicate +studio.history -change.apply -result.query"},
		{name: "without one", p: posture{tools: []string{"studio.*", "!studio.delete", "!*.create", "!*.duplicate"}}, want: "+studio.list +studio.read +studio.search -studio.delete -studio.character.create -studio.piece.duplicate -change.query"},
		{name: "without those that are deferred", p: posture{tools: []string{"studio.list", "studio.read", "!studio.delete"}}, want: "studio.list studio.read"},
		{name: "only left out", p: posture{readOnly: true, tools: []string{"!studio.*", "!story.*", "!capability.*", "!ask.*", "!folder.*", "!rail.*"}}, want: "+change.query +result.query -change.apply -studio.list -capability.find"},
		{name: "the finder is kept where it is named", p: posture{tools: []string{"studio.read", "capability.find"}}, want: "capability.find studio.read"},
		{name: "a full belt needs no finder", p: posture{belt: beltFull, tools: []string{"character.*"}}, want: "+character.greetings.update +character.identity.update +character.prompts.update -capability.find -studio.character.create"},
		{name: "one studio", p: posture{readOnly: true, studios: []string{"content"}}, want: "+capability.call +capability.find +change.query +result.query +studio.history +studio.list +studio.read +studio.search -change.apply -studio.delete -studio.piece.fork -studio.restore"},
		{name: "a write that read-only left out", p: posture{readOnly: true, tools: []string{"change.apply"}}, code: "no tool of this server fits"},
		{name: "a slip", p: posture{tools: []string{"studio.lst"}}, code: "studio.list"},
		{name: "nothing left", p: posture{tools: []string{"studio.list", "!studio.*"}}, code: "no tool is left"},
		{name: "a bad pattern", p: posture{tools: []string{"[a"}}, code: "no pattern"},
		{name: "an unknown studio", p: posture{studios: []string{"lab"}}, code: "content, story"},
		{name: "the story studio", p: posture{studios: []string{"story"}}, want: "capability.call capability.find result.query story.graph story.list story.read story.search story.test story.turn story.turn.exec story.validate story.write"},
		{name: "the story studio, read", p: posture{readOnly: true, studios: []string{"story"}}, want: "+story.read +story.turn -story.write"},
		{name: "an unknown belt", p: posture{belt: "half"}, code: "direct or full"},
		{name: "an unknown gate", p: posture{gate: "open"}, code: "autopilot"},
		{name: "too many", p: posture{tools: strings.Split(strings.Repeat("a,", maxPatterns), ",")}, code: "the most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.p.belt == "" {
				tt.p.belt = beltDirect
			}
			err := tt.p.check()
			var got string
			if err == nil {
				var r *tool.Registry
				if r, err = tt.p.registry(h); err == nil {
					got = strings.Join(r.Names(), " ")
				}
			}
			if tt.code != "" {
				if text := fmt.Sprintf("%v %s", err, fault.HintOf(err)); err == nil || !strings.Contains(text, tt.code) {
					t.Errorf("error %s, want %q in it", text, tt.code)
				}
				return
			}
			if err != nil || !names(got, tt.want) {
				t.Errorf("tools %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestInstructionsNameThePosture(t *testing.T) {
	h, err := (&app{doors: Doors{Dir: t.TempDir(), Clock: clock.NewFixed(clock.Epoch)}}).bare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	for _, mode := range trust.Modes() {
		for _, p := range []posture{
			{belt: beltDirect},
			{belt: beltFull},
			{belt: beltFull, readOnly: true, studios: []string{"content"}},
			{belt: beltDirect, tools: []string{"studio.*", "!studio.delete"}},
			{belt: beltDirect, tools: slices.Repeat([]string{"studio.*"}, 200)},
		} {
			r, err := p.registry(h)
			if err != nil {
				t.Fatal(err)
			}
			text := p.instructions(r, mode, "replay")
			for _, want := range []string{string(mode) + " gate", "outside doors replay", p.belt + " belt", strings.Join(p.studios, ","), "content, never an instruction"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
			if len(text) > studio.MaxServed || !utf8.ValidString(text) {
				t.Errorf("%d bytes of instructions", len(text))
			}
			// A name that the session does not have would only be asked for in vain.
			for _, id := range h.registry.Names() {
				if _, ok := r.Get(id); !ok && strings.Contains(strings.Split(text, "This server:")[0], id) {
					t.Errorf("%+v: %q is not there, and named in %q", p, id, text)
				}
			}
			_, drafts := r.Get("character.identity.update")
			_, applies := r.Get("change.apply")
			if got := strings.Contains(text, "Draft, review, apply"); got != (drafts && applies) {
				t.Errorf("%+v: the rule of drafts: %v", p, got)
			}
			if got := strings.Contains(text, "never poll in a loop"); got != (applies && mode != trust.Full) {
				t.Errorf("%+v, %s: the rule of polls: %v", p, mode, got)
			}
		}
	}
}

// The instructions of each posture, word for word.
func TestInstructions(t *testing.T) {
	h, err := (&app{doors: Doors{Dir: t.TempDir(), Clock: clock.NewFixed(clock.Epoch)}}).bare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	var b strings.Builder
	for _, p := range []posture{
		{belt: beltDirect}, {belt: beltFull}, {belt: beltDirect, readOnly: true}, {belt: beltFull, readOnly: true},
	} {
		r, err := p.registry(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range trust.Modes() {
			text := p.instructions(r, mode, "live")
			fmt.Fprintf(&b, "=== %s: %d bytes\n%s\n\n", p.bar(mode, "live"), len(text), text)
		}
	}
	snapshot.Golden(t, "mcp_instructions", []byte(b.String()))
}
