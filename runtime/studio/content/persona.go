package content

import "github.com/soundstage-dev/soundstage/runtime/store"

// A Persona is who the user is in a chat.
type Persona struct {
	Name      string           `json:"name,omitempty"`    // the name; the one field that must be there
	Title     string           `json:"title,omitempty"`   // tells personas of one name apart
	Brief     string           `json:"brief,omitempty"`   // for the shelf; never sent to a model
	Content   string           `json:"content,omitempty"` // what a model reads
	Sections  PersonaSections  `json:"sections,omitzero"` // a structured profile beside Content
	Pronouns  Pronouns         `json:"pronouns,omitzero"`
	Injection PersonaInjection `json:"injection,omitzero"`
	Book      string           `json:"book,omitempty"`     // the id of a lorebook in this studio
	BookName  string           `json:"bookName,omitempty"` // a lorebook by its name, as files have it
	Portrait  string           `json:"portrait,omitempty"` // as Media.Portrait of a character
	Palette   []Swatch         `json:"palette,omitempty"`  // colours of name and dialogue
	Tags      []string         `json:"tags,omitempty"`     // for the shelf
}

// PersonaSections are parts of a profile.
type PersonaSections struct {
	Appearance  string `json:"appearance,omitempty"`  // what the user looks like
	Body        string `json:"body,omitempty"`        // build, height, marks
	Personality string `json:"personality,omitempty"` // the personality
	Quirks      string `json:"quirks,omitempty"`      // habits
	History     string `json:"history,omitempty"`     // what happened before
	Scenario    string `json:"scenario,omitempty"`    // where and when it plays
}

// Pronouns are forms: they, them, their.
type Pronouns struct {
	Subjective string `json:"subjective,omitempty"` // she, he, they
	Objective  string `json:"objective,omitempty"`  // her, him, them
	Possessive string `json:"possessive,omitempty"` // her, his, their
}

// PersonaInjection is where Content goes.
type PersonaInjection struct {
	Position string `json:"position,omitempty"` // prompt, note_top, note_bottom, depth, none, after_chat (old)
	Depth    *int   `json:"depth,omitempty"`    // messages from the end, for position depth
	Role     string `json:"role,omitempty"`     // system, user or assistant, for position depth
}

// A Swatch is a named colour.
type Swatch struct {
	Label string `json:"label,omitempty"` // name, dialogue, box, accent, signature, gradient-1 …
	Color string `json:"color"`           // as written: #rrggbb, rgba(…), a name
}

func (p Persona) title() string      { return p.Name }
func (p Persona) links() []store.Ref { return refs(KindLorebook, p.Book) }

func (p Persona) check() error {
	const op = "content.persona"
	if err := oneOf(op, "the persona", "position", p.Injection.Position, []string{"prompt", "after_chat", "note_top", "note_bottom", "depth", "none"}); err != nil {
		return err
	}
	return oneOf(op, "the persona", "role", p.Injection.Role, roles)
}
