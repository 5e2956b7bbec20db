// Package rolecall is the formats of RoleCall's own files: personas, lorebooks, presets.
//
// It is an adapter of the content studio behind content.Format. Its presets are those of
// chat completion with more keys, read by content/chatpreset. Character cards that RoleCall
// writes are another format's, with what it adds to them. It knows no other platform,
// reads no disk and runs no hook.
package rolecall

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// The names of the formats.
const (
	namePersona    = "rolecall-persona"
	namePersonaPNG = "rolecall-persona-png"
	nameLorebook   = "rolecall-lorebook"
	namePreset     = "rolecall-preset"
)

// Formats are the formats of this platform.
func Formats() []content.Format {
	return []content.Format{
		content.Shape{Name: namePersona, Platform: "RoleCall", Kind: content.KindPersona, Verbatim: true, Know: scorePersona, From: readPersona, To: writePersona},
		content.Shape{Name: namePersonaPNG, Platform: "RoleCall", Kind: content.KindPersona, Ext: ".png", Verbatim: true, Know: scorePersonaPNG, From: readPersonaPNG, To: writePersonaPNG},
		content.Shape{Name: nameLorebook, Platform: "RoleCall", Kind: content.KindLorebook, Verbatim: true, Know: scoreLorebook, From: readLorebook, To: writeLorebook},
		content.Shape{Name: namePreset, Platform: "RoleCall", Kind: content.KindPreset, Also: []string{content.KindRegex}, Know: scorePreset, From: readPreset, To: writePreset},
	}
}
