package content

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// HTMLCreateIn is a new document.
type HTMLCreateIn struct {
	ID      string   `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name    string   `json:"name" jsonschema:"the document's name"`
	HTML    string   `json:"html,omitempty" jsonschema:"the markup, up to 200000 characters; stored as it is written, never run here"`
	Summary string   `json:"summary,omitempty" jsonschema:"what it shows, in a sentence"`
	Tags    []string `json:"tags,omitempty" jsonschema:"tags for the shelf"`
	Notes   string   `json:"notes,omitempty" jsonschema:"notes for whoever works on it"`
}

func htmldocTools(d Deps) []tool.Tool { return []tool.Tool{htmldocCreateTool(d), htmldocUpdateTool(d)} }

func htmldocCreateTool(d Deps) tool.Tool {
	const id = "studio.htmldoc.create"
	return tool.New(drafting(id, "Create an HTML document", "Create a new HTML document, a drawing that is kept sealed, as a draft.",
		"Only the name is needed. Markup is stored and shown, nothing of it is run. An id that is taken is refused: change that document instead.",
		"new drawing", "draw a panel", "html page", "mock-up", "mockup", "wireframe", "status window", "tracker", "layout", "sketch"),
		func(ctx context.Context, call tool.Call, in HTMLCreateIn) (tool.Reply[preview.Drafted], error) {
			doc := HTMLDoc{Name: in.Name, HTML: in.HTML, Summary: in.Summary, Tags: in.Tags, Notes: in.Notes}
			return create(ctx, d, call, action{KindHTMLDoc, id, in.ID}, in, doc)
		})
}

// MarkupEdit replaces a part of the markup.
type MarkupEdit struct {
	Old string `json:"old" jsonschema:"a part of the markup, exactly as it stands, that occurs once"`
	New string `json:"new" jsonschema:"what takes its place; an empty text removes it"`
}

// HTMLUpdateIn changes a document. What is left out stays; "" clears.
type HTMLUpdateIn struct {
	ID      string       `json:"id" jsonschema:"the document's id, as studio.list shows it"`
	Name    *string      `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	HTML    *string      `json:"html,omitempty" jsonschema:"the whole new markup, up to 200000 characters; an empty text clears it"`
	Patch   []MarkupEdit `json:"patch,omitempty" jsonschema:"parts of the markup to replace, in order, instead of the whole"`
	Summary *string      `json:"summary,omitempty" jsonschema:"what it shows; an empty text clears it"`
	Tags    *[]string    `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	Notes   *string      `json:"notes,omitempty" jsonschema:"notes for whoever works on it; an empty text clears them"`
}

func htmldocUpdateTool(d Deps) tool.Tool {
	const id = "htmldoc.document.update"
	return tool.New(drafting(id, "Update an HTML document", "Change an HTML document's markup, name, summary, tags and notes, as a draft.",
		"Give the whole markup, or patch parts of it. Nothing of it is run here. Several calls compose into one draft.",
		"edit the wireframe", "fix the layout", "change the drawing", "html", "markup", "css", "panel", "tracker", "status window", "redesign", "mockup"),
		func(ctx context.Context, call tool.Call, in HTMLUpdateIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindHTMLDoc, id, in.ID}, in, func(doc *HTMLDoc, _ say) error {
				put(&doc.Name, in.Name)
				put(&doc.HTML, in.HTML)
				put(&doc.Summary, in.Summary)
				put(&doc.Tags, in.Tags)
				put(&doc.Notes, in.Notes)
				return doc.patch(in.Patch)
			})
		})
}

// patch replaces parts of the markup, each of which has to be there once.
func (d *HTMLDoc) patch(edits []MarkupEdit) error {
	for _, e := range edits {
		n := 0
		if e.Old != "" {
			n = strings.Count(d.HTML, e.Old)
		}
		if n != 1 {
			return fault.New(CodePlace, "htmldoc.document", "the markup has %q %d times", clip(e.Old, 60), n).
				WithHint("give a part that stands in the markup once, with enough around it")
		}
		d.HTML = strings.Replace(d.HTML, e.Old, e.New, 1)
	}
	return nil
}
