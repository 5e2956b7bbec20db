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
)

// A host is mcp --http that runs as a process, in a group of its own.
type host struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
	url string
}

func (w *world) host(t *testing.T, args ...string) *host {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, cmd: exec.CommandContext(t.Context(), self, append([]string{"mcp", "--http", "--json"}, args...)...)}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stderr = w.dir, []string{"SOUNDSTAGE_TEST_AS_PROGRAM=1", "HOME=" + w.env["HOME"]}, os.Stderr
	ownGroup(h.cmd)
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(out)
	var ready mcpEvent
	if line, err := h.out.ReadBytes('\n'); err != nil || json.Unmarshal(line, &ready) != nil || ready.Event != "ready" {
		t.Fatalf("not ready: %v %s", err, line)
	}
	h.url = ready.URL
	return h
}

// post sends one message in a session, and gives the answer and the session's id.
func (h *host) post(ctx context.Context, session, body string) (text, id string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "", "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), res.Header.Get("Mcp-Session-Id"), err
}

// begin opens a session, and gives its id.
func (h *host) begin(capabilities string) string {
	h.t.Helper()
	text, id, err := h.post(h.t.Context(), "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}}`)
	if err != nil || id == "" {
		h.t.Fatalf("%v: %s", err, text)
	}
	if _, _, err := h.post(h.t.Context(), id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		h.t.Fatal(err)
	}
	return id
}

// A server of many that is told to end ends as a whole: a call that waits for a person
// has an answer, one that listens is let go, what was said last is said, the port is
// closed and no process of its group is left.
func TestHTTPEndsWhole(t *testing.T) {
	requireLoopback(t)
	w := newWorld(t)
	w.env["HOME"] = t.TempDir() // the list of servers lies in no studio
	w.write("ada.json", ada)
	w.must("", "init", ".")
	w.must("", "import", "ada.json")
	// A server of somebody else is for the loop: this one starts none, whatever the list says.
	w.must("", "server", "add", "other", "--", "sh", "-c", "touch "+filepath.Join(w.dir, "started")+"; cat")
	h := w.host(t, "--gate", "guarded")
	id := h.begin(`{"elicitation":{}}`)
	drafted, _, err := h.post(t.Context(), id, calling(1, "capability.call", `{"id":"character.identity.update","input":{"id":"ada","name":"Countess Ada"}}`))
	if err != nil || !strings.Contains(drafted, "d-0001") {
		t.Fatalf("%v: %s", err, drafted)
	}
	// A call is under way: its question is on the stream, and nobody answers.
	asked, answer := h.callAndAsk(id, calling(2, "change.apply", `{"draft":"d-0001"}`))
	if line := <-asked; !strings.Contains(line, "elicitation/create") {
		t.Fatalf("it was not asked: %s", line)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if text := <-answer; !strings.Contains(text, `"id":2`) || !strings.Contains(text, "GATE_NOBODY") {
		t.Errorf("the call under way was answered so: %s", text)
	}
	rest, _ := io.ReadAll(h.out) // it ends with the last process that has it
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("it ended so: %v", err)
	}
	var done mcpEvent
	if err := json.Unmarshal(rest, &done); err != nil || done.Event != "done" || done.Sessions != 1 {
		t.Errorf("it said %s", rest)
	}
	if conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(h.url, "http://"), "/mcp")); err == nil {
		_ = conn.Close()
		t.Error("the port is open yet")
	}
	if groupIsThere(h.cmd.Process.Pid) {
		t.Error("a process that it started is left")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "started")); err == nil {
		t.Error("it started a server of somebody else")
	}
	// Nothing was saved, nothing is lost, and nobody is said to have chosen.
	if text := w.must("", "tool", "call", "change.query", `{"draft":"d-0001"}`); !strings.Contains(text, "Countess Ada") {
		t.Errorf("the draft is lost:\n%s", text)
	}
	if text := w.must("", "trace", "show"); !strings.Contains(text, "absent, by nobody") {
		t.Errorf("the trace:\n%s", text)
	}
	w.must("", "doctor", "--rebuild")
}

// callAndAsk makes a call whose answer is a stream: the first message on it, and then
// the whole of it.
func (h *host) callAndAsk(session, body string) (first, whole <-chan string) {
	one, all := make(chan string, 1), make(chan string, 1)
	go func() {
		defer close(one)
		defer close(all)
		req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url, strings.NewReader(body))
		if err != nil {
			return
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			req.Header.Set(name, value)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			one <- fmt.Sprint(err)
			return
		}
		defer res.Body.Close()
		r, said := bufio.NewReader(res.Body), false
		var text strings.Builder
		for {
			line, err := r.ReadString('\n')
			text.WriteString(line)
			if !said && strings.HasPrefix(line, "data: {") {
				said = true
				one <- line
			}
			if err != nil {
				all <- text.String()
				return
			}
		}
	}()
	return one, all
}
