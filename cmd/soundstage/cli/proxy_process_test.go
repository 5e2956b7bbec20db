package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

const proxyTurns = "turns:\n- say: {text: one}\n- say: {text: two}\n"

// A served is a server of ours that runs as a process.
type served struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   *bufio.Reader
	ready proxyEvent
}

// serve starts a server and waits until it is ready.
func (w *world) serve(t *testing.T, args ...string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &served{t: t, cmd: exec.CommandContext(t.Context(), self, append(args, "--json")...)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = w.dir, []string{"SOUNDSTAGE_TEST_AS_PROGRAM=1", "HOME=" + w.env["HOME"]}, os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	line, err := p.out.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &p.ready) != nil || p.ready.Event != "ready" {
		t.Fatalf("not ready: %v %s", err, line)
	}
	return p
}

// ask posts a question and gives the status and the answer.
func (p *served) ask(text string) (int, string) {
	p.t.Helper()
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text)
	c := &http.Client{Transport: &http.Transport{}}
	res, err := c.Post(p.ready.Address+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// end sends a signal and gives what the process said last and how it ended. Nothing
// listens on its port any more, and nobody it started is left.
func (p *served) end(s os.Signal) (proxyEvent, int) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	rest, _ := io.ReadAll(p.out) // it ends with the last process that has it
	err := p.cmd.Wait()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		p.t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(p.ready.Address, "http://")); err == nil {
		_ = conn.Close()
		p.t.Error("the port is open yet")
	}
	var done proxyEvent
	if len(rest) > 0 && json.Unmarshal(rest, &done) != nil {
		p.t.Errorf("it said %s", rest)
	}
	return done, p.cmd.ProcessState.ExitCode()
}

// A signal ends the proxy in good order, with a client connected: the recording is
// committed, the port closed.
func TestProxyEnds(t *testing.T) {
	requireLoopback(t)
	w := newWorld(t)
	w.write("turns.upstream.yaml", proxyTurns)
	p := w.serve(t, "proxy", "--mode", "record", "--cassette", "p.yaml", "--upstream", "turns.upstream.yaml")
	if status, body := p.ask("first"); status != http.StatusOK || !strings.Contains(body, "one") {
		t.Fatalf("%d %s", status, body)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.ready.Address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server closes it
	if done, code := p.end(syscall.SIGTERM); code != exitOK || done.Event != "done" || done.Calls != 1 {
		t.Errorf("exit status %d, %+v", code, done)
	}
	if err := cassette.Verify(filepath.Join(w.dir, "p.yaml")); err != nil {
		t.Error(err)
	}

	p = w.serve(t, "proxy", "--cassette", "p.yaml")
	if status, body := p.ask("another"); status != http.StatusBadRequest || !strings.Contains(body, "SEAM_MISS") {
		t.Errorf("%d %s", status, body)
	}
	if done, code := p.end(os.Interrupt); code != exitSeam || done.Misses != 1 || len(done.Unused) != 1 {
		t.Errorf("exit status %d, %+v", code, done)
	}
	p = w.serve(t, "proxy", "--cassette", "p.yaml")
	if done, code := p.end(os.Interrupt); code != exitSeam || done.Misses != 0 || len(done.Unused) != 1 {
		t.Errorf("nothing asked: exit status %d, %+v", code, done)
	}
}

// A recording that was killed is gone on with, and asks nothing twice.
func TestProxyKilled(t *testing.T) {
	requireLoopback(t)
	w := newWorld(t)
	w.write("turns.upstream.yaml", proxyTurns)
	args := []string{"proxy", "--mode", "record", "--cassette", "p.yaml", "--upstream", "turns.upstream.yaml"}
	p := w.serve(t, args...)
	p.ask("first")
	p.end(syscall.SIGKILL)
	if _, err := os.Stat(filepath.Join(w.dir, "p.yaml")); err == nil {
		t.Error("a cassette is there, and nothing was committed")
	}
	p = w.serve(t, append(args, "--continue")...)
	if _, body := p.ask("first"); !strings.Contains(body, "one") {
		t.Errorf("not from the journal: %s", body)
	}
	if _, body := p.ask("second"); !strings.Contains(body, "one") { // the script begins anew
		t.Errorf("not from the script: %s", body)
	}
	if _, code := p.end(os.Interrupt); code != exitOK {
		t.Errorf("exit status %d", code)
	}
	if c, err := cassette.Open(filepath.Join(w.dir, "p.yaml")); err != nil || c.Len() != 2 {
		t.Fatalf("%v, %v", c, err)
	}

	// So is one that filled a cassette: what it paid for is in the journal only.
	args[2] = "fill"
	p = w.serve(t, args...)
	p.ask("third")
	p.end(syscall.SIGKILL)
	p = w.serve(t, append(args, "--continue")...)
	if _, body := p.ask("third"); !strings.Contains(body, "one") {
		t.Errorf("fill, not from the journal: %s", body)
	}
	if _, code := p.end(os.Interrupt); code != exitOK {
		t.Errorf("fill: exit status %d", code)
	}
	if c, err := cassette.Open(filepath.Join(w.dir, "p.yaml")); err != nil || c.Len() != 3 {
		t.Fatalf("%v, %v", c, err)
	}
}

// An MCP server that speaks streamable HTTP is recorded through the proxy with the key
// that the client has for it, which is written nowhere, and replayed when it is gone.
func TestProxyMCP(t *testing.T) {
	requireLoopback(t)
	w := newWorld(t)
	const key = "Bearer a-key-that-only-the-server-sees"
	s := sdk.NewServer(&sdk.Implementation{Name: "toolbox", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	runs := 0
	sdk.AddTool(s, &sdk.Tool{Name: "up"}, func(_ context.Context, _ *sdk.CallToolRequest, v in) (*sdk.CallToolResult, any, error) {
		runs++
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.ToUpper(v.Text)}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})}
	go srv.Serve(l) //nolint:errcheck // it ends with Close
	defer srv.Close()

	p := w.serve(t, "proxy", "--mode", "record", "--cassette", "p.yaml", "--upstream", "mcp/toolbox=http://"+l.Addr().String())
	want := useToolbox(t, p.ready.Address+"/mcp/toolbox", key)
	if done, code := p.end(os.Interrupt); code != exitOK || done.Calls == 0 {
		t.Fatalf("exit status %d, %+v", code, done)
	}
	if text := read(t, filepath.Join(w.dir, "p.yaml")); strings.Contains(string(text), "only-the-server") || !strings.Contains(string(text), "mcp://toolbox/tools/call") {
		t.Errorf("the cassette: %s", text)
	}
	_ = srv.Close()
	p = w.serve(t, "proxy", "--cassette", "p.yaml", "--allow-unused")
	if got := useToolbox(t, p.ready.Address+"/mcp/toolbox", key); got != want || got != "ADA" || runs != 1 {
		t.Errorf("replayed %q, recorded %q, the tool ran %d times", got, want, runs)
	}
	if done, code := p.end(os.Interrupt); code != exitOK || done.Misses != 0 {
		t.Errorf("exit status %d, %+v", code, done)
	}
}

// useToolbox calls the tool with the SDK's own client.
func useToolbox(t *testing.T, endpoint, key string) string {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil)
	transport := &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: authorised{http.Header{"Authorization": {key}}, &http.Transport{}}}}
	session, err := c.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // the server may be gone first
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "up", Arguments: map[string]any{"text": "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*sdk.TextContent).Text
}
