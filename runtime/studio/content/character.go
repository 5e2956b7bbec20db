package content

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Character is the canonical body. What is empty is absent: the body of a card
// with a name and nothing else is {"identity":{"name":"Ada"}}.
// docs/reference/bodies/character.md shows it whole.
type Character struct {
	Fields
	Media        Media        `json:"media,omitzero"`
	Attribution  Attribution  `json:"attribution,omitzero"`
	Discovery    Discovery    `json:"discovery,omitzero"`
	Presentation Presentation `json:"presentation,omitzero"`
	Settings     Settings     `json:"settings,omitzero"`
	Variants     []Variant    `json:"variants,omitempty"`
	WorldName    string       `json:"worldName,omitempty"` // the lorebook it is linked to, by name, as files have it
	Links        Links        `json:"links,omitzero"`
	Behavior     Scripts      `json:"behavior,omitzero"`
}

// Fields is what a variant may have of its own; what it lacks it inherits.
type Fields struct {
	Identity  Identity  `json:"identity,omitzero"`
	Persona   Prose     `json:"persona,omitzero"`
	Prompts   Prompts   `json:"prompts,omitzero"`
	Greetings Greetings `json:"greetings,omitzero"`
	Examples  string    `json:"examples,omitempty"` // example dialogue
}

// Identity is who the character is.
type Identity struct {
	Name     string `json:"name,omitempty"`     // required but in a variant
	Nickname string `json:"nickname,omitempty"` // what macros say instead of the name
	Tagline  string `json:"tagline,omitempty"`  // one line for the shelf
	FullName string `json:"fullName,omitempty"` // the name in full
	Title    string `json:"title,omitempty"`    // a title or epithet
	Age      string `json:"age,omitempty"`      // the age, in words or figures
	Pronouns string `json:"pronouns,omitempty"` // the pronouns
}

// Prose is what a model plays from.
type Prose struct {
	Description string `json:"description,omitempty"` // the main prose that a model plays from
	Personality string `json:"personality,omitempty"` // the personality in short
	Scenario    string `json:"scenario,omitempty"`    // where and when it plays
	Appearance  string `json:"appearance,omitempty"`  // what the character looks like
	Backstory   string `json:"backstory,omitempty"`   // what happened before
	Structured  Traits `json:"structured,omitzero"`   // the same as attributes, in one of the spellings for it
}

// Traits are attributes of a character and how a format spells them.
type Traits struct {
	Kind       string              `json:"kind,omitempty"`       // wpp, sbf, boostyle, attributes, text
	Attributes map[string][]string `json:"attributes,omitempty"` // attributes, an object of lists of texts
}

// Prompts is what goes into a request besides the prose.
type Prompts struct {
	System          string      `json:"system,omitempty"`          // replaces the preset's main prompt; {{original}} stands for what it replaces
	PostHistory     string      `json:"postHistory,omitempty"`     // instructions behind the chat history
	DepthInjections []Injection `json:"depthInjections,omitempty"` // – | /data/extensions/depth_prompt | /data/extensions/depth_prompt
	Prefill         string      `json:"prefill,omitempty"`         // begins the assistant's answer
	AdditionalText  string      `json:"additionalText,omitempty"`  // more of the description, which an engine places by itself
}

// An Injection is a text put into the chat so many messages from its end.
type Injection struct {
	Content string `json:"content"`       // a text put into the chat
	Depth   int    `json:"depth"`         // 0 is behind the last message
	Role    string `json:"role"`          // system, user or assistant
	ID      string `json:"id,omitempty"`  // an engine's id of the injection
	Off     bool   `json:"off,omitempty"` // kept, and not put in
}

// Greetings is how a chat begins.
type Greetings struct {
	First      string     `json:"first,omitempty"`      // the first message
	Alternates []Greeting `json:"alternates,omitempty"` // – | /data/alternate_greetings | /data/alternate_greetings
	GroupOnly  []string   `json:"groupOnly,omitempty"`  // greetings for group chats, a list of texts
}

// A Greeting is an alternate first message.
type Greeting struct {
	Text  string `json:"text"`            // another first message
	Title string `json:"title,omitempty"` // its name on the shelf
}

// Media is the picture and the files.
type Media struct {
	Portrait string  `json:"portrait,omitempty"` // "original:png-v2" is the imported file's own picture; or a data: URI
	Assets   []Asset `json:"assets,omitempty"`   // – | – | /data/assets
	Visual   string  `json:"visual,omitempty"`   // avatar, sprite, live2d …: what is shown of the character
	Face     string  `json:"face,omitempty"`     // the label of the expression shown first
}

// An Asset is a file that the card names.
type Asset struct {
	Type string `json:"type,omitempty"` // icon, background, user_icon, emotion, x-…
	URI  string `json:"uri,omitempty"`  // where the file is; __asset:0 is in a chunk of the picture
	Name string `json:"name,omitempty"` // its name
	Ext  string `json:"ext,omitempty"`  // lower case, without a dot
}

// Attribution is where it comes from.
type Attribution struct {
	Creator  string   `json:"creator,omitempty"`  // who made it
	Version  string   `json:"version,omitempty"`  // the creator's version
	Source   []string `json:"source,omitempty"`   // ids and addresses it came from, a list of texts
	Created  int64    `json:"created,omitempty"`  // Unix seconds
	Modified int64    `json:"modified,omitempty"` // Unix seconds
}

