package seam

import (
	"strings"
	"testing"
)

// same and other are two bodies of a client; the preset is to find them the same, or
// another question.
type presetCase struct{ name, preset, a, b string }

var presetSame = []presetCase{
	{
		"a cache mark moves", "claude-code/1",
		`{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"t","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}},{"type":"text","text":"ho"}]}]}`,
		`{"system":[{"type":"text","text":"s"}],"tools":[{"name":"t"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"ho","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`,
	},
	{
		"history is written another way", "claude-code/1",
		`{"messages":[{"role":"system","content":[{"type":"text","text":"env","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"hi"}]}`,
		`{"messages":[{"role":"system","content":"env"},{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
	},
	{
		"a tool result is written another way", "claude-code/1",
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"r"}]}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"}]}]}`,
	},
	{
		"day and folder", "claude-code/1",
		`{"system":[{"type":"text","text":"memory in /h/a/.claude/projects/-tmp-a-b/memory/"}],"messages":[{"role":"system","content":"Primary working directory: /tmp/a b\nToday's date is 2026-11-30. Go on."}]}`,
		`{"system":[{"type":"text","text":"memory in /x/.claude/projects/-y/memory/"}],"messages":[{"role":"system","content":[{"type":"text","text":"Primary working directory: /y\nToday's date is 2027-01-01. Go on."}]}]}`,
	},
	{
		"day and folder with --bare", "claude-code/1",
		`{"system":[{"type":"text","text":"CWD: /a\nDate: 2026-11-30"}]}`,
		`{"system":[{"type":"text","text":"CWD: /b\nDate: 2027-01-01"}]}`,
	},
	{
		"where skills lie", "codex/1",
		"{\"input\":[{\"content\":[{\"text\":\"- `r0` = `/a/.codex/skills/.system`\\n<root>/a</root>\"}]}]}",
		"{\"input\":[{\"content\":[{\"text\":\"- `r0` = `/b/.codex/skills/.system`\\n<root>/b</root>\"}]}]}",
	},
	{
		"its temporary folder", "gemini-cli/1",
		"{\"contents\":[{\"parts\":[{\"text\":\"memory (`/a/.gemini/tmp/project/memory/MEMORY.md`)\"}]}]}",
		"{\"contents\":[{\"parts\":[{\"text\":\"memory (`/b/.gemini/tmp/other/memory/MEMORY.md`)\"}]}]}",
	},
	{
		"who and where", "claude-code/1",
		`{"metadata":{"user_id":"{\"device_id\":\"a\",\"session_id\":\"b\"}"},"messages":[]}`,
		`{"metadata":{"user_id":"{\"device_id\":\"c\",\"session_id\":\"d\"}"},"messages":[]}`,
	},
	{
		"time that a tool took, ids, session", "codex/1",
		`{"prompt_cache_key":"a","client_metadata":{"x":"1","y":"2"},"input":[{"id":"m1","role":"user"},{"id":"f1","call_id":"c1","type":"function_call_output","output":"Wall time: 0.0119 seconds\nOutput:\nx"}]}`,
		`{"prompt_cache_key":"b","client_metadata":{"y":"3"},"input":[{"id":"m2","role":"user"},{"id":"f2","call_id":"c2","type":"function_call_output","output":"Wall time: 12 seconds\nOutput:\nx"}]}`,
	},
	{
		"environment", "codex/1",
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/a</cwd>\n  <current_date>2026-11-30</current_date>\n  <timezone>Etc/UTC</timezone>\n"}]}]}`,
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/b</cwd>\n  <current_date>2027-01-01</current_date>\n  <timezone>Europe/Paris</timezone>\n"}]}]}`,
	},
	{
		"day and folder", "opencode/1",
		`{"messages":[{"role":"system","content":"  Working directory: /a\n  Today's date: Mon Nov 30 2026\n"}]}`,
		`{"messages":[{"role":"system","content":"  Working directory: /b/c\n  Today's date: Fri Jan 01 2027\n"}]}`,
	},
	{
		"folder", "cline/1",
		`{"messages":[{"role":"system","content":"Working Directory: /a\nx"}]}`,
		`{"messages":[{"role":"system","content":"Working Directory: /b\nx"}]}`,
	},
	{
		"day, and an id of its own", "gemini-cli/1",
		`{"contents":[{"role":"user","parts":[{"text":"Today's date is Monday, November 30, 2026 (formatted)."}]},{"role":"model","parts":[{"functionCall":{"id":"mcp_s_t_1796059525142_0","name":"t","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"mcp_s_t_1796059525142_0","name":"t","response":{}}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"Today's date is Friday, January 1, 2027 (formatted)."}]},{"role":"model","parts":[{"functionCall":{"id":"mcp_s_t_1_0","name":"t","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"mcp_s_t_1_0","name":"t","response":{}}}]}]}`,
	},
}

