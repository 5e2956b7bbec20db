package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// PersonaCreateIn is a new persona.
type PersonaCreateIn struct {
	ID       string   `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name     string   `json:"name" jsonschema:"who the user is: the name"`
	Title    string   `json:"title,omitempty" jsonschema:"a title, to tell personas of one name apart"`
	Brief    string   `json:"brief,omitempty" jsonschema:"one line for the shelf; never sent to a model"`
	Content  string   `json:"content,omitempty" jsonschema:"what a model reads of the user, often in the first person; this is injected into chats"`
	Portrait string   `json:"portrait,omitempty" jsonschema:"the picture: a data: URI, an http(s) address, asset:ID or archive:PATH; stored, not fetched"`
	Tags     []string `json:"tags,omitempty" jsonschema:"tags for the shelf"`
}

func personaTools(d Deps) []tool.Tool {
	return []tool.Tool{personaCreateTool(d), personaIdentityTool(d), personaProfileTool(d), personaInjectionTool(d), personaPresentationTool(d)}
}

func personaCreateTool(d Deps) tool.Tool {
	const id = "studio.persona.create"
	return tool.New(drafting(id, "Create a persona", "Create a new persona, who the user is in a chat, as a draft.",
		"Only the name is needed. Brief is for the shelf and never sent; content is what a model reads: do not put one into the other. An id that is taken is refused.",
		"new persona", "make a persona", "user profile", "who i am", "myself", "player character", "user character"),
		func(ctx context.Context, call tool.Call, in PersonaCreateIn) (tool.Reply[preview.Drafted], error) {
			p := Persona{Name: in.Name, Title: in.Title, Brief: in.Brief, Content: in.Content, Tags: in.Tags}
			return createNoted(ctx, d, call, action{KindPersona, id, in.ID}, in, p, func(p *Persona, warn say) error {
				p.warnContent(warn)
				return portrait(&p.Portrait, &in.Portrait)
			})
		})
}

// warnContent says so where a persona has something for the shelf and nothing for a model.
func (p *Persona) warnContent(warn say) {
	if p.Content == "" && p.Brief != "" && p.Sections == (PersonaSections{}) {
		warn("%q has a brief, which is never sent, and no content: a model reads nothing of this persona but the name", p.Name)
	}
}
