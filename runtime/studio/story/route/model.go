package route

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Model says what a person means where no other tier does.
type Model interface {
	Mean(ctx context.Context, q Question) (Meaning, error)
}

// Tool is the name of the one tool that a model answers with.
const Tool = "transition"

// A Question is what a model is asked.
type Question struct {
	Text    string   `json:"text"`  // what the person said
	State   string   `json:"state"` // where the story stands
	Intents []string `json:"intents"`
	System  string   `json:"system"` // the story and its task
	Prompt  string   `json:"prompt"` // where the story stands, and the text
	Schema  []byte   `json:"-"`      // of the input of Tool, a JSON object
}

// A Meaning is what a model made of a text.
type Meaning struct {
	Intent     string // "" where it names none
	Slots      value.Value
	Confidence float64 // 0 where it does not say
	Said       string  // in place of an intent
	Model      string
	Certain    bool // the bars do not count: a recording, a person
}

// A Past is one turn before this one.
type Past struct{ Text, Intent, State string }

const task = `You route what a person says to one intent of a story. Call the tool transition once, with one of the intents that it lists, the slots
that the person filled, and how sure you are from 0 to 1. Leave a slot out that the person does not fill. Do not answer the person. Where
nothing fits or several intents fit alike, name the likeliest with a confidence below 0.5.`

// question is what a model is asked about a text.
func (r *Router) question(in Input, allowed []machine.Allowed) Question {
	q := Question{Text: in.Text, State: in.At.State}
	title := r.story.Title
	if title == "" {
		title = r.story.ID
	}
	q.System = task + "\n\nThe story: " + title
	var b strings.Builder
	b.WriteString("The story stands in: " + in.At.State + "\n")
	leaf := r.story.States[in.At.State]
	if leaf != nil && leaf.Description != "" {
		b.WriteString(leaf.Description + "\n")
	}
	if page, err := r.machine.Render(in.At); err == nil && page != "" { // a page that cannot be shown is shown to nobody
		b.WriteString("\nThe person sees:\n" + page + "\n")
	}
	b.WriteString("\nThe intents:\n")
	for _, a := range allowed {
		q.Intents = append(q.Intents, a.Name)
		b.WriteString(told(a))
	}
	if known := r.relevant(in.At, leaf); known.Len() > 0 {
		b.WriteString("\nWhat counts here: " + known.JSON() + "\n")
	}
	for i, p := range in.Past {
		if i == 0 {
			b.WriteString("\nBefore:\n")
		}
		b.WriteString("- " + quote(p.Text) + " was " + p.Intent + " and led to " + p.State + "\n")
	}
	b.WriteString("\nThe person says: " + in.Text + "\n")
	q.Prompt = b.String()
	q.Schema = []byte(schema(allowed).JSON())
	return q
}

// told is one line about an intent, and one for each of its slots.
func told(a machine.Allowed) string {
	var b strings.Builder
	b.WriteString("- " + a.Name)
	for _, text := range []string{a.Intent.Title, a.Intent.Description} {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			b.WriteString(": " + text)
		}
	}
	if len(a.Intent.Examples) > 0 {
		b.WriteString(" (" + strings.Join(a.Intent.Examples, " | ") + ")")
	}
	b.WriteByte('\n')
	for _, name := range a.Intent.SlotOrder {
		s := a.Intent.Slots[name]
		b.WriteString("  - " + name)
		if s.Type != "" {
			b.WriteString(", " + s.Type)
		}
		if s.Required {
			b.WriteString(", required")
		}
		if len(s.Values) > 0 {
			b.WriteString(": " + strings.Join(s.Values, ", "))
		}
		if s.Description != "" {
			b.WriteString("; " + strings.Join(strings.Fields(s.Description), " "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// relevant is the part of the world that a state says counts in it.
func (r *Router) relevant(at machine.Situation, leaf *program.State) value.Value {
	known := map[string]value.Value{}
	for s := leaf; s != nil; s = s.Parent {
		for _, key := range s.RelevantWorld {
			if v, ok := at.World.Get(key); ok {
				known[key] = v
			}
		}
	}
	return value.Owned(known)
}

// schema is that of the tool's input. Providers refuse alternatives at the top of a schema,
// so the slots of all intents stand in one object; the machine holds an intent to its own.
func schema(allowed []machine.Allowed) value.Value {
	type object = map[string]value.Value
	slots := object{}
	var names []value.Value
	for _, a := range allowed {
		names = append(names, value.Of(a.Name))
		for _, name := range slices.Sorted(maps.Keys(a.Intent.Slots)) {
			if _, ok := slots[name]; !ok {
				slots[name] = slotSchema(a.Intent.Slots[name])
			}
		}
	}
	return value.Owned(object{
		"type": value.Of("object"), "additionalProperties": value.Of(false), "required": value.NewList(value.Of("intent")),
		"properties": value.Owned(object{
			"intent":     value.Owned(object{"type": value.Of("string"), "enum": value.NewList(names...)}),
			"slots":      value.Owned(object{"type": value.Of("object"), "properties": value.Owned(slots)}),
			"confidence": value.Owned(object{"type": value.Of("number"), "minimum": value.Of(0), "maximum": value.Of(1)}),
		}),
	})
}

func slotSchema(s *program.Slot) value.Value {
	p := map[string]value.Value{"type": value.Of("string")}
	switch s.Type {
	case "int", "money", "$int":
		p["type"] = value.Of("integer")
	case "float", "number":
		p["type"] = value.Of("number")
	case "bool":
		p["type"] = value.Of("boolean")
	}
	if s.Description != "" {
		p["description"] = value.Of(s.Description)
	}
	if len(s.Values) > 0 {
		var list []value.Value
		for _, v := range s.Values {
			list = append(list, value.Of(v))
		}
		p["enum"] = value.NewList(list...)
	}
	return value.Owned(p)
}
