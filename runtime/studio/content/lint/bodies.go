package lint

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

func (v *visit) character(c content.Character) {
	v.rules("/behavior/regex", c.Behavior.Regex)
	var labels []string
	for _, variant := range c.Variants {
		labels = append(labels, variant.Label)
	}
	v.names("variant", "/variants", "label", labels)
}

func (v *visit) lorebook(b content.Lorebook) {
	var titles []string
	for i, e := range b.Entries {
		titles = append(titles, e.Title)
		at := fmt.Sprintf("/entries/%d", i)
		if e.Enabled && e.Activation == "" && len(e.Keys) == 0 {
			v.add("key-empty", at+"/keys", "the entry %q has no key and is not constant", nameOf(e.Title, e.ID))
		}
		if e.Enabled && strings.TrimSpace(e.Content) == "" {
			v.add("entry-empty", at+"/content", "the entry %q has no text", nameOf(e.Title, e.ID))
		}
		v.keys(at+"/keys", e.Keys)
		v.keys(at+"/secondary", e.Secondary)
	}
	v.names("entry", "/entries", "title", titles)
}

func (v *visit) keys(at string, keys []content.LoreKey) {
	seen := map[string]bool{}
	for i, k := range keys {
		text := strings.TrimSpace(k.Text)
		switch {
		case text == "":
			v.add("key-blank", fmt.Sprintf("%s/%d", at, i), "the key is %q", k.Text)
		case seen[k.Text]:
			v.add("key-duplicate", fmt.Sprintf("%s/%d", at, i), "the key %q is there twice", plain.Clip(k.Text, 60))
		}
		seen[k.Text] = true
	}
}

func (v *visit) preset(p content.Preset) {
	var names []string
	ids := map[string]bool{}
	for i, b := range p.Blocks {
		names = append(names, b.Name)
		ids[b.ID] = true
		at := fmt.Sprintf("/blocks/%d", i)
		if b.Unlisted {
			v.add("block-unlisted", at, "the block %q is in no order", nameOf(b.Name, b.ID))
		} else if b.Enabled && b.Marker == "" && !b.Sealed && strings.TrimSpace(b.Content) == "" {
			v.add("block-ghost", at, "the block %q has neither text nor marker", nameOf(b.Name, b.ID))
		}
	}
	v.names("block", "/blocks", "name", names)
	for i, c := range p.Choices {
		for j, o := range c.Options {
			for k, id := range o.Blocks {
				if !ids[id] {
					v.add("choice-dead", fmt.Sprintf("/choices/%d/options/%d/blocks/%d", i, j, k), "there is no block %q", plain.Clip(id, 60))
				}
			}
		}
	}
}

func (v *visit) regex(s content.RegexSet) { v.rules("/rules", s.Rules) }

func (v *visit) rules(list string, rules []content.Rule) {
	var names []string
	for i, r := range rules {
		names = append(names, r.Name)
		at, name := fmt.Sprintf("%s/%d", list, i), nameOf(r.Name, r.ID)
		if r.MinDepth != nil && r.MaxDepth != nil && *r.MinDepth > *r.MaxDepth && *r.MaxDepth >= 0 {
			v.add("regex-depth", at+"/minDepth", "the rule %q runs from depth %d to %d", name, *r.MinDepth, *r.MaxDepth)
		}
		if !r.Enabled {
			continue
		}
		if len(r.Placement) == 0 {
			v.add("regex-placement", at+"/placement", "the rule %q is placed nowhere", name)
		}
		switch {
		case r.Find == "":
			v.add("regex-empty", at+"/find", "the rule %q has no pattern", name)
		case !strings.Contains(r.Flags, "g"):
			v.add("regex-no-g", at+"/flags", "the rule %q changes the first match only", name)
		}
	}
	v.names("rule", list, "name", names)
}

func (v *visit) quickReplies(s content.QuickReplySet) {
	var labels []string
	for _, r := range s.Replies {
		labels = append(labels, r.Label)
	}
	v.names("reply", "/replies", "label", labels)
}

func (v *visit) pack(p content.Pack) {
	if len(p.Items) > ManyItems {
		v.add("size-list", "/items", "%d items", len(p.Items))
	}
}

// nameOf is what people call an item.
func nameOf(name, id string) string {
	if name == "" {
		name = id
	}
	return plain.Clip(name, 60)
}
