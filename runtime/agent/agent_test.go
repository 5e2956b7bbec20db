package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

const edit = "character_identity_update {}"

func TestAnAnswer(t *testing.T) {
	w := newWorld(t, say{text: "Ada is a character."})
	out := w.turn(t.Context())
	if out.Label != agent.Answered || out.Text != "Ada is a character." || out.Stop != "" || out.Err != nil || out.Rounds != 1 {
		t.Errorf("outcome %+v", out)
	}
	if got, want := w.trace.types(), "turn.opened model.requested model.replied turn.closed"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if fmt.Sprint(w.skin.texts) != "[Ada is a character.]" || w.skin.partial != "Ada is a character." {
		t.Errorf("skin saw %q, partial %q", w.skin.texts, w.skin.partial)
	}
}

func TestTheRequest(t *testing.T) {
	w := newWorld(t, say{text: "ok"})
	in := agent.Input{
		Turn: 3, Text: "hello", Facts: []string{"Ada is open.", "It is noon."},
		History: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "before"}}}},
	}
	out, err := agent.New(w.opts).Turn(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	req := w.model.requests[0]
	if req.Ref != "fake/one" || req.MaxOutput != 1_000 || req.CallIDs(2) != "t3r1c2" || req.System[0].Text != "You help." {
		t.Errorf("request %+v", req)
	}
	var texts []string
	for _, p := range req.Messages[0].Parts {
		texts = append(texts, p.Text)
	}
	if got, want := strings.Join(texts, "|"), "before|Facts:\n- Ada is open.\n- It is noon.|hello"; len(req.Messages) != 1 || got != want {
		t.Errorf("messages %+v", req.Messages)
	}
	for _, parts := range [][]model.Part{req.System, req.Messages[0].Parts} {
		for i, p := range parts {
			if p.Cache != (i == len(parts)-1) {
				t.Errorf("part %d of %d: cache %v", i, len(parts), p.Cache)
			}
		}
	}
	if strings.Contains(fmt.Sprintf("%+v", out.History), "Cache:true") {
		t.Error("the history keeps the marks of a request")
	}
	if len(in.History[0].Parts) != 1 {
		t.Error("the caller's history was changed")
	}
	if len(out.History) != 2 {
		t.Errorf("history %+v", out.History)
	}
	var names []string
	for _, s := range req.Tools {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "capability_call capability_find change_apply change_discard studio_read test_break test_miss test_say test_slow"; got != want {
		t.Errorf("belt %s, want %s", got, want)
	}
}

func TestBadInput(t *testing.T) {
	facts := func(n int) []string { return slices.Repeat([]string{"a"}, n) }
	for _, tt := range []struct {
		name string
		in   agent.Input
		want fault.Code // "" is accepted
	}{
		{"no turn", agent.Input{Text: "x"}, fault.Invalid},
		{"nothing", agent.Input{Turn: 1, Text: " \n"}, fault.Invalid},
		{"the longest text", agent.Input{Turn: 1, Text: strings.Repeat("é", 200_000)}, ""},
		{"too long", agent.Input{Turn: 1, Text: strings.Repeat("é", 200_001)}, fault.TooLarge},
		{"a fact of two", agent.Input{Turn: 1, Text: "x", Facts: []string{"a\nb"}}, fault.Invalid},
		{"the longest fact", agent.Input{Turn: 1, Text: "x", Facts: []string{strings.Repeat("灯", 400)}}, ""},
		{"a long fact", agent.Input{Turn: 1, Text: "x", Facts: []string{strings.Repeat("灯", 401)}}, fault.TooLarge},
		{"as many facts as there may be", agent.Input{Turn: 1, Text: "x", Facts: facts(20)}, ""},
		{"many facts", agent.Input{Turn: 1, Text: "x", Facts: facts(21)}, fault.TooLarge},
	} {
		w := newWorld(t, say{text: "ok"})
		_, err := agent.New(w.opts).Turn(t.Context(), tt.in)
		if fault.CodeOf(err) != tt.want || (err == nil) != (tt.want == "") || (err != nil) != (len(w.trace.events) == 0) {
			t.Errorf("%s: %v, want code %q; %d events", tt.name, err, tt.want, len(w.trace.events))
		}
		if err != nil && (fault.HintOf(err) == "" || len(err.Error()) > 500) {
			t.Errorf("%s: %v has the hint %q", tt.name, err, fault.HintOf(err))
		}
	}
}

func TestADraftIsHandedOverOnce(t *testing.T) {
	w := newWorld(t,
		say{text: "Let me look.", calls: []string{`capability_find {"text":"character.identity.update"}`}},
		say{calls: []string{edit, edit}},
		say{calls: []string{edit}},
		say{text: "Shall I save this?"},
	)
	w.person.answers = []gate.Answer{yes()}
	out := w.turn(t.Context())
	if out.Label != agent.Verified || len(w.model.requests) != 4 || len(w.person.asked) != 1 || len(out.Open) != 0 {
		t.Fatalf("outcome %+v, %d requests, %d questions", out, len(w.model.requests), len(w.person.asked))
	}
	if told := strings.Join(w.skin.texts, ""); told != out.Text || strings.Contains(told, "Shall I") || strings.Contains(told, "Let me look") || w.skin.partial != "" {
		t.Errorf("prose was shown: %q, %q, partial %q", out.Text, w.skin.texts, w.skin.partial)
	}
	if !strings.Contains(out.Text, "character/ada is at revision 2") {
		t.Errorf("text %q", out.Text)
	}
	want := "turn.opened model.requested model.replied tool.called tool.finished " +
		"model.requested model.replied tool.called tool.called tool.finished tool.finished " +
		"model.requested model.replied tool.called tool.finished " +
		"model.requested model.replied tool.called gate.asked gate.answered tool.finished draft.settled turn.closed"
	if got := w.trace.types(); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
	// The prose and the text beside calls stay in history, and the model learns the end.
	flat := fmt.Sprintf("%+v", out.History)
	for _, s := range []string{"Let me look.", "Shall I save this?", "Draft d-1: applied"} {
		if !strings.Contains(flat, s) {
			t.Errorf("history lacks %q", s)
		}
	}
	if got := strings.Join(w.skin.labels, " "); got != "thinking discovering thinking drafting drafting thinking drafting thinking ready applying" {
		t.Errorf("labels %s", got)
	}
}

func TestADenialTakesNoModelRequest(t *testing.T) {
	w := newWorld(t, say{calls: []string{edit}}, say{text: "Save?"})
	w.person.answers = []gate.Answer{{Choice: gate.No, By: gate.Person, Note: "wrong name"}}
	out := w.turn(t.Context())
	if out.Label != agent.Discarded || len(w.model.requests) != 2 || out.Stop != "" || len(out.Open) != 0 {
		t.Errorf("outcome %+v, %d requests", out, len(w.model.requests))
	}
	if got := fmt.Sprint(w.ran); got != "[character.identity.update change.discard d-1]" {
		t.Errorf("ran %s", got)
	}
	if !strings.Contains(out.Text, "a person said no: wrong name") {
		t.Errorf("text %q", out.Text)
	}
}

func TestSeveralDraftsAreAskedOneByOne(t *testing.T) {
	w := newWorld(t, say{calls: []string{`character_identity_update {"text":"d-1"}`, `character_identity_update {"text":"d-2"}`}}, say{text: "Save?"})
	w.person.answers = []gate.Answer{no(), yes()}
	out := w.turn(t.Context())
	if got := fmt.Sprint(w.ran[2:]); got != "[change.discard d-1 change.apply d-2]" || out.Label != agent.Discarded || len(out.Receipts) != 2 {
		t.Errorf("ran %s, outcome %+v", got, out)
	}
}

func TestHowAHandoffEnds(t *testing.T) {
	receipt := func(s draft.State) func(string) (draft.Receipt, error) {
		return func(id string) (draft.Receipt, error) {
			return draft.Receipt{Draft: id, Outcome: s, Target: store.Ref{Kind: "character", ID: "ada"}, Detail: "because"}, nil
		}
	}
	tests := []struct {
		name   string
		answer gate.Answer
		apply  func(string) (draft.Receipt, error)
		label  string
		stop   fault.Code
		open   int
	}{
		{name: "stale receipt", answer: yes(), apply: receipt(draft.Stale), label: agent.Stale},
		{name: "failed receipt", answer: yes(), apply: receipt(draft.Failed), label: agent.Failed},
		{name: "stale error", answer: yes(), apply: func(string) (draft.Receipt, error) {
			return draft.Receipt{}, fault.New(fault.Stale, "draft.apply", "changed")
		}, label: agent.Stale, open: 1},
		{name: "error", answer: yes(), apply: func(string) (draft.Receipt, error) {
			return draft.Receipt{}, errors.New("disk")
		}, label: agent.Failed, open: 1},
		{name: "panic", answer: yes(), apply: func(string) (draft.Receipt, error) { panic("boom") }, label: agent.Failed, open: 1},
		{name: "nobody", answer: gate.Answer{Choice: gate.Absent, By: gate.Nobody}, label: agent.Stopped, stop: agent.StopNobody, open: 1},
		{name: "timeout", answer: gate.Answer{Choice: gate.TimedOut, By: gate.Nobody}, label: agent.Stopped, stop: agent.StopNobody, open: 1},
		{name: "a client", answer: gate.Answer{Choice: gate.No, By: gate.Client}, label: agent.Stopped, stop: agent.StopDeclined, open: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, say{calls: []string{edit}}, say{text: "Save?"})
			w.person.answers = []gate.Answer{tt.answer}
			if tt.apply != nil {
				w.apply = tt.apply
			}
			out := w.turn(t.Context())
			if out.Label != tt.label || out.Stop != tt.stop || len(out.Open) != tt.open || len(w.model.requests) != 2 {
				t.Errorf("outcome %+v", out)
			}
			if slices.Contains(w.ran, "change.discard d-1") {
				t.Error("discarded, and no person said no")
			}
			if tt.answer.By != gate.Person && strings.Contains(out.Text, "a person said no") {
				t.Errorf("text %q", out.Text)
			}
		})
	}
}

