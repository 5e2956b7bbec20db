package content

import (
	"context"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// SwatchIn is a named colour.
type SwatchIn struct {
	Label string `json:"label,omitempty" jsonschema:"what it is for: name, dialogue, box, accent, signature, gradient-1"`
	Color string `json:"color" jsonschema:"the colour, such as #8844aa or rgba(0,0,0,0.5); kept as it is written"`
}

// BackgroundIn changes what is behind the card.
type BackgroundIn struct {
	Ref     *string  `json:"ref,omitempty" jsonschema:"an address or an id of the picture or video; an empty text removes the whole background"`
	Opacity *float64 `json:"opacity,omitempty" jsonschema:"of what is laid over it, from 0 to 1"`
	Rate    *float64 `json:"rate,omitempty" jsonschema:"the speed of a video; 1 is its own"`
}

// PresentationIn changes how the card is drawn. What is left out stays; "" clears.
type PresentationIn struct {
	ID         string        `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Palette    *[]SwatchIn   `json:"palette,omitempty" jsonschema:"the whole list of colours; an empty list clears it"`
	Background *BackgroundIn `json:"background,omitempty" jsonschema:"what is behind the card or the chat"`
	FieldOrder *[]string     `json:"field_order,omitempty" jsonschema:"the fields of the page in their order; an empty list clears it"`
	Spoilers   *[]string     `json:"spoilers,omitempty" jsonschema:"fields that a reader has to uncover; an empty list clears it"`
	MediaLinks *[]string     `json:"media_links,omitempty" jsonschema:"addresses of videos and music that belong to the card; an empty list clears it"`
	CSS        *string       `json:"css,omitempty" jsonschema:"the card's style sheet: kept as text, never run here; an empty text clears it"`
	HTML       *string       `json:"html,omitempty" jsonschema:"the card's markup: kept as text, never run here; an empty text clears it"`
}

func presentationTool(d Deps) tool.Tool {
	const id = "character.presentation.update"
	return tool.New(drafting(id, "Update how a character's card looks",
		"Change a character's colours, background, order of fields, spoilers, links, style and markup, as a draft.",
		"How the page of the card is drawn; nothing of it is sent to a model, and style and markup are stored, not run. Give only what should change.",
		"look", "theme", "colour", "color", "accent color", "palette", "background image", "wallpaper", "field order", "hide spoilers",
		"css", "style sheet", "card html", "music link", "video link"),
		func(ctx context.Context, call tool.Call, in PresentationIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, _ say) error {
				p := &c.Presentation
				if in.Palette != nil {
					p.Palette = swatches(*in.Palette)
				}
				put(&p.FieldOrder, in.FieldOrder)
				put(&p.Spoilers, in.Spoilers)
				put(&p.MediaLinks, in.MediaLinks)
				put(&p.CSS, in.CSS)
				put(&p.HTML, in.HTML)
				return p.Background.update(in.Background)
			})
		})
}

func (b *Background) update(in *BackgroundIn) error {
	if in == nil {
		return nil
	}
	put(&b.Ref, in.Ref)
	if in.Opacity != nil && (*in.Opacity < 0 || *in.Opacity > 1) {
		return fault.New(fault.Invalid, "character.presentation", "the opacity is %v", *in.Opacity).WithHint("give a number from 0 to 1")
	}
	if in.Rate != nil && *in.Rate <= 0 {
		return fault.New(fault.Invalid, "character.presentation", "the speed of the video is %v", *in.Rate).WithHint("give a number above 0")
	}
	b.Opacity, b.Rate = numeral(b.Opacity, in.Opacity), numeral(b.Rate, in.Rate)
	if in.Ref != nil && *in.Ref == "" {
		*b = Background{}
	}
	return nil
}

// numeral is a number that was given, as JSON, else the one that is there.
func numeral(has Number, given *float64) Number {
	if given == nil {
		return has
	}
	return Number(strconv.FormatFloat(*given, 'f', -1, 64))
}

func swatches(in []SwatchIn) []Swatch {
	list := make([]Swatch, len(in))
	for i, s := range in {
		list[i] = Swatch(s)
	}
	return list
}
