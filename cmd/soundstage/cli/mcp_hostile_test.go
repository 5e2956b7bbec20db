package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// hello is how a client begins.
const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// goodbye is asked last: it must be answered whatever came before.
const goodbye = `{"jsonrpc":"2.0","id":"goodbye","method":"ping"}`

// calling is a call of a tool as a line.
func calling(id int, name, input string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, name, input)
}

// What a client gets wrong has an answer with a code, and the session goes on to its
// end. Lines that are no messages are a test of adapters/mcp beside this one.
func TestAClientThatGetsItWrong(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"unknown methods":   {`{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/nonsense"}`, []string{`"id":1,"error":{"code":-32601`}},
		"unknown tool":      {calling(1, "studio.destroy", `{}`), []string{`"id":1,"error":{"code":-32602`}},
		"a list as input":   {calling(1, "studio.list", `[1]`), []string{`INVALID_INPUT`}},
		"text as params":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}`, []string{`"id":1,"error":{"code":-32602`}},
		"no UTF-8 in input": {calling(1, "studio.search", "{\"query\":\"\xff\xfe\"}"), []string{`"id":1`}},
		"surrogates":        {calling(1, "studio.search", `{"query":"\ud800"}`), []string{`"id":1`}},
		"the id of another": {calling(7, "studio.list", `{}`) + calling(7, "studio.list", `{}`), []string{`"id":7,"result"`}},
		"ids":               {strings.Join([]string{`{"jsonrpc":"2.0","id":-3,"method":"ping"}`, `{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`}, "\n"), []string{`"id":-3,"result"`, `"id":"","result"`, `"id":9007199254740993,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`}},
		"a batch":           {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, []string{`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`}},
		"answers unasked":   {`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`, nil},
		"cancels nothing":   {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":404}}`, nil},
		"hello again":       {strings.TrimSpace(hello), []string{`"id":"hello"`}},
	} {
		t.Run(name, func(t *testing.T) {
			out := w.must(hello+strings.TrimSuffix(tt.in, "\n")+"\n"+goodbye+"\n", "mcp")
			for _, want := range append(tt.want, `"id":"goodbye","result":{}`) {
				if !strings.Contains(out, want) {
					t.Errorf("want %s, got\n%.2000s", want, out)
				}
			}
			for line := range strings.Lines(out) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%q is no message", line)
				}
			}
		})
	}
}

// Half a line at the end is answered, and ends nothing else.
func TestHalfALineAtTheEnd(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	out := w.must(hello+calling(1, "studio.list", `{}`)+`{"jsonrpc":"2.0","id":2,"meth`, "mcp")
	for _, want := range []string{`"id":1,"result"`, `"id":null,"error":{"code":-32700`} {
		if !strings.Contains(out, want) {
			t.Errorf("want %s, got\n%s", want, out)
		}
	}
}

func TestTenThousandPings(t *testing.T) {
	const many = 10_000
	w := newWorld(t)
	w.must("", "init", ".")
	var in strings.Builder
	in.WriteString(hello)
	for i := range many {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i)
	}
	out := w.must(in.String(), "mcp")
	if n := strings.Count(out, `"result":{}`); n != many {
		t.Errorf("%d answers, want %d", n, many)
	}
}

// A client that is gone in the middle of calls leaves no process, and no draft is lost:
// what it was told of is in the store, whole.
func TestAClientVanishes(t *testing.T) {
	w := newWorld(t)
	w.write("ada.json", ada)
	w.must("", "init", ".")
	w.must("", "import", "ada.json")
	out, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := w.startTo(into, "mcp")
	_ = into.Close() // the child has its own
	lines := hello + calling(1, "capability.call", `{"id":"character.identity.update","input":{"id":"ada","name":"Countess Ada"}}`)
	if _, err := fmt.Fprint(p.in, lines); err != nil {
		t.Fatal(err)
	}
	r, draft := bufio.NewScanner(out), ""
	for draft == "" && r.Scan() {
		if strings.Contains(r.Text(), `"id":1,`) {
			draft = r.Text()
		}
	}
	if !strings.Contains(draft, "d-0001") {
		t.Fatalf("it drafted nothing: %s", draft)
	}
	for i := range 200 { // it does not wait for the answers
		if _, err := fmt.Fprint(p.in, calling(i+2, "capability.call", fmt.Sprintf(`{"id":"character.identity.update","input":{"id":"ada","tagline":"No %d"}}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	_ = out.Close()
	_ = p.in.Close()
	p.drain()
	_ = p.cmd.Wait() // nobody reads its answers any more, which may be an error
	open := w.must("", "tool", "call", "change.query", `{"draft":"d-0001"}`)
	if !strings.Contains(open, "Countess Ada") {
		t.Errorf("the draft is lost:\n%s", open)
	}
	w.must("", "tool", "call", "change.apply", `{"draft":"d-0001"}`, "--gate", "full")
	if text := w.must("", "piece", "show", "character/ada"); !strings.Contains(text, "Countess Ada") {
		t.Errorf("it was not applied:\n%s", text)
	}
	w.must("", "doctor", "--rebuild")
}

// Two clients work on one piece at once. One of two applies wins, the other is told
// that it is stale, and the store is what the traces say.
func TestTwoClientsOnOneStudio(t *testing.T) {
	w := newWorld(t)
	w.write("ada.json", ada)
	w.must("", "init", ".")
	w.must("", "import", "ada.json")
	var outs [2]*bufio.Scanner
	var peers [2]*process
	for i := range peers {
		out, into, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		peers[i], outs[i] = w.startTo(into, "mcp", "--gate", "autopilot"), bufio.NewScanner(out)
		_ = into.Close()
		outs[i].Buffer(nil, 1<<20)
	}
	ask := func(i, id int, line string) {
		if _, err := fmt.Fprint(peers[i].in, line); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(i, id int) string {
		for outs[i].Scan() {
			if strings.Contains(outs[i].Text(), fmt.Sprintf(`"id":%d,`, id)) {
				return outs[i].Text()
			}
		}
		t.Fatalf("client %d got no answer to %d: %v", i, id, outs[i].Err())
		return ""
	}
	for i := range peers {
		ask(i, 1, hello+calling(1, "capability.call", fmt.Sprintf(`{"id":"character.identity.update","input":{"id":"ada","name":"Ada %d"}}`, i)))
	}
	var drafts [2]string
	for i := range peers {
		text := answer(i, 1)
		at := strings.Index(text, "d-0")
		if at < 0 {
			t.Fatalf("client %d has no draft: %s", i, text)
		}
		drafts[i] = text[at : at+len("d-0001")]
	}
	for i := range peers {
		ask(i, 2, calling(2, "change.apply", fmt.Sprintf(`{"draft":%q}`, drafts[i])))
	}
	both := answer(0, 2) + answer(1, 2)
	if strings.Count(both, "read again and verified") == 0 || drafts[0] != drafts[1] && strings.Count(both, `"outcome":"stale"`) != 1 {
		t.Errorf("drafts %v were applied so:\n%s", drafts, both)
	}
	for i := range peers {
		_ = peers[i].in.Close()
		peers[i].drain()
		if err := peers[i].cmd.Wait(); err != nil {
			t.Errorf("client %d's server: %v", i, err)
		}
	}
	w.must("", "doctor", "--rebuild")
}
