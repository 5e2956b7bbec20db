package flow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
)

// memory is a folder.
type memory = loadtest.Files

const post = `
app: { id: post, version: 0.1.0 }
world: { sent: { type: int, default: 0 }, note: "", path: "" }
intents:
  send: { title: Send, slots: { to: { type: string, required: true } } }
  ask: { title: Ask }
  quit: { title: Quit }
  run: { title: Run }
host_interfaces:
  box: { operations: { put: { input: {}, output: {} } }, default: host.fax }
root: desk
states:
  desk:
    view: "Sent {{ world.sent }}."
    on:
      send:
        - target: .
          effects:
            - increment: { sent: 1 }
            - invoke: iface.box.put
              id: letter
              with: { thread: letter, body: "To {{ slots.to }}" }
              bind: { path: path }
              on_error: lost
      ask: { target: office }
      quit: { target: shut }
      run: { target: ., effects: [{ invoke: host.starlark.run, with: { script: s.star, inputs: { city: Ys } }, bind: { note: said } }] }
  office:
    on_enter: [{ invoke: host.agent.ask, with: { schema: schemas/reply.json }, bind: { note: submitted.text } }]
    on: { quit: { target: shut } }
  lost: { view: Lost., on: { quit: { target: shut } } }
  shut: { terminal: true }
`

func folder(fixture string) memory {
	return memory{
		"/post/app.yaml": post, "/post/flows/f.yaml": fixture, "/post/recording.yaml": `
kind: recording
entries:
  - { state: desk, input: "a letter to Ada", intent: { name: send, slots: { to: Ada } } }
  - { state: desk, input: "sing", clarify: true, message: no song is known }
  - { state: desk, input: "fly", intent: { name: fly } }
`, "/post/flows/calls.yaml": `
kind: host_cassette
episodes:
  - { id: first, match: { handler: host.agent.ask, phase: desk, schema_name: reply.json }, response: { data: { submitted: { text: hello } } } }
  - { id: second, match: { handler: host.fax, op: put }, response: { error: no paper } }
`, "/post/s.star": `
def main(ctx):
    r = ctx.http.get("https://weather.test/" + ctx.inputs["city"])
    return {"said": r.json()["sky"] if r else "nothing"}
`, "/post/s.star.yaml": "inputs: { city: { type: string, required: true } }\noutputs: { said: { type: string } }\n",
		"/post/flows/web.yaml": `
kind: http_cassette
exchanges: [{ request: { method: GET, url: "https://weather.test/Ys" }, response: { status: 200, body: '{"sky":"grey"}' } }]
`,
	}
}

func run(t *testing.T, fixture string, forgive bool) flow.Result {
	t.Helper()
	rep, err := flow.Suite{Files: folder(fixture), App: "/post", Work: "/srv", Forgive: forgive, Glob: "flows/f.yaml"}.Run(t.Context())
	if err != nil || len(rep.Flows) != 1 {
		t.Fatal(rep, err)
	}
	return rep.Flows[0]
}

const head = "test_kind: flow\ninitial_state: desk\n"

