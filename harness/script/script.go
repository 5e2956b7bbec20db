package script

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

// The variables that the word cassette sets for the program.
const (
	EnvCassette = "SOUNDSTAGE_CASSETTE" // absolute path of the file
	EnvMode     = "SOUNDSTAGE_MODE"     // replay or record
	EnvUpstream = "SOUNDSTAGE_UPSTREAM" // absolute path of the script to record from; unset in replay
)

// Options say what is run and with which words. X is what the caller's words keep
// for one script.
type Options[X any] struct {
	Root      string // the folder of <area>/<name>.txtar
	Cassettes string // the folder of <area>/<name>.yaml
	Program   string // the word that runs Main
	Main      func(Doors) int
	Commands  map[string]Command[X]
	// Conditions are asked as [name:argument], by name.
	Conditions map[string]Condition
	// New makes the caller's value at the start of each script; nil leaves it zero.
	New func(*Script) X
	// Update rewrites goldens and files of cmp in place of failing.
	Update bool
	// Record makes the word cassette record anew, from <root>/<cassette>.upstream.yaml.
	// Cassettes without such a file are replayed as ever.
	Record bool
	// Recording is how, with Record.
	Recording Recording
	// Unused, if it is set, is told of the episodes that nothing asked for, counted from
	// 0, of each cassette that a scenario replayed to its end, in place of failing for
	// them. It is called by the scenarios' goroutines.
	Unused func(scenario, cassette string, episodes []int)
	// Env is added to each script's environment.
	Env map[string]string
	// Clock measures how long a scenario takes outside of go test; nil: it is not
	// measured. Scenarios have a clock of their own.
	Clock clock.Clock
	// Outside, where it is given, lets the word cassette ask something else than a
	// cassette: it gets the options of a replay, and says where to record to, and from
	// what. What is recorded so is put nowhere else.
	Outside func(cassette string, o *seam.Options) error
	// Mask takes out of a scenario's log what nobody may read, outside of go test; nil:
	// nothing.
	Mask func(log string) string
}

// A Command is one word of a script.
type Command[X any] struct {
	Args string // "[-turn=N] TOOL", for help
	Help string // one sentence
	// Flags are the flags that the word takes: "-json", or "-turn=" for one with a
	// value. Any other is an error before the script starts.
	Flags []string
	// Run fails the script with s.Fatalf. neg is set when the line began with "!".
	Run func(s *State[X], neg bool, args []string)
}

// A State is one running script with the caller's value.
type State[X any] struct {
	*Script
	Bag X
}

// A Script is one running script. It is used by one goroutine.
type Script struct {
	Clock *clock.Fixed
	Area  string // "content"
	Name  string // "rename"

	ts       *testscript.TestScript
	cfg      *config
	work     string
	envKeys  []string // names of variables that the script may have set
	hidden   []string // set for child processes only
	cassette string
	stdin    string
	signals  chan os.Signal
	exit     int
	ran      bool
	pending  map[string]string // cassette file to the recording that replaces it
	tapes    []*tape
	faults   []chaos.Fault // said before the first cassette
}

// config is the part of Options that does not depend on X.
type config struct {
	root, cassettes, program string
	main                     func(Doors) int
	update, record           bool
	recording                Recording
	outside                  func(cassette string, o *seam.Options) error
	unused                   func(scenario, cassette string, episodes []int)
}

// Dir is the script's current folder.
func (s *Script) Dir() string { return s.ts.MkAbs(".") }

// Work is the script's own folder, $WORK.
func (s *Script) Work() string { return s.work }

// Path makes file absolute.
func (s *Script) Path(file string) string { return s.ts.MkAbs(file) }

// ReadFile reads a file of the script; "stdout" and "stderr" are the last output.
func (s *Script) ReadFile(file string) string { return s.ts.ReadFile(file) }

// Cassette is the name given to the last word cassette, or "".
func (s *Script) Cassette() string { return s.cassette }

// Getenv is the value of a variable in the script.
func (s *Script) Getenv(key string) string { return s.ts.Getenv(key) }