func TestWithoutAnAskerNobodyIsThere(t *testing.T) {
	w := newWorld(t, say{calls: []string{edit}}, say{text: "Save?"})
	w.opts.Asker = nil
	if out := w.turn(t.Context()); out.Stop != agent.StopNobody || len(out.Open) != 1 {
		t.Errorf("outcome %+v", out)
	}
}

func TestTheModelAppliesItself(t *testing.T) {
	apply := `change_apply {"draft":"d-1"}`
	t.Run("yes", func(t *testing.T) {
		w := newWorld(t, say{calls: []string{edit}}, say{calls: []string{apply}}, say{text: "Done."})
		w.person.answers = []gate.Answer{yes()}
		out := w.turn(t.Context())
		if out.Label != agent.Verified || len(w.person.asked) != 1 || !strings.HasPrefix(out.Text, "Done.") {
			t.Errorf("outcome %+v, %d questions", out, len(w.person.asked))
		}
	})
	t.Run("no", func(t *testing.T) {
		w := newWorld(t, say{calls: []string{edit}}, say{calls: []string{apply, "test_say {}"}})
		w.person.answers = []gate.Answer{no()}
		out := w.turn(t.Context())
		if out.Label != agent.Discarded || len(w.model.requests) != 2 {
			t.Errorf("outcome %+v, %d requests", out, len(w.model.requests))
		}
		if got := fmt.Sprint(w.ran); got != "[character.identity.update change.discard d-1]" {
			t.Errorf("ran %s", got)
		}
	})
	t.Run("through capability.call", func(t *testing.T) {
		w := newWorld(t, say{calls: []string{`capability_call {"id":"character.identity.update","input":{}}`}},
			say{calls: []string{`capability_call {"id":"change.apply","input":{"draft":"d-1"}}`}})
		w.person.answers = []gate.Answer{no()}
		if out := w.turn(t.Context()); out.Label != agent.Discarded {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("discards", func(t *testing.T) {
		w := newWorld(t, say{calls: []string{edit}}, say{calls: []string{`change_discard {"draft":"d-1"}`}}, say{text: "Dropped."})
		if out := w.turn(t.Context()); out.Label != agent.Discarded || len(w.person.asked) != 0 {
			t.Errorf("outcome %+v", out)
		}
	})
}

func TestTheRevealedSet(t *testing.T) {
	find := func(ids string) say { return say{calls: []string{`capability_find {"text":"` + ids + `"}`}} }
	w := newWorld(t, find("character.identity.update studio.read x.a x.b x.c character.no"), find("nothing.such"), say{text: "ok"})
	w.turn(t.Context())
	has := func(i int) bool {
		return slices.ContainsFunc(w.model.requests[i].Tools, func(s model.ToolSpec) bool { return s.Name == "character_identity_update" })
	}
	if has(0) || !has(1) || has(2) {
		t.Errorf("the deferred tool was seen %v %v %v, want only after the first search", has(0), has(1), has(2))
	}
}

func TestReadsRunSideBySideInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, say{calls: []string{`test_slow {"text":"3"}`, `test_slow {"text":"1"}`, `test_slow {"text":"2"}`}}, say{text: "ok"})
		began := time.Now()
		w.slow = func(text string) { time.Sleep(time.Duration(text[0]-'0') * time.Second) }
		out := w.turn(t.Context())
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v, want the longest, 3s", took)
		}
		if fmt.Sprint(w.ran) != "[test.slow 1 test.slow 2 test.slow 3]" {
			t.Errorf("handlers ended as %v", w.ran)
		}
		var texts, finished []string
		for _, r := range results(out.History) {
			texts = append(texts, r.Text)
		}
		for _, p := range w.trace.said {
			if p, ok := p.(trace.ToolFinished); ok {
				finished = append(finished, p.Call)
			}
		}
		if fmt.Sprint(texts) != "[said 3 said 1 said 2]" || fmt.Sprint(finished) != "[t1r1c0 t1r1c1 t1r1c2]" {
			t.Errorf("results %v, trace %v", texts, finished)
		}
	})
}

