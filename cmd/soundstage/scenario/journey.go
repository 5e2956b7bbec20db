package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script/author"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// CodeTrace says that a trace cannot become a scenario.
const CodeTrace fault.Code = "SCENARIO_FROM_TRACE"

// A Journey is what a scenario is made of: a trace, and what the studio held.
type Journey struct {
	Name   string // area/name of the scenario
	Events []trace.Event
	Given  []byte   // what the store held before; nil: nothing
	Dump   []byte   // what it holds after
	Config []byte   // the studio's settings, where they are not those that init writes
	Model  string   // of these settings
	Gate   string   // of these settings
	Open   []string // drafts that the session left open
}

// Steps makes the scenario, with the asserts that a person would write. Notes are what
// the trace has that no scenario can say.
func (j Journey) Steps() (s author.Scenario, notes []string, err error) {
	w := walk{Journey: j}
	if err := w.read(); err != nil {
		return s, nil, err
	}
	w.out.Name = j.Name
	w.out.About = []string{w.about(), "Made from the trace of session " + w.id + "; say here why it must stay so."}
	w.begin()
	if w.opened.Skin == "mcp" {
		w.mcp()
	} else {
		for _, t := range w.turns {
			w.turn(t)
		}
	}
	w.end()
	return w.out, w.notes, nil
}

// Models reports whether the session asked a model: then it needs a cassette.
func (j Journey) Models() bool {
	return slices.ContainsFunc(j.Events, func(e trace.Event) bool { return e.Type == trace.ModelRequested{}.EventType() })
}

// A walk goes through a trace.
type walk struct {
	Journey
	id     string
	opened trace.SessionOpened
	turns  []*turn
	calls  []trace.ToolCalled // of an MCP session, in order
	ends   map[string]trace.ToolFinished
	typed  []string // what a person answered, where no turn is
	bills  []trace.DraftSettled
	cost   int64
	out    author.Scenario
	notes  []string
}

// A turn is what happened between its opening and its closing.
type turn struct {
	at      time.Time
	opened  trace.TurnOpened
	closed  *trace.TurnClosed
	calls   []string
	drafts  []string // that were composed or reviewed in it
	answers []string
	rounds  int
	ref     string
}

func (w *walk) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

func (w *walk) read() error {
	w.ends = map[string]trace.ToolFinished{}
	for _, e := range w.Events {
		p, err := trace.Decode(e)
		if fault.CodeOf(err) == trace.CodeUnknown {
			w.note("event %d has the type %q, which this program does not know", e.Seq, e.Type)
			continue
		}
		if err != nil {
			return err
		}
		w.event(e, p)
	}
	if w.id == "" {
		return fault.New(CodeTrace, "trace.to-scenario", "the trace does not begin with a session").WithHint("name a session: soundstage trace show")
	}
	whole := slices.DeleteFunc(w.turns, func(t *turn) bool { return t.closed == nil })
	if n := len(w.turns) - len(whole); n > 0 {
		w.note("left out: %d turns that never ended", n)
	}
	if w.turns = whole; len(w.turns) == 0 && len(w.calls) == 0 {
		return fault.New(CodeTrace, "trace.to-scenario", "nothing was asked for in session %s", w.id).WithHint("name a session with a turn or a call in it")
	}
	return nil
}

func (w *walk) event(e trace.Event, p trace.Payload) {
	var t *turn
	if len(w.turns) > 0 {
		t = w.turns[len(w.turns)-1]
	}
	switch p := p.(type) {
	case trace.SessionOpened:
		w.id, w.opened = e.Session, p
	case trace.TurnOpened:
		w.turns = append(w.turns, &turn{at: e.At, opened: p})
		if len(p.Attach) > 0 {
			w.note("turn %d had files beside its text, which a scenario cannot give", e.Turn)
		}
	case trace.Steered:
		w.note("turn %d was steered on its way, which a scenario cannot do", e.Turn)
	case trace.DraftSettled:
		w.bills = append(w.bills, p)
	case trace.ToolFinished:
		w.ends[p.Call] = p
		if t != nil && p.Review != nil {
			t.drafts = append(t.drafts, p.Review.Draft)
		}
	case trace.ToolCalled:
		if t == nil {
			w.calls = append(w.calls, p)
			return
		}
		t.calls = append(t.calls, p.Tool)
	case trace.GateAnswered:
		if a := reply(p); a != "" && t == nil {
			w.typed = append(w.typed, a)
		} else if a != "" {
			t.answers = append(t.answers, a)
		}
	case trace.ModelRequested:
		if t != nil {
			t.rounds, t.ref = t.rounds+1, p.Ref
		}
	case trace.TurnClosed:
		if t != nil {
			t.closed = &p
			w.cost += p.Cost
		}
	}
}

// reply is a person's answer in the words of answer; "" where nobody was asked.
func reply(p trace.GateAnswered) string {
	switch {
	case p.By == "policy":
		return ""
	case p.By == "client" && p.Note == "cancel":
		return "cancel"
	case p.By == "client":
		return "decline"
	case p.Choice == "once":
		return "apply"
	case p.Choice == "session":
		return "session"
	case p.Choice == "no":
		return "discard"
	case p.Choice == "timeout":
		return "cancel"
	}
	return "nobody"
}

// about is the first line: what the session was for, and how it ended.
func (w *walk) about() string {
	if len(w.turns) == 0 {
		return fmt.Sprintf("An MCP client makes %s", plural(len(w.calls), "call"))
	}
	text := fmt.Sprintf("%q ends %s", cut(w.turns[0].opened.Input, 80), w.turns[0].closed.Label)
	if n := len(w.turns) - 1; n > 0 {
		text += fmt.Sprintf(", and %s more", plural(n, "turn"))
	}
	return text
}

