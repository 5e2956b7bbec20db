package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// served is a proxy, or an MCP server over HTTP, that runs beside the script, in this
// process.
type served struct {
	base    string // the address that post asks
	signals chan os.Signal
	stdout  script.Buffer
	stderr  script.Buffer
	done    chan int
	read    chan struct{} // closed when all of its standard output is read
	env     []string      // what it says a client needs
}

func wordProxy(s *state, neg bool, args []string) {
	serving(s, neg, "proxy", args, func(args []string) {
		line, p := startServed(s, "proxy", append([]string{"proxy", "--json"}, args...))
		var ready struct {
			Address string
			Env     []string
		}
		s.Check(json.Unmarshal(line, &ready))
		p.base, p.env = ready.Address, ready.Env
		s.Setenv("PROXY", ready.Address)
		s.Setenv("PROXY_HOST", strings.TrimPrefix(ready.Address, "http://"))
	})
}

// wordHTTP serves the studio over HTTP.
func wordHTTP(s *state, neg bool, args []string) {
	serving(s, neg, "http", args, func(args []string) {
		line, p := startServed(s, "http", append([]string{"mcp", "--http", "--json"}, args...))
		var ready struct{ URL string }
		s.Check(json.Unmarshal(line, &ready))
		s.Setenv("MCP", ready.URL)
		p.base = strings.TrimSuffix(ready.URL, "/mcp")
	})
}

// serving starts or stops what is served under a word.
func serving(s *state, neg bool, word string, args []string, start func([]string)) {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch {
	case verb == "start" && !neg && s.Bag.proxy == nil:
		start(args)
	case verb == "start" && !neg:
		s.Fatalf("%s start: one runs already", word)
	case verb == "stop" && len(args) == 0 && s.Bag.proxy != nil:
		p := s.Bag.proxy
		code := s.Bag.stopProxy()
		s.Output(p.stdout.Bytes(), p.stderr.Bytes())
		if (code != 0) != neg {
			s.Fatalf("%s stop: exit status %d\n%s", word, code, s.ReadFile("stderr"))
		}
	case verb == "stop" && s.Bag.proxy == nil:
		s.Fatalf("%s stop: none runs; %s start", word, word)
	default:
		s.Fatalf("usage: %s start [ARG…] | [!] %s stop", word, word)
	}
}

// startServed runs a program until its first line, which says that it is ready.
func startServed(s *state, word string, args []string) ([]byte, *served) {
	p := &served{signals: make(chan os.Signal, 1), done: make(chan int, 1), read: make(chan struct{})}
	r, w := io.Pipe()
	doors := s.Doors(args, &p.stdout, &p.stderr)
	doors.Stdout, doors.Signals = w, p.signals
	go func() {
		code := s.Main(doors)
		_ = w.Close()
		p.done <- code
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadBytes('\n')
	go func() {
		defer close(p.read)
		_, _ = io.Copy(&p.stdout, out) // ends when the program does
	}()
	var ready struct{ Event string }
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Event != "ready" {
		code := <-p.done
		s.Output(line, p.stderr.Bytes())
		s.Fatalf("%s start: exit status %d\n%s%s", word, code, line, p.stderr.Bytes())
	}
	s.Bag.proxy = p
	s.Defer(func() {
		if s.Bag.proxy == p {
			s.Bag.stopProxy()
		}
	})
	s.Output(line, nil)
	return line, p
}

// maxAnswer bounds what post prints.
const maxAnswer = 16 << 20

// wordPost is a client without a library: what somebody's agent sends is written in
// the scenario.
func wordPost(s *state, neg bool, args []string) {
	if len(args) < 2 || !strings.HasPrefix(args[0], "/") {
		s.Fatalf("usage: post /PATH FILE [NAME=VALUE…]")
	}
	if s.Bag.proxy == nil {
		s.Fatalf("post: nothing is served; proxy start, or http start")
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.Bag.proxy.base+args[0], strings.NewReader(s.ReadFile(args[1])))
	s.Check(err)
	req.Header.Set("Content-Type", "application/json")
	for _, pair := range args[2:] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			s.Fatalf("post: %q is no NAME=VALUE", pair)
		}
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	direct := &http.Transport{}
	defer direct.CloseIdleConnections()
	res, err := direct.RoundTrip(req)
	s.Check(err)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	_ = res.Body.Close()
	s.Check(err)
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		s.Setenv("MCP_SESSION", id)
	}
	s.Output(append([]byte(res.Status+"\n"), body...), nil)
	if (res.StatusCode >= http.StatusBadRequest) != neg {
		s.Fatalf("post %s: %s\n%s", args[0], res.Status, body)
	}
}

// stopProxy interrupts the proxy and waits for it.
func (b *Bag) stopProxy() int {
	p := b.proxy
	b.proxy = nil
	p.signals <- os.Interrupt
	code := <-p.done
	<-p.read
	return code
}
