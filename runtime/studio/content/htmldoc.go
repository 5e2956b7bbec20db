package content

import (
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// MaxHTML is the most characters of an HTML document.
const MaxHTML = 200_000

// An HTMLDoc is a drawing: markup that is shown sealed, without running anything of it.
type HTMLDoc struct {
	Name    string   `json:"name,omitempty"`    // the name; the one field that must be there
	Summary string   `json:"summary,omitempty"` // what it shows, in a sentence
	Tags    []string `json:"tags,omitempty"`    // for the shelf
	Notes   string   `json:"notes,omitempty"`   // for whoever works on it
	HTML    string   `json:"html,omitempty"`    // as written
}

func (d HTMLDoc) title() string      { return d.Name }
func (d HTMLDoc) links() []store.Ref { return nil }

func (d HTMLDoc) check() error {
	if n := utf8.RuneCountInString(d.HTML); n > MaxHTML {
		return fault.New(CodeTooLong, "content.htmldoc", "the markup has %d characters, the bound is %d", n, MaxHTML).WithHint("make it shorter, or two documents of it")
	}
	return nil
}

// CodeTooLong says that a text of a body is longer than its bound.
const CodeTooLong fault.Code = "CONTENT_TOO_LONG"
