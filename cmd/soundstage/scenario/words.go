// Package scenario is the words of a scenario that know the runtime: what was
// called, what it cost, what the store holds, what a person answers, and an MCP
// client.
//
// It belongs to cmd and is handed to harness/script, which knows the other words,
// together with the program's main. It asserts; it changes nothing but what the
// program under test would.
package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A Bag is what these words keep for one script.
type Bag struct {
	answers []string // for the gate over MCP, first first
	client  *client  // the running MCP server's peer
	proxy   *served  // the running proxy
}

type (
	state   = script.State[*Bag]
	command = script.Command[*Bag]
)

// conditions are what a line of a script may be run on.
func conditions() map[string]script.Condition {
	return map[string]script.Condition{
		"client": {
			Arg: "NAME", Help: "where that agent of somebody else is installed: claude-code, codex, opencode, cline, gemini (docs/howto/replay-a-real-client.md)",
			Holds: hasClient,
		},
		"postgres": {
			Help:  "where the studios of the script are on a PostgreSQL server, whose address is $STORE (go test ./scenarios -run Postgres)",
			Holds: func(string) (bool, error) { return false, nil },
		},
		"loopback": {Help: "where this machine's own address can be listened on", Holds: hasLoopback},
	}
}

// Options are the engine's options for main with all words; the caller sets where
// scenarios and cassettes lie.
func Options(main func(script.Doors) int) script.Options[*Bag] {
	return script.Options[*Bag]{
		Program:    "soundstage",
		Main:       main,
		New:        func(*script.Script) *Bag { return &Bag{} },
		Env:        map[string]string{"SOUNDSTAGE_SERVERS": "none"}, // a scenario names the MCP servers that it starts
		Conditions: conditions(),
		Commands: map[string]command{
			"answer": {
				Args: "apply|discard|session|nobody|decline|cancel…", Help: "Gives the person's replies at the gate, in order: to the next program, or to the running MCP server.",
				Run: wordAnswer,
			},
			"called": {
				Args: "[-all] TOOL…", Help: "Checks which tools the last turn (-all: the last session) called, in order.",
				Flags: []string{"-all"}, Run: wordCalled,
			},
			"client": {
				Args: "NAME [ARG…]", Help: "Runs an agent of somebody else that is installed, with what the running proxy says it needs; what it leaves running is ended.",
				Run: wordClient,
			},
			"lend": {Args: "NAME", Run: wordLend, Help: "Lets the program start an agent of somebody else that is installed, at $CLIENT, with what the running proxy says it needs."},
			"cost": {
				Args: "AMOUNT", Help: "Checks what the studio's ledger holds, paid and saved, like $0.0042.",
				Run: wordCost,
			},
			"ledger": {
				Help: "Prints the rows of the studio's ledger: place, state, usage, cost, spent or saved; for cmp and stdout.",
				Run:  wordLedger,
			},
			"given": {
				Args: "FILE", Help: "Puts the pieces with their history, and the drafts, in FILE into the studio's store; trace to-scenario writes such files.",
				Run: wordGiven,
			},
			"mcp": {
				Args: "start [-revision DATE] [ARG…] | list | call TOOL [JSON] | ask METHOD [JSON] | told NOTIFICATION | stop",
				Help: "Is an MCP client of the program: starts it, lists and calls its tools, makes any request (ask; $MCP_STATE is the requestState of its result), and waits for a notification (told); a leading ! expects an error, or that nothing was told.",
				Run:  wordMCP,
			},
			"miss": {
				Args: "TEXT…", Help: "Checks that the last program missed the cassette, and that its explanation holds each text.",
				Run: wordMiss,
			},
			"offered": {
				Args: "FILE PREFIX MAX", Help: "Prints the tools that a model was first told of in the cassette FILE and whose names begin with PREFIX, and how many bytes of the request they are; more than MAX, or none, fail.",
				Run: wordOffered,
			},
			"expand": {
				Args: "FROM TO", Help: "Writes FROM to TO with $NAME and ${NAME} replaced by the script's variables.",
				Run: wordExpand,
			},
			"http": {Args: "start [ARG…] | stop", Run: wordHTTP, Help: "Serves the studio over HTTP with soundstage mcp --http, at $MCP; post is its client. A leading ! expects that it ends with an error."},
			"post": {
				Args: "PATH FILE [NAME=VALUE…]", Help: "Posts FILE to the running proxy or HTTP server, with headers, and prints the status and the answer; $MCP_SESSION is the session that it begins. A leading ! expects 400 or more.",
				Run: wordPost,
			},
			"proxy": {
				Args: "start [ARG…] | stop", Help: "Serves a cassette to other programs, at $PROXY; a leading ! expects that it ends with an error.",
				Run: wordProxy,
			},
			"replace": {
				Args: "REGEXP TEXT FILE…", Help: "Replaces what REGEXP matches in files, in place: what may differ between two runs.",
				Run: wordReplace,
			},
			"rounds": {
				Args: "N", Help: "Checks how many model requests the last turn made.",
				Run: wordRounds,
			},
			"store": {
				Help: "Prints the canonical dump of the studio's pieces, for cmp and stdout.",
				Run:  wordStore,
			},
			"whole": {
				Help: "Checks that nothing is half done: traces, turns, requests, calls, drafts, and what was set aside in the ledger.",
				Run:  wordWhole,
			},
		},
	}
}

