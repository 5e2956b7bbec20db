// Package model is what the agent loop knows of a language model: a request, a
// stream of events and the facts of a model, none of them tied to a provider.
//
// It is part of the kernel and imports only harness leaves. adapters/model fills
// the Provider port; runtime/agent uses it. It does not retry, price or count:
// those are the loop's and the ledger's.
package model

import (
	"context"
	"iter"
)

// A Role says who a message is from.
type Role string

// The roles. Tool messages hold results only.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A PartKind says which fields of a Part are set.
type PartKind string

// The kinds of parts.
const (
	Text       PartKind = "text"        // Text
	Image      PartKind = "image"       // Data, MediaType
	Document   PartKind = "document"    // Data, MediaType, Name
	Reasoning  PartKind = "reasoning"   // Text, Opaque
	CallPart   PartKind = "tool_call"   // Call
	ResultPart PartKind = "tool_result" // Result
)

// A Part is one piece of a message. Exactly the fields of its Kind are set.
type Part struct {
	Kind      PartKind    `json:"kind"`
	Text      string      `json:"text,omitempty"`
	Data      []byte      `json:"data,omitempty"`
	MediaType string      `json:"media_type,omitempty"`
	Name      string      `json:"name,omitempty"`
	Call      *ToolCall   `json:"call,omitempty"`
	Result    *ToolResult `json:"result,omitempty"`
	// Opaque is what the provider needs to see again (a reasoning signature, say),
	// in the adapter's own encoding. Only the adapter that wrote it reads it.
	Opaque []byte `json:"opaque,omitempty"`
	// Cache asks the provider to cache the prompt up to and with this part.
	Cache bool `json:"cache,omitempty"`
}

// A ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID    string `json:"id"`    // made by the adapter from turn, round and index, never by a library
	Name  string `json:"name"`  // the provider-safe name: studio_list
	Input string `json:"input"` // the JSON text as the model wrote it; may be invalid
	// Opaque as in Part: what the provider wants back with the call.
	Opaque []byte `json:"opaque,omitempty"`
}

// A ToolResult answers the call with the same ID. Every call has one in history.
type ToolResult struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Error  bool   `json:"error,omitempty"`
	Images []Blob `json:"images,omitempty"`
}

// A Blob is bytes with a media type.
type Blob struct {
	Data      []byte `json:"data"`
	MediaType string `json:"media_type"`
}

// A Message is one entry of the history.
type Message struct {
	Role    Role         `json:"role"`
	Parts   []Part       `json:"parts"`
	Options []RawOptions `json:"options,omitempty"`
}

// RawOptions are settings that only one provider knows, as JSON.
type RawOptions struct {
	Provider string `json:"provider"`
	JSON     []byte `json:"json"`
}

// A ToolSpec is a tool as a model sees it.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      []byte `json:"schema"` // JSON Schema of the input, an object
}

// A Request asks for one reply.
type Request struct {
	Ref       string // "anthropic/claude-sonnet-4-5"
	System    []Part // Text parts, in order
	Messages  []Message
	Tools     []ToolSpec
	MaxOutput int64  // tokens; always set
	Reasoning string // "", "none", "low", "medium", "high"; clamped to what the model has
	Options   []RawOptions
	// CallIDs makes the id of the i-th tool call of this reply. The adapter uses it
	// in place of every id that the wire or a library made.
	CallIDs func(i int) string
}

// An EventKind says which fields of an Event are set.
type EventKind string

// The kinds of events, in the order in which a reply may bring them. A reply ends
// with one Finish, or with the error of the sequence.
const (
	TextDelta      EventKind = "text"      // Delta
	ReasoningDelta EventKind = "reasoning" // Delta
	CallEvent      EventKind = "call"      // Part (a CallPart), when its input is whole
	Finish         EventKind = "finish"    // Reply
)

// An Event is one step of a streamed reply.
type Event struct {
	Kind  EventKind
	Delta string
	Part  *Part
	Reply *Reply
}

// A FinishReason says why a reply ended, in the same words for all providers.
type FinishReason string

// The reasons.
const (
	Stop      FinishReason = "stop"
	ToolCalls FinishReason = "tool_calls"
	Length    FinishReason = "length"
	Refusal   FinishReason = "refusal" // the provider's filter or the model declined
	Other     FinishReason = "other"
	Unknown   FinishReason = "unknown" // the provider did not say
)

// A Reply is one whole answer of a model.
type Reply struct {
	Parts    []Part       `json:"parts"`
	Reason   FinishReason `json:"reason"`
	Usage    Usage        `json:"usage"`
	Warnings []string     `json:"warnings,omitempty"`
}

// UsageState says how much of a Usage is known.
type UsageState string

// The states. A missing count is never read as zero.
const (
	Exact        UsageState = "exact"   // the provider reported all of it
	Partial      UsageState = "partial" // the stream ended before the final count
	UsageUnknown UsageState = "unknown" // nothing was reported
	None         UsageState = "none"    // no request reached a model
)

// Usage counts tokens. The four counts do not overlap.
type Usage struct {
	State      UsageState `json:"state"`
	Input      int64      `json:"input"` // not from or to the cache
	Output     int64      `json:"output"`
	CacheRead  int64      `json:"cache_read,omitempty"`
	CacheWrite int64      `json:"cache_write,omitempty"`
	Reasoning  int64      `json:"reasoning,omitempty"` // a part of Output, for display only
}

// A Price is what a model's tokens cost, in pico-dollars a token (a price of one
// dollar for a million tokens is 1,000,000).
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// Info is what the catalogue says of a model.
type Info struct {
	Ref       string   `json:"ref"`
	Name      string   `json:"name"`
	Context   int64    `json:"context"`    // tokens
	MaxOutput int64    `json:"max_output"` // tokens
	Reasoning []string `json:"reasoning,omitempty"`
	Images    bool     `json:"images"`
	Price     *Price   `json:"price,omitempty"` // nil: unknown (a 0/0 in the catalogue is unknown too)
}

// A Provider streams replies of one model.
type Provider interface {
	// Info is the model's facts; they do not change.
	Info() Info
	// Stream sends req. Errors that happen before the first event are returned in
	// the sequence too. They carry MODEL_… codes; a [*HTTPError] in the chain says
	// what the wire said. Ending the loop early cancels the request.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}
