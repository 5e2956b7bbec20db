package studio

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The kinds of what is put on a person's screen.
const (
	ShowChoice = "choice"
	ShowArt    = "art"
	ShowRail   = "rail"
)

// The bounds of a choice.
const (
	maxOptions = 12
	maxLabel   = 200 // characters of a label, a fill or a detail
)

// The codes of what is shown.
const (
	CodeChoice  fault.Code = "CHOICE_OPTIONS" // too few, too many, or two alike
	CodeNoArt   fault.Code = "ART_NONE"       // the piece carries no picture
	CodeNotHere fault.Code = "RAIL_KIND"      // a piece of another kind, which the rail cannot hold
)

// ChoiceIn is a question with options.
type ChoiceIn struct {
	Question string     `json:"question" jsonschema:"what is to be chosen, in one sentence"`
	Options  []OptionIn `json:"options" jsonschema:"2 to 12 options, in the order in which to show them"`
}

// An OptionIn is one option.
type OptionIn struct {
	Label  string `json:"label" jsonschema:"what the person reads"`
	Fill   string `json:"fill,omitempty" jsonschema:"what picking it puts into the person's composer; the label if left out"`
	Detail string `json:"detail,omitempty" jsonschema:"a second line, such as what it means"`
}

// ChoiceOut says what was offered.
type ChoiceOut struct {
	Offered int    `json:"offered"`
	Next    string `json:"next"`
}

func choiceTool() tool.Tool {
	const op = "ask.choice"
	return tool.New(tool.Spec{
		ID: op, Title: "Offer a choice", Effect: tool.Read, Exposure: tool.Direct,
		Summary: "Offer the person a list to pick from, on their screen.",
		Description: "Use it in place of writing options into a sentence. Picking fills their composer and sends nothing: they may change it, " +
			"or write something else. It answers nothing by itself; wait for their next message.",
	}, func(_ context.Context, _ tool.Call, in ChoiceIn) (tool.Reply[ChoiceOut], error) {
		show := &tool.Show{Kind: ShowChoice, Title: strings.TrimSpace(in.Question)}
		if n := len(in.Options); n < 2 || n > maxOptions || show.Title == "" {
			return tool.Reply[ChoiceOut]{}, fault.New(CodeChoice, op, "a choice needs a question and 2 to %d options, not %d", maxOptions, n).
				WithHint("ask in words where there is nothing to pick from")
		}
		seen := map[string]bool{}
		for _, o := range in.Options {
			label := strings.TrimSpace(o.Label)
			if label == "" || seen[label] || !short(show.Title, label, o.Fill, o.Detail) {
				return tool.Reply[ChoiceOut]{}, fault.New(CodeChoice, op, "the option %q is empty, is there twice, or has more than %d characters", short80(label), maxLabel).
					WithHint("give each option a short label of its own")
			}
			seen[label] = true
			fill := o.Fill
			if fill == "" {
				fill = label
			}
			show.Options = append(show.Options, tool.Option{Label: label, Fill: fill, Detail: o.Detail})
		}
		out := ChoiceOut{Offered: len(show.Options), Next: "nobody has chosen yet: end your turn, and wait for the person's message"}
		return tool.Reply[ChoiceOut]{Out: out, Show: show}, nil
	})
}

func short(texts ...string) bool {
	for _, s := range texts {
		if utf8.RuneCountInString(s) > maxLabel {
			return false
		}
	}
	return true
}