func TestABatchWithADraftRunsSerially(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, say{calls: []string{`test_slow {"text":"2"}`, `test_slow {"text":"1"}`, edit}}, say{text: "Save?"})
		began := time.Now()
		w.slow = func(text string) { time.Sleep(time.Duration(text[0]-'0') * time.Second) }
		w.turn(t.Context())
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v, want the sum, 3s", took)
		}
		if fmt.Sprint(w.ran) != "[test.slow 2 test.slow 1 character.identity.update]" {
			t.Errorf("ran %v", w.ran)
		}
	})
}

func TestParallelReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		for i := range 8 {
			calls = append(calls, fmt.Sprintf(`test_slow {"text":"1%d"}`, i))
		}
		w := newWorld(t, say{calls: calls}, say{text: "ok"})
		began := time.Now()
		w.slow = func(string) { time.Sleep(time.Second) }
		w.turn(t.Context())
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("8 reads of 1s, 4 at once, took %v", took)
		}
	})
}

func TestErrorsThatAModelCanMend(t *testing.T) {
	w := newWorld(t, say{calls: []string{"test_syа {}", "test_say {oops", `test_say {"txet":1}`, "test_break {}"}}, say{text: "ok"})
	out := w.turn(t.Context())
	want := []string{`"code":"UNKNOWN_TOOL"`, `"code":"INVALID_INPUT"`, `unknown field`, `"hint":"look elsewhere"`}
	got := results(out.History)
	for i, r := range got {
		if !r.Error || !strings.HasPrefix(r.Text, "{") || !strings.Contains(r.Text, `"ok":false`) || !strings.Contains(r.Text, want[i]) {
			t.Errorf("result %d: %+v, want an error with %s", i, r, want[i])
		}
	}
	if len(got) != 4 || out.Label != agent.Answered {
		t.Errorf("%d results, outcome %+v", len(got), out)
	}
}

