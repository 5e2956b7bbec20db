package flow

import (
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Fixture is one flow: where it begins, what is done, what has to come of it.
type Fixture struct {
	File         string
	Pos          source.Pos
	Recording    string
	State        string
	World        value.Value
	Turns        []Turn
	Staged       bool
	Stubs        map[string]*Stub
	Cassette     string // of host calls
	Covers       bool   // every episode of it is played
	HTTP         string // a cassette of Starlark's requests
	Inspect      string // a cassette of what Starlark reads
	Bindings     map[string]string
	Orchestrated *bool // nil: as the fixture needs it
	Terminal     bool
	AtLeast      *int // events
	AtMost       *int
	NoErrors     bool
	FinalWorld   value.Value
	NoCalls      []string
	Files        []FileCheck
	Sayings      []Saying       // of an intents fixture; nil in a flow
	Findings     []load.Finding // unknown keys, assertions that check nothing
}

// A FileCheck is what a flow leaves on the disk.
type FileCheck struct {
	Path, Matches string
	Absent        bool
}

// A Turn is one step of a flow, and what has to hold after it.
type Turn struct {
	Pos       source.Pos
	Intent    string
	HasIntent bool
	Slots     value.Value
	Input     string
	Shown     string
	Override  value.Value
	Advance   time.Duration
	Advances  bool

	State, NotState string
	StateIn         []string
	SlotsAre        value.Value
	World           value.Value
	WorldFull       value.Value
	Unchanged       bool
	Events          []EventCheck
	EventsExact     []EventCheck
	Error           *ErrorCheck
	View            string // a pattern
	NoView          bool
	RoutedBy        string // the tier that has to know what Input means
	Calls           []CallCheck
	NoCalls         []string
	Inbox           *InboxCheck
	Jobs            []JobCheck
}

// An EventCheck is an event that has to be there.
type EventCheck struct {
	Kind, From, To string
	Effect         value.Value
}

// An ErrorCheck is a rejection that has to come.
type ErrorCheck struct {
	Code             string
	Allowed, Missing []string
	Hint             string
}

// A CallCheck is a call that has to be made.
type CallCheck struct {
	Handler string
	Args    value.Value
	Times   *int
}

// An InboxCheck is what the inbox has to hold.
type InboxCheck struct {
	Unread, NeedsAttention *int
	Severities             []string
	HasSeverities          bool
}

// A JobCheck is a job that has to have ended.
type JobCheck struct{ Kind, Status string }

// A Stub answers calls of one handler.
type Stub struct {
	Data         value.Value
	Error, Infra string
	Delay        time.Duration
	Asks         string
	ByOp, ByCall map[string]*Stub
}

// Parse reads the flows of a file; it may hold several. Documents of other kinds are left
// out, and others says which: a slip in test_kind would leave out a flow.
func Parse(name string, raw []byte) (list []*Fixture, others []load.Finding) {
	line := 0
	for doc := range strings.SplitSeq(string(raw), "\n---") {
		var r source.Reader
		n := r.Parse(name, []byte(strings.Repeat("\n", line)+doc))
		line += strings.Count(doc, "\n") + 1
		f := &Fixture{File: name}
		for _, p := range r.Problems() {
			f.Findings = append(f.Findings, load.Finding{Severity: load.Error, Pos: p.Pos, Code: p.Code, Message: p.Message})
		}
		if len(f.Findings) == 0 && !isFlow(n) {
			if !n.IsNull() && n.Get("kind").IsNull() && (n.Kind != source.Map || len(n.Keys) > 0) { // a cassette says its kind
				others = append(others, load.Finding{Severity: load.Warning, Pos: n.Pos, Message: notRun(n)})
			}
			continue
		}
		if n.Get("test_kind").Value().Text() == "intents" {
			f.readSayings(n)
		} else {
			f.read(n)
		}
		list = append(list, f)
	}
	return list, others
}

func notRun(n *source.Node) string {
	if kind := n.Get("test_kind"); !kind.IsNull() {
		return sprintf("nothing runs this: its test_kind is %q, and neither flow nor intents", kind.Value().Text())
	}
	return "nothing runs this: it has neither test_kind nor turns"
}

// isFlow reports a document that is a flow, or says what inputs mean: it says so, or has
// turns and says nothing.
func isFlow(n *source.Node) bool {
	if kind := n.Get("test_kind"); !kind.IsNull() {
		return kind.Scalar.Text() == "flow" || kind.Scalar.Text() == "intents"
	}
	return !n.Get("turns").IsNull()
}

// A reader takes the keys of one mapping, and knows which nobody asked for.
type reader struct {
	f    *Fixture
	n    *source.Node
	what string
	seen map[string]bool
}

func (f *Fixture) reader(n *source.Node, what string) *reader {
	r := &reader{f: f, n: n, what: what, seen: map[string]bool{}}
	if !n.IsNull() && n.Kind != source.Map {
		r.warn(n.Pos, "%s: it is %s, and not a mapping: nothing of it counts", what, n.What())
	}
	return r
}

func (r *reader) node(name string) *source.Node {
	r.seen[name] = true
	return r.n.Get(name)
}

func (r *reader) text(name string) string {
	n := r.node(name)
	if n.IsNull() {
		return ""
	}
	return n.Scalar.Text()
}

func (r *reader) bool(name string) bool {
	n := r.node(name)
	return !n.IsNull() && n.Scalar.Bool()
}

func (r *reader) int(name string) *int {
	n := r.node(name)
	if n.IsNull() {
		return nil
	}
	i, ok := n.Scalar.Int()
	if !ok {
		r.warn(n.Pos, "%s: %s is %s, and not a whole number", r.what, name, n.What())
	}
	k := int(i)
	return &k
}

func (r *reader) texts(name string) []string {
	n := r.node(name)
	if n.IsNull() {
		return nil
	}
	var list []string
	for _, it := range n.List {
		list = append(list, it.Scalar.Text())
	}
	return list
}

func (r *reader) list(name string) []*source.Node {
	n := r.node(name)
	if n.IsNull() {
		return nil
	}
	return n.List
}

func (r *reader) value(name string) value.Value { return r.node(name).Value() }

func (r *reader) duration(name string) time.Duration {
	s := r.text(name)
	if s == "" {
		return 0
	}
	d, err := load.Duration(s)
	if err != nil {
		r.warn(r.n.Get(name).Pos, "%s: %s: %s", r.what, name, err)
	}
	return d
}

func (r *reader) warn(at source.Pos, format string, args ...any) {
	r.f.Findings = append(r.f.Findings, load.Finding{Severity: load.Warning, Pos: at, Message: sprintf(format, args...)})
}

// done says which keys nobody asked for: what they were to assert is not asserted.
func (r *reader) done() {
	if r.n == nil {
		return
	}
	for _, k := range r.n.Keys {
		if !r.seen[k.Name] {
			r.warn(k.Pos, "%s: unknown key %q: nothing checks it", r.what, k.Name)
		}
	}
}

func (f *Fixture) read(n *source.Node) {
	if n == nil {
		return
	}
	f.Pos = n.Pos
	r := f.reader(n, "flow")
	if r.text("test_kind") == "" {
		r.warn(n.Pos, "flow: it does not say test_kind: flow")
	}
	r.text("app")
	f.Recording, f.State, f.World = r.text("recording"), r.text("initial_state"), r.value("initial_world")
	f.Staged = r.text("mode") == "staged"
	f.Cassette, f.Covers = r.text("host_cassette"), r.bool("strict_cassette_coverage")
	f.HTTP, f.Inspect = r.text("starlark_http_cassette"), r.text("starlark_inspect_cassette")
	if u := r.node("use_orchestrator"); !u.IsNull() {
		b := u.Scalar.Bool()
		f.Orchestrated = &b
	}
	f.Terminal, f.NoErrors, f.FinalWorld, f.NoCalls = r.bool("expect_terminal"), r.bool("expect_no_errors"), r.value("expect_world_final"), r.texts("expect_no_host_calls")
	f.AtLeast, f.AtMost = r.int("expect_events_count_atleast"), r.int("expect_events_count_atmost")
	if b := r.node("host_bindings"); !b.IsNull() {
		f.Bindings = map[string]string{}
		for _, k := range b.Keys {
			f.Bindings[k.Name] = k.Val.Scalar.Text()
		}
	}
	if h := r.node("host_handlers"); !h.IsNull() {
		f.Stubs = map[string]*Stub{}
		for _, k := range h.Keys {
			f.Stubs[k.Name] = f.stub(k.Val, "stub "+k.Name, false)
		}
	}
	for _, it := range r.list("expect_files") {
		c := f.reader(it, "expect_files")
		f.Files = append(f.Files, FileCheck{Path: c.text("path"), Matches: c.text("content_matches"), Absent: c.bool("must_not_exist")})
		c.done()
	}
	for i, it := range r.list("turns") {
		f.Turns = append(f.Turns, f.turn(it, i+1))
	}
	r.done()
}

// stub reads the answer of a handler; inner is one of several that it chooses among.
func (f *Fixture) stub(n *source.Node, what string, inner bool) *Stub {
	r := f.reader(n, what)
	s := &Stub{Data: r.value("data"), Error: r.text("error"), Infra: r.text("infra_error")}
	if inner {
		r.done()
		return s
	}
	s.Delay = r.duration("delay")
	if c := r.node("request_clarification"); !c.IsNull() {
		if s.Asks = c.Scalar.Text(); s.Asks == "" {
			s.Asks = c.Get("prompt").Value().Text()
		}
	}
	for name, into := range map[string]*map[string]*Stub{"by_op": &s.ByOp, "by_call": &s.ByCall} {
		if b := r.node(name); !b.IsNull() {
			*into = map[string]*Stub{}
			for _, k := range b.Keys {
				(*into)[k.Name] = f.stub(k.Val, what+" "+k.Name, true)
			}
		}
	}
	r.done()
	return s
}

func (f *Fixture) turn(n *source.Node, number int) Turn {
	r := f.reader(n, sprintf("turn %d", number))
	t := Turn{
		Pos: n.Pos, Input: r.text("input"), Shown: r.text("display_input"), Override: r.value("world_override"), Advance: r.duration("advance_clock"),
		State: r.text("expect_state"), NotState: r.text("expect_not_state"), StateIn: r.texts("expect_state_in"), SlotsAre: r.value("expect_slots"),
		World: r.value("expect_world"), WorldFull: r.value("expect_world_full"), Unchanged: r.bool("expect_world_unchanged"),
		View: r.text("expect_view_matches"), NoView: r.bool("expect_no_view"), RoutedBy: r.text("expect_routed_by"), NoCalls: r.texts("expect_no_host_calls"),
	}
	t.Advances = r.text("advance_clock") != ""
	if i := r.node("intent"); !i.IsNull() {
		in := f.reader(i, r.what+", intent")
		t.HasIntent, t.Intent, t.Slots = true, in.text("name"), in.value("slots")
		in.done()
	}
	t.Events, t.EventsExact = f.events(r, "expect_events"), f.events(r, "expect_events_exact")
	if e := r.node("expect_error"); !e.IsNull() {
		c := f.reader(e, r.what+", expect_error")
		t.Error = &ErrorCheck{Code: c.text("code"), Allowed: c.texts("allowed_contains"), Missing: c.texts("missing_slots"), Hint: c.text("guard_hint")}
		c.done()
	}
	for _, it := range r.list("expect_host_calls") {
		c := f.reader(it, r.what+", expect_host_calls")
		t.Calls = append(t.Calls, CallCheck{Handler: c.text("handler"), Args: c.value("args"), Times: c.int("times")})
		c.done()
	}
	if b := r.node("expect_inbox"); !b.IsNull() {
		c := f.reader(b, r.what+", expect_inbox")
		t.Inbox = &InboxCheck{Unread: c.int("unread"), NeedsAttention: c.int("needs_attention"), Severities: c.texts("severities"), HasSeverities: b.Get("severities") != nil}
		c.done()
	}
	for _, it := range r.list("expect_jobs") {
		c := f.reader(it, r.what+", expect_jobs")
		t.Jobs = append(t.Jobs, JobCheck{Kind: c.text("namespace"), Status: c.text("status")})
		c.done()
	}
	r.done()
	return t
}

func (f *Fixture) events(r *reader, name string) []EventCheck {
	var list []EventCheck
	for _, it := range r.list(name) {
		c := f.reader(it, r.what+", "+name)
		list = append(list, EventCheck{Kind: c.text("kind"), From: c.text("from"), To: c.text("to"), Effect: c.value("effect")})
		c.done()
	}
	return list
}

// NeedsEngine reports a flow that makes calls or moves the clock; the others run on the
// machine alone.
func (f *Fixture) NeedsEngine() bool {
	if f.Orchestrated != nil {
		return *f.Orchestrated
	}
	if len(f.Stubs) > 0 || f.Cassette != "" || f.HTTP != "" {
		return true
	}
	for _, t := range f.Turns {
		if t.Advances || t.Inbox != nil || len(t.Jobs) > 0 {
			return true
		}
	}
	return false
}
