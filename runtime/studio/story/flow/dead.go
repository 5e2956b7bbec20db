package flow

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// dead says what of a fixture checks nothing or does nothing in the way in which it is run.
func (f *Fixture) dead() []load.Finding {
	if f.Sayings != nil {
		return nil
	}
	engine := f.NeedsEngine()
	var list []load.Finding
	warn := func(t *Turn, n int, format string, args ...any) {
		what, pos := "flow: ", f.Pos
		if t != nil {
			what, pos = sprintf("turn %d: ", n), t.Pos
		}
		list = append(list, load.Finding{Severity: load.Warning, Pos: pos, Message: what + sprintf(format, args...)})
	}
	const alone = "this flow makes no calls (it has neither host_handlers nor a cassette), so "
	switch {
	case f.Recording != "" && !slices.ContainsFunc(f.Turns, func(t Turn) bool { return !t.HasIntent && t.Input != "" }):
		warn(nil, 0, "recording: nothing asks it: every turn names its intent")
	case !engine && (len(f.Stubs) > 0 || f.Cassette != "" || f.HTTP != ""):
		warn(nil, 0, "use_orchestrator: false: no call is made, so nothing asks the stubs and cassettes")
	case !engine && f.Inspect != "":
		warn(nil, 0, alone+"nothing asks starlark_inspect_cassette")
	case !engine && f.Staged:
		warn(nil, 0, alone+"mode: staged means nothing")
	}
	if !engine && len(f.NoCalls) > 0 {
		warn(nil, 0, alone+"expect_no_host_calls always holds")
	}
	for i := range f.Turns {
		t := &f.Turns[i]
		if !engine && len(t.NoCalls) > 0 {
			warn(t, i+1, alone+"expect_no_host_calls always holds")
		}
		if engine && !t.takes() && t.Override.Len() > 0 {
			warn(t, i+1, "world_override: a turn without an intent changes nothing")
		}
		if t.Error != nil && t.checksMore() {
			warn(t, i+1, "expect_error: nothing else of the turn is checked where an intent is refused")
		}
		if t.HasIntent && t.Input != "" {
			warn(t, i+1, "input: nothing routes it: the turn names its intent")
		}
		if engine && t.HasIntent && t.Error != nil && t.Error.Code == "MISSING_SLOTS" {
			warn(t, i+1, "expect_error: a flow with calls asks for missing slots and refuses nothing, so this never holds")
		}
	}
	return list
}

// Misfits says what of a fixture a story has nothing of.
func (f *Fixture) Misfits(s *program.Story) []load.Finding {
	at, _, _ := strings.Cut(f.State, "#") // behind it stands where the regions are
	at = strings.ReplaceAll(at, "/", ".")
	if at == "" || s.States[at] != nil {
		return nil
	}
	return []load.Finding{{Severity: load.Warning, Pos: f.Pos, Message: sprintf("flow: it begins in %q, and the story has no such state: nothing is taken there", f.State)}}
}

func (t *Turn) checksMore() bool {
	return t.State != "" || t.NotState != "" || len(t.StateIn) > 0 || t.World.Len() > 0 || t.WorldFull.Len() > 0 || t.Unchanged || len(t.Events) > 0 ||
		len(t.EventsExact) > 0 || t.View != "" || t.NoView || t.RoutedBy != "" || len(t.Calls) > 0 || len(t.NoCalls) > 0 || t.Inbox != nil || len(t.Jobs) > 0 || t.SlotsAre.Len() > 0
}
