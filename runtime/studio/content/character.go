package content

import (
	"slices"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Character is the canonical body. What is empty is absent: the body of a card
// with a name and nothing else is {"identity":{"name":"Ada"}}.
// docs/reference/character-body.md shows it whole.
type Character struct {
	Fields
	Media       Media       `json:"media,omitzero"`
	Attribution Attribution `json:"attribution,omitzero"`
	Discovery   Discovery   `json:"discovery,omitzero"`
	Settings    Settings    `json:"settings,omitzero"`
	Variants    []Variant   `json:"variants,omitempty"`
	WorldName   string      `json:"worldName,omitempty"` // the lorebook it is linked to, by name
}

// Fields is what a variant may have of its own; what it lacks it inherits.
type Fields struct {
	Identity  Identity  `json:"identity,omitzero"`
	Persona   Persona   `json:"persona,omitzero"`
	Prompts   Prompts   `json:"prompts,omitzero"`
	Greetings Greetings `json:"greetings,omitzero"`
	Examples  string    `json:"examples,omitempty"` // example dialogue
}

// Identity is who the character is.
type Identity struct {
	Name     string `json:"name,omitempty"`     // required but in a variant
	Nickname string `json:"nickname,omitempty"` // what macros say instead of the name
	Tagline  string `json:"tagline,omitempty"`
	FullName string `json:"fullName,omitempty"`
	Title    string `json:"title,omitempty"`
	Age      string `json:"age,omitempty"`
	Pronouns string `json:"pronouns,omitempty"`
}

// Persona is the prose that a model plays from.
type Persona struct {
	Description string `json:"description,omitempty"`
	Personality string `json:"personality,omitempty"`
	Scenario    string `json:"scenario,omitempty"`
	Appearance  string `json:"appearance,omitempty"`
	Backstory   string `json:"backstory,omitempty"`
}

// Prompts is what goes into a request besides the prose.
type Prompts struct {
	System          string      `json:"system,omitempty"`
	PostHistory     string      `json:"postHistory,omitempty"`
	DepthInjections []Injection `json:"depthInjections,omitempty"`
}

// An Injection is a text put into the chat so many messages from its end.
type Injection struct {
	Content string `json:"content"`
	Depth   int    `json:"depth"` // 0 is behind the last message
	Role    string `json:"role"`  // system, user or assistant
}

// Greetings is how a chat begins.
type Greetings struct {
	First      string     `json:"first,omitempty"`
	Alternates []Greeting `json:"alternates,omitempty"`
	GroupOnly  []string   `json:"groupOnly,omitempty"`
}

// A Greeting is an alternate first message.
type Greeting struct {
	Text  string `json:"text"`
	Title string `json:"title,omitempty"`
}

// Media is the picture and the files.
type Media struct {
	Portrait string  `json:"portrait,omitempty"` // "original:png-v2" is the imported file's own picture; or a data: URI
	Assets   []Asset `json:"assets,omitempty"`
}

// An Asset is a file that the card names.
type Asset struct {
	Type string `json:"type,omitempty"` // icon, background, user_icon, emotion, x-…
	URI  string `json:"uri,omitempty"`
	Name string `json:"name,omitempty"`
	Ext  string `json:"ext,omitempty"` // lower case, without a dot
}

// Attribution is where it comes from.
type Attribution struct {
	Creator  string   `json:"creator,omitempty"`
	Version  string   `json:"version,omitempty"`
	Source   []string `json:"source,omitempty"`
	Created  int64    `json:"created,omitempty"`  // Unix seconds
	Modified int64    `json:"modified,omitempty"` // Unix seconds
}

// Discovery is what shelves and readers see; none of it is sent to a model.
type Discovery struct {
	Tags         []string          `json:"tags,omitempty"`
	CreatorNotes string            `json:"creatorNotes,omitempty"`
	Multilingual map[string]string `json:"multilingual,omitempty"` // creator notes by ISO 639-1 code
}

// Settings is what the author dialled in.
type Settings struct {
	Talkativeness jsontext.Value `json:"talkativeness,omitzero"` // a number, as written
}

// A Variant is another telling of the same character.
type Variant struct {
	ID     string `json:"id"`
	Label  string `json:"label,omitempty"`
	Fields Fields `json:"fields,omitzero"`
}

// ParseCharacter reads a body, and refuses what is not one: an unknown field, a
// wrong type, a missing name.
func ParseCharacter(body []byte) (Character, error) {
	const op = "content.character"
	var c Character
	if err := json.Unmarshal(body, &c, json.RejectUnknownMembers(true)); err != nil {
		return Character{}, fault.Wrap(err, CodeBody, op, "the body is not a character")
	}
	if c.Identity.Name == "" {
		return Character{}, fault.New(CodeBody, op, "the character has no name")
	}
	if t := c.Settings.Talkativeness; t != nil && t.Kind() != '0' {
		return Character{}, fault.New(CodeBody, op, "settings.talkativeness is %q, not a number", t)
	}
	if err := checkInjections(c.Prompts.DepthInjections); err != nil {
		return Character{}, err
	}
	seen := map[string]bool{}
	for _, v := range c.Variants {
		if v.ID == "" || seen[v.ID] {
			return Character{}, fault.New(CodeBody, op, "the variant id %q is empty or taken", v.ID)
		}
		seen[v.ID] = true
		if err := checkInjections(v.Fields.Prompts.DepthInjections); err != nil {
			return Character{}, err
		}
	}
	return c, nil
}

func checkInjections(list []Injection) error {
	for i, inj := range list {
		if !slices.Contains([]string{"system", "user", "assistant"}, inj.Role) {
			return fault.New(CodeBody, "content.character", "depth injection %d has the role %q", i, inj.Role).
				WithHint("use system, user or assistant")
		}
		if inj.Depth < 0 {
			return fault.New(CodeBody, "content.character", "depth injection %d has the depth %d", i, inj.Depth).
				WithHint("use 0 for behind the last message, or more")
		}
	}
	return nil
}

// Body is the canonical JSON of c.
func (c Character) Body() ([]byte, error) {
	raw, err := json.Marshal(c, jsonv1.OmitEmptyWithLegacySemantics(true))
	if err != nil {
		return nil, fault.Wrap(err, CodeBody, "content.character", "the character %q cannot be written", c.Identity.Name)
	}
	return canon.JSON(raw)
}

// Characters is the kind, as the studio's tools know it.
type Characters struct{}

// Name is the kind's name.
func (Characters) Name() string { return KindCharacter }

// Title is the name in a body, or why it is not a character.
func (Characters) Title(body []byte) (string, error) {
	c, err := ParseCharacter(body)
	return titleOf(c), err
}

// Referenced says that nothing names a character yet.
func (Characters) Referenced() bool { return false }

// titleOf is the name as lists show it, cut at their bound.
func titleOf(c Character) string {
	if utf8.RuneCountInString(c.Identity.Name) <= store.MaxTitle {
		return c.Identity.Name
	}
	return string([]rune(c.Identity.Name)[:store.MaxTitle-1]) + "…"
}
