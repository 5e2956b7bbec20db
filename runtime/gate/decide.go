package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// Results is where a text goes that is too long for a model.
type Results interface {
	// Put keeps text for a session and returns its handle. A text that is over the
	// bounds of the store is fault.TooLarge.
	Put(ctx context.Context, session, text string) (handle string, err error)
}

// A Card is what a person sees of a call that is asked about.
type Card struct {
	Title  string        // a question: "Apply draft d-0001 to character/ada?"
	Review *draft.Review // nil where there is nothing to compare
}

// Reviewer makes the cards.
type Reviewer interface {
	// Card returns the zero Card for a tool that it knows nothing about. An error
	// means that the call cannot work, so that nobody is asked.
	Card(ctx context.Context, r Request) (Card, error)
}

// Options are the doors of a Gate. Registry, Table and Clock are needed.
type Options struct {
	Registry *tool.Registry
	Table    *trust.Table
	Mode     trust.Mode // "" is guarded
	Clock    clock.Clock
	Results  Results  // nil: what is too long is left out
	Reviewer Reviewer // nil: questions have no cards
	Locks    *Locks   // shared by the gates of one studio; nil is one of its own
}

// A Gate decides on calls and runs them. It is safe for concurrent use.
type Gate struct {
	o Options

	mu         sync.Mutex
	questions  map[string]*asked
	order      []string                   // ids of questions, oldest first
	remembered map[string]map[string]bool // by session and tool id
}

// pass is what makes a Decision run: once, and by the gate that made it.
type pass struct {
	gate  *Gate
	tool  tool.Tool
	input string // as it was checked
	mu    sync.Mutex
	used  bool
}

// asked is an open or answered question.
type asked struct {
	q    Question
	req  Request
	tool tool.Tool
	used bool
}

// maxQuestions is how many questions a gate remembers; the oldest are forgotten.
const maxQuestions = 1_000

// callTool carries another call: {id, input}. It has no rights of its own.
const callTool = "capability.call"

// New makes a gate. It panics without a registry, a table or a clock.
func New(o Options) *Gate {
	if o.Registry == nil || o.Table == nil || o.Clock == nil {
		panic("gate: registry, table and clock are needed")
	}
	if o.Mode == "" {
		o.Mode = trust.Guarded
	}
	if o.Locks == nil {
		o.Locks = NewLocks(nil)
	}
	return &Gate{o: o, questions: map[string]*asked{}, remembered: map[string]map[string]bool{}}
}

// Mode is the gate's mode.
func (g *Gate) Mode() trust.Mode { return g.o.Mode }

