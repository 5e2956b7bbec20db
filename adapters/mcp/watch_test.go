package mcp_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
)

const ada = "soundstage://piece/character/ada"

// What another process saved is seen within a second, once, and nothing is looked at
// while nobody subscribes.
func TestASaveElsewhereIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, res := newFullStage(clock.Real{})
		w := s.dial(t)
		w.initialize("2025-06-18", `{}`, "2025-06-18")
		time.Sleep(time.Minute)
		if res.looks > 0 {
			t.Errorf("looked %d times for nobody", res.looks)
		}
		w.ask(`1`, "resources/subscribe", `"uri":"`+ada+`"`)
		began := time.Now()
		res.set(ada, "2")
		w.wants("updated", w.await("notifications/resources/updated"), ada)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("told after %s", waited)
		}
		time.Sleep(time.Minute)
		w.ask(`2`, "ping", ``)
		if len(w.told) > 0 {
			t.Errorf("told again: %q", w.told)
		}
		w.ask(`3`, "resources/unsubscribe", `"uri":"`+ada+`"`)
		before := res.looks
		time.Sleep(time.Minute)
		if res.looks != before {
			t.Errorf("looked %d times for nobody", res.looks-before)
		}
	})
}

// What one client of a process saves, its other clients are told of at once.
func TestASaveOfAnotherClientIsTold(t *testing.T) {
	_, o := newOptions(false, nil)
	res := &stacks{revisions: map[string]string{ada: "1"}}
	o.Resources = res
	f := mcp.NewFactory(o)
	open := func(id string) *wire {
		w := (&stage{server: f.Open(mcp.Session{ID: id, Recorder: &tape{}})}).dial(t)
		w.ask(`0`, "initialize", `"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":`+clientInfo)
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return w
	}
	reader, writer := open("s-0001"), open("s-0002")
	reader.ask(`1`, "resources/subscribe", `"uri":"`+ada+`"`)
	res.set(ada, "2")
	writer.askPerson()
	reader.wants("updated", reader.await("notifications/resources/updated"), ada)
	if len(writer.told) > 0 {
		t.Errorf("one who did not subscribe was told %q", writer.told)
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s, _ := newFullStage(nil)
	w := s.dial(t)
	w.initialize("2025-06-18", `{}`, "2025-06-18")
	for i := range 100 {
		w.wants("subscribe", w.ask(fmt.Sprint(i+1), "resources/subscribe", fmt.Sprintf(`"uri":"soundstage://piece/character/c%d"`, i)), `"result":{}`)
	}
	w.wants("one again", w.ask(`200`, "resources/subscribe", `"uri":"soundstage://piece/character/c1"`), `"result":{}`)
	w.wants("one too many", w.ask(`201`, "resources/subscribe", `"uri":"`+ada+`"`), "MCP_TOO_MANY_SUBSCRIPTIONS", `"code":-32602`)
	w.ask(`202`, "resources/unsubscribe", `"uri":"soundstage://piece/character/c1"`)
	w.wants("after one went", w.ask(`203`, "resources/subscribe", `"uri":"`+ada+`"`), `"result":{}`)
	w.wants("a long address", w.ask(`204`, "resources/subscribe", fmt.Sprintf(`"uri":"soundstage://piece/%01000d"`, 0)), "TOO_LARGE")
}

// Of two streams that hold the same address, the end of one leaves the other.
func TestListensHoldTheirOwn(t *testing.T) {
	s, res := newFullStage(nil)
	w := s.dial(t)
	w.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + clientInfo + `,"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, id := range []string{"one", "other"} {
		w.send(`{"jsonrpc":"2.0","id":"` + id + `","method":"subscriptions/listen","params":{` + w.meta + `,"notifications":{"resourceSubscriptions":["` + ada + `"]}}}`)
		w.await("notifications/subscriptions/acknowledged")
	}
	looks := res.looks
	w.gone = `"one"`
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one"}}`)
	w.ask(`1`, "tools/list", ``)
	if res.looks == looks {
		t.Error("nothing is looked at, and a stream is open")
	}
}
