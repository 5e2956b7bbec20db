// Package content is the studio of characters and of what is written for them: eight
// kinds, what their bodies mean, the tools that change them, and files in and out.
//
// It is one of the studios, above the kernel and its ports. The capabilities are
// pure previews: they compose drafts and never write. card and carrier below it are
// codecs; the formats of platforms are adapters behind Format. It runs nothing that a card
// carries: scripts and patterns are data.
package content

import (
	"context"
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The codes of this package.
const (
	CodeFormat    fault.Code = "EXPORT_FORMAT"        // no format of that name, or not of that kind
	CodeNoPicture fault.Code = "EXPORT_NO_PICTURE"    // a picture is needed to carry the card
	CodeEscrow    fault.Code = "EXPORT_ESCROW"        // the original file no longer reads
	CodeUnread    fault.Code = "IMPORT_UNKNOWN"       // no format takes the file
	CodeVariant   fault.Code = "CHARACTER_NO_VARIANT" // no variant of that id
	CodeGreeting  fault.Code = "CHARACTER_GREETING"   // no greeting at that place
)

// Drafts is what the capabilities need of runtime/draft.
type Drafts interface {
	// Base is the caller's open proposal for a piece, else the stored piece.
	Base(ctx context.Context, owner string, ref store.Ref) (draft.Basis, error)
	// Compose adds an operation to the caller's draft, or begins one.
	Compose(ctx context.Context, owner string, p draft.Proposal) (draft.Draft, error)
}

// Deps are the doors of the tools.
type Deps struct {
	Drafts  Drafts
	Formats *Formats // what a change costs on other platforms
}

// Tools are the tools of this studio.
func Tools(d Deps) []tool.Tool {
	if d.Drafts == nil || d.Formats == nil {
		panic("content: a door is missing")
	}
	return slices.Concat(
		characterTools(d), personaTools(d), packTools(d), htmldocTools(d),
		loreTools(d), presetTools(d), regexTools(d), quickReplyTools(d),
	)
}
