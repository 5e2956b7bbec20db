// Package content is the studio of characters and, as it grows, of everything that
// is written for them: what a body means, the tools that change it, and files in
// and out.
//
// It is one of the studios, above the kernel and its ports. The capabilities are
// pure previews: they compose drafts and never write. card and carrier below it are
// codecs; other platforms' formats are adapters. It runs nothing that a card
// carries: scripts and patterns are data.
package content

import (
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// KindCharacter is the kind of characters.
const KindCharacter = "character"

// The codes of this package.
const (
	CodeBody      fault.Code = "CHARACTER_BODY"       // a body that is not a character
	CodeFormat    fault.Code = "EXPORT_FORMAT"        // no format of that name
	CodeNoPicture fault.Code = "EXPORT_NO_PICTURE"    // a PNG needs a picture to carry the card
	CodeEscrow    fault.Code = "EXPORT_ESCROW"        // the original file no longer reads
	CodeVariant   fault.Code = "CHARACTER_NO_VARIANT" // no variant of that id
	CodeGreeting  fault.Code = "CHARACTER_GREETING"   // no greeting at that place
)
