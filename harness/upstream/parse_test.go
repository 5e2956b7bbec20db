package upstream

import (
	"os"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("{a: ", MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1)
	const say = "turns:\n  - say: "
	for _, row := range []struct{ name, script, want string }{
		{"empty", "", "s.yaml:1: the script is empty"},
		{"no turns", "turns: []", "s.yaml:1: a script needs at least one turn"},
		{"not yaml", "turns: [", "not YAML"},
		{"not a mapping", "- say", "s.yaml:1: a script must be a mapping"},
		{"two documents", "turns: [{say: {text: a}}]\n---\nturns: []\n", "one YAML document"},
		{"unknown key", say + "\n      texts: a", `s.yaml:3: unknown key "texts" in say: it has calls, cut_after, reasoning, refusal, stop, text, usage`},
		{"key twice", say + "{text: a, text: b}", `"text"`},
		{"no answer", "turns:\n  - expect: {user: a}", "s.yaml:2: a turn needs either say or fail"},
		{"two answers", say + "{text: a}\n    fail: {status: 500, message: m}", "either say or fail"},
		{"empty say", say + "{}", "say needs text, calls, reasoning or refusal"},
		{"number as text", say + "{text: 5}", "text must be a text (quote it)"},
		{"empty text", say + `{text: ""}`, "text is empty: leave it out"},
		{"anchor", say + "&a {text: a}", "anchors and aliases are not used"},
		{"alias", "turns:\n  - say: {text: a}\n  - *b", "not YAML"},
		{"refusal and text", say + "{text: a, refusal: b}", "a refusal has no text"},
		{"stop of a refusal", say + "{refusal: b, stop: end}", "stop is \"end\""},
		{"unknown stop", say + "{text: a, stop: never}", `stop is "never"`},
		{"call without tool", say + "{calls: [{input: {}}]}", "a call needs tool"},
		{"input and raw", say + "{calls: [{tool: a, input: {}, raw: b}]}", "input or raw, not both"},
		{"input is a list", say + "{calls: [{tool: a, input: [1]}]}", "input must be a mapping"},
		{"hexadecimal", say + "{calls: [{tool: a, input: {n: 0x10}}]}", `"0x10" is no JSON number`},
		{"infinity", say + "{calls: [{tool: a, input: {n: .inf}}]}", `".inf" is no JSON number`},
		{"binary", say + "{calls: [{tool: a, input: {n: !!binary aGk=}}]}", "have no JSON form"},
		{"merge key", say + "{calls: [{tool: a, input: {<<: {a: 1}}}]}", "a key of input must be a text"},
		{"too deep", say + "{calls: [{tool: a, input: " + deep + "}]}", "nested deeper than 32 levels"},
		{"usage", say + "{text: a, usage: {output: 3, reasoning: 4}}", "4 is more than 3"},
		{"negative usage", say + "{text: a, usage: {input: -1}}", `input is "-1", not a whole number from 0`},
		{"cut after nothing", say + "{text: a, cut_after: 0}", "cut_after is"},
		{"status", "turns:\n  - fail: {status: 200, message: m}", `status is "200", not a whole number from 400 to 599`},
		{"no message", "turns:\n  - fail: {status: 500}", "fail needs status and message"},
		{"retry after", "turns:\n  - fail: {status: 500, message: m, retry_after: soon}", `retry_after is "soon"`},
		{"flag", "turns:\n  - fail: {status: 500, message: m, final: 1}", "final must be true or false"},
		{"unknown lane", "turns:\n  - lane: scout\n    say: {text: a}", `no lane "scout": declare it in lanes`},
		{"lane twice", "lanes: [{name: a, system: a}, {name: a, system: b}]\nturns: [{say: {text: a}}]", `lane "a" stands twice`},
		{"lane without system", "lanes: [{name: a}]\nturns: [{say: {text: a}}]", "a lane needs name and system"},
		{"value not taken", say + `{text: "${x}"}`, "s.yaml:2: ${x} is taken by no let"},
		{"value of another lane", "lanes: [{name: a, system: a}]\nturns:\n  - {lane: a, let: {x: y}, say: {text: a}}\n  - say: {text: '${x}'}", "${x} is taken by no let"},
		{"value taken later", "turns:\n  - say: {text: '${x}'}\n  - {let: {x: y}, say: {text: a}}", "${x} is taken by no let"},
		{"open reference", say + `{text: "${x"}`, "is no reference"},
		{"bad name", "turns:\n  - let: {X: y}\n    say: {text: a}", `"X" is no name`},
		{"bad expression", "turns:\n  - let: {x: '('}\n    say: {text: a}", "must be a regular expression"},
		{"two groups", "turns:\n  - let: {x: '(a)(b)'}\n    say: {text: a}", "at most one group"},
		{"json in text", "turns:\n  - let: {x: y}\n    say: {text: '${x|json}'}", "belongs in an input"},
		{"json within text", "turns:\n  - let: {x: y}\n    say: {calls: [{tool: a, input: {a: 'n ${x|json}'}}]}", "must be the whole text"},
		{"result without tool", "turns:\n  - expect: {results: [{contains: a}]}\n    say: {text: a}", "a result needs tool"},
		{"too many turns", "turns:\n" + strings.Repeat("  - say: {text: a}\n", MaxTurns+1), "501 items, more than 500"},
		{"too many calls", say + "{calls: [" + strings.Repeat("{tool: a},", MaxCalls+1) + "]}", "65 items, more than 64"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(row.script))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Parse = %v, want %q", err, row.want)
			}
			if got := fault.CodeOf(err); got != CodeScript {
				t.Errorf("code is %s, want %s", got, CodeScript)
			}
		})
	}
}

func TestBoundOfScript(t *testing.T) {
	script := "turns: [{say: {text: a}}]\n#"
	for _, n := range []int{MaxScript - 1, MaxScript, MaxScript + 1} {
		_, err := Parse("s.yaml", []byte(script+strings.Repeat("x", n-len(script))))
		if (err != nil) != (n > MaxScript) || (err != nil && fault.CodeOf(err) != fault.TooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	path := t.TempDir() + "/s.yaml"
	if _, err := Load(path); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Load of no file: %v", err)
	}
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(path); err != nil || s.Len() != 1 || s.Name() != path {
		t.Errorf("Load = %v, %v", s, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("turns:\n  - expect: {user: a, results: [{tool: t, error: true}]}\n    let: {x: 'y(z)'}\n    say: {text: '${x}', calls: [{tool: a, input: {n: 1.50, s: '$${', l: [~, true]}}]}\n"))
	f.Add([]byte("lanes: [{name: a, system: b}]\nturns: [{lane: a, fail: {status: 529, message: m, retry_after: 1s}}]"))
	f.Add([]byte("turns: [{say: {refusal: no, usage: {output: 3, reasoning: 2}}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz", data)
		if (s == nil) == (err == nil) {
			t.Fatalf("Parse = %v, %v: want exactly one", s, err)
		}
		if err != nil {
			if c := fault.CodeOf(err); c != CodeScript && c != fault.TooLarge {
				t.Fatalf("code %s of %v", c, err)
			}
			return
		}
		// Whatever is a script can be played without a panic.
		vars := map[string]string{}
		for _, turn := range s.turns {
			for _, l := range turn.lets {
				vars[l.name] = "1"
			}
			r, err := turn.reply(vars, ask{})
			if err != nil || turn.say == nil {
				continue
			}
			for _, w := range []wire{anthropicWire, chatWire, responsesWire, geminiWire} {
				if a := (ask{stream: true}); w.name != geminiWire.name {
					w.stream(a, r)
				}
			}
		}
	})
}
