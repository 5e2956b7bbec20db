package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
)

// wire is a client that writes frames by hand, so that the server is not tested by its
// own library.
type wire struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	// meta goes into the params of each request, of a revision that has it.
	meta string
	told []string // notifications
	gone string   // the id of a request that was cancelled: it may be answered all the same
}

func (s *stage) dial(t *testing.T) *wire {
	t.Helper()
	toServer, in := pipe()
	out, fromServer := pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.server.Serve(t.Context(), toServer, fromServer)
		_ = fromServer.Close()
		ended <- err
	}()
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 8<<20)
	t.Cleanup(func() {
		_ = in.Close()
		for sc.Scan() {
		}
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &wire{t: t, in: in, out: sc}
}

func (w *wire) send(frame string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, frame+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// read is the next frame of the server.
func (w *wire) read() (frame, method, id string) {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatalf("the server is gone: %v", w.out.Err())
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
		w.t.Fatalf("%q: %v", w.out.Text(), err)
	}
	return w.out.Text(), m.Method, string(m.ID)
}

// ask makes a request; params are the members of an object.
func (w *wire) ask(id, method, params string) string {
	w.t.Helper()
	if w.meta != "" {
		params = strings.TrimSuffix(w.meta+","+params, ",")
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params))
	for {
		frame, m, got := w.read()
		if m != "" {
			w.told = append(w.told, frame)
			continue
		}
		if got == w.gone {
			continue
		}
		if got != id {
			w.t.Fatalf("answer to %s, want %s: %s", got, id, frame)
		}
		return frame
	}
}

// await is the next notification of a method.
func (w *wire) await(method string) string {
	w.t.Helper()
	for i, frame := range w.told {
		if strings.Contains(frame, `"`+method+`"`) {
			w.told = append(w.told[:i:i], w.told[i+1:]...)
			return frame
		}
	}
	for {
		if frame, m, _ := w.read(); m == method {
			return frame
		}
	}
}

func (w *wire) wants(what, frame string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		has := strings.Contains(frame, strings.TrimPrefix(p, "!"))
		if has == strings.HasPrefix(p, "!") {
			w.t.Errorf("%s: %s\nwant %s", what, frame, p)
		}
	}
}

const clientInfo = `{"name":"wire","version":"1"}`

