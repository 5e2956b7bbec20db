package model

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"

	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// Bounds of a request. A history within its token budget is far below them.
const (
	maxMessages = 20_000
	maxTools    = 1_000
	maxSchema   = 1 << 20
)

// call translates a request into the library's words. patch holds what the library
// would lose on the way.
func (p *provider) call(req port.Request) (fantasy.Call, patch, []string, error) {
	b := builder{p: p, patch: patch{schemas: map[string][]byte{}}}
	if req.CallIDs == nil {
		return fantasy.Call{}, patch{}, nil, fault.New(fault.Internal, "model.request", "the request makes no call ids")
	}
	if len(req.Messages) > maxMessages || len(req.Tools) > maxTools {
		return fantasy.Call{}, patch{}, nil, fault.New(fault.TooLarge, "model.request",
			"%d messages and %d tools are over the bound of %d and %d", len(req.Messages), len(req.Tools), maxMessages, maxTools)
	}
	out := req.MaxOutput
	if out <= 0 || out > p.info.MaxOutput {
		out = p.info.MaxOutput
	}
	call := fantasy.Call{MaxOutputTokens: &out}
	b.system(req.System)
	for _, m := range req.Messages {
		if err := b.message(m); err != nil {
			return call, b.patch, nil, err
		}
	}
	call.Prompt = b.prompt
	for _, t := range req.Tools {
		tool, err := b.tool(t)
		if err != nil {
			return call, b.patch, nil, err
		}
		call.Tools = append(call.Tools, tool)
	}
	var err error
	call.ProviderOptions, err = p.options(req, out, b.warn)
	return call, b.patch, b.warnings, err
}

// A builder collects the parts of one call.
type builder struct {
	p        *provider
	prompt   fantasy.Prompt
	patch    patch
	warnings []string
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

func (b *builder) system(parts []port.Part) {
	m := fantasy.Message{Role: fantasy.MessageRoleSystem}
	for _, p := range parts {
		if p.Kind != port.Text {
			b.warn("a system part of kind %q was left out", p.Kind)
			continue
		}
		m.Content = append(m.Content, fantasy.TextPart{Text: p.Text, ProviderOptions: b.cache(p.Cache, nil)})
	}
	if len(m.Content) > 0 {
		// Who speaks the chat dialect has one text for the whole prompt.
		m.ProviderOptions = b.cache(parts[len(parts)-1].Cache, nil)
		b.prompt = append(b.prompt, m)
	}
}

// cache adds a cache point to a part's options. The Anthropic family, OpenRouter
// and Vercel know it; the others cache by themselves.
func (b *builder) cache(on bool, o fantasy.ProviderOptions) fantasy.ProviderOptions {
	if !on {
		return o
	}
	switch b.p.family {
	case familyAnthropic, familyBedrock, familyVertex, familyOpenRouter, familyVercel:
	default:
		return o
	}
	if o == nil {
		o = fantasy.ProviderOptions{}
	}
	o[anthropic.Name] = &anthropic.ProviderCacheControlOptions{CacheControl: anthropic.CacheControl{Type: "ephemeral"}}
	return o
}

// message translates one message. Images of tool results that cannot go with
// their result follow in a message of the user's.
func (b *builder) message(m port.Message) error {
	out := fantasy.Message{}
	switch m.Role {
	case port.User:
		out.Role = fantasy.MessageRoleUser
	case port.Assistant:
		out.Role = fantasy.MessageRoleAssistant
	case port.ToolRole:
		out.Role = fantasy.MessageRoleTool
	default:
		return fault.New(fault.Invalid, "model.request", "a message has the role %q", m.Role)
	}
	var after []fantasy.MessagePart
	for _, p := range m.Parts {
		part, late, err := b.part(m.Role, p)
		if err != nil {
			return err
		}
		if part != nil {
			out.Content = append(out.Content, part)
		}
		after = append(after, late...)
	}
	var err error
	if out.ProviderOptions, err = b.p.messageOptions(m.Options, b.warn); err != nil {
		return err
	}
	if len(out.Content) > 0 {
		b.prompt = append(b.prompt, out)
	}
	if len(after) > 0 {
		b.prompt = append(b.prompt, fantasy.Message{Role: fantasy.MessageRoleUser, Content: after})
	}
	return nil
}

// part translates one part; late parts go behind the message.
func (b *builder) part(role port.Role, p port.Part) (part fantasy.MessagePart, late []fantasy.MessagePart, err error) {
	switch {
	case p.Kind == port.Text && role != port.ToolRole:
		if p.Text != "" {
			part = fantasy.TextPart{Text: p.Text, ProviderOptions: b.cache(p.Cache, nil)}
		}
	case (p.Kind == port.Image || p.Kind == port.Document) && role == port.User:
		part = fantasy.FilePart{Filename: p.Name, Data: p.Data, MediaType: p.MediaType, ProviderOptions: b.cache(p.Cache, nil)}
	case p.Kind == port.Reasoning && role == port.Assistant:
		part = fantasy.ReasoningPart{Text: p.Text, ProviderOptions: unseal(p.Opaque)}
	case p.Kind == port.CallPart && role == port.Assistant && p.Call != nil:
		part = b.toolCall(*p.Call, p.Cache)
	case p.Kind == port.ResultPart && role == port.ToolRole && p.Result != nil:
		part, late = b.result(*p.Result, p.Cache)
	default:
		err = fault.New(fault.Invalid, "model.request", "a part of kind %q cannot stand in a message of role %q", p.Kind, role)
	}
	return part, late, err
}

// toolCall keeps the input as the model wrote it. An input that is not a JSON
// object goes out as an empty one where the wire wants an object: the call must
// stay, because its result does.
func (b *builder) toolCall(c port.ToolCall, cache bool) fantasy.MessagePart {
	input := c.Input
	var raw []byte
	if object(input) {
		raw = []byte(input)
	} else if d := b.p.family.dialect(b.p.info.Ref); d == dialectAnthropic || d == dialectGoogle {
		input = "{}"
	}
	b.patch.inputs = append(b.patch.inputs, raw)
	return fantasy.ToolCallPart{ToolCallID: c.ID, ToolName: c.Name, Input: input, ProviderOptions: b.cache(cache, unseal(c.Opaque))}
}

func object(s string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &o) == nil && o != nil
}

