package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// An agentSide is a server on stdio that runs as a process, seen by its client.
type agentSide struct {
	*process
	answers *bufio.Scanner
	calls   int
}

// agent starts mcp and says hello, as a client that cannot ask its person.
func (w *world) agent(args ...string) *agentSide {
	w.t.Helper()
	out, into, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = out.Close() })
	p := &agentSide{process: w.startTo(into, append([]string{"mcp"}, args...)...), answers: bufio.NewScanner(out)}
	p.answers.Buffer(nil, 1<<20)
	p.say(hello)
	return p
}

func (p *agentSide) say(lines string) {
	p.t.Helper()
	if _, err := fmt.Fprint(p.in, lines); err != nil {
		p.t.Fatal(err)
	}
}

// call calls a tool and waits for the answer.
func (p *agentSide) call(name, input string) string {
	p.t.Helper()
	p.calls++
	p.say(calling(p.calls, name, input))
	for p.answers.Scan() {
		if strings.Contains(p.answers.Text(), fmt.Sprintf(`"id":%d,`, p.calls)) {
			return p.answers.Text()
		}
	}
	p.t.Fatalf("no answer to %s: %v", name, p.answers.Err())
	return ""
}

// leave ends the client, and waits for its server to end.
func (p *agentSide) leave() {
	p.t.Helper()
	_ = p.in.Close()
	said := p.drain()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server: %v\n%s", err, said)
	}
}

// elsewhere runs a command as a process of its own, and gives what it said.
func (w *world) elsewhere(args ...string) string {
	w.t.Helper()
	p := w.start(args...)
	_ = p.in.Close()
	said := p.drain()
	if err := p.cmd.Wait(); err != nil {
		w.t.Fatalf("soundstage %q: %v\n%s", args, err, said)
	}
	return p.out.String()
}

// An agent whose client cannot ask leaves its question with the studio. A person answers
// in another process, while the agent's server runs: yes, and the draft is applied when
// the agent makes its call again; no, and it is not. The trace says by whom.
func TestAPersonAnswersInAnotherProcess(t *testing.T) {
	for word, tt := range map[string]struct{ again, name, trace string }{
		"allow": {"read again and verified", "Countess Ada", "once, by person"},
		"deny":  {"GATE_DENIED", `"Ada"`, "no, by person"},
	} {
		t.Run(word, func(t *testing.T) {
			w := newWorld(t)
			w.write("ada.json", ada)
			w.must("", "init", ".")
			w.must("", "import", "ada.json")
			p := w.agent("--gate", "guarded")
			drafted := p.call("capability.call", `{"id":"character.identity.update","input":{"id":"ada","name":"Countess Ada"}}`)
			if !strings.Contains(drafted, "d-0001") {
				t.Fatalf("it drafted nothing: %s", drafted)
			}
			const apply = `{"draft":"d-0001"}`
			if res := p.call("change.apply", apply); !strings.Contains(res, "GATE_PENDING") {
				t.Fatalf("it was not asked about: %s", res)
			}
			var list askList
			if err := json.Unmarshal([]byte(w.elsewhere("ask", "ls", "--json")), &list); err != nil || len(list.Questions) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			q := list.Questions[0]
			if q.Tool != "change.apply" || q.Client != "hostile 1" || q.State != "open" {
				t.Errorf("the question is %+v", q)
			}
			if res := p.call("change.apply", apply); !strings.Contains(res, "GATE_PENDING") || !strings.Contains(res, q.ID) {
				t.Errorf("asked again before there was an answer: %s", res)
			}
			w.elsewhere("ask", word, q.ID)
			if res := p.call("change.apply", apply); !strings.Contains(res, tt.again) {
				t.Errorf("after %s: %s", word, res)
			}
			p.leave()
			if text := w.must("", "piece", "show", "character/ada"); !strings.Contains(text, tt.name) {
				t.Errorf("the piece is\n%s", text)
			}
			if text := w.must("", "trace", "show", q.Session); !strings.Contains(text, tt.trace) {
				t.Errorf("the trace does not say %q:\n%s", tt.trace, text)
			}
			if text := w.elsewhere("ask", "ls"); !strings.Contains(text, "no questions wait") {
				t.Errorf("it waits yet:\n%s", text)
			}
			w.must("", "doctor", "--rebuild")
		})
	}
}
