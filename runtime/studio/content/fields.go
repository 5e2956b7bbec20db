package content

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/preview"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// editFields is edit on the base path of a character, or on that of a variant.
func editFields[In any](ctx context.Context, d Deps, call tool.Call, a action, variant string, in In, op func(*Fields) error) (tool.Reply[preview.Drafted], error) {
	return edit(ctx, d, call, a, in, func(c *Character, _ say) error {
		f, err := c.fields(variant)
		if err != nil {
			return err
		}
		return op(f)
	})
}

// fields is the base path, or that of a variant.
func (c *Character) fields(variant string) (*Fields, error) {
	if variant == "" {
		return &c.Fields, nil
	}
	var ids []string
	for i := range c.Variants {
		if c.Variants[i].ID == variant {
			return &c.Variants[i].Fields, nil
		}
		ids = append(ids, c.Variants[i].ID)
	}
	e := fault.New(CodeVariant, "content.variant", "%q has no variant %q", c.Identity.Name, variant)
	if len(ids) == 0 {
		return nil, e.WithHint("it has no variants: leave variant out")
	}
	return nil, e.WithHint("use one of %s, or leave variant out", strings.Join(ids, ", "))
}
