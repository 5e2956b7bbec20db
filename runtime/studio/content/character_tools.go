package content

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/store"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// characterTools are the ten of the character bundle, and creation.
func characterTools(d Deps) []tool.Tool {
	return []tool.Tool{
		createTool(d), identityTool(d), promptsTool(d), greetingsTool(d), metadataTool(d), presentationTool(d), mediaTool(d),
		linksTool(d), variantsTool(d), settingsTool(d), scriptsTool(d),
	}
}

// dead are those of the pieces that are not there, neither stored nor in a draft of the
// caller's.
func (d Deps) dead(ctx context.Context, call tool.Call, pieces []store.Ref) ([]store.Ref, error) {
	var gone []store.Ref
	for _, ref := range pieces {
		err := store.CheckRef(ref)
		if err == nil {
			_, err = d.Drafts.Base(ctx, call.Session, ref)
		}
		switch fault.CodeOf(err) {
		case "":
		case fault.NotFound:
			gone = append(gone, ref)
		default:
			return nil, err
		}
	}
	return gone, nil
}
