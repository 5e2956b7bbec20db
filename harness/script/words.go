package script

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

// word is a Command that needs no caller's value.
type word struct {
	args, help string
	flags      []string
	run        func(s *Script, neg bool, args []string)
}

// ownWords are the words of this package; the program's own word is added to them.
func ownWords() map[string]word {
	return map[string]word{
		"cassette": {
			"[-replay] [-unused] AREA/NAME", "Answers calls to the world from cassettes/AREA/NAME.yaml; when recording, records it anew from AREA/NAME.upstream.yaml, unless -replay is given. An episode that nothing asks for fails the scenario, unless -unused is given.",
			[]string{"-replay", "-unused"},
			(*Script).wordCassette,
		},
		"clock":     {"TIME|+DURATION", "Sets the clock (2026-05-01T10:00:00Z) or moves it on (+1h).", nil, (*Script).wordClock},
		"exit":      {"STATUS", "Checks the exit status of the last program.", nil, (*Script).wordExit},
		"fault":     {"CALL STATUS [retry-after=1s] | CALL timeout|refused|reset|truncate|slow|garbage|rechunk …", "Makes the nth call of the cassette go wrong (docs/reference/faults.md); one that does not fire fails the scenario.", nil, (*Script).wordFault},
		"golden":    {"NAME [FILE]", "Compares the bytes of stdout, or of FILE, with <scenario>.golden/NAME.", nil, (*Script).wordGolden},
		"ids":       {"ID…", "Gives the next ids, each to who asks for its prefix: s-0007 is the next session's.", nil, (*Script).wordIDs},
		"text":      {"NAME FILE", "Sets a variable to the text of a file, without its last line end.", nil, (*Script).wordText},
		"input":     {"FILE|TEXT…", "Gives the next program its standard input: one file, or lines of text.", nil, (*Script).wordInput},
		"keeps":     {"FILE OLD [N…]", "Checks that the cassette FILE holds every line of the cassette OLD byte for byte and in order, but for its episodes N.", nil, (*Script).wordKeeps},
		"repeat":    {"FILE TEXT N", "Writes the first TEXT in FILE N times over, in place.", nil, (*Script).wordRepeat},
		"unbase64":  {"FILE…", "Decodes files that stand in the scenario as base64, in place.", nil, (*Script).wordUnbase64},
		"interrupt": {"", "Has an interrupt waiting for the next program when it starts.", nil, (*Script).wordInterrupt},
	}
}

// programWord runs main in this process.
func programWord(name string) word {
	return word{
		"ARGS…", "Runs " + name + " in this process; a leading ! expects an exit status other than 0.", nil,
		func(s *Script, neg bool, args []string) {
			code := s.RunMain(args...)
			if code == 0 && neg {
				s.Fatalf("%s: unexpected success", name)
			}
			if code != 0 && !neg {
				s.Fatalf("%s: exit status %d", name, code)
			}
		},
	}
}

func (s *Script) wordCassette(neg bool, args []string) {
	flags, args := s.Flags("cassette", args, "-replay", "-unused")
	if neg || len(args) != 1 || !validName(args[0]) {
		s.Fatalf("usage: cassette [-replay] [-unused] AREA/NAME")
	}
	name := args[0]
	file, err := filepath.Abs(filepath.Join(s.cfg.cassettes, filepath.FromSlash(name)+".yaml"))
	s.Check(err)
	s.cassette = name
	if s.cfg.outside != nil {
		s.Check(s.outside(name, file))
		return
	}
	if _, replay := flags["-replay"]; s.cfg.record && !replay && s.recordCassette(name, file) {
		return
	}
	// go test's cache knows the files that this process opens, and no others.
	f, err := os.Open(file)
	if err != nil {
		s.Fatalf("cassette %q: %v; record it with: make record", name, err)
	}
	s.Check(f.Close())
	s.Setenv(EnvCassette, file)
	s.Setenv(EnvMode, "replay")
	s.Setenv(EnvUpstream, "")
	_, spare := flags["-unused"]
	s.Check(s.replay(name, file, spare))
}

// wordFault adds to the cassette that is open, or to the first that will be.
func (s *Script) wordFault(neg bool, args []string) {
	if neg {
		s.Fatalf("usage: fault CALL WHAT…")
	}
	f, err := chaos.Parse(strings.Join(args, " "))
	s.checkHint("fault", err)
	if len(s.tapes) == 0 {
		s.faults = append(s.faults, f)
		return
	}
	s.checkHint("fault", s.tapes[len(s.tapes)-1].faults.Add(f))
}

// checkHint is Check for an error that says what to do.
func (s *Script) checkHint(word string, err error) {
	if err != nil {
		s.Fatalf("%s: %v\n→ %s", word, err, fault.HintOf(err))
	}
}

