package session

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// overBudget is the code of calls that the loop refused as a batch. Such a batch
// leaves nothing in the history.
const overBudget = "STOP_TOOL_CALLS"

// Opening is the parts of the message that begins a turn: facts, attachments, text.
func Opening(facts []string, attach []model.Part, input string) []model.Part {
	var parts []model.Part
	if len(facts) > 0 {
		parts = append(parts, text("Facts:\n- "+strings.Join(facts, "\n- ")))
	}
	parts = append(parts, attach...)
	if input != "" {
		parts = append(parts, text(input))
	}
	return parts
}

func text(s string) model.Part { return model.Part{Kind: model.Text, Text: s} }

// History rebuilds the conversation that a model sees. Every call in it has a
// result, also when it was cancelled, not run or lost in a crash; text beside a call
// stays; a reply that broke, and a batch that was over the budget, leave nothing.
// Two messages of the user in a row are one.
func History(events []trace.Event) ([]model.Message, error) {
	h := history{results: map[string]trace.ToolFinished{}}
	payloads, err := decodeAll(events)
	if err != nil {
		return nil, err
	}
	for _, p := range payloads {
		if f, ok := p.(trace.ToolFinished); ok {
			h.results[f.Call] = f
		}
	}
	for _, p := range payloads {
		h.add(p)
	}
	return h.messages, nil
}

// Remembered are the tools for which a person said yes for the whole session, so that
// a gate that is made anew keeps the answer.
func Remembered(events []trace.Event) ([]string, error) {
	payloads, err := decodeAll(events)
	if err != nil {
		return nil, err
	}
	asked := map[string]string{} // tools by question
	var tools []string
	for _, p := range payloads {
		switch p := p.(type) {
		case trace.GateAsked:
			asked[p.Question] = p.Tool
		case trace.GateAnswered:
			if t := asked[p.Question]; t != "" && p.Choice == string(gate.ThisSession) && p.By == string(gate.Person) {
				tools = append(tools, t)
			}
		}
	}
	return tools, nil
}

// Handles are the handles of long results that a session was given, oldest first.
func Handles(events []trace.Event) ([]string, error) {
	payloads, err := decodeAll(events)
	if err != nil {
		return nil, err
	}
	var handles []string
	for _, p := range payloads {
		if f, ok := p.(trace.ToolFinished); ok && f.Handle != "" {
			handles = append(handles, f.Handle)
		}
	}
	return handles, nil
}

// Shown is the last thing of a kind that a session put on the person's screen; the zero
// Show where there is none.
func Shown(events []trace.Event, kind string) (tool.Show, error) {
	payloads, err := decodeAll(events)
	if err != nil {
		return tool.Show{}, err
	}
	var last tool.Show
	for _, p := range payloads {
		if f, ok := p.(trace.ToolFinished); ok && f.Show != nil && f.Show.Kind == kind {
			last = *f.Show
		}
	}
	return last, nil
}

// decodeAll gives every payload that this program knows.
func decodeAll(events []trace.Event) ([]trace.Payload, error) {
	list := make([]trace.Payload, 0, len(events))
	for _, e := range events {
		p, err := decode(e)
		if err != nil {
			return nil, err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return list, nil
}

type history struct {
	messages []model.Message
	results  map[string]trace.ToolFinished
	receipts []draft.Receipt // of the present turn
}

func (h *history) add(p trace.Payload) {
	switch p := p.(type) {
	case trace.TurnOpened:
		h.receipts = nil
		h.say(Opening(p.Facts, p.Attach, p.Input)...)
	case trace.Steered:
		if !p.After { // a follow-up comes back as the input of a turn
			h.say(text(p.Text))
		}
	case trace.ModelReplied:
		if p.Code == "" {
			h.reply(p.Reply)
		}
	case trace.DraftSettled:
		h.receipts = append(h.receipts, p.Receipt)
	case trace.TurnClosed:
		if notes := h.notes(p); notes != "" {
			h.say(text(notes))
		}
	}
}

// notes is what the model is told of its drafts: as the trace says, or in the same
// words from the receipts.
func (h *history) notes(p trace.TurnClosed) string {
	if p.Notes != "" {
		return p.Notes
	}
	lines := make([]string, len(h.receipts))
	for i, r := range h.receipts {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

func (h *history) say(parts ...model.Part) {
	if n := len(h.messages) - 1; n >= 0 && h.messages[n].Role == model.User {
		h.messages[n].Parts = append(h.messages[n].Parts, parts...)
		return
	}
	h.messages = append(h.messages, model.Message{Role: model.User, Parts: parts})
}

// reply adds what the model said and the results of its calls, in its order.
func (h *history) reply(r model.Reply) {
	var results []model.Part
	refused := 0
	for _, part := range r.Parts {
		if part.Kind != model.CallPart || part.Call == nil {
			continue
		}
		f, ok := h.results[part.Call.ID]
		if !ok {
			f = trace.ToolFinished{Text: lostText, NotRun: true}
		}
		if f.NotRun && f.Code == overBudget {
			refused++
		}
		results = append(results, model.Part{Kind: model.ResultPart, Result: &model.ToolResult{
			ID: part.Call.ID, Name: part.Call.Name, Text: f.Text, Error: !f.OK, Images: f.Images,
		}})
	}
	if len(results) > 0 && refused == len(results) {
		return
	}
	parts := slices.Clone(r.Parts)
	if len(parts) == 0 {
		parts = []model.Part{text("(no answer)")} // providers refuse a message of nothing
	}
	h.messages = append(h.messages, model.Message{Role: model.Assistant, Parts: parts})
	if len(results) > 0 {
		h.messages = append(h.messages, model.Message{Role: model.ToolRole, Parts: results})
	}
}
