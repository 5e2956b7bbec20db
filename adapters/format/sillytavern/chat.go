package sillytavern

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/chatpreset"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreChat knows a preset of chat completion by its prompts and their order, else by
// keys that only such presets have; and an export of the prompt manager.
func scoreChat(doc *canon.Node) float64 {
	for _, foreign := range []string{"spec", "entries", "findRegex", "qrList", "kind"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	if chatpreset.IsManager(doc) {
		return 0.95
	}
	prompts := chatpreset.HasPrompts(doc.Field("prompts"))
	switch {
	case prompts && doc.Field("prompt_order").Kind() == canon.Array:
		return 0.9
	case doc.Field("type") != nil || doc.Field("data") != nil:
		return 0
	case prompts, chatpreset.IsEmpty(doc):
		return 0.85
	}
	for _, key := range []string{"chat_completion_source", "openai_max_context", "openai_max_tokens", "temp_openai", "openai_model"} {
		if doc.Field(key) != nil {
			return 0.8
		}
	}
	if doc.Field("main_prompt") != nil && (doc.Field("jailbreak_prompt") != nil || doc.Field("nsfw_prompt") != nil) {
		return 0.8
	}
	return 0
}

const freshChat = `{"prompts":[],"prompt_order":[]}`

func readChat(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, chatpreset.Fields(f.Doc))
	r := one(content.KindPreset, f, body, append(problems, chatpreset.Strays(f.Doc)...))
	chatpreset.ReadScripts(f, &r)
	return r, nil
}

func writeChat(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshChat, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(s.Doc, chatpreset.Fields(s.Doc), s.Body)
	losses = append(losses, chatpreset.LayScripts(s, w.Linked)...)
	stripped := secret.Strip(s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}