// validName reports whether name is AREA/NAME and stays below its folder.
func validName(name string) bool {
	area, rest, ok := strings.Cut(name, "/")
	return ok && area != "" && rest != "" && filepath.IsLocal(filepath.FromSlash(name))
}

func (s *Script) wordClock(neg bool, args []string) {
	if neg || len(args) != 1 {
		s.Fatalf("usage: clock TIME|+DURATION")
	}
	if by, ok := strings.CutPrefix(args[0], "+"); ok {
		d, err := time.ParseDuration(by)
		if err != nil || d < 0 {
			s.Fatalf("clock: %q is not a duration such as +1h30m", args[0])
		}
		s.Clock.Advance(d)
		return
	}
	t, err := time.Parse(time.RFC3339, args[0])
	if err != nil {
		s.Fatalf("clock: %q is not a time such as 2026-05-01T10:00:00Z", args[0])
	}
	s.Clock.Set(t)
}

func (s *Script) wordExit(neg bool, args []string) {
	if len(args) != 1 {
		s.Fatalf("usage: exit STATUS")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		s.Fatalf("exit: %q is not a number", args[0])
	}
	if !s.ran {
		s.Fatalf("exit: no program ran yet")
	}
	if (s.exit == want) == neg {
		s.Fatalf("exit status is %d", s.exit)
	}
}

func (s *Script) wordGolden(neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 || !filepath.IsLocal(filepath.FromSlash(args[0])) {
		s.Fatalf("usage: golden NAME [FILE]")
	}
	from := "stdout"
	if len(args) == 2 {
		from = args[1]
	}
	got := []byte(s.ReadFile(from))
	file := filepath.Join(s.cfg.root, s.Area, s.Name+".golden", filepath.FromSlash(args[0]))
	want, err := os.ReadFile(file)
	if err == nil && string(want) == string(got) {
		return
	}
	if s.cfg.update {
		s.Check(writeFile(file, got))
		return
	}
	if err != nil {
		s.Fatalf("golden %q: %v; write it with: make update", args[0], err)
	}
	s.Logf("%s", diff.Diff(from, got, args[0], want))
	s.Fatalf("%s and golden %q differ; if that is meant: make update, and read the diff", from, args[0])
}

func (s *Script) wordInput(neg bool, args []string) {
	if neg || len(args) == 0 {
		s.Fatalf("usage: input FILE|TEXT…")
	}
	if len(args) == 1 {
		if b, err := os.ReadFile(s.Path(args[0])); err == nil {
			s.stdin = string(b)
			return
		}
	}
	s.stdin = strings.Join(args, "\n") + "\n"
}

func (s *Script) wordIDs(neg bool, args []string) {
	if neg || len(args) == 0 {
		s.Fatalf("usage: ids ID…")
	}
	for _, id := range args {
		if prefix, rest, ok := strings.Cut(id, "-"); !ok || prefix == "" || rest == "" {
			s.Fatalf("ids: %q is no id such as s-0007", id)
		}
	}
	s.Clock.Give(args...)
}

func (s *Script) wordText(neg bool, args []string) {
	if neg || len(args) != 2 || strings.ContainsAny(args[0], "=$ ") {
		s.Fatalf("usage: text NAME FILE")
	}
	s.Setenv(args[0], strings.TrimSuffix(s.ReadFile(args[1]), "\n"))
}

func (s *Script) wordInterrupt(neg bool, args []string) {
	if neg || len(args) != 0 {
		s.Fatalf("usage: interrupt")
	}
	s.Interrupt()
}

func (s *Script) wordUnbase64(neg bool, args []string) {
	if neg || len(args) == 0 {
		s.Fatalf("usage: unbase64 FILE…")
	}
	for _, file := range args {
		b, err := base64.StdEncoding.DecodeString(s.ReadFile(file)) // line ends are allowed in it
		s.Check(err)
		s.Check(os.WriteFile(s.Path(file), b, 0o644))
	}
}

// maxRepeat bounds what the word repeat makes, in bytes.
const maxRepeat = 64 << 20

func (s *Script) wordRepeat(neg bool, args []string) {
	if neg || len(args) != 3 {
		s.Fatalf("usage: repeat FILE TEXT N")
	}
	file, text := args[0], args[1]
	n, err := strconv.Atoi(args[2])
	if err != nil || n < 0 || n > maxRepeat/max(1, len(text)) {
		s.Fatalf("repeat: %q is not a number of times", args[2])
	}
	before, after, ok := strings.Cut(s.ReadFile(file), text)
	if !ok || text == "" {
		s.Fatalf("repeat: %s does not hold %q", file, text)
	}
	s.Check(os.WriteFile(s.Path(file), []byte(before+strings.Repeat(text, n)+after), 0o644))
}
