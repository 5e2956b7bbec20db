package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// PersonaIdentityIn changes the texts of a persona. What is left out stays; "" clears.
type PersonaIdentityIn struct {
	ID      string  `json:"id" jsonschema:"the persona's id, as studio.list shows it"`
	Name    *string `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	Title   *string `json:"title,omitempty" jsonschema:"a title, to tell personas of one name apart; an empty text clears it"`
	Brief   *string `json:"brief,omitempty" jsonschema:"one line for the shelf, never sent to a model; an empty text clears it"`
	Content *string `json:"content,omitempty" jsonschema:"the whole text that a model reads of the user; an empty text clears it"`
}

func personaIdentityTool(d Deps) tool.Tool {
	const id = "persona.identity.update"
	return tool.New(drafting(id, "Update a persona's identity",
		"Change a persona's name, title, brief and the content that a model reads, as a draft.",
		"Brief is for the shelf and never sent; content is injected. Give only what should change. Several calls compose into one draft.",
		"rename the persona", "my name", "who i am", "persona description", "persona text", "brief", "about me", "first person"),
		func(ctx context.Context, call tool.Call, in PersonaIdentityIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPersona, id, in.ID}, in, func(p *Persona, warn say) error {
				put(&p.Name, in.Name)
				put(&p.Title, in.Title)
				put(&p.Brief, in.Brief)
				put(&p.Content, in.Content)
				p.warnContent(warn)
				return nil
			})
		})
}

// PersonaProfileIn changes the structured profile. What is left out stays; "" clears.
type PersonaProfileIn struct {
	ID          string  `json:"id" jsonschema:"the persona's id, as studio.list shows it"`
	Appearance  *string `json:"appearance,omitempty" jsonschema:"what the user looks like; an empty text clears it"`
	Body        *string `json:"body,omitempty" jsonschema:"the body: build, height, marks; an empty text clears it"`
	Personality *string `json:"personality,omitempty" jsonschema:"the personality; an empty text clears it"`
	Quirks      *string `json:"quirks,omitempty" jsonschema:"habits and quirks; an empty text clears it"`
	History     *string `json:"history,omitempty" jsonschema:"what happened before; an empty text clears it"`
	Scenario    *string `json:"scenario,omitempty" jsonschema:"where and when it plays; an empty text clears it"`
	Subjective  *string `json:"subjective,omitempty" jsonschema:"the pronoun as a subject: she, he, they; an empty text clears it"`
	Objective   *string `json:"objective,omitempty" jsonschema:"the pronoun as an object: her, him, them; an empty text clears it"`
	Possessive  *string `json:"possessive,omitempty" jsonschema:"the pronoun of possession: her, his, their; an empty text clears it"`
}

func personaProfileTool(d Deps) tool.Tool {
	const id = "persona.profile.update"
	return tool.New(drafting(id, "Update a persona's profile",
		"Change a persona's appearance, body, personality, quirks, history, scenario and pronouns, as a draft.",
		"Sections stand beside the content. Give only what should change. Several calls compose into one draft.",
		"my appearance", "what i look like", "my pronouns", "quirk", "habit", "my history", "my backstory", "section", "structured profile"),
		func(ctx context.Context, call tool.Call, in PersonaProfileIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPersona, id, in.ID}, in, func(p *Persona, _ say) error {
				s := &p.Sections
				put(&s.Appearance, in.Appearance)
				put(&s.Body, in.Body)
				put(&s.Personality, in.Personality)
				put(&s.Quirks, in.Quirks)
				put(&s.History, in.History)
				put(&s.Scenario, in.Scenario)
				put(&p.Pronouns.Subjective, in.Subjective)
				put(&p.Pronouns.Objective, in.Objective)
				put(&p.Pronouns.Possessive, in.Possessive)
				return nil
			})
		})
}

// A PersonaPosition is where the content goes.
type PersonaPosition string

// Enum lists the positions.
func (PersonaPosition) Enum() []string {
	return []string{"prompt", "note_top", "note_bottom", "depth", "none"}
}

// A PersonaInject is a setting that can be left to the app again.
type PersonaInject string

// Enum lists the settings.
func (PersonaInject) Enum() []string { return []string{"position", "depth", "role"} }

// PersonaInjectionIn changes where the content goes. What is left out stays; "" clears.
type PersonaInjectionIn struct {
	ID       string          `json:"id" jsonschema:"the persona's id, as studio.list shows it"`
	Position PersonaPosition `json:"position,omitempty" jsonschema:"prompt is in the main prompt, note_top and note_bottom are around the author's note, depth is so many messages from the end, none is nowhere"`
	Depth    *int            `json:"depth,omitempty" jsonschema:"for position depth: how many messages from the end; 0 is behind the last one"`
	Role     Role            `json:"role,omitempty" jsonschema:"for position depth: who speaks it"`
	Unset    []PersonaInject `json:"unset,omitempty" jsonschema:"settings to leave to the app again"`
	Book     *string         `json:"book,omitempty" jsonschema:"the id of a lorebook of this studio that comes with the persona; an empty text unlinks it"`
	BookName *string         `json:"book_name,omitempty" jsonschema:"the same by the name that files have for it; an empty text clears it"`
}

func personaInjectionTool(d Deps) tool.Tool {
	const id = "persona.injection.update"
	return tool.New(drafting(id, "Update a persona's injection",
		"Change where a persona's content goes in a chat, and which lorebook comes with it, as a draft.",
		"A link to a lorebook that is not there is kept, and is a warning on the draft. Give only what should change.",
		"persona position", "where the persona goes", "persona depth", "insert the persona", "persona role", "persona lorebook", "attach a lorebook to the persona"),
		func(ctx context.Context, call tool.Call, in PersonaInjectionIn) (tool.Reply[preview.Drafted], error) {
			dead, err := d.dead(ctx, call, refs(KindLorebook, text(in.Book)))
			if err != nil {
				return tool.Reply[preview.Drafted]{}, err
			}
			return edit(ctx, d, call, action{KindPersona, id, in.ID}, in, func(p *Persona, warn say) error {
				warnDead(warn, dead)
				put(&p.Book, in.Book)
				put(&p.BookName, in.BookName)
				return p.Injection.update(in, warn)
			})
		})
}

func (i *PersonaInjection) update(in PersonaInjectionIn, warn say) error {
	const op = "persona.injection"
	if in.Depth != nil && *in.Depth < 0 {
		return fault.New(fault.Invalid, op, "the depth is %d", *in.Depth).WithHint("use 0 for behind the last message, or more")
	}
	if in.Position != "" {
		i.Position = string(in.Position)
	}
	if in.Role != "" {
		i.Role = string(in.Role)
	}
	set(&i.Depth, in.Depth)
	err := unset(op, words(in.Unset), map[string]func(){"position": wipe(&i.Position), "depth": wipe(&i.Depth), "role": wipe(&i.Role)})
	if i.Position != "depth" && (in.Depth != nil || in.Role != "") {
		warn("depth and role only count at the position depth, and the position is %q", i.Position)
	}
	return err
}

// PersonaPresentationIn changes how a persona looks. What is left out stays; "" clears.
type PersonaPresentationIn struct {
	ID         string      `json:"id" jsonschema:"the persona's id, as studio.list shows it"`
	Portrait   *string     `json:"portrait,omitempty" jsonschema:"the picture: a data: URI, an http(s) address, asset:ID or archive:PATH; an empty text clears it"`
	Palette    *[]SwatchIn `json:"palette,omitempty" jsonschema:"the whole list of colours; an empty list clears it"`
	Tags       *[]string   `json:"tags,omitempty" jsonschema:"the whole list of tags; an empty list clears it"`
	AddTags    []string    `json:"add_tags,omitempty" jsonschema:"tags to append"`
	RemoveTags []string    `json:"remove_tags,omitempty" jsonschema:"tags to take away, upper or lower case"`
}

func personaPresentationTool(d Deps) tool.Tool {
	const id = "persona.presentation.update"
	return tool.New(drafting(id, "Update how a persona looks",
		"Change a persona's portrait, colours and tags, as a draft.",
		"Nothing of it is sent to a model; references are stored and not fetched. Give only what should change.",
		"my avatar", "my picture", "persona picture", "name color", "dialogue colour", "persona tags"),
		func(ctx context.Context, call tool.Call, in PersonaPresentationIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindPersona, id, in.ID}, in, func(p *Persona, _ say) error {
				if in.Palette != nil {
					p.Palette = swatches(*in.Palette)
				}
				p.Tags = retag(p.Tags, in.Tags, in.AddTags, in.RemoveTags)
				return portrait(&p.Portrait, in.Portrait)
			})
		})
}
