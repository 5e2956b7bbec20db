package script

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Result says how many scenarios ended how.
type Result struct {
	Passed, Failed, Skipped int
}

// Execute runs scenarios outside of go test, one after the other, and writes a line
// for each to out, with the log of those that failed. pattern is AREA, AREA/NAME or
// a path.Match pattern of one of them; "" is all. A pattern that matches nothing is
// an error.
func Execute[X any](o Options[X], pattern string, out io.Writer) (Result, error) {
	const op = "script.execute"
	areas, err := findAreas(o.Root)
	if err != nil {
		return Result{}, err
	}
	var res Result
	var names []string
	for _, a := range areas {
		var chosen []string
		for _, f := range a.files {
			name := strings.TrimSuffix(filepath.Base(f), ".txtar")
			names = append(names, a.name+"/"+name)
			if matches(pattern, a.name, name) {
				chosen = append(chosen, f)
			}
		}
		if len(chosen) == 0 {
			continue
		}
		t := &runner{res: &res, out: out, prefix: a.name}
		t.protect(func(testscript.T) { testscript.RunT(t, params(o, area{a.name, chosen})) })
		if t.failed {
			return res, fault.New(fault.Invalid, op, "the scenarios of %s could not be started: %s", a.name, strings.TrimSpace(t.log.String()))
		}
	}
	if res == (Result{}) {
		return res, fault.New(fault.NotFound, op, "no scenario matches %q%s", pattern, didYouMean(pattern, names)).
			WithHint("name an area, area/name, or a pattern such as 'content/*'")
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
	sub := &runner{res: r.res, out: r.out, prefix: r.prefix + "/" + name}
	sub.protect(f)
	verdict := "ok  "
	switch {
	case sub.failed:
		verdict = "FAIL"
		r.res.Failed++
	case sub.skipped:
		verdict = "skip"
		r.res.Skipped++
	default:
		r.res.Passed++
	}
	fmt.Fprintf(r.out, "%s %s\n", verdict, sub.prefix)
	if sub.failed {
		for text := range strings.Lines(sub.log.String()) {
			fmt.Fprintf(r.out, "     %s", text)
		}
	}
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
func (r *runner) Parallel()       {}
func (r *runner) Verbose() bool   { return false }