// Every line is a fixture, and the first difference of it; "" where it holds.
func TestFixtures(t *testing.T) {
	stub := head + "host_handlers: { host.fax: { by_call: { letter: { data: { path: out } } } } }\n"
	send := "turns: [{ intent: { name: send, slots: { to: Ada } }, "
	desk := head + "host_bindings: { box: host.artifacts_dir }\nuse_orchestrator: true\nturns: [{ intent: { name: send, slots: { to: Ada } } }, { intent: { name: send, slots: { to: Bob } } }]\n"
	for fixture, want := range map[string]string{
		stub + send + "expect_world: { sent: 1, path: out } }]":      "",
		stub + send + "expect_world: { sent: 2 } }]":                 `line 4, turn 1: expect_world.sent: 1, want 2`,
		stub + send + "expect_slots: { to: Bob } }]":                 `line 4, turn 1: expect_slots.to: "Ada", want "Bob"`,
		stub + send + "expect_state_in: [lost, shut] }]":             `line 4, turn 1: expect_state_in: "desk" is not in [lost shut]`,
		stub + send + "expect_not_state: desk }]":                    `line 4, turn 1: expect_not_state: it is "desk"`,
		stub + send + "expect_no_view: true }]":                      `line 4, turn 1: expect_no_view: the view is "Sent 1."`,
		stub + send + "expect_view_matches: Sent 2 }]":               `line 4, turn 1: expect_view_matches: "Sent 2" does not match "Sent 1."`,
		stub + send + "expect_world_unchanged: true }]":              `line 4, turn 1: expect_world_unchanged: path was "" and is "out"`,
		stub + send + "expect_no_host_calls: [host.fax.put] }]":      `line 4, turn 1: expect_no_host_calls: host.fax.put was called 1 times`,
		stub + send + "expect_events: [{ kind: machine.timeout }]}]": `line 4, turn 1: expect_events: no {kind: machine.timeout, from: , to: , effect: null} behind event 0`,
		stub + send + "}]\nexpect_terminal: true":                    `at the end: expect_terminal: the state "desk" is not terminal`,
		stub + send + "}]\nexpect_files: [{ path: none.md }]":        `at the end: expect_files: there is no "none.md"`,
		stub + send + "}]\nexpect_events_count_atmost: 2":            `at the end: expect_events_count_atmost: 10 events, want 2 or fewer`,
		head + "host_cassette: calls.yaml\nturns: [{ intent: { name: ask }, expect_state: office, expect_world: { note: hello } }]": "",
		head + "host_cassette: calls.yaml\nstrict_cassette_coverage: true\nturns: [{ intent: { name: ask } }]":                      `at the end: episodes of the cassette that nothing asked for: [second]`,
		head + "host_cassette: calls.yaml\n" + send + "expect_state: lost }]":                                                       "",
		head + "starlark_http_cassette: web.yaml\nturns: [{ intent: { name: run }, expect_world: { note: grey } }]":                 "",
		head + "recording: ../recording.yaml\nturns: [{ input: A LETTER TO ADA, expect_world: { sent: 1 } }]":                       "",
		head + "recording: ../recording.yaml\nturns: [{ input: hum }]":                                                              `story.test: turn 1: the recording "../recording.yaml" holds no answer to "hum" in state "desk"`,
		head + "turns: [{ input: hum }]": `story.test: turn 1: no tier of routing knows what the input "hum" means, and the flow has no recording`,
		head + "turns: [{ intent: { name: send }, expect_error: { code: MISSING_SLOTS, missing_slots: [to] } }]":                                                                                                                    "",
		head + "turns: [{ intent: { name: fly }, expect_error: { code: INTENT_NOT_ALLOWED_IN_STATE, allowed_contains: [fly] } }]":                                                                                                   `line 3, turn 1: expect_error.allowed_contains: "fly" is not in [ask quit run send]`,
		head + "turns: [{ intent: { name: quit }, expect_error: { code: GUARD_FAILED } }]":                                                                                                                                          `line 3, turn 1: expect_error: want "GUARD_FAILED", and the intent was taken`,
		head + "host_bindings: { box: host.artifacts_dir }\nuse_orchestrator: true\n" + send + "expect_world: { path: /srv/.artifacts/letter.md } }]\nexpect_files: [{ path: /srv/.artifacts/letter.md, content_matches: To Ada }]": "",
		stub + send + "expect_host_calls: [{ handler: host.fax.put, times: 2 }] }]":                                                                                                                                                 `line 4, turn 1: expect_host_calls: host.fax.put was called 1 times with null`,
		head + "turns: [{ intent: { name: fly }, expect_error: { code: INTENT_NOT_ALLOWED_IN_STATE } }]\nexpect_no_errors: true":                                                                                                    `at the end: expect_no_errors: a turn was rejected`,
		head + "host_cassette: calls.yaml\nturns: [{ intent: { name: send, slots: { to: A } } }, { intent: { name: quit } }, { intent: { name: quit } }]":                                                                           `line 4, turn 3: unexpected rejection: INTENT_NOT_ALLOWED_IN_STATE: intent "quit" is not allowed in state "shut"`,
		desk + "expect_files: [{ path: /srv/.artifacts/letter.md, content_matches: '(?s)To Ada.*---.*To Bob' }]":                                                                                                                    "",
		desk + "expect_files: [{ path: /srv/.artifacts/letter.md, must_not_exist: true }]":                                                                                                                                          `at the end: expect_files: "/srv/.artifacts/letter.md" is there, and must not be`,
	} {
		if got := run(t, fixture, false).First(); got != want {
			t.Errorf("%s\n  %s\n  want %s", fixture, got, want)
		}
	}
}

