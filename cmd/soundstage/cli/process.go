package cli

import (
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Process runs Main with the process's own doors, and closes the one door that
// nobody may use: its default HTTP transport.
func Process() int {
	// Most runs end before there is much to collect: the first collections would
	// cost more than what they free.
	debug.SetGCPercent(400)
	seam.DenyDefaultTransport()
	log.SetOutput(io.Discard) // libraries of providers write there; what counts is an error here
	env := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	signals := make(chan os.Signal, 1)
	listen(signals)
	return Main(Doors{
		Args: os.Args[1:], Env: env, Dir: dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Clock: clock.Real{}, Signals: signals,
	})
}

// listen has the first signal that ends a program end the command in good order, and
// gives the next its usual force: a command that hangs can still be ended.
func listen(to chan<- os.Signal) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ends = append(ends, syscall.SIGHUP)
	}
	first := make(chan os.Signal, 1)
	signal.Notify(first, ends...)
	go func() {
		to <- <-first
		signal.Reset(ends...)
	}()
}
