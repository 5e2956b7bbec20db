// Package agent is the loop: a model's turn, the gate, the tool, the result, and
// again, until the model is done or a bound is reached.
//
// It is part of the kernel, above model, gate, trace and ledger. It decides the
// label of a turn, never the model's prose. It does not know whether it is
// replayed, does not choose a model and does not keep a conversation: the history
// comes in with a turn and goes out with its outcome.
package agent

import (
	"context"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A Recorder is where the turn's events go.
type Recorder interface {
	// Record appends one event and returns it with its number.
	Record(ctx context.Context, turn int, p trace.Payload) (trace.Event, error)
	// Sync makes what was recorded durable. It is called at the end of a turn.
	Sync() error
}

// An Asker puts questions to a person. It answers Absent where nobody is there and
// TimedOut where ctx ended first.
type Asker interface {
	Ask(ctx context.Context, q gate.Question) gate.Answer
}

// An Inbox holds what a person says in the middle of a turn.
type Inbox interface {
	// Take returns what arrived since the last call, oldest first.
	Take() []Note
}

// A Note is one message of an Inbox.
type Note struct {
	Text  string
	After bool // a follow-up: it waits for the end of the turn
}

// Output is the skin that watches a turn. It is called from one goroutine at a
// time, and must not block for long.
type Output interface {
	// Label says what the loop does now, in its own words.
	Label(l Label)
	// Partial is text as it streams in. It is not settled: a skin that cannot take
	// words back ignores it and waits for Text.
	Partial(delta string)
	// Withdraw takes back all Partial text of the present reply: it stood beside a
	// tool call, or before a review.
	Withdraw()
	// Text is what the person is told at the end of the turn.
	Text(text string)
	// Show puts something on the person's screen that a tool asked for.
	Show(s tool.Show)
}

// A Label is one line of what goes on.
type Label struct {
	Phase  Phase
	Detail string // a tool's id, a draft, a code; may be empty
}

// A Phase is what the loop is doing.
type Phase string

// The phases.
const (
	Thinking    Phase = "thinking"    // a model request is out
	Waiting     Phase = "waiting"     // before another attempt
	Discovering Phase = "discovering" // capability.find
	Reading     Phase = "reading"
	Drafting    Phase = "drafting"
	Ready       Phase = "ready" // a review is handed to the gate
	Applying    Phase = "applying"
	Discarding  Phase = "discarding"
	Working     Phase = "working" // somebody else's tool
)

// The labels that end a turn.
const (
	Verified  = "verified"  // applied, and read again
	Stale     = "stale"     // the piece changed before the apply
	Discarded = "discarded" // a person said no
	Failed    = "failed"
	Cancelled = "cancelled"
	Stopped   = "stopped"  // a bound was reached, or nobody answered
	Answered  = "answered" // nothing was drafted
)

// Limits are the bounds of a turn. A zero field is its default.
type Limits struct {
	Rounds     int           // model replies; 24
	Calls      int           // tool calls; 64
	Batch      int           // tool calls of one reply; 16
	Parallel   int           // reads at once; 4
	Elapsed    time.Duration // on the clock, without the time that a person takes; 10 minutes
	Idle       int           // rounds in a row that bring nothing new; 3
	Attempts   int           // of one model request; 4
	MaxWait    time.Duration // between two attempts; 1 minute
	MaxOutput  int64         // tokens of one reply; 8,192, and never more than the model has
	InputChars int           // of the person's text; 200,000
	Facts      int           // ambient facts; 20
}

func (l Limits) complete() Limits {
	fill(&l.Rounds, 24)
	fill(&l.Calls, 64)
	fill(&l.Batch, 16)
	fill(&l.Parallel, 4)
	fill(&l.Elapsed, 10*time.Minute)
	fill(&l.Idle, 3)
	fill(&l.Attempts, 4)
	fill(&l.MaxWait, time.Minute)
	fill(&l.MaxOutput, 8_192)
	fill(&l.InputChars, 200_000)
	fill(&l.Facts, 20)
	return l
}

func fill[T int | int64 | time.Duration](field *T, def T) {
	if *field <= 0 {
		*field = def
	}
}

// Options are the doors of an Agent. Provider, Registry, Gate, Recorder and Clock
// are needed.
type Options struct {
	Provider model.Provider
	Registry *tool.Registry
	Gate     *gate.Gate
	Recorder Recorder
	Clock    clock.Clock
	Ledger   *ledger.Ledger // nil: costs are not kept
	Asker    Asker          // nil: nobody is there
	Inbox    Inbox          // nil: nothing arrives
	Output   Output         // nil: nobody watches
	Limits   Limits

	Session   string
	Run       string // "" is the session
	ParentRun string
	Role      string       // of the ledger; "" is lead
	Billing   string       // of the ledger; "" is metered
	Origin    string       // of the ledger: where answers come from
	Caps      []ledger.Cap // every open one

	System    []string // parts of the system prompt
	Reasoning string
	Model     []model.RawOptions
}

// An Agent runs turns, one after another.
type Agent struct{ o Options }

// New makes an agent. It panics without a needed door.
func New(o Options) *Agent {
	if o.Provider == nil || o.Registry == nil || o.Gate == nil || o.Recorder == nil || o.Clock == nil {
		panic("agent: provider, registry, gate, recorder and clock are needed")
	}
	o.Limits = o.Limits.complete()
	if o.Run == "" {
		o.Run = o.Session
	}
	if o.Output == nil {
		o.Output = silence{}
	}
	return &Agent{o}
}

// silence is the Output that nobody watches.
type silence struct{}

func (silence) Label(Label)    {}
func (silence) Partial(string) {}
func (silence) Withdraw()      {}
func (silence) Show(tool.Show) {}
func (silence) Text(string)    {}

// An Input is what begins a turn.
type Input struct {
	Turn    int          // 1 for the first of a session
	Text    string       // what the person says
	Attach  []model.Part // images and documents beside it
	Facts   []string     // what is so around the turn, one line each
	History []model.Message
	Servers []trace.Server // of other people, for the trace
}

// An Outcome is how a turn ended.
type Outcome struct {
	Label    string // one of the labels that end a turn
	Stop     fault.Code
	Guidance string // one line, where there is a next step
	Text     string // what the person is shown
	Told     bool   // Text is why the turn ended, and no answer
	Err      error  // why it failed or was stopped, with a code; nil else
	Rounds   int
	Calls    int
	Cost     int64 // pico-dollars, paid or saved
	History  []model.Message
	Receipts []draft.Receipt
	Open     []string // drafts of this turn that are still open
	Next     []string // follow-ups that wait for the next turn
}
