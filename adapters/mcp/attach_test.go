package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

const hello = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"other","version":"3"},"instructions":"Be kind."}}`

// spoken is a server that says what is in lines, one for each message that is no
// notification; it gives what it heard when it has ended.
func spoken(t *testing.T, lines ...string) (in io.Reader, out io.WriteCloser, heard func() []string) {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan []string, 1)
	go func() {
		var all []string
		s := bufio.NewScanner(fromClient)
		for s.Scan() {
			all = append(all, s.Text())
			if strings.Contains(s.Text(), `"method":"notifications/`) {
				continue
			}
			if len(lines) == 0 {
				break
			}
			_, _ = fmt.Fprintln(toClient, lines[0])
			lines = lines[1:]
		}
		_ = toClient.Close()
		_, _ = io.Copy(io.Discard, fromClient)
		done <- all
	}()
	return fromServer, toServer, func() []string {
		_ = toServer.Close()
		return <-done
	}
}

func TestAttachedSeesWhatCame(t *testing.T) {
	in, out, heard := spoken(t, hello,
		`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"z":1, "type":"object"}}],"nextCursor":"p2"}}`,
		"\n"+`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n"+`{"jsonrpc":"2.0","id":99,"result":{}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}`)
	c, err := mcp.Attach(t.Context(), in, out, mcp.AttachOptions{Name: "n", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (mcp.ServerInfo{Name: "other", Version: "3", Revision: "2025-11-25", Instructions: "Be kind."}); c.Server != want {
		t.Errorf("%+v", c.Server)
	}
	tools, err := c.Tools(t.Context())
	if err != nil || len(tools) != 2 || string(tools[0].InputSchema) != `{"z":1, "type":"object"}` || tools[0].Bytes != len(`{"name":"a","inputSchema":{"z":1, "type":"object"}}`) {
		t.Errorf("%v %+v", err, tools)
	}
	if all := heard(); !strings.Contains(all[0], `"capabilities":{}`) || !strings.Contains(all[3], `"cursor":"p2"`) {
		t.Errorf("%q", all)
	}
}

func TestAttachedIsAsked(t *testing.T) {
	const form = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Delete?","requestedSchema":{"type":"object","properties":{"answer":{"type":"string","enum":["once","no"]}}}}}`
	for name, c := range map[string]struct {
		asked, chosen, want string
	}{
		"yes":     {form, "once", `{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"answer":"once"}}}`},
		"nobody":  {form, "", `{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}`},
		"no form": {`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`, "once", `{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}`},
		"ping":    {`{"jsonrpc":"2.0","id":"q","method":"ping"}`, "", `{"jsonrpc":"2.0","id":"q","result":{}}`},
		"roots":   {`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`, "", `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"roots/list is not for this client"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			in, out, heard := spoken(t, hello, c.asked, `{"jsonrpc":"2.0","id":2,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`)
			a, err := mcp.Attach(t.Context(), in, out, mcp.AttachOptions{Name: "n", Version: "1", Ask: func(_ context.Context, message string, choices []string) string {
				if message != "Delete?" || !slices.Equal(choices, []string{"once", "no"}) {
					t.Errorf("asked %q %q", message, choices)
				}
				return c.chosen
			}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := a.Call(t.Context(), "x", []byte("{}"))
			if err != nil || !r.IsError || len(r.Content) != 1 || r.Content[0].Text != "no" {
				t.Errorf("%v %+v", err, r)
			}
			if all := heard(); all[len(all)-1] != c.want {
				t.Errorf("answered %s", all[len(all)-1])
			}
		})
	}
}

func TestAttachedToWhatIsNoServer(t *testing.T) {
	pages := []string{hello}
	for i := range 200 {
		pages = append(pages, fmt.Sprintf(`{"id":%d,"result":{"tools":[],"nextCursor":"on"}}`, i+2))
	}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"silent":    {nil, "ended before it answered"},
		"chatty":    {[]string{"Listening on stdio"}, "which is no message"},
		"an error":  {[]string{`{"id":1,"error":{"code":-32600,"message":"go away"}}`}, "initialize: go away (-32600)"},
		"endless":   {pages, "more than 100 pages"},
		"too large": {[]string{strings.Repeat("x", 17<<20)}, "has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			in, out, heard := spoken(t, c.lines...)
			a, err := mcp.Attach(t.Context(), in, out, mcp.AttachOptions{Name: "n", Version: "1"})
			if err == nil {
				_, err = a.Tools(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || fault.CodeOf(err) == fault.Internal {
				t.Errorf("%v", err)
			}
			go io.Copy(io.Discard, in) //nolint:errcheck // what is left
			heard()
		})
	}
}
