package model

import (
	"cmp"
	"strings"

	"charm.land/fantasy"
	"github.com/tidwall/gjson"

	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// A reply turns the library's stream into events and collects the whole reply.
// It gives every tool call an id of ours.
type reply struct {
	wire     *wire
	ids      func(i int) string
	yield    func(port.Event, error) bool
	left     bool // the caller ended the loop
	calls    int
	warnings []string
	parts    []port.Part

	inputs    map[string][]byte // what streamed of a call's input, by the provider's id
	text      strings.Builder
	reasoning strings.Builder
	opaque    fantasy.ProviderMetadata
}

// send hands an event over; false means that nobody listens any more.
func (r *reply) send(e port.Event) bool {
	if !r.left && !r.yield(e, nil) {
		r.left = true
	}
	return !r.left
}

// part takes one piece of the stream. done ends it.
func (r *reply) part(p fantasy.StreamPart) (done bool, err error) {
	switch p.Type {
	case fantasy.StreamPartTypeWarnings:
		r.warn(p.Warnings)
	case fantasy.StreamPartTypeTextDelta:
		r.endReasoning()
		r.addText(p.Delta)
	case fantasy.StreamPartTypeTextEnd:
		r.endText()
	case fantasy.StreamPartTypeReasoningStart:
		r.endText()
		r.endReasoning()
		r.keep(p.ProviderMetadata)
	case fantasy.StreamPartTypeReasoningDelta:
		r.keep(p.ProviderMetadata)
		r.addReasoning(p.Delta)
	case fantasy.StreamPartTypeReasoningEnd:
		r.keep(p.ProviderMetadata)
		r.endReasoning()
	case fantasy.StreamPartTypeToolInputDelta:
		if r.inputs == nil {
			r.inputs = map[string][]byte{}
		}
		r.inputs[p.ID] = append(r.inputs[p.ID], cmp.Or(p.Delta, p.ToolCallInput)...)
	case fantasy.StreamPartTypeToolCall:
		if p.ProviderExecuted {
			r.foreign(p.ToolCallName)
			break
		}
		r.call(p.ToolCallName, r.input(p))
	case fantasy.StreamPartTypeError:
		// A blocked prompt has no candidate, which the library takes for a cut.
		if r.wire.scan.refused && r.wire.scan.ended && r.wire.scan.fault == "" {
			return true, r.finish(fantasy.FinishReasonContentFilter)
		}
		return true, p.Error
	case fantasy.StreamPartTypeFinish:
		return true, r.finish(p.FinishReason)
	}
	return r.left, nil
}

// whole takes a reply that was not streamed.
func (r *reply) whole(resp *fantasy.Response) error {
	r.warn(resp.Warnings)
	for _, c := range resp.Content {
		switch c := c.(type) {
		case fantasy.TextContent:
			r.addText(c.Text)
			r.endText()
		case fantasy.ReasoningContent:
			r.keep(c.ProviderMetadata)
			r.addReasoning(c.Text)
			r.endReasoning()
		case fantasy.ToolCallContent:
			if c.ProviderExecuted {
				r.foreign(c.ToolName)
				continue
			}
			r.call(c.ToolName, c.Input)
		}
		if r.left {
			return nil
		}
	}
	return r.finish(resp.FinishReason)
}

func (r *reply) warn(list []fantasy.CallWarning) {
	for _, w := range list {
		var s []string
		for _, t := range []string{w.Setting, w.Message, w.Details} {
			if t != "" {
				s = append(s, t)
			}
		}
		r.warnings = append(r.warnings, strings.Join(s, ": "))
	}
}

// foreign notes a tool that the provider ran itself: it is not ours to run, and
// its result is in the text.
func (r *reply) foreign(name string) {
	r.warnings = append(r.warnings, "the provider ran its own tool "+name)
}

func (r *reply) addText(s string) {
	if s != "" {
		r.text.WriteString(s)
		r.send(port.Event{Kind: port.TextDelta, Delta: s})
	}
}

func (r *reply) endText() {
	if r.text.Len() > 0 {
		r.parts = append(r.parts, port.Part{Kind: port.Text, Text: r.text.String()})
		r.text.Reset()
	}
}

// keep merges metadata; a later piece of the same provider stands.
func (r *reply) keep(m fantasy.ProviderMetadata) {
	for k, v := range m {
		if r.opaque == nil {
			r.opaque = fantasy.ProviderMetadata{}
		}
		r.opaque[k] = v
	}
}

func (r *reply) addReasoning(s string) {
	if s != "" {
		r.reasoning.WriteString(s)
		r.send(port.Event{Kind: port.ReasoningDelta, Delta: s})
	}
}

func (r *reply) endReasoning() {
	opaque := seal(r.opaque)
	if r.reasoning.Len() > 0 || opaque != nil {
		r.parts = append(r.parts, port.Part{Kind: port.Reasoning, Text: r.reasoning.String(), Opaque: opaque})
	}
	r.reasoning.Reset()
	r.opaque = nil
}

// input is a call's input as the model wrote it. Anthropic's library makes an empty
// object of one that is no JSON, with which a tool would run.
func (r *reply) input(p fantasy.StreamPart) string {
	raw := r.inputs[p.ID]
	delete(r.inputs, p.ID) // not every provider gives each call an id of its own
	if len(raw) > 0 && !gjson.ValidBytes(raw) {
		return string(raw)
	}
	return p.ToolCallInput
}

func (r *reply) call(name, input string) {
	r.endReasoning()
	r.endText()
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	part := port.Part{Kind: port.CallPart, Call: &port.ToolCall{ID: r.ids(r.calls), Name: name, Input: input}}
	r.calls++
	r.parts = append(r.parts, part)
	r.send(port.Event{Kind: port.CallEvent, Part: &part})
}

// finish ends a reply, unless its end event never came: the library takes a
// stream that was cut between two tool calls for a whole one.
func (r *reply) finish(why fantasy.FinishReason) error {
	if !r.wire.scan.ended && !r.wire.scan.lost {
		return fantasy.NewIncompleteStreamError()
	}
	r.endReasoning()
	if scan := &r.wire.scan; scan.refused {
		why = fantasy.FinishReasonContentFilter
		r.addText(scan.refusal)
	}
	r.endText()
	out := &port.Reply{
		Parts: r.parts, Reason: reason(why), Usage: r.wire.scan.usage.state(true), Warnings: r.warnings,
	}
	if r.calls > 0 && out.Reason == port.Stop {
		out.Reason = port.ToolCalls
	}
	r.send(port.Event{Kind: port.Finish, Reply: out})
	return nil
}

func reason(f fantasy.FinishReason) port.FinishReason {
	switch f {
	case fantasy.FinishReasonStop:
		return port.Stop
	case fantasy.FinishReasonToolCalls:
		return port.ToolCalls
	case fantasy.FinishReasonLength:
		return port.Length
	case fantasy.FinishReasonContentFilter:
		return port.Refusal
	case fantasy.FinishReasonUnknown, "":
		return port.Unknown
	}
	return port.Other
}
