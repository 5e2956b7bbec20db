package card

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

const op = "card.read"

// detect finds the version, and refuses what only looks like a card: a world book
// has a name too.
func (c *Card) detect() error {
	root := c.Doc
	if root.Kind() != canon.Object {
		return fault.New(CodeNotCard, op, "the document is %s, not an object", root.Kind())
	}
	if err := otherFormat(root); err != nil {
		return err
	}
	spec, data := root.Field("spec").Text(), root.Field("data")
	switch {
	case data.Kind() == canon.Object && spec == "chara_card_v3":
		c.Version = V3
		c.checkVersion("3.0")
	case data.Kind() == canon.Object && spec == "chara_card_v2":
		c.Version = V2
		c.checkVersion("2.0")
	case data.Kind() == canon.Object && data.Field("name") != nil:
		c.Version = V2
		if data.Field("group_only_greetings") != nil || data.Field("assets") != nil {
			c.Version = V3
		}
		if spec == "" {
			c.warn("spec missing: the document has the shape of a %s card and is read as one", c.Version)
		} else {
			c.warn("spec %q is not known: the document is read as a %s card", spec, c.Version)
		}
	case isFlat(root):
		c.Version = V1
		if spec != "" {
			c.warn("spec is %q and there is no data object: the document is read as a v1 card", spec)
		}
	default:
		return fault.New(CodeNotCard, op, "the JSON is not a character card: it has no data object with a name, and no name beside a description or a first message").
			WithHint("character cards have \"spec\": \"chara_card_v2\" or \"chara_card_v3\", or a name and a description")
	}
	return nil
}

// isFlat holds the firewall: a name alone is not a card.
func isFlat(root *canon.Node) bool {
	if root.Field("name") == nil || root.Field("entries") != nil {
		return false
	}
	for _, key := range []string{"description", "personality", "scenario", "first_mes", "mes_example"} {
		if root.Field(key).Kind() == canon.String {
			return true
		}
	}
	return false
}

func (c *Card) checkVersion(want string) {
	n := c.Doc.Field("spec_version")
	text := n.Text()
	switch n.Kind() {
	case canon.String:
	case canon.Number:
		text = n.Raw()
		c.warn("spec_version type: it is the number %s and should be a string", text)
	default:
		c.warn("spec_version type: it is %s and should be the string %q", n.Kind(), want)
		return
	}
	f, err := strconv.ParseFloat(text, 64)
	major := float64(c.Version)
	if err != nil || f < major || f >= major+1 {
		c.warn("spec_version is %q: this version is not known, and is read as %s", text, want)
	}
}

func otherFormat(root *canon.Node) error {
	name := ""
	kind, spec := root.Field("kind").Text(), root.Field("spec").Text()
	switch {
	case root.Field("type").Text() == "marinara_character":
		name = "a Marinara character"
	case kind == "character" && root.Field("persona").Kind() == canon.Object:
		name = "an Agnai character"
	case root.Field("char_name") != nil && root.Field("name") == nil:
		name = "a Pygmalion character"
	case root.At("/data/extensions/rolecall/type").Text() == "persona":
		name = "a RoleCall persona"
	}
	if name != "" {
		return fault.New(CodeFormat, op, "the file is %s, a format that is not read yet", name).
			WithHint("export it from its program as a Character Card, version 2 or 3")
	}
	switch {
	case spec == "lorebook_v3", root.Field("entries") != nil && root.Field("data") == nil && root.Field("first_mes") == nil:
		return fault.New(CodeNotCard, op, "the file is a lorebook, not a character card")
	case root.Field("scriptName") != nil || root.Field("findRegex") != nil:
		return fault.New(CodeNotCard, op, "the file is a regex script, not a character card")
	case root.Field("prompts") != nil && root.Field("prompt_order") != nil:
		return fault.New(CodeNotCard, op, "the file is a preset, not a character card")
	}
	return nil
}