// Unclassified returns the ids of tools that have no row in the table. They are
// denied in every mode; a test of the wiring fails on any.
func Unclassified(r *tool.Registry, t *trust.Table) []string {
	var ids []string
	for _, id := range r.Names() {
		if _, ok := t.Class(id); !ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// Digest ties a question to one exact call.
func Digest(session, toolID string, input []byte) string {
	h := sha256.New()
	for _, part := range []string{session, toolID, string(input)} {
		// The length keeps ("a","bc") and ("ab","c") apart.
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Decide says whether a call runs, is refused, or is for a person to answer. It
// runs nothing and waits for nobody.
func (g *Gate) Decide(ctx context.Context, req Request) Decision {
	t, req, err := g.resolve(req)
	if err != nil {
		return Decision{Outcome: Refused, Request: req, By: Policy, Err: err}
	}
	verdict := g.o.Table.Verdict(t.ID, g.o.Mode)
	if verdict == trust.Deny {
		return Decision{Outcome: Refused, Request: req, By: Policy, Err: fault.New(CodeNoRow, "gate.decide",
			"tool %q has no row in the trust table, so no mode runs it", t.ID).
			WithHint("Add a row for it to the trust table, or leave the tool out.")}
	}
	req.Input, err = t.Check(req.Input)
	if err != nil {
		return Decision{Outcome: Refused, Request: req, By: Policy, Err: err}
	}
	if remembered := verdict != trust.Run && g.isRemembered(req.Session, t.ID); remembered || verdict == trust.Run {
		class, _ := g.o.Table.Class(t.ID)
		return Decision{
			Outcome: Allowed, Request: req, By: Policy, Class: class,
			pass: &pass{gate: g, tool: t, input: string(req.Input)}, Remembered: remembered,
			Passed: g.o.Table.Verdict(t.ID, trust.Guarded) == trust.Ask,
		}
	}
	card, err := g.card(ctx, req)
	if err != nil {
		return Decision{Outcome: Refused, Request: req, By: Policy, Err: err}
	}
	q := g.ask(t, req, card)
	return Decision{Outcome: Asked, Request: req, By: Nobody, Question: &q}
}

// Tool is the tool that a request would run, if there is one: for a
// capability.call the one that it carries.
func (g *Gate) Tool(req Request) (tool.Tool, bool) {
	t, _, err := g.resolve(req)
	return t, err == nil
}

// resolve finds the tool of a request, the inner one of a capability.call.
func (g *Gate) resolve(req Request) (tool.Tool, Request, error) {
	t, err := g.find(req.Tool, req.Skin)
	if err != nil {
		return tool.Tool{}, req, err
	}
	req.Tool = t.ID
	if t.ID != callTool {
		return t, req, nil
	}
	in, err := t.Check(req.Input)
	if err != nil {
		return tool.Tool{}, req, err
	}
	var inner struct {
		ID    string          `json:"id"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(in, &inner); err != nil {
		return tool.Tool{}, req, fault.Wrap(err, fault.Invalid, callTool, "input does not fit").WithHint("Send {\"id\":…,\"input\":{…}}.")
	}
	if tool.Fold(inner.ID) == tool.Fold(callTool) {
		return tool.Tool{}, req, fault.New(fault.Invalid, callTool, "id %q is this tool itself", inner.ID).
			WithHint("Give the id of the tool to run.")
	}
	t, err = g.find(inner.ID, req.Skin)
	if err != nil {
		return tool.Tool{}, req, err
	}
	req.Tool, req.Input = t.ID, inner.Input
	return t, req, nil
}

// find looks a tool up as one skin sees it. Hidden tools are the command line's.
func (g *Gate) find(name string, skin tool.Skin) (tool.Tool, error) {
	t, ok := g.o.Registry.Get(name)
	if ok && t.On(skin) && (t.Exposure != tool.Hidden || skin == tool.CLI) {
		if t.Here() {
			return t, nil
		}
		return tool.Tool{}, fault.New(CodeUnknownTool, "gate.decide", "tool %q is not available on this machine or in this studio", t.ID).
			WithHint("Use another tool.")
	}
	var names []string
	for _, t := range g.o.Registry.All() {
		if t.On(skin) && t.Exposure != tool.Hidden && t.Here() {
			names = append(names, t.ID)
		}
	}
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "") + "…"
	}
	e := fault.New(CodeUnknownTool, "gate.decide", "no tool %q", name)
	if near := tool.Near(strings.ReplaceAll(name, "_", "."), names); len(near) > 0 {
		return tool.Tool{}, e.WithHint("Did you mean %s?", strings.Join(near, " or "))
	}
	return tool.Tool{}, e.WithHint("Use one of the tools that you were given, or look for more with capability.find.")
}

func (g *Gate) card(ctx context.Context, req Request) (Card, error) {
	var c Card
	if g.o.Reviewer != nil {
		var err error
		if c, err = g.o.Reviewer.Card(ctx, req); err != nil {
			return Card{}, coded(err, req.Tool)
		}
	}
	if c.Title == "" {
		c.Title = "Run " + req.Tool + "?"
	}
	return c, nil
}

// ask opens a question.
func (g *Gate) ask(t tool.Tool, req Request, card Card) Question {
	class, _ := g.o.Table.Class(t.ID)
	q := Question{
		ID: g.o.Clock.ID("q"), Session: req.Session, Tool: t.ID, Title: card.Title, Class: class,
		Digest: Digest(req.Session, t.ID, req.Input), Input: string(req.Input), Review: card.Review,
		MayRemember: g.o.Table.MayRemember(t.ID), At: g.o.Clock.Now(),
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.questions[q.ID] = &asked{q: q, req: req, tool: t}
	g.order = append(g.order, q.ID)
	if len(g.order) > maxQuestions {
		delete(g.questions, g.order[0])
		g.order = g.order[1:]
	}
	return q
}

// Question returns an open question by its id.
func (g *Gate) Question(id string) (Question, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.questions[id]
	if a == nil || a.used {
		return Question{}, false
	}
	return a.q, true
}

// Withdraw takes back a question that was put to nobody: the same one is open already.
func (g *Gate) Withdraw(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.questions[id]; a != nil && !a.used {
		delete(g.questions, id)
		g.order = slices.DeleteFunc(g.order, func(o string) bool { return o == id })
	}
}

// Forget drops the answers that a session gave for all of itself. Its open
// questions stay.
func (g *Gate) Forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.remembered, session)
}

// Remember keeps the yes that a person gave for all of a session in a run of the
// program before this one. A tool that is asked about each time stays so.
func (g *Gate) Remember(session, id string) {
	if g.o.Table.MayRemember(id) {
		g.remember(session, id)
	}
}

func (g *Gate) isRemembered(session, id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.remembered[session][id]
}

func (g *Gate) remember(session, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.remembered[session] == nil {
		g.remembered[session] = map[string]bool{}
	}
	g.remembered[session][id] = true
}