func (w *walk) add(word string, args ...string) *author.Step {
	w.out.Steps = append(w.out.Steps, author.Step{Word: word, Args: args})
	return &w.out.Steps[len(w.out.Steps)-1]
}

func (w *walk) file(name string, data []byte) {
	w.out.Files = append(w.out.Files, author.File{Name: name, Data: data})
}

// begin sets the stage: the cassette, the time, the ids, the studio as it was.
func (w *walk) begin() {
	if w.Models() {
		w.add("cassette", w.Name)
	}
	if w.id != "s-0001" {
		w.add("ids", w.id)
	}
	w.add("soundstage", "init", ".")
	if len(w.Config) > 0 {
		w.file("studio.yaml", w.Config)
		w.add("cp", "studio.yaml", "soundstage.yaml")
	}
	if len(w.Given) > 0 {
		w.file("given.jsonl", w.Given)
		w.add("given", "given.jsonl")
	}
	w.add("clock", w.Events[0].At.UTC().Format(time.RFC3339))
}

func (w *walk) turn(t *turn) {
	first := t == w.turns[0]
	says := len(w.out.Steps)
	if !first {
		w.add("clock", t.at.UTC().Format(time.RFC3339))
	}
	if len(t.answers) > 0 {
		w.add("answer", t.answers...)
	}
	args := []string{"run"}
	for _, f := range []struct {
		name, value string
		wanted      bool
	}{
		{"--session", w.id, !first},
		{"--gate", w.opened.Gate, first && w.opened.Gate != firstOf(w.Gate, "guarded")},
		{"--model", firstOf(t.ref, w.opened.Model), firstOf(t.ref, w.opened.Model) != w.Model},
		{"--reasoning", t.opened.Reasoning, t.opened.Reasoning != ""},
		{"--max-calls", fmt.Sprint(t.opened.MaxCalls), t.opened.MaxCalls > 0},
		{"--max-rounds", fmt.Sprint(t.opened.MaxRounds), t.opened.MaxRounds > 0},
	} {
		if f.wanted {
			args = append(args, f.name, f.value)
		}
	}
	c := t.closed
	ended := slices.Contains([]string{"verified", "answered", "discarded"}, c.Label) && len(w.leftOpen(t)) == 0 || c.Label == "answered" || c.Label == "verified"
	w.add("soundstage", append(args, "--", t.opened.Input)...).Not = !ended
	w.add("stdout", regexp.QuoteMeta(fmt.Sprintf("[%s] %s, %s, %s saved", c.Label, plural(c.Rounds, "request"), plural(c.Calls, "call"), ledger.Format(c.Cost))))
	if text := telling(c.Text); text != "" && (c.Label == "answered" || c.Label == "verified") {
		w.add("stdout", regexp.QuoteMeta(text))
	}
	for _, id := range w.leftOpen(t) {
		w.add("stdout", regexp.QuoteMeta("open: draft "+id))
	}
	w.add("called", t.calls...)
	w.add("rounds", fmt.Sprint(t.rounds))
	w.out.Steps[says].Says = fmt.Sprintf("Turn %d: %s.", slices.Index(w.turns, t)+1, c.Label)
}

// leftOpen are the drafts of a turn that the session left open.
func (w *walk) leftOpen(t *turn) []string {
	var open []string
	for _, id := range w.Open {
		if slices.Contains(t.drafts, id) {
			open = append(open, id)
		}
	}
	return open
}

// mcp makes a client of the calls.
func (w *walk) mcp() {
	says := len(w.out.Steps)
	if len(w.typed) > 0 {
		w.add("answer", w.typed...)
		if i := slices.Index(w.typed, "nobody"); i > 0 {
			w.note("nobody answered the question %d, and somebody the one before: a scenario's client can be asked always or never", i+1)
		}
	}
	start := []string{"start"}
	if w.opened.ReadOnly {
		start = append(start, "--read-only")
	}
	w.add("mcp", start...)
	var tools []string
	for _, c := range w.calls {
		tools = append(tools, c.Tool)
		end := w.ends[c.Call]
		w.add("mcp", "call", c.Tool, c.Input).Not = !end.OK
		switch {
		case !end.OK && end.Code != "":
			w.add("stdout", regexp.QuoteMeta(end.Code))
		case end.Review != nil:
			w.add("stdout", regexp.QuoteMeta(end.Review.Draft))
		}
	}
	w.add("mcp", "stop")
	w.out.Steps[says].Says = "The client's calls, as they were made."
	w.add("called", append([]string{"-all"}, tools...)...)
}

// end holds what must be true in the end: receipts, money, the store.
func (w *walk) end() {
	says := len(w.out.Steps)
	if len(w.bills) > 0 {
		w.add("soundstage", "trace", "show", w.id)
	}
	for _, b := range w.bills {
		w.add("stdout", regexp.QuoteMeta(cut(b.Receipt.String(), 200)))
	}
	if len(w.turns) > 0 && w.Models() {
		w.add("cost", ledger.Format(w.cost))
	}
	w.file("dump", w.Dump)
	w.add("store")
	w.add("cmp", "stdout", "dump")
	w.out.Steps[says].Says = "What it came to: receipts, cost, and the store."
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// telling is the beginning of a text that a person was told, on one line of plain
// characters; "" where there is none.
func telling(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		line = line[:i]
	}
	return strings.TrimSpace(cut(line, 80))
}

// cut is at most n bytes of a text, whole runes.
func cut(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
