package load

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// A Severity says whether a story runs with a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning" // the story runs; something in it is wrong, or will be
)

// A Finding is something wrong with a story, and where.
type Finding struct {
	Severity Severity `json:"severity"`
	program.Pos
	Code    fault.Code `json:"code,omitempty"` // where it is a bound, or a way out of the story's folder
	Message string     `json:"message"`
}

// String is file:line:column: message.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// MaxFindings is how many findings one run gives; more are counted in the last.
const MaxFindings = 500

// A report gathers findings of all stages.
type report struct {
	list []Finding
	more int
}

func (r *report) add(s Severity, code fault.Code, at program.Pos, format string, args ...any) {
	if len(r.list) >= MaxFindings {
		r.more++
		return
	}
	r.list = append(r.list, Finding{Severity: s, Code: code, Pos: at, Message: fmt.Sprintf(format, args...)})
}

// refuse is fail for what has a code: a bound, or a way out.
func (r *report) refuse(code fault.Code, at program.Pos, format string, args ...any) {
	r.add(Error, code, at, format, args...)
}

func (r *report) fail(at program.Pos, format string, args ...any) {
	r.add(Error, "", at, format, args...)
}

func (r *report) warn(at program.Pos, format string, args ...any) {
	r.add(Warning, "", at, format, args...)
}

// failed reports whether there is an error.
func (r *report) failed() bool {
	return slices.ContainsFunc(r.list, func(f Finding) bool { return f.Severity == Error })
}

// sorted is all findings, each once: errors first, then by place.
func (r *report) sorted() []Finding {
	list := slices.Clone(r.list)
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	list = slices.Compact(list)
	if r.more > 0 {
		list = append(list, Finding{Severity: Error, Message: fmt.Sprintf("and %d more", r.more)})
	}
	return list
}
