package script

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Result says how many scenarios ended how.
type Result struct {
	Passed, Failed, Skipped int
}

// A Verdict is how a scenario ended.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped"
)

// An Outcome is one scenario that ended.
type Outcome struct {
	Name    string // area/name
	Verdict Verdict
	Line    int           // of the scenario's file, where it failed; 0 is not known
	Log     string        // what it and its programs said
	Took    time.Duration // by the clock of the options
}

// Execute runs scenarios outside of go test, one after the other, and writes a line
// for each to out, with the log of those that failed. pattern is AREA, AREA/NAME or
// a path.Match pattern of one of them; "" is all. A pattern that matches nothing is
// an error.
func Execute[X any](o Options[X], pattern string, out io.Writer) (Result, error) {
	names, err := Names(o.Root, pattern)
	if err != nil {
		return Result{}, err
	}
	return ExecuteNames(o, names, out, nil)
}

// Names are the scenarios below root that pattern names, in order.
func Names(root, pattern string) ([]string, error) {
	areas, err := findAreas(root)
	if err != nil {
		return nil, err
	}
	var all, chosen []string
	for _, a := range areas {
		for _, f := range a.files {
			name := strings.TrimSuffix(filepath.Base(f), ".txtar")
			all = append(all, a.name+"/"+name)
			if matches(pattern, a.name, name) {
				chosen = append(chosen, a.name+"/"+name)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, fault.New(fault.NotFound, "script.execute", "no scenario matches %q%s", pattern, didYouMean(pattern, all)).
			WithHint("name an area, area/name, or a pattern such as 'content/*'")
	}
	return chosen, nil
}

// ExecuteNames runs the scenarios of these names, which Names gave, and tells done of
// each; done may be nil.
func ExecuteNames[X any](o Options[X], names []string, out io.Writer, done func(Outcome)) (Result, error) {
	var res Result
	var areas []area
	for _, n := range names {
		dir, name, _ := strings.Cut(n, "/")
		if len(areas) == 0 || areas[len(areas)-1].name != dir {
			areas = append(areas, area{name: dir})
		}
		last := &areas[len(areas)-1]
		last.files = append(last.files, filepath.Join(o.Root, dir, name+".txtar"))
	}
	now := func() time.Time { return time.Time{} }
	if o.Clock != nil {
		now = o.Clock.Now
	}
	for _, a := range areas {
		t := &runner{res: &res, out: out, prefix: a.name, now: now, done: done, mask: o.Mask}
		t.protect(func(testscript.T) { testscript.RunT(t, params(o, a)) })
		if t.failed {
			return res, fault.New(fault.Invalid, "script.execute", "the scenarios of %s could not be started: %s", a.name, strings.TrimSpace(t.log.String()))
		}
	}
	return res, nil
}

// matches reports whether pattern names a scenario.
func matches(pattern, area, name string) bool {
	if pattern == "" {
		return true
	}
	return slices.ContainsFunc([]string{area, area + "/" + name}, func(s string) bool {
		ok, err := path.Match(pattern, s)
		return ok && err == nil
	})
}

// runner is a testscript.T without go test.
type runner struct {
	res             *Result
	out             io.Writer
	prefix          string
	log             bytes.Buffer
	failed, skipped bool
	now             func() time.Time
	done            func(Outcome)
	mask            func(string) string
}

var _ testscript.T = (*runner)(nil)

// protect runs f where FailNow can end it.
func (r *runner) protect(f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
}

func (r *runner) Run(name string, f func(testscript.T)) {
	sub := &runner{res: r.res, out: r.out, prefix: r.prefix + "/" + name, now: r.now, done: r.done, mask: r.mask}
	began := r.now()
	sub.protect(f)
	verdict, end := "ok  ", Passed
	switch {
	case sub.failed:
		verdict, end = "FAIL", Failed
		r.res.Failed++
	case sub.skipped:
		verdict, end = "skip", Skipped
		r.res.Skipped++
	default:
		r.res.Passed++
	}
	log := sub.log.String()
	line := failedAt(name, log)
	if r.mask != nil {
		log = r.mask(log) // as a whole: a secret may have more than one line
	}
	if r.done != nil {
		r.done(Outcome{Name: sub.prefix, Verdict: end, Line: line, Log: log, Took: r.now().Sub(began)})
	}
	fmt.Fprintf(r.out, "%s %s\n", verdict, sub.prefix)
	if sub.failed {
		for text := range strings.Lines(log) {
			fmt.Fprintf(r.out, "     %s", text)
		}
	}
}

// failedAt is the line that testscript names last: "FAIL: …/rename.txtar:12: …".
func failedAt(name, log string) int {
	i := strings.LastIndex(log, "FAIL: ")
	if i < 0 {
		return 0
	}
	row, _, _ := strings.Cut(log[i:], "\n")
	_, rest, _ := strings.Cut(row, name+".txtar:")
	digits, _, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func (r *runner) Skip(args ...any) {
	r.Log(args...)
	r.skipped = true
	runtime.Goexit()
}

func (r *runner) Fatal(args ...any) {
	r.Log(args...)
	r.FailNow()
}

func (r *runner) FailNow() {
	r.failed = true
	runtime.Goexit()
}

func (r *runner) Log(args ...any) { fmt.Fprintln(&r.log, args...) }
func (r *runner) Failed() bool    { return r.failed }
func (r *runner) Skipped() bool   { return r.skipped }
func (r *runner) Parallel()       {}
func (r *runner) Verbose() bool   { return false }
