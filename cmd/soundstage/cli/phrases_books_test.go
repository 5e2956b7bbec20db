package cli

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/capability"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// bookPhrases are what people say of lorebooks, presets, regex sets and quick replies,
// and the capability that they mean.
var bookPhrases = map[string]string{
	"make a world info book":                    "studio.lorebook.create",
	"start a codex of my setting":               "studio.lorebook.create",
	"create a lorebook":                         "studio.lorebook.create",
	"raise the token budget":                    "lorebook.settings.update",
	"scan more messages for keywords":           "lorebook.settings.update",
	"add an entry about the harbor":             "lorebook.entries.create",
	"write lore for the city":                   "lorebook.entries.create",
	"copy this entry":                           "lorebook.entries.duplicate",
	"rewrite the entry's text":                  "lorebook.entries.update",
	"unlock the entry":                          "lorebook.entries.update",
	"make the entry always active":              "lorebook.entries.update",
	"move the entry to the top of the list":     "lorebook.entries.reorder",
	"turn off two entries":                      "lorebook.entries.enable",
	"delete the entry":                          "lorebook.entries.remove",
	"change the trigger words":                  "lorebook.triggers.update",
	"add a keyword to the entry":                "lorebook.triggers.update",
	"make it sticky for three messages":         "lorebook.triggers.update",
	"only trigger half of the time":             "lorebook.triggers.update",
	"insert the entry at depth 4":               "lorebook.placement.update",
	"put the lore before the character":         "lorebook.placement.update",
	"inclusion group for the weather entries":   "lorebook.placement.update",
	"disable all entries in a folder":           "lorebook.bulk.update",
	"tag every entry about elves":               "lorebook.bulk.update",
	"put the entries into folders":              "lorebook.folders.manage",
	"make a preset":                             "studio.preset.create",
	"new chat completion preset":                "studio.preset.create",
	"turn down the temperature":                 "preset.samplers.update",
	"make it more creative":                     "preset.samplers.update",
	"longer responses":                          "preset.samplers.update",
	"change the context size":                   "preset.samplers.update",
	"set a prefill in the preset":               "preset.settings.update",
	"add a stop string":                         "preset.settings.update",
	"turn on streaming":                         "preset.settings.update",
	"edit the main prompt":                      "preset.blocks.manage",
	"disable the jailbreak":                     "preset.blocks.manage",
	"move the chat history block down":          "preset.blocks.manage",
	"sort the prompts into groups":              "preset.groups.manage",
	"let the user pick a writing style":         "preset.choices.manage",
	"add a toggle to the preset":                "preset.choices.manage",
	"write a regex that hides the status block": "studio.regex.create",
	"find and replace in the output":            "studio.regex.create",
	"change the pattern of a rule":              "regex.rules.manage",
	"disable the regex rule":                    "regex.rules.manage",
	"rename the regex set":                      "regex.settings.update",
	"make quick reply buttons":                  "studio.quickreply.create",
	"add a button that says continue":           "quickreply.replies.manage",
	"change the label of a button":              "quickreply.replies.manage",
	"color of the buttons":                      "quickreply.settings.update",
}

// People's words find what they mean.
func TestBookPhrases(t *testing.T) {
	h, _ := registry(t)
	g := h.gate(h.registry, "")
	for phrase, want := range bookPhrases {
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