// Setenv sets a variable for the words that follow.
func (s *Script) Setenv(key, value string) {
	s.ts.Setenv(key, value)
	s.noteEnv(key)
}

// Input is what the word input left for the next program; it is used up.
func (s *Script) Input() string {
	in := s.stdin
	s.stdin = ""
	return in
}

// SetInput is what the next program will read from its standard input.
func (s *Script) SetInput(text string) { s.stdin = text }

// Interrupt puts an interrupt before the program: the one that runs, or the next.
func (s *Script) Interrupt() {
	select {
	case s.signals <- os.Interrupt:
	default: // one is waiting already
	}
}

// Defer runs f when the script ends, last first.
func (s *Script) Defer(f func()) { s.ts.Defer(f) }

// Logf writes to the script's log.
func (s *Script) Logf(format string, args ...any) { s.ts.Logf(format, args...) }

// Fatalf fails the script and does not return.
func (s *Script) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

// Exec runs another program in the script's folder with the script's environment, and
// keeps what it prints as the last output. Its error is a bad end of the program.
func (s *Script) Exec(program string, args ...string) error { return s.ts.Exec(program, args...) }

// Check fails the script if err is not nil.
func (s *Script) Check(err error) {
	if err != nil {
		s.ts.Fatalf("%v", err)
	}
}

// Output makes stdout and stderr the last output, for the words that follow.
func (s *Script) Output(stdout, stderr []byte) {
	_, _ = s.ts.Stdout().Write(stdout) // a strings.Builder: never an error
	_, _ = s.ts.Stderr().Write(stderr)
}

// Environ is the script's environment as the program sees it. A variable set to
// nothing counts as unset.
func (s *Script) Environ() map[string]string {
	env := make(map[string]string, len(s.envKeys))
	for _, k := range s.envKeys {
		if v := s.ts.Getenv(k); v != "" && !slices.Contains(s.hidden, k) {
			env[k] = v
		}
	}
	return env
}

// Doors are the doors for a program with these arguments that is run now. What it
// writes has to be handed to Output when it ended.
func (s *Script) Doors(args []string, stdout, stderr *Buffer) Doors {
	return Doors{
		Args: args, Env: s.Environ(), Dir: s.Dir(), Stdin: strings.NewReader(s.Input()),
		Stdout: stdout, Stderr: stderr, Clock: s.Clock, Signals: s.signals, Seam: s.seam(),
	}
}

// Main is the program itself, for words that talk to it while it runs. Such a word
// ends it before the script ends, and hands its output to Output.
func (s *Script) Main(d Doors) int { return s.cfg.main(d) }

// RunMain runs the program in this process and returns its exit status. A panic of
// the program fails the script, with its stack, and no other.
func (s *Script) RunMain(args ...string) int {
	var stdout, stderr Buffer
	s.ran = true
	s.exit = -1
	trouble := s.guard(func() { s.exit = s.cfg.main(s.Doors(args, &stdout, &stderr)) })
	s.Output(stdout.Bytes(), stderr.Bytes())
	if trouble != "" {
		s.Fatalf("%s: %s", s.cfg.program, trouble)
	}
	return s.exit
}

func (s *Script) guard(f func()) (trouble string) {
	defer func() {
		if r := recover(); r != nil {
			trouble = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	f()
	return ""
}

func (s *Script) noteEnv(key string) {
	if !slices.Contains(s.envKeys, key) {
		s.envKeys = append(s.envKeys, key)
	}
}

// install puts the recordings of a script that passed where cassettes live.
func (s *Script) install() error {
	for file, recording := range s.pending {
		b, err := os.ReadFile(recording)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("nothing was recorded into cassette %q", file)
		}
		if err != nil {
			return err
		}
		if err := writeFile(file, b); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces a file as a whole, or leaves it as it was.
func writeFile(file string, b []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}

// A Buffer is a bytes.Buffer that several goroutines may write to.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// Bytes is a copy of what was written.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.b.Bytes())
}
