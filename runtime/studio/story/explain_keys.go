package story

import "strings"

// meanings are what the keys at the top of a manifest say.
var meanings = map[string]string{
	"app": "what the story calls itself: id, version, title", "root": "the state that the story begins in", "world": "what the story remembers: each key with a type and how it is at first",
	"intents": "what a person can want, in every state that takes it", "states": "where the story can stand, and what leads on from there",
	"include": "files whose blocks are added to this one", "hosts": "the handlers that the story may call; empty allows all", "agents": "models with a task",
	"imports": "other stories that are parts of this one", "exits": "the ways out that an importer maps", "exports": "the intents that an importer may take over",
	"host_interfaces": "operations that a handler is bound to", "phase_templates": "states that are written once, for several phases",
	"phases": "the phases that states are made for, from a template", "checkpoint_intents": "intents that every state takes that waits for a reply",
	"decider": "the model that decides where nobody has to", "off_path": "a free conversation beside the story", "meta_modes": "conversations about the story itself",
	"proposals": "what is drafted, looked at and then done", "providers": "models and how hard they think, by name", "agent_plugins": "what runs agents",
	"prompts": "where prompts are looked for", "routing": "how a text finds an intent",
}

// plainly says what a line is that is no part of the story by itself, or "".
func plainly(text, way string) Part {
	text = strings.TrimSpace(text)
	switch {
	case text == "" && way == "":
		return Part{Kind: "nothing", Name: "an empty line", Does: "the engine does not read it"}
	case strings.HasPrefix(text, "#"):
		return Part{Kind: "nothing", Name: "a comment", Does: "the engine does not read it"}
	case text == "---":
		return Part{Kind: "nothing", Name: "the beginning of a document", Does: "a manifest has one"}
	}
	key := way
	if i := strings.IndexAny(way, ".["); i >= 0 {
		key = way[:i]
	}
	return Part{Kind: "key", Name: key, Does: meanings[key]}
}