func short80(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// A Picture is one picture that a piece carries, without its bytes.
type Picture struct {
	Path   string // where in the body it is named
	Source string // data, url, asset, archive, original
	MIME   string // "" where nothing says it
	Bytes  int    // 0 where they are elsewhere
}

// A Gallery finds the picture of a piece, and checks that it is there.
type Gallery interface {
	// Picture is the picture that stands for a piece. missing says why there is none.
	Picture(p store.Piece) (pic Picture, missing string)
}

// ArtIn names the piece.
type ArtIn struct {
	Piece string `json:"piece" jsonschema:"the piece as kind/id, or its id or title"`
	Kind  string `json:"kind,omitempty" jsonschema:"only pieces of this kind, such as character"`
}

// ArtOut says what is shown. The picture itself is on the person's screen only.
type ArtOut struct {
	Shown  bool   `json:"shown"`
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Title  string `json:"title"`
	Path   string `json:"path"`   // where in the body the picture is named
	Source string `json:"source"` // data, url, asset, archive or original
	MIME   string `json:"mime,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
	Note   string `json:"note"`
}

func artTool(d Deps) tool.Tool {
	const op = "studio.art"
	return tool.New(tool.Spec{
		ID: op, Title: "Show a piece's art", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "Put a piece's own picture on the person's screen.",
		Description: "You do not get the picture, so never describe it. A piece without one is refused, and so is a name that fits several pieces.",
	}, func(ctx context.Context, _ tool.Call, in ArtIn) (tool.Reply[ArtOut], error) {
		none := tool.Reply[ArtOut]{}
		found, err := d.match(ctx, in.Kind, in.Piece)
		switch {
		case err != nil:
			return none, err
		case len(found) > 1:
			return none, several(op, in.Piece, found)
		case len(found) == 0 || strings.TrimSpace(in.Piece) == "":
			return none, fault.New(fault.NotFound, op, "no piece fits %q", short80(in.Piece)).WithHint("call studio.list or studio.search to see what there is")
		}
		p, err := d.stored(ctx, op, found[0].Ref, 0)
		if err != nil {
			return none, err
		}
		pic, missing := d.Gallery.Picture(p)
		if missing != "" {
			return none, fault.New(CodeNoArt, op, "%s has no picture to show: %s", p.Ref, missing).WithHint("say so; do not describe one")
		}
		out := ArtOut{
			Shown: true, Kind: p.Kind, ID: p.ID, Title: p.Title, Path: pic.Path, Source: pic.Source, MIME: pic.MIME, Bytes: pic.Bytes,
			Note: "it is on the person's screen; you have not seen it",
		}
		if pic.Source == "url" {
			out.Note = "the person's screen fetches it from its address; whether it is there was not checked, and you have not seen it"
		}
		return tool.Reply[ArtOut]{Out: out, Show: &tool.Show{
			Kind: ShowArt, Target: p.Ref.String(), Title: p.Title, Path: pic.Path, Source: pic.Source, MIME: pic.MIME,
		}}, nil
	})
}

// A Rail remembers which preset stands beside each conversation. It is safe for
// concurrent use. Make one with NewRail.
type Rail struct {
	mu sync.Mutex
	on map[string]store.Ref
}

// maxRails bounds the sessions that a rail remembers.
const maxRails = 1000

// NewRail returns an empty one.
func NewRail() *Rail { return &Rail{on: map[string]store.Ref{}} }

// Put says what is on the rail of a session.
func (r *Rail) Put(session string, ref store.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.on) >= maxRails {
		clear(r.on)
	}
	r.on[session] = ref
}

// On is what is on the rail of a session.
func (r *Rail) On(session string) (store.Ref, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ref, ok := r.on[session]
	return ref, ok
}

// RailAction is what rail.open does.
type RailAction string

// Enum lists the actions.
func (RailAction) Enum() []string { return []string{"open", "status"} }

// RailIn names a preset.
type RailIn struct {
	Action RailAction `json:"action,omitempty" jsonschema:"open puts a preset on the rail, status says what is on it now; open if left out"`
	Preset string     `json:"preset,omitempty" jsonschema:"for open: the preset's id or name"`
}

// RailOut is what is on the rail.
type RailOut struct {
	Open     bool   `json:"open"`
	Preset   string `json:"preset,omitempty"`
	Title    string `json:"title,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	Note     string `json:"note,omitempty"`
}

func railTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "rail.open", Title: "Open a preset on the rail", Effect: tool.Read, Exposure: tool.Direct,
		Summary:     "Put a preset beside the conversation, or say which one is there now.",
		Description: "The rail shows a preset's blocks in the order in which they are sent; nothing else has blocks. It changes nothing. A name that fits several presets is refused.",
	}, func(ctx context.Context, call tool.Call, in RailIn) (tool.Reply[RailOut], error) {
		if in.Action == "status" {
			out, err := d.railStatus(ctx, call.Session)
			return tool.Reply[RailOut]{Out: out}, err
		}
		s, err := d.railFind(ctx, in.Preset)
		if err != nil {
			return tool.Reply[RailOut]{}, err
		}
		d.Rail.Put(call.Session, s.Ref)
		return tool.Reply[RailOut]{
			Out:  RailOut{Open: true, Preset: s.ID, Title: s.Title, Revision: s.Revision},
			Show: &tool.Show{Kind: ShowRail, Target: s.Ref.String(), Title: s.Title},
		}, nil
	})
}

func (d Deps) railStatus(ctx context.Context, session string) (RailOut, error) {
	ref, ok := d.Rail.On(session)
	if !ok {
		return RailOut{Note: "nothing is on the rail"}, nil
	}
	p, err := d.Store.Get(ctx, ref, 0)
	if fault.CodeOf(err) == fault.NotFound {
		return RailOut{Note: fmt.Sprintf("%s was on the rail, and was deleted", ref)}, nil
	}
	return RailOut{Open: true, Preset: p.ID, Title: p.Title, Revision: p.Revision}, err
}

// railFind is the one preset that is meant, or why there is none.
func (d Deps) railFind(ctx context.Context, name string) (store.Summary, error) {
	const op = "rail.open"
	if strings.TrimSpace(name) == "" {
		return store.Summary{}, fault.New(fault.Invalid, op, "no preset is named").WithHint("give its id or name, or action status")
	}
	found, err := d.match(ctx, "preset", name)
	switch {
	case err != nil:
		return store.Summary{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return store.Summary{}, several(op, name, found)
	}
	others, err := d.match(ctx, "", name)
	switch {
	case err != nil:
		return store.Summary{}, err
	case len(others) == 0:
		return store.Summary{}, fault.New(fault.NotFound, op, "no preset fits %q", short80(name)).WithHint("call studio.list with kind preset")
	case len(others) > 1:
		return store.Summary{}, several(op, name, others)
	}
	o := others[0]
	return store.Summary{}, fault.New(CodeNotHere, op, "%q is a %s, and the rail holds presets only", o.Title, o.Kind).
		WithHint("read it with studio.read (kind %s, id %s); the person opens it with: soundstage piece show %s", o.Kind, o.ID, o.Ref)
}
