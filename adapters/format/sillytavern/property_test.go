package sillytavern_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

func TestLosses(t *testing.T) {
	for _, g := range []formattest.Made{
		{Format: "sillytavern-world", Kind: content.KindLorebook, Fill: map[string]string{
			"/entries/*/placement/position": `"before"`, "/entries/*/placement/depth": "4", "/entries/*/sortOrder": "100",
		}},
		{Format: "sillytavern-chat", Kind: content.KindPreset},
		{Format: "sillytavern-text", Kind: content.KindPreset, Fill: map[string]string{
			"/samplers/temperature": "1", "/samplers/topP": "1", "/samplers/topK": "0", "/samplers/repetitionPenalty": "1", "/blocks/*/role": `"system"`,
		}},
		{Format: "sillytavern-master", Kind: content.KindPreset, Fill: map[string]string{"/blocks/*/role": `"system"`}},
		{Format: "sillytavern-regex", Kind: content.KindRegex},
		{Format: "sillytavern-quickreply", Kind: content.KindQuickReply},
		{Format: "sillytavern-personas", Kind: content.KindPersona},
	} {
		t.Run(g.Format, func(t *testing.T) { suite.Losses(t, g) })
	}
}