var presetOther = []presetCase{
	{"system prompt", "claude-code/1", `{"system":[{"type":"text","text":"Be careful."}]}`, `{"system":[{"type":"text","text":"Be careless."}]}`},
	{"a tool's description", "claude-code/1", `{"tools":[{"name":"t","description":"a"}]}`, `{"tools":[{"name":"t","description":"b"}]}`},
	{"two texts are not one", "claude-code/1", `{"messages":[{"content":[{"type":"text","text":"ab"}]}]}`, `{"messages":[{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`},
	{"a part with citations is no plain text", "claude-code/1", `{"messages":[{"content":[{"type":"text","text":"a","citations":[1]}]}]}`, `{"messages":[{"content":"a"}]}`},
	{"a date within a line", "claude-code/1", `{"messages":[{"content":"The Date: 2026-11-30"}]}`, `{"messages":[{"content":"The Date: 2026-12-01"}]}`},
	{"a picture", "claude-code/1", `{"messages":[{"content":[{"type":"image","text":"a"}]}]}`, `{"messages":[{"content":"a"}]}`},
	{"which call a result answers", "claude-code/1", `{"messages":[{"content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},{"content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, `{"messages":[{"content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},{"content":[{"type":"tool_result","tool_use_id":"b"}]}]}`},
	{"a date that a person wrote", "claude-code/1", `{"messages":[{"content":"Meet on 2026-11-30"}]}`, `{"messages":[{"content":"Meet on 2026-12-01"}]}`},
	{"an argument", "claude-code/1", `{"messages":[{"content":[{"type":"tool_use","input":{"text":"Today's date is 2026-11-30"}}]}]}`, `{"messages":[{"content":[{"type":"tool_use","input":{"text":"Today's date is 2026-12-30"}}]}]}`},
	{"what a tool answered", "codex/1", `{"input":[{"output":"Wall time: 1 seconds\nOutput:\nx"}]}`, `{"input":[{"output":"Wall time: 1 seconds\nOutput:\ny"}]}`},
	{"a namespace", "codex/1", `{"input":[{"type":"function_call","namespace":"a","name":"n"}]}`, `{"input":[{"type":"function_call","name":"n"}]}`},
	{"instructions", "codex/1", `{"instructions":"a"}`, `{"instructions":"b"}`},
	{"title and main", "opencode/1", `{"messages":[{"role":"system","content":"You are a title generator"},{"role":"user","content":"hi"}]}`, `{"messages":[{"role":"system","content":"You are opencode"},{"role":"user","content":"hi"}]}`},
	{"what follows the folder", "cline/1", `{"messages":[{"content":"Working Directory: /a\nBe kind."}]}`, `{"messages":[{"content":"Working Directory: /a\nBe brief."}]}`},
	{"an argument", "gemini-cli/1", `{"contents":[{"parts":[{"functionCall":{"args":{"a":1}}}]}]}`, `{"contents":[{"parts":[{"functionCall":{"args":{"a":2}}}]}]}`},
	{"the system instruction", "gemini-cli/1", `{"systemInstruction":{"parts":[{"text":"a"}]}}`, `{"systemInstruction":{"parts":[{"text":"b"}]}}`},
}

func TestClientPresets(t *testing.T) {
	for want, cases := range map[bool][]presetCase{true: presetSame, false: presetOther} {
		for _, c := range cases {
			r, err := compile(append(DefaultRules(), c.preset))
			if err != nil {
				t.Fatal(err)
			}
			form := func(body string) string {
				out, isJSON := r.form([]byte(body), &memory{})
				if !isJSON {
					t.Fatalf("%s: %s is no JSON", c.name, body)
				}
				return string(out)
			}
			if x, y := form(c.a), form(c.b); (x == y) != want {
				t.Errorf("%s, %s: equal %v, want %v\n%s\n%s", c.preset, c.name, x == y, want, x, y)
			}
			if got := form(form(c.a)); got != form(c.a) {
				t.Errorf("%s, %s: applied twice it is another: %s", c.preset, c.name, got)
			}
		}
	}
}

// Every rule has a reason, and without its client's preset none of the pairs is the
// same: a pair that the defaults settle shows nothing.
func TestClientRulesHaveReasons(t *testing.T) {
	for _, p := range clientPresets {
		if p.Doc == "" || len(p.Rules) == 0 {
			t.Errorf("%s has no doc or no rule", p.Name)
		}
		for _, r := range p.Rules {
			if r.Why == "" || len(r.At) == 0 || (r.Do == Mask) != (r.Find != "") || strings.ToUpper(r.Why[:1]) == r.Why[:1] {
				t.Errorf("%s: %+v", p.Name, r)
			}
		}
	}
}
