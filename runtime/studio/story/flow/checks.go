package flow

import (
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func eventChecks(events []engine.Event, t Turn) []string {
	var failures []string
	at := 0
	for _, want := range t.Events {
		i := slices.IndexFunc(events[at:], want.matches)
		if i < 0 {
			failures = append(failures, sprintf("expect_events: no %s behind event %d", want, at))
			continue
		}
		at += i + 1
	}
	if n := len(t.EventsExact); n > 0 {
		if len(events) != n {
			failures = append(failures, sprintf("expect_events_exact: %d events, want %d", len(events), n))
		}
		for i, want := range t.EventsExact[:min(n, len(events))] {
			if !want.matches(events[i]) {
				failures = append(failures, sprintf("expect_events_exact: event %d is %q, want %s", i, events[i].Kind, want))
			}
		}
	}
	for _, want := range t.Calls {
		n := count(events, want)
		if want.Times != nil && n != *want.Times || want.Times == nil && n == 0 {
			failures = append(failures, sprintf("expect_host_calls: %s was called %d times with %s", want.Handler, n, want.Args.JSON()))
		}
	}
	return append(failures, noCalls(events, t.NoCalls)...)
}

// String is the event as a fixture writes it.
func (c EventCheck) String() string {
	return sprintf("{kind: %s, from: %s, to: %s, effect: %s}", c.Kind, c.From, c.To, c.Effect.JSON())
}

func (c EventCheck) matches(e engine.Event) bool {
	if e.Kind != c.Kind {
		return false
	}
	for name, want := range map[string]string{"from": c.From, "to": c.To} {
		if got, _ := e.Payload.Get(name); want != "" && got.Str() != want {
			return false
		}
	}
	return has(e.Payload, c.Effect)
}

// has reports that a map has all members of another.
func has(v, want value.Value) bool {
	for name, w := range want.Members() {
		if got, _ := v.Get(name); !got.Equal(w) {
			return false
		}
	}
	return true
}

// count is how often a call was made in a turn; calls in the background are none of it.
func count(events []engine.Event, want CallCheck) int {
	n := 0
	for _, e := range events {
		if e.Kind != "harness.dispatched" {
			continue
		}
		name, _ := e.Payload.Get("namespace")
		args, _ := e.Payload.Get("args")
		if name.Str() == want.Handler && has(args, want.Args) {
			n++
		}
	}
	return n
}

func noCalls(events []engine.Event, handlers []string) []string {
	var failures []string
	for _, h := range handlers {
		if n := count(events, CallCheck{Handler: h}); n > 0 {
			failures = append(failures, sprintf("expect_no_host_calls: %s was called %d times", h, n))
		}
	}
	return failures
}

// inbox checks notices and jobs.
func (r *runner) inbox(tr *TurnResult, t Turn, s *engine.Session) {
	fail := func(format string, args ...any) { tr.Failures = append(tr.Failures, sprintf(format, args...)) }
	if want := t.Inbox; want != nil {
		unread, needs := 0, 0
		var severities []string
		for _, n := range s.Inbox() {
			if n.Read {
				continue
			}
			unread++
			severities = append(severities, n.Severity)
			if n.Severity == "action_required" {
				needs++
			}
		}
		if want.Unread != nil && unread != *want.Unread {
			fail("expect_inbox.unread: %d, want %d", unread, *want.Unread)
		}
		if want.NeedsAttention != nil && needs != *want.NeedsAttention {
			fail("expect_inbox.needs_attention: %d, want %d", needs, *want.NeedsAttention)
		}
		if want.HasSeverities && !slices.Equal(slices.Sorted(slices.Values(severities)), slices.Sorted(slices.Values(want.Severities))) {
			fail("expect_inbox.severities: %v, want %v", severities, want.Severities)
		}
	}
	ended := s.Ended()
	wanted := map[JobCheck]int{}
	for _, j := range t.Jobs {
		wanted[j]++
	}
	for j, n := range wanted {
		got := 0
		for _, e := range ended {
			if e.Kind == j.Kind && (j.Status == "" || string(e.Status) == j.Status) {
				got++
			}
		}
		if got < n {
			fail("expect_jobs: %d of %s ended as %q in this turn, want %d", got, j.Kind, j.Status, n)
		}
	}
}