func (b *builder) result(r port.ToolResult, cache bool) (fantasy.MessagePart, []fantasy.MessagePart) {
	part := fantasy.ToolResultPart{ToolCallID: r.ID, ProviderOptions: b.cache(cache, nil)}
	images := r.Images
	switch {
	case r.Error:
		part.Output = fantasy.ToolResultOutputContentError{Error: errors.New(r.Text)}
	case len(images) == 1 && b.p.family.dialect(b.p.info.Ref) == dialectAnthropic:
		part.Output = fantasy.ToolResultOutputContentMedia{
			Data: base64.StdEncoding.EncodeToString(images[0].Data), MediaType: images[0].MediaType, Text: r.Text,
		}
		images = nil
	default:
		part.Output = fantasy.ToolResultOutputContentText{Text: r.Text}
	}
	var late []fantasy.MessagePart
	for i, img := range images {
		late = append(late,
			fantasy.TextPart{Text: fmt.Sprintf("Image %d of the result of %s (%s):", i+1, r.Name, r.ID)},
			fantasy.FilePart{Data: img.Data, MediaType: img.MediaType})
	}
	return part, late
}

// tool gives the library a schema that it understands, and the patch the one that
// was meant: the library keeps only properties and required of it.
func (b *builder) tool(t port.ToolSpec) (fantasy.Tool, error) {
	if len(t.Schema) > maxSchema {
		return nil, fault.New(fault.TooLarge, "model.request", "the schema of tool %q is over the bound of %d bytes", t.Name, maxSchema)
	}
	var schema map[string]any
	if err := json.Unmarshal(t.Schema, &schema); err != nil || schema == nil {
		return nil, fault.New(fault.Invalid, "model.request", "the schema of tool %q is not a JSON object", t.Name)
	}
	if _, twice := b.patch.schemas[t.Name]; twice {
		return nil, fault.New(fault.Invalid, "model.request", "two tools are named %q", t.Name)
	}
	b.patch.schemas[t.Name] = t.Schema
	return fantasy.FunctionTool{Name: t.Name, Description: t.Description, InputSchema: map[string]any{
		"type": "object", "properties": map[string]any{},
	}}, nil
}
