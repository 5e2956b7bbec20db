package cli

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/capability"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// phrases are what people say, and the capability that they mean. Each is among the
// tools that one search reveals.
var phrases = map[string]string{
	"edit the wireframe":                      "htmldoc.document.update",
	"fix the layout":                          "htmldoc.document.update",
	"change the markup of the status window":  "htmldoc.document.update",
	"redesign the tracker panel":              "htmldoc.document.update",
	"draw a new panel":                        "studio.htmldoc.create",
	"make a mockup":                           "studio.htmldoc.create",
	"create new character":                    "studio.character.create",
	"write a character card for me":           "studio.character.create",
	"rename Ada":                              "character.identity.update",
	"change her nickname":                     "character.identity.update",
	"set the pronouns":                        "character.identity.update",
	"make her personality sterner":            "character.prompts.update",
	"rewrite the scenario":                    "character.prompts.update",
	"add an author's note at depth 4":         "character.prompts.update",
	"convert the traits to W++":               "character.prompts.update",
	"give the reply a prefill":                "character.prompts.update",
	"add another greeting":                    "character.greetings.update",
	"change the first message":                "character.greetings.update",
	"reorder the swipes":                      "character.greetings.update",
	"tag the character":                       "character.metadata.update",
	"mark it as nsfw":                         "character.metadata.update",
	"credit the author":                       "character.metadata.update",
	"add a trigger warning":                   "character.metadata.update",
	"change the accent colour":                "character.presentation.update",
	"set a background image for the card":     "character.presentation.update",
	"change the avatar":                       "character.media.update",
	"use another portrait":                    "character.media.update",
	"attach a lorebook to the character":      "character.links.update",
	"unlink the regex scripts":                "character.links.update",
	"make a younger version of her":           "character.variants.manage",
	"add an alternate universe variant":       "character.variants.manage",
	"make him more talkative":                 "character.settings.update",
	"set a default variable":                  "character.settings.update",
	"disable the trigger script in the card":  "character.behavior-scripts.manage",
	"reorder the embedded regex":              "character.behavior-scripts.manage",
	"make a persona for me":                   "studio.persona.create",
	"change what the model reads about me":    "persona.identity.update",
	"rename my persona":                       "persona.identity.update",
	"set my pronouns":                         "persona.profile.update",
	"describe what I look like":               "persona.profile.update",
	"move the persona to depth 2":             "persona.injection.update",
	"change my avatar":                        "persona.presentation.update",
	"new sprite pack":                         "studio.pack.create",
	"upload emotes":                           "studio.pack.create",
	"choose the default face":                 "pack.settings.update",
	"add a sprite":                            "pack.items.manage",
	"replace the picture for joy in the pack": "pack.items.manage",
	"group the sprites by outfit":             "pack.groups.manage",
	"new costume":                             "pack.groups.manage",
	"what would be lost in SillyTavern":       "studio.transfer",
	"would this work in Risu":                 "studio.transfer",
	"move it to RoleCall":                     "studio.transfer",
	"is it compatible with Agnai":             "studio.transfer",
	"convert for another platform":            "studio.transfer",
	"check my lorebook for mistakes":          "studio.lint",
	"find dead links":                         "studio.lint",
	"are there duplicate names":               "studio.lint",
	"what is wrong with this preset":          "studio.lint",
}

// People's words find what they mean.
func TestPhrases(t *testing.T) {
	h, _ := registry(t)
	g := h.gate(h.registry, "")
	for phrase, want := range phrases {
		t.Run(phrase, func(t *testing.T) {
			in, err := json.Marshal(capability.FindIn{Query: phrase})
			if err != nil {
				t.Fatal(err)
			}
			d := g.Decide(t.Context(), gate.Request{Call: tool.Call{Session: "s", Skin: tool.Loop}, Tool: "capability.find", Input: in})
			res, err := g.Run(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Reveal) > capability.MaxRevealed || !slices.Contains(res.Reveal, want) {
				t.Errorf("found %q, want %s among them", res.Reveal, want)
			}
		})
	}
}
