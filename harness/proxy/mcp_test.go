package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// A toolbox is an MCP server with one tool, which tells of its progress first.
type toolbox struct {
	out  chan []byte
	done chan struct{}
}

func dialToolbox(context.Context) (seam.MCPConn, error) {
	return &toolbox{out: make(chan []byte, 100), done: make(chan struct{})}, nil
}

func (b *toolbox) Read(ctx context.Context) ([]byte, error) {
	select {
	case m := <-b.out:
		return m, nil
	case <-b.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *toolbox) Write(_ context.Context, message []byte) error {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
			Arguments struct{ Text string }
		}
	}
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		return err
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"toolbox","version":"1"}}`
	case "tools/call":
		if m.Params.Meta.ProgressToken != nil {
			b.out <- fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.Params.Meta.ProgressToken)
		}
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, strings.ToUpper(m.Params.Arguments.Text))
	}
	b.out <- fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	return nil
}

func (b *toolbox) Close() error {
	close(b.done)
	return nil
}

// mcpTurn is what a client with a session sends; ids are its own.
func mcpTurn(t *testing.T, rt http.RoundTripper, id int) string {
	t.Helper()
	res, first := post(t, rt, address+"/mcp/toolbox", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, id))
	session := res.Header.Get("Mcp-Session-Id")
	if session == "" || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("initialize: %v %s", res.Header, first)
	}
	with := []string{"Mcp-Session-Id", session}
	if res, body := post(t, rt, address+"/mcp/toolbox", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with...); res.StatusCode != http.StatusAccepted || body != "" {
		t.Fatalf("initialized: %d %s", res.StatusCode, body)
	}
	res, second := post(t, rt, address+"/mcp/toolbox", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"up","arguments":{"text":"ada"},"_meta":{"progressToken":%d}}}`, id+1, id), with...)
	if res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("call: %v %s", res.Header, second)
	}
	return strings.NewReplacer(fmt.Sprintf(`"id":%d`, id), "ID", fmt.Sprintf(`"id":%d`, id+1), "ID", fmt.Sprintf(`"progressToken":%d`, id), "TOKEN").Replace(first + second)
}

// An MCP server is recorded through the proxy and replayed without it, for clients with
// sessions, whatever ids they choose, and for those without.
func TestMCP(t *testing.T) {
	serve := func(s *seam.Seam) (http.RoundTripper, func()) {
		p := proxy.New(proxy.Options{Seam: s, MCP: func(string, http.Header) seam.Dial { return dialToolbox }})
		return upstream.NewTransport(p), p.Close
	}
	const bare = `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}`
	o := options(t, roundTrip(nil))
	o.Rules = append(o.Rules, "mcp-noise/1")
	s := open(t, o)
	rt, end := serve(s)
	want := mcpTurn(t, rt, 1)
	_, list := post(t, rt, address+"/mcp/toolbox", bare)
	end()
	closeSeam(t, s)
	if !strings.Contains(want, "ADA") || !strings.Contains(want, "notifications/progress") || list != `{"jsonrpc":"2.0","id":"a","result":{}}` {
		t.Fatalf("%s\n%s", want, list)
	}

	s = replay(t, o)
	rt, end = serve(s)
	if got := mcpTurn(t, rt, 40); got != want {
		t.Errorf("replayed %s\nrecorded %s", got, want)
	}
	if _, got := post(t, rt, address+"/mcp/toolbox", strings.Replace(bare, `"a"`, `"b"`, 1)); got != strings.Replace(list, `"a"`, `"b"`, 1) {
		t.Errorf("without a session: %s", got)
	}
	if left := s.Unused(); len(left) > 0 || s.Err() != nil {
		t.Errorf("unused %v, %v", left, s.Err())
	}
	if _, got := post(t, rt, address+"/mcp/toolbox", strings.Replace(bare, "tools", "prompts", 1)); !strings.Contains(got, "SEAM_MISS") {
		t.Errorf("a miss: %s", got)
	}
	end()
}

// A respeller is a server that decodes ids and writes them in its own way, as most do.
type respeller struct{ *toolbox }

func (r respeller) Write(ctx context.Context, message []byte) error {
	var m map[string]any
	if err := json.Unmarshal(message, &m); err != nil {
		return err
	}
	again, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return r.toolbox.Write(ctx, again)
}

// An id that is spelled in an odd way finds its answer, or is refused at once: nobody
// waits for an answer that is not known again.
func TestMCPOddIDs(t *testing.T) {
	p := proxy.New(proxy.Options{Seam: open(t, options(t, roundTrip(nil))), MCP: func(string, http.Header) seam.Dial {
		return func(context.Context) (seam.MCPConn, error) {
			return respeller{&toolbox{out: make(chan []byte, 100), done: make(chan struct{})}}, nil
		}
	}})
	defer p.Close()
	rt := upstream.NewTransport(p)
	for id, answered := range map[string]bool{
		`1`: true, `"1"`: true, `"\u0061\/"`: true, `""`: true, `-3`: true, `9007199254740992`: true,
		`9007199254740993`: false, `1.5`: false, `1e3`: false, `1.0`: false, `-0`: false, `null`: false, `true`: false, `[1]`: false,
	} {
		res, body := post(t, rt, address+"/mcp/toolbox", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list","params":{}}`)
		if strings.Contains(body, `"result"`) != answered || answered != (res.StatusCode == http.StatusOK) {
			t.Errorf("id %s: %d %s", id, res.StatusCode, body)
		}
	}
}

func TestMCPRefuses(t *testing.T) {
	s := open(t, options(t, roundTrip(nil)))
	rt := through(s)
	for _, c := range []struct {
		path, body, session string
		status              int
	}{
		{"/mcp/x", `[]`, "", http.StatusBadRequest},
		{"/mcp/x", `{`, "", http.StatusBadRequest},
		{"/mcp/a%20b", `{"jsonrpc":"2.0","id":1,"method":"m"}`, "", http.StatusBadRequest},
		{"/mcp/x", `{"jsonrpc":"2.0","id":1,"method":"m"}`, "mcp-9", http.StatusNotFound},
		{"/mcp/x", `{"jsonrpc":"2.0","id":1,"method":"m"}`, "", http.StatusBadRequest}, // no upstream
	} {
		var headers []string
		if c.session != "" {
			headers = []string{"Mcp-Session-Id", c.session}
		}
		res, body := post(t, rt, address+c.path, c.body, headers...)
		if res.StatusCode != c.status || !strings.Contains(body, `"jsonrpc":"2.0"`) {
			t.Errorf("%s %s: %d %s", c.path, c.body, res.StatusCode, body)
		}
	}
	_ = s.Close()
}