func (w *wire) initialize(revision, capabilities, want string) {
	w.t.Helper()
	frame := w.ask(`0`, "initialize", `"protocolVersion":"`+revision+`","capabilities":`+capabilities+`,"clientInfo":`+clientInfo)
	w.wants("initialize", frame, `"protocolVersion":"`+want+`"`, `"tools":{"listChanged":true}`, `"subscribe":true`, `"logging":{}`, `"prompts":{`, `"completions":{}`, `"instructions":`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// tour asks for everything that a client of any revision asks for.
func (w *wire) tour(notFound string) {
	w.t.Helper()
	w.wants("tools/list", w.ask(`"l"`, "tools/list", ``), `"name":"studio.list"`, `!"name":"character.identity.update"`)
	w.wants("tools/call", w.ask(`3`, "tools/call", `"name":"studio.list","arguments":{}`), `"structuredContent":{"items":["character/ada"]}`, `one piece: character/ada`)
	w.wants("tools/call of none", w.ask(`4`, "tools/call", `"name":"studio.burn"`), `"code":-32602`)
	w.wants("prompts/list", w.ask(`5`, "prompts/list", ``), `"name":"greet"`)
	w.wants("prompts/get", w.ask(`6`, "prompts/get", `"name":"greet","arguments":{"who":"Ada"}`), `"text":"Say hello to Ada."`, `"role":"user"`)
	w.wants("prompts/get without its argument", w.ask(`7`, "prompts/get", `"name":"greet"`), `"code":-32602`, `PROMPT_ARGUMENT`)
	w.wants("resources/templates/list", w.ask(`8`, "resources/templates/list", ``), `"uriTemplate":"soundstage://piece/{kind}/{id}"`)
	w.wants("resources/list", w.ask(`9`, "resources/list", ``), `"uri":"soundstage://piece/character/ada"`)
	w.wants("resources/read", w.ask(`10`, "resources/read", `"uri":"soundstage://piece/character/ada"`), `"text":"the body of ada"`, `"mimeType":"application/json"`)
	w.wants("resources/read of none", w.ask(`11`, "resources/read", `"uri":"soundstage://piece/character/eve"`), `"code":`+notFound, `soundstage://piece/character/eve`)
	w.wants("completion/complete", w.ask(`12`, "completion/complete", `"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"piece","value":"a"}`), `"values":["ada"]`)
	w.wants("an unknown method", w.ask(`13`, "studio/burn", ``), `"code":-32601`)
}

// find reveals a tool and waits for the news.
func (w *wire) find() string {
	w.t.Helper()
	w.wants("capability.find", w.ask(`20`, "tools/call", `"name":"capability.find","arguments":{"id":"character.identity.update"}`), `call it`)
	frame := w.await("notifications/tools/list_changed")
	w.wants("a revealed tool", w.ask(`21`, "tools/call", `"name":"character.identity.update","arguments":{"id":"ada"}`), `d-0001`)
	w.wants("tools/list", w.ask(`22`, "tools/list", ``), `"name":"character.identity.update"`)
	return frame
}

// The first revision: no structured content is known to its clients, and no links.
func TestRevision20241105(t *testing.T) {
	s, _ := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2024-11-05", `{}`, "2024-11-05")
	w.tour("-32002")
	w.find()
	w.wants("a long result", w.ask(`30`, "tools/call", `"name":"studio.read","arguments":{"id":"long"}`), `r-1 holds`, `!resource_link`)
	w.wants("a question without elicitation", w.ask(`31`, "tools/call", `"name":"change.apply","arguments":{"id":"d-0001"}`), `GATE_NOBODY`, `"isError":true`)
}

// The second one: batches, and no links yet.
func TestRevision20250326(t *testing.T) {
	s, _ := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2025-03-26", `{}`, "2025-03-26")
	w.tour("-32002")
	w.find()
	w.wants("a long result", w.ask(`30`, "tools/call", `"name":"studio.read","arguments":{"id":"long"}`), `r-1 holds`, `!resource_link`)
	w.wants("a question without elicitation", w.ask(`31`, "tools/call", `"name":"change.apply","arguments":{"id":"d-0001"}`), `GATE_NOBODY`, `"isError":true`)
}

func TestRevision20250618(t *testing.T) {
	s, _ := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2025-06-18", `{"elicitation":{}}`, "2025-06-18")
	w.tour("-32002")
	w.find()
	w.wants("a long result", w.ask(`30`, "tools/call", `"name":"studio.read","arguments":{"id":"long"}`), `r-1 holds`, `"type":"resource_link"`, `"uri":"soundstage://result/r-1"`)
	w.askPerson()
}

func TestRevision20251125(t *testing.T) {
	s, res := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2025-11-25", `{"elicitation":{"form":{}}}`, "2025-11-25")
	w.tour("-32002")
	w.find()
	w.wants("subscribe", w.ask(`40`, "resources/subscribe", `"uri":"soundstage://piece/character/ada"`), `"result":{}`)
	res.set("soundstage://piece/character/ada", "2")
	w.wants("ping", w.ask(`41`, "ping", ``), `"result":{}`)
	w.wants("updated", w.await("notifications/resources/updated"), `"uri":"soundstage://piece/character/ada"`)
	w.wants("unsubscribe", w.ask(`42`, "resources/unsubscribe", `"uri":"soundstage://piece/character/ada"`), `"result":{}`)
	res.set("soundstage://piece/character/ada", "3")
	w.ask(`43`, "ping", ``)
	if len(w.told) > 0 {
		t.Errorf("told after it unsubscribed: %q", w.told)
	}
	w.wants("setLevel", w.ask(`44`, "logging/setLevel", `"level":"info"`), `"result":{}`)
	w.ask(`45`, "tools/call", `"name":"studio.list"`)
	w.wants("log", w.await("notifications/message"), `"level":"info"`, `"tool":"studio.list"`, `"logger":"soundstage"`)
	w.wants("setLevel of none", w.ask(`46`, "logging/setLevel", `"level":"loud"`), `"code":-32602`)
	w.askPerson()
}

// askPerson has a question asked from inside of a call, and answers it.
func (w *wire) askPerson() {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"change.apply","arguments":{"id":"d-0001"}}}`)
	frame, method, id := w.read()
	for method == "notifications/message" {
		frame, method, id = w.read()
	}
	if method != "elicitation/create" {
		w.t.Fatalf("%s came, want a question", frame)
	}
	w.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"answer":"once"}}}`)
	for frame, method, _ = w.read(); method == "notifications/message"; {
		frame, method, _ = w.read()
	}
	w.wants("an apply that was allowed", frame, `"id":50`, `applied`)
}

// The newest revision: no initialize, and each request says who asks.
func TestRevision20260728(t *testing.T) {
	s, res := newFullStage(nil)
	w := s.dial(t)
	w.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + clientInfo + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/logLevel":"info"}`
	w.wants("server/discover", w.ask(`"probe"`, "server/discover", ``), `"supportedVersions":[`, `"2026-07-28"`, `"2024-11-05"`, `"instructions":`)
	w.send(`{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen","params":{` + w.meta + `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["soundstage://piece/character/ada"]}}}`)
	w.await("notifications/subscriptions/acknowledged")
	w.tour("-32602")
	w.wants("list_changed", w.find(), `listen:0`)
	res.set("soundstage://piece/character/ada", "2")
	w.ask(`41`, "tools/list", ``)
	w.wants("updated", w.await("notifications/resources/updated"), `"uri":"soundstage://piece/character/ada"`, `listen:0`)
	w.wants("log", w.await("notifications/message"), `"logger":"soundstage"`)
	w.wants("results say what they are", w.ask(`42`, "resources/read", `"uri":"soundstage://piece/character/ada"`), `"resultType":"complete"`, `"cacheScope":"private"`)
	// A question is a result, and the call is made again with its answer.
	frame := w.ask(`50`, "tools/call", `"name":"change.apply","arguments":{"id":"d-0001"}`)
	w.wants("a question", frame, `"resultType":"input_required"`, `"requestState":`)
	var asked struct {
		Result struct {
			State string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(frame), &asked); err != nil {
		t.Fatal(err)
	}
	w.wants("the answer", w.ask(`51`, "tools/call", fmt.Sprintf(`"name":"change.apply","arguments":{"id":"d-0001"},"requestState":%q,"inputResponses":{"gate":{"action":"accept","content":{"answer":"once"}}}`, asked.Result.State)), `applied`)
}

// A revision that nobody wrote yet is answered with the newest that begins with
// initialize.
func TestRevisionToCome(t *testing.T) {
	s, _ := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2031-01-01", `{}`, "2025-11-25")
	w.tour("-32002")
}

var _ mcp.Resources = (*stacks)(nil)