// replies are what the person types for each answer.
var replies = map[string]string{
	"apply": "y\n", "discard": "n\n", "session": "s\n", "nobody": "", "cancel": "\x03\n", "decline": "n\n",
}

func wordAnswer(s *state, neg bool, args []string) {
	if neg || len(args) == 0 {
		s.Fatalf("usage: answer apply|discard|session|nobody|decline|cancel…")
	}
	var in strings.Builder
	for _, a := range args {
		keys, ok := replies[a]
		if !ok {
			s.Fatalf("answer: %q is none of apply, discard, session, nobody, decline, cancel", a)
		}
		in.WriteString(keys)
	}
	s.Bag.answers = append(s.Bag.answers, args...)
	s.SetInput(in.String())
}

// events are those of the last session of the studio in the current folder, or of
// its last turn.
func events(s *state, all bool) []trace.Event {
	files, err := filepath.Glob(filepath.Join(s.Dir(), ".soundstage", "sessions", "*.jsonl"))
	s.Check(err)
	if len(files) == 0 {
		s.Fatalf("no session was traced in this folder yet")
	}
	slices.Sort(files)
	var list []trace.Event
	for e, err := range trace.Read(files[len(files)-1]) {
		s.Check(err)
		list = append(list, e)
	}
	if all || len(list) == 0 {
		return list
	}
	last := list[len(list)-1].Turn
	return slices.DeleteFunc(list, func(e trace.Event) bool { return e.Turn != last })
}

func wordCalled(s *state, neg bool, args []string) {
	flags, want := s.Flags("called", args, "-all")
	_, all := flags["-all"]
	var got []string
	for _, e := range events(s, all) {
		p, err := trace.Decode(e)
		s.Check(err)
		if c, ok := p.(trace.ToolCalled); ok {
			got = append(got, c.Tool)
		}
	}
	if slices.Equal(got, want) == neg {
		s.Fatalf("called %s\nwant   %s", strings.Join(got, " "), strings.Join(want, " "))
	}
}

func wordRounds(s *state, neg bool, args []string) {
	if len(args) != 1 {
		s.Fatalf("usage: rounds N")
	}
	want, err := strconv.Atoi(args[0])
	s.Check(err)
	got := 0
	for _, e := range events(s, false) {
		if e.Type == (trace.ModelRequested{}).EventType() {
			got++
		}
	}
	if (got == want) == neg {
		s.Fatalf("the last turn made %d model requests, not %d", got, want)
	}
}

func wordMiss(s *state, neg bool, args []string) {
	err := s.ReadFile("stderr")
	missed := strings.Contains(err, "SEAM_MISS")
	if missed == neg {
		s.Fatalf("missed the cassette: %v; stderr:\n%s", missed, err)
	}
	for _, text := range args {
		if !strings.Contains(err, text) {
			s.Fatalf("the explanation does not hold %q:\n%s", text, err)
		}
	}
	s.ForgiveMisses()
}

// Dump writes the canonical dump of the pieces of the studio in dir to w, and nothing
// where it has no store yet.
func Dump(ctx context.Context, dir string, env map[string]string, w io.Writer) error {
	st, err := stored(ctx, dir, env)
	if st == nil || err != nil {
		return err
	}
	defer st.Close() //nolint:errcheck // only read
	return store.Dump(ctx, st, w)
}

// stored is the store of the studio in dir, wherever that is; nil where there is none yet.
func stored(ctx context.Context, dir string, env map[string]string) (stores.Store, error) {
	address, err := stores.Address(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, stores.StateDir, stores.StoreFile)); err != nil && address == "" {
		return nil, nil
	}
	return stores.Open(ctx, dir, address, env)
}

// open is the studio's store in the current folder.
func open(s *state) stores.Store {
	st, err := stored(context.Background(), s.Dir(), s.Environ())
	s.Check(err)
	if st == nil {
		s.Fatalf("no studio with a store in %s", s.Dir())
	}
	return st
}

func wordStore(s *state, neg bool, args []string) {
	if neg || len(args) != 0 {
		s.Fatalf("usage: store")
	}
	st := open(s)
	defer st.Close() //nolint:errcheck // only read
	var dump bytes.Buffer
	s.Check(store.Dump(context.Background(), st, &dump))
	s.Output(dump.Bytes(), nil)
}

func wordCost(s *state, neg bool, args []string) {
	if len(args) != 1 {
		s.Fatalf("usage: cost AMOUNT")
	}
	st := open(s)
	defer st.Close() //nolint:errcheck // only read
	sum, err := st.SumRows(context.Background(), ledger.Cap{Scope: "studio"})
	s.Check(err)
	if got := fmt.Sprint(ledger.Format(sum.Cost + sum.Saved)); (got == args[0]) == neg {
		s.Fatalf("the ledger holds %s, not %s", got, args[0])
	}
}
