package content

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Shape is a Format put together from its parts: what most platforms' files need.
type Shape struct {
	Name     string   // as About.Name
	Platform string   // as About.Platform
	Kind     string   // of the piece that a file is, and that is written
	Also     []string // kinds that a file holds beside it
	Ext      string   // as About.Ext; "" is ".json"
	Verbatim bool     // as About.Verbatim
	Know     func(f File) float64
	From     func(f File) (Reading, error) // never of a file without a document that Know does not know
	To       func(w Writing) (Written, error)
}

// OfJSON knows a file by its document, and no file without one.
func OfJSON(know func(doc *canon.Node) float64) func(f File) float64 {
	return func(f File) float64 {
		if f.Doc == nil {
			return 0
		}
		return know(f.Doc)
	}
}

// About implements Format.
func (s Shape) About() About {
	ext := s.Ext
	if ext == "" {
		ext = ".json"
	}
	return About{
		Name: s.Name, Platform: s.Platform, Ext: ext, Verbatim: s.Verbatim,
		Kinds: append([]string{s.Kind}, s.Also...), Writes: []string{s.Kind},
	}
}

// Score implements Format.
func (s Shape) Score(f File) float64 { return s.Know(f) }

// Read implements Format.
func (s Shape) Read(f File) (Reading, error) {
	if f.Doc == nil && s.Know(f) == 0 {
		return Reading{}, fault.New(CodeUnread, strings.ToLower(s.Platform)+".read", "%q is no file of %s", f.Name, s.Platform).
			WithHint("export it from %s again", s.Platform)
	}
	return s.From(f)
}

// Write implements Format.
func (s Shape) Write(w Writing) (Written, error) { return s.To(w) }
