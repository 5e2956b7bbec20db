package upstream

import (
	"fmt"
	"slices"
	"strings"
)

// misfits lists what in the request is not as the turn expects, in the script's
// own words.
func (e expect) misfits(a ask) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if e.model != "" && e.model != a.model {
		note("model is %q, not %q", a.model, e.model)
	}
	if e.stream != nil && *e.stream != a.stream {
		note("stream is %t, not %t", a.stream, *e.stream)
	}
	for _, s := range e.system {
		if !strings.Contains(a.system, s) {
			note("system does not contain %q: it is %q", s, clip(a.system))
		}
	}
	for _, s := range e.user {
		if !strings.Contains(a.user, s) {
			note("user does not contain %q: the last user text is %q", s, clip(a.user))
		}
	}
	for _, t := range e.tools {
		if !slices.Contains(a.tools, t) {
			note("tools has no %q: there are %q", t, a.tools)
		}
	}
	for _, t := range e.absent {
		if slices.Contains(a.tools, t) {
			note("tools has %q", t)
		}
	}
	if e.rounds != nil && *e.rounds != a.rounds {
		note("rounds is %d, not %d", a.rounds, *e.rounds)
	}
	if !e.anyResults {
		out = append(out, e.resultMisfits(a.results)...)
	}
	return out
}

func (e expect) resultMisfits(got []outcome) []string {
	names := make([]string, len(got))
	for i, o := range got {
		names[i] = o.tool
	}
	if len(got) != len(e.results) {
		return []string{fmt.Sprintf("results has %d of %q, not %d", len(got), names, len(e.results))}
	}
	var out []string
	for i, w := range e.results {
		o := got[i]
		if o.tool != w.tool {
			out = append(out, fmt.Sprintf("results[%d] is of %q, not %q", i, o.tool, w.tool))
			continue
		}
		for _, s := range w.contains {
			if !strings.Contains(o.text, s) {
				out = append(out, fmt.Sprintf("results[%d] of %s does not contain %q: it is %q", i, o.tool, s, clip(o.text)))
			}
		}
		// Chat Completions and Responses do not say whether a tool failed.
		if w.failed != nil && o.marked && *w.failed != o.failed {
			out = append(out, fmt.Sprintf("results[%d] of %s has error %t, not %t: it is %q", i, o.tool, o.failed, *w.failed, clip(o.text)))
		}
	}
	return out
}