// A call that no stub answers fails its flow, or is forgiven and fails only itself.
func TestUnstubbed(t *testing.T) {
	fixture := head + "host_handlers: { host.other: {} }\nturns: [{ intent: { name: send, slots: { to: Ada } }, expect_state: lost }]"
	if got := run(t, fixture, false).First(); !strings.Contains(got, "turn 1: unstubbed call: host.fax.put with ") {
		t.Errorf("%s", got)
	}
	if got := run(t, fixture, true).First(); got != "" {
		t.Errorf("%s", got)
	}
}

// A cassette that is none, and an answer that says nothing, are told.
func TestBadCassettes(t *testing.T) {
	for text, want := range map[string]string{
		"root:x:0\n": "is no mapping, and so neither a cassette nor a recording",
		"kind: host_cassette\nepisodes: [{ id: a, match: { handler: host.fax }, response: { dta: 1 } }]\n": `calls.yaml:2:63: episode a: unknown key "dta"`,
	} {
		files := folder(head + "host_cassette: calls.yaml\nturns: [{ intent: { name: ask } }]")
		files["/post/flows/calls.yaml"] = text
		rep, err := flow.Suite{Files: files, App: "/post", Glob: "flows/f.yaml"}.Run(t.Context())
		if err != nil || !strings.Contains(rep.Flows[0].Problem, want) {
			t.Errorf("%s: %v, %v, want %s", text, rep.Flows, err, want)
		}
	}
}

// An episode is played once.
func TestEpisodes(t *testing.T) {
	fixture := head + "host_cassette: calls.yaml\nturns: [{ intent: { name: ask } }, { intent: { name: quit } }]"
	files := folder(fixture)
	files["/post/app.yaml"] = strings.Replace(post, "on: { quit: { target: shut } }\n  lost", "on: { quit: { target: office } }\n  lost", 1)
	files["/post/flows/calls.yaml"] = strings.Replace(files["/post/flows/calls.yaml"], ", phase: desk", "", 1)
	rep, err := flow.Suite{Files: files, App: "/post", Glob: "flows/f.yaml"}.Run(t.Context())
	if err != nil || !strings.Contains(rep.Flows[0].First(), "turn 2: story.test: cassette miss: no episode matched handler=host.agent.ask") {
		t.Errorf("%v, %v", rep.Flows, err)
	}
}

