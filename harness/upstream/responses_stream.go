package upstream

import "strings"

// namespaced splits "mcp__server/tool", as the script names a tool that the client
// sent inside a namespace; without a slash there is none.
func namespaced(tool string) (namespace, name string) {
	if ns, name, ok := strings.Cut(tool, "/"); ok {
		return ns, name
	}
	return "", tool
}

// A responsesEvent is one event of the stream; each kind uses some of the keys.
type responsesEvent struct {
	Type         string         `json:"type"`
	Response     *responsesBody `json:"response,omitempty"`
	ContentIndex *int           `json:"content_index,omitempty"`
	Delta        *string        `json:"delta,omitempty"`
	Item         *responsesItem `json:"item,omitempty"`
	ItemID       string         `json:"item_id,omitempty"`
	Logprobs     *[]string      `json:"logprobs,omitempty"`
	OutputIndex  *int           `json:"output_index,omitempty"`
	Part         *responsesPart `json:"part,omitempty"`
	Text         *string        `json:"text,omitempty"`
	Refusal      *string        `json:"refusal,omitempty"`
	Arguments    *string        `json:"arguments,omitempty"`
	Sequence     int            `json:"sequence_number"`
	SummaryIndex *int           `json:"summary_index,omitempty"`
}

type responsesEvents []event

func (e *responsesEvents) add(name string, v responsesEvent) {
	v.Type, v.Sequence = "response."+name, len(*e)
	*e = append(*e, event{v.Type, encode(v)})
}

func streamResponses(a ask, r reply) []event {
	var out responsesEvents
	start, end := responsesStart(a, r), responsesEnd(a, r)
	out.add("created", responsesEvent{Response: &start})
	out.add("in_progress", responsesEvent{Response: &start})
	for i, it := range end.Output {
		switch it.Type {
		case "reasoning":
			out.reasoning(i, it)
		case "message":
			out.message(i, it)
		default:
			out.call(i, it)
		}
	}
	out.add(end.Status, responsesEvent{Response: &end})
	return out
}

// around adds an item: its empty form, what body adds, its whole form.
func (e *responsesEvents) around(i int, empty, whole responsesItem, body func()) {
	e.add("output_item.added", responsesEvent{Item: &empty, OutputIndex: &i})
	body()
	e.add("output_item.done", responsesEvent{Item: &whole, OutputIndex: &i})
}

func (e *responsesEvents) reasoning(i int, it responsesItem) {
	empty, zero, nothing := it, 0, ""
	empty.Summary = &[]responsesPart{}
	whole := (*it.Summary)[0]
	at := func(v responsesEvent) responsesEvent {
		v.ItemID, v.OutputIndex, v.SummaryIndex = it.ID, &i, &zero
		return v
	}
	e.around(i, empty, it, func() {
		e.add("reasoning_summary_part.added", at(responsesEvent{Part: &responsesPart{Type: "summary_text", Text: &nothing}}))
		for _, s := range split(*whole.Text) {
			e.add("reasoning_summary_text.delta", at(responsesEvent{Delta: &s}))
		}
		e.add("reasoning_summary_text.done", at(responsesEvent{Text: whole.Text}))
		e.add("reasoning_summary_part.done", at(responsesEvent{Part: &whole}))
	})
}

func (e *responsesEvents) message(i int, it responsesItem) {
	empty, zero, nothing := it, 0, ""
	empty.Status, empty.Content = "in_progress", &[]responsesPart{}
	whole := (*it.Content)[0]
	at := func(v responsesEvent) responsesEvent {
		v.ItemID, v.OutputIndex, v.ContentIndex = it.ID, &i, &zero
		return v
	}
	e.around(i, empty, it, func() {
		if whole.Refusal != nil {
			e.add("content_part.added", at(responsesEvent{Part: &responsesPart{Type: "refusal", Refusal: &nothing}}))
			for _, s := range split(*whole.Refusal) {
				e.add("refusal.delta", at(responsesEvent{Delta: &s}))
			}
			e.add("refusal.done", at(responsesEvent{Refusal: whole.Refusal}))
		} else {
			first := whole
			first.Text = &nothing
			e.add("content_part.added", at(responsesEvent{Part: &first}))
			for _, s := range split(*whole.Text) {
				e.add("output_text.delta", at(responsesEvent{Delta: &s, Logprobs: whole.Logprobs}))
			}
			e.add("output_text.done", at(responsesEvent{Text: whole.Text, Logprobs: whole.Logprobs}))
		}
		e.add("content_part.done", at(responsesEvent{Part: &whole}))
	})
}

func (e *responsesEvents) call(i int, it responsesItem) {
	empty, nothing := it, ""
	empty.Status, empty.Arguments = "in_progress", &nothing
	e.around(i, empty, it, func() {
		for _, s := range split(*it.Arguments) {
			e.add("function_call_arguments.delta", responsesEvent{Delta: &s, ItemID: it.ID, OutputIndex: &i})
		}
		e.add("function_call_arguments.done", responsesEvent{Arguments: it.Arguments, ItemID: it.ID, OutputIndex: &i})
	})
}
