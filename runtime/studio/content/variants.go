package content

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A VariantMode says what a variant takes from the character.
type VariantMode string

// Enum lists the modes.
func (VariantMode) Enum() []string { return []string{"inherit", "alone"} }

// A VariantField is a field that a variant inherits or owns.
type VariantField string

// Enum lists the fields.
func (VariantField) Enum() []string {
	names := make([]string, len(variantFields))
	for i, f := range variantFields {
		names[i] = f.name
	}
	return names
}

// NewVariant is a variant to add.
type NewVariant struct {
	ID    string         `json:"id,omitempty" jsonschema:"its id in the character; made of the label if left out"`
	Label string         `json:"label" jsonschema:"what people call it, such as Forty years ago"`
	Mode  VariantMode    `json:"mode,omitempty" jsonschema:"inherit takes from the character what the variant does not own, alone takes nothing; inherit if left out"`
	Own   []VariantField `json:"own,omitempty" jsonschema:"fields to begin with, as they are in the character"`
}

// VariantPatch changes a variant that is there.
type VariantPatch struct {
	ID      string         `json:"id" jsonschema:"the variant's id"`
	Label   *string        `json:"label,omitempty" jsonschema:"a new label; the id stays"`
	Mode    VariantMode    `json:"mode,omitempty" jsonschema:"inherit or alone"`
	Own     []VariantField `json:"own,omitempty" jsonschema:"fields to copy from the character, so that the variant has them of its own"`
	Inherit []VariantField `json:"inherit,omitempty" jsonschema:"fields of its own to give up, so that the character's hold again"`
}

// VariantsIn manages the variants of a character.
type VariantsIn struct {
	ID     string         `json:"id" jsonschema:"the character's id, as studio.list shows it"`
	Add    []NewVariant   `json:"add,omitempty" jsonschema:"variants to add at the end"`
	Update []VariantPatch `json:"update,omitempty" jsonschema:"variants to change"`
	Remove []string       `json:"remove,omitempty" jsonschema:"ids of variants to remove"`
	Order  []string       `json:"order,omitempty" jsonschema:"ids of variants in a new order"`
}

var variantRoll = rows[Variant]{"variant", func(v Variant) string { return v.ID }}

func variantsTool(d Deps) tool.Tool {
	const id = "character.variants.manage"
	return tool.New(drafting(id, "Manage a character's variants",
		"Add, remove, rename and reorder variants of a character, and say which fields they inherit or own, as a draft.",
		"A variant is another telling of the same character: what it does not own it inherits, unless its mode is alone. Add, update, remove and order run in "+
			"this order. To write a variant's own text, use the identity, prompts and greetings capabilities with variant.",
		"alternate version", "au", "alternate universe", "another telling", "alter ego", "younger version", "inherit a field", "override", "version of the character"),
		func(ctx context.Context, call tool.Call, in VariantsIn) (tool.Reply[preview.Drafted], error) {
			return edit(ctx, d, call, action{KindCharacter, id, in.ID}, in, func(c *Character, warn say) error { return c.manage(in, warn) })
		})
}

func (c *Character) manage(in VariantsIn, warn say) error {
	taken := variantRoll.taken(c.Variants)
	for _, a := range in.Add {
		id, err := variantRoll.claim(taken, a.ID, a.Label)
		if err != nil {
			return err
		}
		v := Variant{ID: id, Label: a.Label, Mode: modeOf(a.Mode)}
		c.own(&v, a.Own, warn)
		c.Variants = append(c.Variants, v)
	}
	for _, u := range in.Update {
		i, err := variantRoll.at(c.Variants, u.ID)
		if err != nil {
			return err
		}
		if err := c.revise(&c.Variants[i], u, warn); err != nil {
			return err
		}
	}
	var err error
	if c.Variants, _, err = variantRoll.remove(c.Variants, in.Remove); err != nil {
		return err
	}
	c.Variants, err = variantRoll.ordered(c.Variants, in.Order)
	return err
}