// Discovery is what shelves and readers see; none of it is sent to a model.
type Discovery struct {
	Tags         []string          `json:"tags,omitempty"`         // tags, a list of texts
	CreatorNotes string            `json:"creatorNotes,omitempty"` // notes for people; never sent to a model
	Multilingual map[string]string `json:"multilingual,omitempty"` // creator notes by ISO 639-1 code
	Rating       string            `json:"rating,omitempty"`       // as written: all_hours, late_night, sfw …
	Warnings     []string          `json:"warnings,omitempty"`     // content warnings
	Genre        string            `json:"genre,omitempty"`        // the genre
	Fandom       string            `json:"fandom,omitempty"`       // the fandom
}

// Presentation is how the card is drawn; none of it is sent to a model.
type Presentation struct {
	Palette    []Swatch   `json:"palette,omitempty"`
	Background Background `json:"background,omitzero"`
	FieldOrder []string   `json:"fieldOrder,omitempty"` // fields in the order of the page
	Spoilers   []string   `json:"spoilers,omitempty"`   // fields that readers uncover
	CSS        string     `json:"css,omitempty"`        // sealed
	HTML       string     `json:"html,omitempty"`       // sealed
	MediaLinks []string   `json:"mediaLinks,omitempty"` // addresses of videos and music
}

// A Background is behind the card or the chat.
type Background struct {
	Ref     string `json:"ref,omitempty"`    // an id, or a URL
	Opacity Number `json:"opacity,omitzero"` // of what is laid over it
	Rate    Number `json:"rate,omitzero"`    // of a video
}

// Links are pieces of this studio, by id.
type Links struct {
	Lorebooks []string `json:"lorebooks,omitempty"` // ids of lorebooks of this studio
	Packs     []string `json:"packs,omitempty"`     // ids of media packs of this studio
	Regexes   []string `json:"regexes,omitempty"`   // ids of regex sets of this studio
}

// Scripts are what a card brings to be run by its engine. Here they are data: shown,
// carried, never run.
type Scripts struct {
	Regex    []Rule    `json:"regex,omitempty"` // rules that the card brings, as those of a regex set; data, never run
	Triggers []Trigger `json:"triggers,omitempty"`
}

// A Trigger is a script of an engine, sealed.
type Trigger struct {
	ID     string         `json:"id"`               // unique in the card
	Name   string         `json:"name,omitempty"`   // its name
	Engine string         `json:"engine,omitempty"` // risu, rolecall, tavern_helper …
	On     bool           `json:"on"`               // whether its engine would run it
	Data   jsontext.Value `json:"data,omitzero"`    // as it stands in the file
}

// Settings is what the author dialled in.
type Settings struct {
	Talkativeness jsontext.Value    `json:"talkativeness,omitzero"` // a number, as written
	Bias          []Bias            `json:"bias,omitempty"`
	Variables     map[string]string `json:"variables,omitempty"` // first values of chat variables
	LowLevel      *bool             `json:"lowLevel,omitempty"`  // scripts ask for access to the engine
	Utility       *bool             `json:"utility,omitempty"`   // no character to talk to, a tool
}

// Bias makes a text more or less likely.
type Bias struct {
	Text  string         `json:"text"`  // a text that is made more or less likely
	Value jsontext.Value `json:"value"` // a number, as written
}

// A Variant is another telling of the same character.
type Variant struct {
	ID     string `json:"id"`
	Label  string `json:"label,omitempty"`
	Mode   string `json:"mode,omitempty"` // inherit if absent: what Fields lacks is the character's; alone: it is empty
	Fields Fields `json:"fields,omitzero"`
}

func (c Character) title() string { return c.Identity.Name }

func (c Character) links() []store.Ref {
	return slices.Concat(refs(KindLorebook, c.Links.Lorebooks...), refs(KindPack, c.Links.Packs...), refs(KindRegex, c.Links.Regexes...))
}

func (c Character) check() error {
	const op = "content.character"
	if t := c.Settings.Talkativeness; t != nil && t.Kind() != '0' {
		return fault.New(CodeBody, op, "settings.talkativeness is %q, not a number", t)
	}
	if err := c.Fields.check("the character"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, v := range c.Variants {
		if err := unique(op, "variant", v.ID, seen); err != nil {
			return err
		}
		if err := oneOf(op, "variant "+v.ID, "mode", v.Mode, []string{"inherit", "alone"}); err != nil {
			return err
		}
		if err := v.Fields.check("variant " + v.ID); err != nil {
			return err
		}
	}
	triggers := map[string]bool{}
	for _, t := range c.Behavior.Triggers {
		if err := unique(op, "trigger", t.ID, triggers); err != nil {
			return err
		}
	}
	return checkRules(op, c.Behavior.Regex)
}

func (f Fields) check(where string) error {
	const op = "content.character"
	if err := oneOf(op, where, "spelling of attributes", f.Persona.Structured.Kind, []string{"wpp", "sbf", "boostyle", "attributes", "text"}); err != nil {
		return err
	}
	for i, inj := range f.Prompts.DepthInjections {
		if !slices.Contains(roles, inj.Role) {
			return fault.New(CodeBody, op, "depth injection %d of %s has the role %q", i, where, inj.Role).
				WithHint("use system, user or assistant")
		}
		if inj.Depth < 0 {
			return fault.New(CodeBody, op, "depth injection %d of %s has the depth %d", i, where, inj.Depth).
				WithHint("use 0 for behind the last message, or more")
		}
	}
	return nil
}