func TestSteerAndFollowUp(t *testing.T) {
	w := newWorld(t, say{calls: []string{"test_say {}"}}, say{text: "First."}, say{text: "Second."})
	w.model.script[0].before = func() { w.inbox.notes = []agent.Note{{Text: "shorter, please"}, {Text: "then Bob", After: true}} }
	w.model.script[1].before = func() { w.inbox.notes = []agent.Note{{Text: "and in verse"}} }
	out := w.turn(t.Context())
	if out.Text != "Second." || fmt.Sprint(out.Next) != "[then Bob]" || len(w.model.requests) != 3 || w.skin.partial != "Second." {
		t.Errorf("outcome %+v, %d requests, partial %q", out, len(w.model.requests), w.skin.partial)
	}
	for i, want := range []string{"", "shorter, please", "and in verse"} {
		m := w.model.requests[i].Messages
		if want != "" && (m[len(m)-1].Role != model.User || m[len(m)-1].Parts[0].Text != want) {
			t.Errorf("request %d ends with %+v, want %q", i, m[len(m)-1], want)
		}
	}
	if strings.Count(w.trace.types(), "turn.steered") != 3 {
		t.Errorf("events %s", w.trace.types())
	}
}

func TestARecorderThatFailsEndsTheTurn(t *testing.T) {
	for full := 1; full < 14; full++ {
		w := newWorld(t, say{calls: []string{edit}}, say{text: "Save?"})
		w.person.answers = []gate.Answer{yes()}
		w.trace.full = full
		_, err := agent.New(w.opts).Turn(t.Context(), agent.Input{Turn: 1, Text: "x"})
		if err == nil {
			t.Errorf("no error where event %d cannot be written", full)
		}
		if full <= 8 && slices.Contains(w.ran, "change.apply d-1") {
			t.Errorf("applied although event %d before it was lost", full)
		}
	}
}

func TestTwoTurnsFromOneAgent(t *testing.T) {
	w := newWorld(t, say{calls: []string{`capability_find {"text":"character.identity.update"}`}}, say{text: "ok"}, say{text: "ok"})
	a := agent.New(w.opts)
	one, err := a.Turn(t.Context(), agent.Input{Turn: 1, Text: "find"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := a.Turn(t.Context(), agent.Input{Turn: 2, Text: "again", History: one.History})
	if err != nil || two.Label != agent.Answered {
		t.Fatalf("%+v, %v", two, err)
	}
	w.paired(two.History)
	for _, s := range w.model.requests[2].Tools {
		if s.Name == "character_identity_update" {
			t.Error("the deferred set outlived its turn")
		}
	}
}

func TestLengthAndEmptyReplies(t *testing.T) {
	w := newWorld(t, say{text: "Once upon", reason: model.Length})
	if out := w.turn(t.Context()); out.Label != agent.Answered || out.Guidance == "" || out.Text != "Once upon" || out.Err != nil {
		t.Errorf("outcome %+v", out)
	}
	w = newWorld(t, say{})
	if out := w.turn(t.Context()); out.Label != agent.Answered || out.Text != "" {
		t.Errorf("outcome %+v", out)
	}
}
