package scenarios_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// asProgram makes this test's binary the program, as script.Main does it.
const asProgram = "SOUNDSTAGE_TEST_AS_PROGRAM"

// A rpc is a message of MCP, as far as these programs look at it.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// badServer is an MCP server with one tool, poke, that misbehaves: it hangs, dies,
// floods its standard error first, sends more than a message or a result may have, or
// has two tools of one name. With "mute" it does not even greet.
func badServer(how string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m rpc
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil || how == "mute" {
			continue
		}
		answer := func(body string) { fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, body) }
		switch m.Method {
		case "initialize":
			answer(`"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`)
		case "tools/list":
			more := ""
			if how == "twins" {
				more = `,{"name":"poke_it","inputSchema":{"type":"object"}},{"name":"poke.it","inputSchema":{"type":"object"}}`
			}
			answer(`"result":{"tools":[{"name":"Poke-It","description":"Poke it.","inputSchema":{"type":"object",  "properties":{"x":true}}}` + more + `]}`)
		case "tools/call":
			switch how {
			case "hang":
				deaf := make(chan os.Signal, 1)
				signal.Notify(deaf, syscall.SIGTERM, os.Interrupt)
				for range deaf { // it has to be killed
				}
			case "die":
				return 3
			case "burst":
				line := bytes.Repeat([]byte("a"), 1<<20)
				os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`)
				for range 17 {
					os.Stdout.Write(line)
				}
				os.Stdout.WriteString("\"}}\n")
			case "flood":
				line := bytes.Repeat([]byte("noise "), 10_000)
				for range 100 {
					os.Stderr.Write(line)
				}
			}
			text := "poked"
			if how == "huge" {
				text = strings.Repeat("a", 1_000_001) // one more than a result may have
			}
			answer(`"result":{"content":[{"type":"text","text":"` + text + `"}]}`)
		default:
			answer(`"error":{"code":-32601,"message":"method not found"}`)
		}
	}
	return 0
}

// fakeClaude does what the real one does with these arguments: it starts the one server
// that it is given, calls a tool of it, and says what came of it.
func fakeClaude(args []string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	config, err := os.ReadFile(args[slices.Index(args, "--mcp-config")+1])
	var c struct {
		Servers map[string]struct{ Args []string } `json:"mcpServers"`
	}
	if err == nil {
		err = json.Unmarshal(config, &c)
	}
	if err != nil || len(c.Servers) != 1 || !slices.Contains(args, "--strict-mcp-config") || args[slices.Index(args, "--tools")+1] != "" {
		fmt.Fprintln(os.Stderr, "the arguments give more than the bridge:", err, args)
		return 1
	}
	bridge := exec.Command(os.Args[0], c.Servers["soundstage"].Args...)
	bridge.Env = append(os.Environ(), asProgram+"=1")
	bridge.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude","version":"2"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"studio.list","arguments":{}}}
`)
	out, err := bridge.Output()
	writes := "reads only"
	if bytes.Contains(out, []byte(`"change.apply"`)) {
		writes = "may write"
	}
	found := "nobody"
	if bytes.Contains(out, []byte("Ada")) {
		found = "Ada"
	}
	e := json.NewEncoder(os.Stdout)
	_ = e.Encode(map[string]any{"type": "system", "subtype": "init", "mcp_servers": []map[string]string{{"name": "soundstage", "status": "connected"}}})
	_ = e.Encode(map[string]any{
		"type": "result", "subtype": "success", "is_error": err != nil,
		"result": fmt.Sprintf("You asked %d bytes. I found %s; my bridge %s.", len(prompt), found, writes),
		"usage":  map[string]int{"input_tokens": 12, "output_tokens": 7},
	})
	return 0
}
