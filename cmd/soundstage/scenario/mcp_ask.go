package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// carried is what a result asks that ends a call with a question, and what the client
// brings back with the answer.
type carried struct {
	Requests map[string]json.RawMessage `json:"inputRequests"`
	State    string                     `json:"requestState"`
}

// call calls a tool. Where the result asks, it makes the call again with the person's
// next answer.
func (c *client) call(s *state, params map[string]any) (json.RawMessage, string) {
	for {
		raw, fail := c.try(s, "tools/call", params)
		var asked carried
		if fail != "" || json.Unmarshal(raw, &asked) != nil || asked.State == "" {
			return raw, fail
		}
		answers := map[string]json.RawMessage{}
		for name := range asked.Requests {
			answers[name] = elicited(s)
		}
		params["requestState"], params["inputResponses"] = asked.State, answers
	}
}

// askMCP makes any request, and prints its result; of an error the message and its data.
func askMCP(s *state, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		s.Fatalf("usage: mcp ask METHOD [JSON]")
	}
	params := map[string]any{}
	if len(args) == 2 {
		s.Check(json.Unmarshal([]byte(args[1]), &params))
	}
	raw, fail := s.Bag.client.try(s, args[0], params)
	var asked carried
	if fail == "" && json.Unmarshal(raw, &asked) == nil && asked.State != "" {
		s.Setenv("MCP_STATE", asked.State)
	}
	var b bytes.Buffer
	if fail != "" {
		fmt.Fprintln(&b, fail)
	}
	if len(raw) > 0 {
		s.Check(json.Indent(&b, raw, "", "  "))
		b.WriteByte('\n')
	}
	s.Output(b.Bytes(), nil)
	if (fail != "") != neg {
		s.Fatalf("mcp ask %s: error: %v", args[0], fail != "")
	}
}

// toldMCP waits for a notification and prints what it says. With a leading ! none may
// have come before the answer to a ping.
func toldMCP(s *state, neg bool, args []string) {
	if len(args) != 1 {
		s.Fatalf("usage: mcp told METHOD")
	}
	c, method := s.Bag.client, "notifications/"+args[0]
	if neg {
		c.request(s, "ping", map[string]any{})
	}
	is := func(m message) bool { return m.Method == method }
	i := slices.IndexFunc(c.told, is)
	if neg {
		if i >= 0 {
			s.Fatalf("mcp told %s: it came: %s", args[0], c.told[i].Params)
		}
		return
	}
	for ; i < 0; i = slices.IndexFunc(c.told, is) {
		m := c.receive(s)
		if m.Method == "" || len(m.ID) > 0 {
			s.Fatalf("mcp told %s: %s came instead", args[0], m.Method)
		}
		c.told = append(c.told, m)
	}
	var b bytes.Buffer
	if params := c.told[i].Params; len(params) > 0 {
		s.Check(json.Indent(&b, params, "", "  "))
		b.WriteByte('\n')
	}
	c.told = slices.Delete(c.told, i, i+1)
	s.Output(b.Bytes(), nil)
}
