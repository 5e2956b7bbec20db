package story_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// memory is a disk of a test: files by name, and the folder that may be written.
type memory struct {
	files map[string]string
	write string
	work  string // where commands last ran
}

// shouter says what it is asked to run.
type shouter struct{}

// Run implements host.Runner.
func (shouter) Run(_ context.Context, c host.Command) (host.Outcome, error) {
	return host.Outcome{Stdout: strings.ToUpper(strings.Join(c.Args, " "))}, nil
}

func (m *memory) Read(_ context.Context, name string) ([]byte, error) {
	if text, ok := m.files[name]; ok {
		return []byte(text), nil
	}
	return nil, fault.New(load.CodeNoFile, "test", "no file %q", name)
}

func (m *memory) Glob(ctx context.Context, dir, pattern string) ([]string, error) {
	names, _, err := m.List(ctx, dir, 1_000)
	return slices.DeleteFunc(names, func(n string) bool {
		ok, _ := filepath.Match(dir+"/"+pattern, n)
		return !ok
	}), err
}

func (m *memory) Folder(name string) error {
	for n := range m.files {
		if strings.HasPrefix(n, name+"/") {
			return nil
		}
	}
	return fault.New(load.CodeNoFile, "test", "no folder %q", name)
}

func (m *memory) List(_ context.Context, dir string, limit int) (names []string, more bool, err error) {
	for n := range m.files {
		if strings.HasPrefix(n, dir+"/") {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names[:min(limit, len(names))], len(names) > limit, nil
}

func (m *memory) Write(_ context.Context, name string, raw []byte) (bool, error) {
	if !strings.HasPrefix(name, m.write+"/") {
		return false, errors.New("outside")
	}
	_, there := m.files[name]
	m.files[name] = string(raw)
	return !there, nil
}

func (m *memory) Close() error { return nil }

const shop = `app: {id: shop}
root: door
hosts: [host.run]
world:
  money: {type: int, default: 10}
  last: {type: string, default: ""}
intents:
  enter: {title: Go in}
  buy:
    title: Buy something
    slots: {what: {type: enum, values: [apple, pear], required: true}}
states:
  door: {view: "A door.", on: {enter: [{target: counter}]}}
  counter:
    view: "You have {{ world.money }}. Last: {{ world.last }}"
    on:
      buy:
        - when: world.money >= 5
          target: .
          effects:
            - {set: {money: "{{ world.money - 5 }}"}}
            - invoke: host.run
              with: {cmd: "sell {{ slots.what }}"}
              bind: {last: stdout}
`

const shopFlow = `test_kind: flow
initial_state: counter
host_handlers: {host.run: {data: {stdout: sold}}}
turns:
  - intent: {name: buy, slots: {what: pear}}
    expect_state: counter
    expect_world: {money: 5, last: sold}
    expect_wrold: {}
`

func tools(t *testing.T, bound bool) (func(id string, in any) (map[string]any, error), *memory) {
	t.Helper()
	m := &memory{files: map[string]string{
		"/s/shop/app.yaml": shop, "/s/shop/flows/buy.yaml": shopFlow, "/w/app.yaml": "app: {id: mine}\nroot: a\nstates: {a: {view: \"here\"}}\n",
	}, write: "/w"}
	p := story.Place{Disk: m, Stories: "/s"}
	if bound {
		p.Workspace = "/w"
	}
	all := tool.NewRegistry(story.Tools(story.Deps{
		Place:  func(context.Context) (story.Place, error) { return p, nil },
		Listed: func() bool { return true },
		Commands: func(_ context.Context, work string) (host.Runner, error) {
			m.work = work
			return shouter{}, nil
		},
	})...)
	return func(id string, in any) (map[string]any, error) {
		tl, ok := all.Get(id)
		if !ok {
			t.Fatalf("no tool %s", id)
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tl.Run(t.Context(), tool.Call{}, raw)
		if err != nil {
			return nil, err
		}
		var out map[string]any
		if err := json.Unmarshal(res.Structured, &out); err != nil {
			t.Fatal(err)
		}
		return out, nil
	}, m
}

type in = map[string]any

func TestNoWorkspace(t *testing.T) {
	call, m := tools(t, false)
	for _, id := range []string{"story.list", "story.validate", "story.test"} {
		if _, err := call(id, in{}); fault.CodeOf(err) != story.CodeNoWorkspace {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, in := range []in{{"path": "a.yaml", "content": "x"}, {"path": "a.yaml", "content": "x", "dir": "shop"}} {
		if _, err := call("story.write", in); fault.CodeOf(err) != story.CodeNoWorkspace {
			t.Errorf("story.write %v: %v", in, err)
		}
	}
	if len(m.files) != 3 {
		t.Error("something was written")
	}
	if _, err := call("story.validate", in{"dir": "shop"}); err != nil {
		t.Errorf("a story below the stories folder needs no workspace: %v", err)
	}
}

func TestPathsStayInside(t *testing.T) {
	call, _ := tools(t, true)
	for _, c := range []struct {
		id string
		in in
	}{
		{"story.read", in{"path": "../s/shop/app.yaml"}},
		{"story.read", in{"path": "/s/shop/app.yaml"}},
		{"story.read", in{"path": `..\s`}},
		{"story.read", in{"path": "app.yaml", "dir": "../s"}},
		{"story.write", in{"path": "../x.yaml", "content": ""}},
		{"story.test", in{"flows": "../*.yaml"}},
	} {
		if _, err := call(c.id, c.in); fault.CodeOf(err) != story.CodePath {
			t.Errorf("%s %v: %v", c.id, c.in, err)
		}
	}
}

func TestWriteValidates(t *testing.T) {
	call, m := tools(t, true)
	out, err := call("story.write", in{"path": "app.yaml", "content": "app: {id: mine}\nroot: nowhere\nstates: {a: {view: x}}\n"})
	if err != nil {
		t.Fatal(err)
	}
	v, _ := out["validation"].(map[string]any)
	errs, _ := v["errors"].([]any)
	if out["ok"] != true || out["created"] != false || v["ok"] != false || len(errs) == 0 {
		t.Fatalf("%v", out)
	}
	first, _ := errs[0].(map[string]any)
	if first["file"] != "app.yaml" || first["line"] != 2.0 || first["column"] == 0.0 || first["message"] == "" {
		t.Errorf("%v", first)
	}
	if !strings.Contains(m.files["/w/app.yaml"], "nowhere") {
		t.Error("it was not written")
	}
	if out, err = call("story.write", in{"path": "new/rooms/x.yaml", "content": "states: {}\n", "dir": "."}); err != nil || out["created"] != true {
		t.Errorf("%v, %v", out, err)
	}
}

func TestListSearchRead(t *testing.T) {
	call, _ := tools(t, true)
	out, err := call("story.list", in{"dir": "shop", "glob": "*.yaml"})
	if files, _ := out["files"].([]any); err != nil || len(files) != 2 || files[1] != "flows/buy.yaml" {
		t.Errorf("%v, %v", out, err)
	}
	if out, err = call("story.list", in{"dir": "@"}); err != nil || len(out["files"].([]any)) != 2 {
		t.Errorf("%v, %v", out, err)
	}
	if out, err = call("story.list", in{"dir": "."}); err != nil || len(out["files"].([]any)) != 1 {
		t.Errorf("%v, %v", out, err)
	}
	out, err = call("story.search", in{"dir": "shop", "pattern": "WORLD.MONEY", "ignore_case": true})
	hits, _ := out["hits"].([]any)
	if err != nil || len(hits) != 3 {
		t.Fatalf("%v, %v", out, err)
	}
	if h, _ := hits[0].(map[string]any); h["file"] != "app.yaml" || h["line"] != 15.0 {
		t.Errorf("%v", h)
	}
	if out, err = call("story.search", in{"dir": "shop", "pattern": "world", "max": 1}); err != nil || out["truncated"] != true {
		t.Errorf("%v, %v", out, err)
	}
	if _, err = call("story.search", in{"dir": "shop", "pattern": "(", "regex": true}); fault.CodeOf(err) != story.CodePattern {
		t.Error(err)
	}
	if out, err = call("story.read", in{"dir": "shop", "path": "app.yaml"}); err != nil || out["content"] != shop {
		t.Errorf("%v, %v", out, err)
	}
}

func TestTestAndWarnings(t *testing.T) {
	call, m := tools(t, true)
	out, err := call("story.test", in{"dir": "shop", "detailed": true})
	if err != nil || out["ok"] != true || out["passed"] != 1.0 {
		t.Fatalf("%v, %v", out, err)
	}
	out, err = call("story.validate", in{"dir": "shop"})
	warnings, _ := out["warnings"].([]any)
	if err != nil || out["ok"] != true || out["flows"] != 1.0 || len(warnings) != 1 {
		t.Fatalf("%v, %v", out, err)
	}
	if w, _ := warnings[0].(map[string]any); w["file"] != "flows/buy.yaml" || w["line"] != 8.0 {
		t.Errorf("%v", w)
	}
	m.files["/s/shop/flows/buy.yaml"] = strings.Replace(shopFlow, "money: 5", "money: 6", 1)
	if out, err = call("story.test", in{"dir": "shop"}); err != nil || out["ok"] != false || out["failed"] != 1.0 {
		t.Errorf("%v, %v", out, err)
	}
}

func TestTurn(t *testing.T) {
	call, m := tools(t, true)
	out, err := call("story.turn", in{"dir": "shop", "state": "counter", "intent": "buy", "slots": in{"what": "apple"}})
	if err != nil || out["ok"] != true || out["mode"] != "transitioned" {
		t.Fatalf("%v, %v", out, err)
	}
	would, _ := out["would_call"].([]any)
	if answered, _ := out["host_calls"].([]any); len(would) != 1 || len(answered) != 0 {
		t.Fatalf("%v", out)
	}
	if args, _ := would[0].(map[string]any)["args"].(map[string]any); args["cmd"] != "sell apple" {
		t.Errorf("%v", would)
	}
	changed, _ := out["world_changed"].(map[string]any)
	if changed["money"] != 5.0 || changed["last"] != nil {
		t.Errorf("%v", changed)
	}
	out, err = call("story.turn", in{
		"dir": "shop", "state": "counter", "intent": "buy", "slots": in{"what": "apple"}, "world": in{"money": 7},
		"stubs": in{"host.run": in{"data": in{"stdout": "one <apple>\n---\n"}}},
	})
	changed, _ = out["world_changed"].(map[string]any)
	if would, _ := out["would_call"].([]any); err != nil || len(would) != 0 || changed["last"] != "one <apple>\n---\n" || changed["money"] != 2.0 {
		t.Errorf("%v, %v", out, err)
	}
	for _, c := range []struct{ slots, code, mode string }{{"{}", "MISSING_SLOTS", "clarify"}, {`{"what":"plum"}`, "INVALID_SLOT_VALUE", "rejected"}} {
		out, err = call("story.turn", in{"dir": "shop", "state": "counter", "intent": "buy", "slots": json.RawMessage(c.slots)})
		if err != nil || out["ok"] != false || out["error_code"] != c.code || out["mode"] != c.mode || out["next_state"] != "counter" {
			t.Errorf("%s: %v, %v", c.slots, out, err)
		}
	}
	if out, err = call("story.turn", in{"dir": "shop", "intent": "enter"}); err != nil || out["next_state"] != "counter" || !strings.Contains(out["view_rendered"].(string), "You have 10") {
		t.Errorf("%v, %v", out, err)
	}
	if _, err = call("story.turn", in{"dir": "shop", "state": "conter", "intent": "buy"}); fault.CodeOf(err) != story.CodeWhat || !strings.Contains(fault.HintOf(err), "counter") {
		t.Error(err, fault.HintOf(err))
	}
	if _, err = call("story.turn", in{"dir": "shop", "intent": "enter", "stubs": in{"host.run": in{"dat": 1}}}); fault.CodeOf(err) == "" {
		t.Error("a stub with an unknown key was taken")
	}
	if len(m.files) != 3 {
		t.Error("something was written")
	}
}

// Only story.turn.exec makes a call, and a stub still answers before it.
func TestTurnExec(t *testing.T) {
	for _, tt := range []struct{ tool, stubs, last, listed string }{
		{"story.turn", `{}`, "", "would_call"},
		{"story.turn.exec", `{}`, "BASH -C SELL PEAR", "host_calls"},
		{"story.turn.exec", `{"host.run":{"data":{"stdout":"stub"}}}`, "stub", "host_calls"},
	} {
		call, m := tools(t, true)
		out, err := call(tt.tool, map[string]any{"dir": "@/shop", "state": "counter", "intent": "buy", "slots": map[string]any{"what": "pear"}, "stubs": json.RawMessage(tt.stubs)})
		if err != nil {
			t.Fatal(err)
		}
		if got := out["world_after"].(map[string]any)["last"]; got != tt.last {
			t.Errorf("%s with stubs %s: last is %q, want %q", tt.tool, tt.stubs, got, tt.last)
		}
		calls := out[tt.listed].([]any)
		if len(calls) != 1 {
			t.Fatalf("%s: %s is %v", tt.tool, tt.listed, calls)
		}
		ran := tt.last == "BASH -C SELL PEAR"
		if got := calls[0].(map[string]any)["ran"] == true; got != ran {
			t.Errorf("%s with stubs %s: ran is %v", tt.tool, tt.stubs, got)
		}
		if want := map[bool]string{true: "/w"}[tt.tool == "story.turn.exec"]; m.work != want {
			t.Errorf("%s: commands run in %q, want %q", tt.tool, m.work, want)
		}
	}
}

func TestGraph(t *testing.T) {
	call, _ := tools(t, true)
	out, err := call("story.graph", in{"dir": "shop", "graph": true})
	rooms, _ := out["rooms"].([]any)
	g, _ := out["graph"].(map[string]any)
	if err != nil || out["mode"] != "rooms" || len(rooms) != 2 || g["schema"] != "graph.v1" {
		t.Fatalf("%v, %v", out, err)
	}
	out, err = call("story.graph", in{"dir": "shop", "room": "counter"})
	if d, _ := out["detail"].(map[string]any); err != nil || out["mode"] != "detail" || d["id"] != "counter" || out["graph"] != nil {
		t.Errorf("%v, %v", out, err)
	}
	if out, err = call("story.graph", in{"dir": "shop", "room": "counter", "agents": true}); err != nil || out["mode"] != "agents" {
		t.Errorf("%v, %v", out, err)
	}
	if _, err = call("story.graph", in{"dir": "shop", "room": "countr"}); fault.CodeOf(err) != story.CodeWhat {
		t.Error(err)
	}
}

// A turn of a small story, over the tool: the story is read each time.
func BenchmarkTurnTool(b *testing.B) {
	m := &memory{files: map[string]string{"/s/shop/app.yaml": shop}}
	for b.Loop() {
		out, err := story.Take(b.Context(), story.TurnDeps{Files: m, App: "/s/shop"}, story.TurnIn{State: "counter", Intent: "buy", Slots: tool.Object(`{"what":"pear"}`)})
		if err != nil || !out.OK {
			b.Fatal(out, err)
		}
	}
}

// What is no object says which of them it is, and how to write one.
func TestTurnTakesObjects(t *testing.T) {
	m := &memory{files: map[string]string{"/s/shop/app.yaml": shop}}
	for name, in := range map[string]story.TurnIn{
		"slots": {Intent: "buy", Slots: tool.Object("x")}, "world": {Intent: "buy", World: tool.Object("[1]")}, "stubs": {Intent: "buy", Stubs: tool.Object("3")},
	} {
		_, err := story.Take(t.Context(), story.TurnDeps{Files: m, App: "/s/shop"}, in)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), name+" is no JSON object") || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