// What checks nothing is said, with its place.
func TestDeadAssertions(t *testing.T) {
	for fixture, want := range map[string]string{
		head + "turns: [{ intent: { name: quit }, expect_terminal: true }]":                        `unknown key "expect_terminal": nothing checks it`,
		head + "then: []\nturns: []":                                                               `unknown key "then"`,
		head + "turns: [{ intent: { name: quit }, expect_no_host_calls: [host.fax] }]":             "expect_no_host_calls always holds",
		head + "turns: [{ intent: { name: fly }, expect_error: { code: X }, expect_state: desk }]": "nothing else of the turn is checked",
		head + "use_orchestrator: false\nhost_handlers: { host.fax: {} }\nturns: []":               "nothing asks the stubs",
		head + "host_handlers: { host.fax: { by_op: { put: { delay: 1s } } } }\nturns: []":         `unknown key "delay"`,
		head + "host_handlers: { host.fax: 5 }\nturns: []":                                         "stub host.fax: it is the int 5, and not a mapping",
		head + "turns: [quit]":                                                            `turn 1: it is the string "quit", and not a mapping`,
		"test_kind: flow\ninitial_state: cellar\nturns: []":                               `it begins in "cellar", and the story has no such state`,
		"initial_state: desk\nturns: []":                                                  "it does not say test_kind: flow",
		head + "host_cassette: calls.yaml\nturns: []":                                     "nothing asked for: [first second]",
		head + "host_handlers: { host.fax: {} }\nrecording: ../recording.yaml\nturns: []": "nothing asks it",
	} {
		res := run(t, fixture, false)
		if !slices.ContainsFunc(res.Findings, func(f load.Finding) bool { return strings.Contains(f.String(), want) }) {
			t.Errorf("%s: %v, want %s", fixture, res.Findings, want)
		}
	}
}

// An intents fixture is held to the recording.
func TestIntents(t *testing.T) {
	cases := `test_kind: intents
state: desk
recording: ../recording.yaml
fixtures:
  - { id: letter, intent: { name: send, slots: { to: Ada } }, inputs: [a letter to Ada] }
  - { id: song, expect_failure: { any_of: [clarify] }, inputs: [sing, hum] }
  - { id: wings, expect_failure: { any_of: [INTENT_NOT_ALLOWED_IN_STATE] }, inputs: [fly] }
`
	if got := run(t, cases, false).First(); got != "" {
		t.Errorf("%s", got)
	}
	if got, want := run(t, strings.Replace(cases, "to: Ada", "to: Bob", 1), false).First(), `line 5, turn 1: letter: "a letter to Ada": its slots are {"to":"Ada"}, want {"to":"Bob"}`; got != want {
		t.Errorf("%s", got)
	}
	half := strings.Replace(cases, "inputs: [a letter to Ada]", "min_pass_rate: 0.5, inputs: [a letter to Ada, hum]", 1)
	if got := run(t, half, false).First(); got != "" {
		t.Errorf("%s", got)
	}
}

// Flows of a file stand behind one another, each at its own lines.
func TestDocuments(t *testing.T) {
	list, _ := flow.Parse("f.yaml", []byte(head+"turns: []\n---\n"+head+"turns:\n  - { intent: { name: quit } }\n---\nkind: host_cassette\n"))
	if len(list) != 2 || list[1].Turns[0].Pos.Line != 8 {
		t.Errorf("%d flows, the turn at line %d", len(list), list[len(list)-1].Turns[0].Pos.Line)
	}
}

func FuzzFixture(f *testing.F) {
	f.Add([]byte(head + "turns: [{ intent: { name: quit }, expect_state: shut }]\nexpect_terminal: true"))
	f.Add([]byte(head + "host_handlers: { host.fax: { delay: 3d, by_op: { put: { error: e } } } }\nturns: [{ advance_clock: 2h }]"))
	f.Add([]byte("test_kind: intents\nstate: desk\nfixtures: [{ id: a, inputs: [b] }]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 4096 {
			return
		}
		story, _, err := load.Load(t.Context(), load.Options{Files: folder(""), App: "/post"})
		if err != nil || story == nil {
			t.Fatal(err)
		}
		list, _ := flow.Parse("/post/flows/f.yaml", raw)
		for _, fx := range list {
			res := flow.Run(t.Context(), flow.Options{Story: story, Files: folder(""), Work: "/srv"}, fx)
			if !res.Passed && !res.Skipped && res.First() == "" {
				t.Errorf("it failed and says nothing: %+v", res)
			}
		}
	})
}