func (c *Character) revise(v *Variant, u VariantPatch, warn say) error {
	for _, f := range u.Own {
		if slices.Contains(u.Inherit, f) {
			return fault.New(fault.Invalid, "character.variants", "variant %q should own %q and inherit it", v.ID, f).WithHint("name a field once")
		}
	}
	put(&v.Label, u.Label)
	if u.Mode != "" {
		v.Mode = modeOf(u.Mode)
	}
	c.own(v, u.Own, warn)
	for _, f := range u.Inherit {
		fieldNamed(f).copy(&v.Fields, &Fields{})
	}
	if v.Mode == "alone" && len(u.Inherit) > 0 {
		warn("variant %q is alone: what it gives up is empty and not the character's", v.ID)
	}
	return nil
}

// own copies fields of the character into a variant. An empty one cannot be owned: a
// variant without it inherits.
func (c *Character) own(v *Variant, names []VariantField, warn say) {
	for _, f := range names {
		f := fieldNamed(f)
		var was, now Fields
		f.copy(&was, &Fields{})
		f.copy(&now, &c.Fields)
		if reflect.DeepEqual(was, now) {
			warn("%q has no %s that variant %q could own", c.Identity.Name, strings.ReplaceAll(f.name, "_", " "), v.ID)
		}
		f.copy(&v.Fields, &c.Fields)
	}
}

// modeOf is the mode as bodies have it: what is usual is absent.
func modeOf(m VariantMode) string {
	if m == "alone" {
		return "alone"
	}
	return ""
}

// A variantField copies one field.
type variantField struct {
	name string
	copy func(to, from *Fields)
}

func fieldNamed(name VariantField) variantField {
	i := slices.IndexFunc(variantFields, func(f variantField) bool { return f.name == string(name) })
	return variantFields[i] // the schema has no other
}

var variantFields = []variantField{
	{"identity.name", func(to, from *Fields) { to.Identity.Name = from.Identity.Name }},
	{"identity.nickname", func(to, from *Fields) { to.Identity.Nickname = from.Identity.Nickname }},
	{"identity.tagline", func(to, from *Fields) { to.Identity.Tagline = from.Identity.Tagline }},
	{"identity.full_name", func(to, from *Fields) { to.Identity.FullName = from.Identity.FullName }},
	{"identity.title", func(to, from *Fields) { to.Identity.Title = from.Identity.Title }},
	{"identity.age", func(to, from *Fields) { to.Identity.Age = from.Identity.Age }},
	{"identity.pronouns", func(to, from *Fields) { to.Identity.Pronouns = from.Identity.Pronouns }},
	{"persona.description", func(to, from *Fields) { to.Persona.Description = from.Persona.Description }},
	{"persona.personality", func(to, from *Fields) { to.Persona.Personality = from.Persona.Personality }},
	{"persona.scenario", func(to, from *Fields) { to.Persona.Scenario = from.Persona.Scenario }},
	{"persona.appearance", func(to, from *Fields) { to.Persona.Appearance = from.Persona.Appearance }},
	{"persona.backstory", func(to, from *Fields) { to.Persona.Backstory = from.Persona.Backstory }},
	{"persona.traits", func(to, from *Fields) { to.Persona.Structured = from.Persona.Structured }},
	{"prompts.system", func(to, from *Fields) { to.Prompts.System = from.Prompts.System }},
	{"prompts.post_history", func(to, from *Fields) { to.Prompts.PostHistory = from.Prompts.PostHistory }},
	{"prompts.depth_injections", func(to, from *Fields) { to.Prompts.DepthInjections = from.Prompts.DepthInjections }},
	{"prompts.prefill", func(to, from *Fields) { to.Prompts.Prefill = from.Prompts.Prefill }},
	{"prompts.additional_text", func(to, from *Fields) { to.Prompts.AdditionalText = from.Prompts.AdditionalText }},
	{"greetings.first", func(to, from *Fields) { to.Greetings.First = from.Greetings.First }},
	{"greetings.alternates", func(to, from *Fields) { to.Greetings.Alternates = from.Greetings.Alternates }},
	{"greetings.group_only", func(to, from *Fields) { to.Greetings.GroupOnly = from.Greetings.GroupOnly }},
	{"examples", func(to, from *Fields) { to.Examples = from.Examples }},
}
