package mcp_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

func newTap(log io.Writer) *mcp.Tap {
	r := redact.New(redact.Options{Env: map[string]string{"SOME_TOKEN": "q8w7e6r5t4y3"}})
	return mcp.NewTap(mcp.TapOptions{Log: log, Mask: r.Mask, Clock: clock.NewFixed(clock.Epoch)})
}

func TestTapLines(t *testing.T) {
	for name, c := range map[string]struct{ client, server, want string }{
		"a call": {
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}` + "\n", `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}` + "\n",
			"→ tools/call #3 {\"name\":\"x\"}\n← #3 tools/call, 48 bytes: {\"content\":[]}\n",
		},
		"an error": {
			`{"id":"a","method":"ping"}` + "\n", `{"id":"a","error":{"code":-32601,"message":"no q8w7e6r5t4y3"}}` + "\n",
			"→ ping #\"a\"\n← #\"a\" ping failed: -32601 no {{secret:SOME_TOKEN}}\n",
		},
		"the server asks":    {"", `{"id":1,"method":"roots/list"}` + "\n", "← roots/list #1\n"},
		"nobody asked":       {"", `{"id":9,"result":{}}` + "\n", "← #9 (no request that was seen), 20 bytes: {}\n"},
		"no message":         {"", "warming up q8w7e6r5t4y3\x1b[2J\r\n\n", "← no message: warming up {{secret:SOME_TOKEN}}\\u001b[2J\n"},
		"not whole":          {"{\"id\":1,", "", ""},
		"a line of its own":  {`{"method":"a\nb"}` + "\n", "", "→ a⏎b\n"},
		"numbers that cross": {`{"id":1,"method":"a"}` + "\n", `{"id":1,"method":"b"}` + "\n" + `{"id":1,"result":1}` + "\n", "→ a #1\n← b #1\n← #1 a, 19 bytes: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			tap := newTap(&log)
			client, server := tap.Client(), tap.Server()
			for i := range len(c.client) { // in whatever pieces
				_, _ = client.Write([]byte{c.client[i]})
			}
			_, _ = server.Write([]byte(c.server))
			got := strings.ReplaceAll(log.String(), "    0.000 ", "")
			if got != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// A line without end takes no memory, and its log is short.
func TestTapIsBounded(t *testing.T) {
	var log bytes.Buffer
	tap := newTap(&log)
	w := tap.Server()
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range 64 {
		_, _ = w.Write(part)
	}
	_, _ = w.Write([]byte("\n"))
	if got := log.String(); !strings.Contains(got, "a message of 67108864 bytes: xxx") || len(got) > 9000 {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
	many := tap.Client()
	for range 3000 {
		_, _ = many.Write([]byte(`{"id":1,"method":"a"}` + "\n"))
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

// A log that cannot be written stops nothing, and is told of at the end.
func TestTapWithoutALog(t *testing.T) {
	tap := newTap(fullDisk{})
	if n, err := tap.Client().Write([]byte("{}\n")); n != 3 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if tap.Err() == nil {
		t.Error("nothing was told")
	}
}
