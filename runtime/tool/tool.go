// Package tool is the registry: the one list of what can be done, for every skin.
//
// It is part of the kernel. A tool is typed at its definition and plain JSON from
// there on; the agent loop, the MCP server, the command line and the generated
// reference range over the same Registry. It does not decide who may run what
// (runtime/trust) and does not run anything (runtime/gate is the only caller of a
// handler).
package tool

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// An Effect is what a tool says that it does. It never lowers what trust says.
type Effect string

// The effects.
const (
	Read    Effect = "read"
	Draft   Effect = "draft"   // composes a proposal, writes nothing to the store
	Apply   Effect = "apply"   // writes
	Unknown Effect = "unknown" // somebody else's tool
)

// Exposure is when a model sees a tool.
type Exposure string

// The exposures.
const (
	Direct   Exposure = "direct"   // on the belt from the start of a turn
	Deferred Exposure = "deferred" // after capability.find revealed it
	Hidden   Exposure = "hidden"   // never to a model
)

// A Skin is a way in.
type Skin string

// The skins.
const (
	Loop Skin = "loop"
	MCP  Skin = "mcp"
	CLI  Skin = "cli"
)

// A Spec is all that is known of a tool without its handler.
type Spec struct {
	ID          string   `json:"id"` // dotted: "studio.list"
	Title       string   `json:"title"`
	Summary     string   `json:"summary"`     // one sentence
	Description string   `json:"description"` // what a model reads; the summary is its first sentence
	Effect      Effect   `json:"effect"`
	Exposure    Exposure `json:"exposure"`
	Skins       []Skin   `json:"skins,omitempty"` // nil is all of them
	// Discovery, for deferred tools: domain ("content", "studio"), kind
	// ("character"), area ("identity"), action ("update"), other words for it, and
	// the platforms that it concerns.
	Domain    string   `json:"domain,omitempty"`
	Kind      string   `json:"kind,omitempty"`
	Area      string   `json:"area,omitempty"`
	Action    string   `json:"action,omitempty"`
	Aliases   []string `json:"aliases,omitempty"`
	Platforms []string `json:"platforms,omitempty"`
	// Concurrency names what calls may not share: calls with equal keys never
	// overlap. "{field}" is replaced by that input field, so "piece:{kind}/{id}".
	// "" is no limit.
	Concurrency string `json:"concurrency,omitempty"`
	// Inline is how many characters of the result's text a model gets at once; what
	// is longer goes behind a handle. 0 is result.MaxInline.
	Inline int `json:"inline,omitempty"`
	// Available says whether the tool exists on this machine and in this studio; nil
	// is always.
	Available func() bool `json:"-"`
}

// A Call is who runs a tool, and as what.
type Call struct {
	ID      string // unique in the session; from turn, round and index in the loop
	Session string // "" is a person at the command line
	Turn    int
	Skin    Skin
	Seq     int64 // of the trace event that announced the call
	// Report tells whoever waits how far the call has come; nil where nobody wants to
	// know. Use [Call.Progress].
	Report func(Progress)
}

// Progress is how far a call has come.
type Progress struct {
	Done, Total float64 // Done grows from one to the next; Total is 0 where it is not known
	Message     string  // what is being done, in a few words
}

// Progress reports how far the call has come. A tool that can run for more than a
// second calls it as often as it likes: a skin shows what it can.
func (c Call) Progress(done, total float64, message string) {
	if c.Report != nil {
		c.Report(Progress{done, total, message})
	}
}

// A Reply is what a typed handler returns.
type Reply[Out any] struct {
	Out    Out
	Text   string        // what a model reads; "" is the JSON of Out
	Blocks []model.Blob  // images
	Review *draft.Review // a draft was composed: its card
	// Reviews are the cards of further drafts, composed before that of Review.
	Reviews []draft.Review
	// Receipt says how a draft ended: change.apply and change.discard set it.
	Receipt *draft.Receipt
	Show    *Show    // something for the person's screen
	Reveal  []string // ids that replace the revealed deferred set (capability.find)
}

// A Result is a Reply after its Out became JSON. Skins read its parts, never its
// prose.
type Result struct {
	Text       string         `json:"text"`
	Structured []byte         `json:"structured,omitempty"` // canonical JSON, an object
	Blocks     []model.Blob   `json:"blocks,omitempty"`
	Review     *draft.Review  `json:"review,omitempty"`
	Reviews    []draft.Review `json:"reviews,omitempty"`
	Receipt    *draft.Receipt `json:"receipt,omitempty"`
	Show       *Show          `json:"show,omitempty"`
	Reveal     []string       `json:"reveal,omitempty"`
	Handle     string         `json:"handle,omitempty"` // set where Text was cut: the whole is behind it
}

// Show puts something on the person's screen. Its bytes never reach a model.
type Show struct {
	Kind    string   `json:"kind"`              // "art", "choice", "rail"
	Target  string   `json:"target,omitempty"`  // "character/ada"
	Title   string   `json:"title"`             // of the piece, or the question of a choice
	Options []Option `json:"options,omitempty"` // of a choice
	// Of art: where the body names it, what kind of reference that is (data, url, asset,
	// archive, original), and what it says it is. The screen gets the bytes itself.
	Path   string `json:"path,omitempty"`
	Source string `json:"source,omitempty"`
	MIME   string `json:"mime,omitempty"`
}

// An Option is one line of a choice. Picking it fills the person's composer, and sends
// nothing.
type Option struct {
	Label  string `json:"label"`
	Fill   string `json:"fill"` // what the composer then holds
	Detail string `json:"detail,omitempty"`
}

// A Handler runs a tool on JSON input that was checked against the schema.
type Handler func(ctx context.Context, c Call, input []byte) (Result, error)

// A Tool is a Spec with schemas and a handler. Make one with New or NewOpen. Only
// runtime/gate calls Run.
type Tool struct {
	Spec
	Run Handler // of New or NewOpen: RunChecked knows of no other

	schemas func() schemas
	check   func(input []byte) ([]byte, error)
	checked Handler // Run without check; nil: Run does not check
}

// Input is the JSON Schema of the input: an object, draft-07 clean.
func (t Tool) Input() []byte { return t.schemas().input }

// Output is the JSON Schema of Structured, or nil.
func (t Tool) Output() []byte { return t.schemas().output }

// Name is the provider-safe name: studio_list for studio.list.
func (t Tool) Name() string { return Fold(t.ID) }

// Check validates input and returns it in canonical form, without the nulls of
// optional fields. Empty input is {}. What is wrong is fault.Invalid, in words
// that a model can act on.
func (t Tool) Check(input []byte) ([]byte, error) { return t.check(input) }

// RunChecked is Run on input that Check gave back: it is not checked a second time. Only
// runtime/gate calls it.
func (t Tool) RunChecked(ctx context.Context, c Call, input []byte) (Result, error) {
	if t.checked == nil {
		return t.Run(ctx, c, input)
	}
	return t.checked(ctx, c, input)
}

// On reports whether the tool is to be had on a skin.
func (s Spec) On(skin Skin) bool { return s.Skins == nil || slices.Contains(s.Skins, skin) }

// Here reports whether the tool exists on this machine and in this studio.
func (s Spec) Here() bool { return s.Available == nil || s.Available() }

// MaxInput is the longest input of a call, in bytes.
const MaxInput = 1_000_000
