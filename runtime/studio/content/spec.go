package content

import (
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// drafting is what is the same in every capability on a piece: it is found by search,
// composes a draft, and calls on one piece never overlap. id is kind.area.action, or
// studio.kind.create.
func drafting(id, title, summary, description string, aliases ...string) tool.Spec {
	part := strings.Split(id, ".")
	kind, area := part[0], part[1]
	if kind == "studio" {
		kind, area = part[1], "lifecycle"
	}
	return tool.Spec{
		ID: id, Title: title, Effect: tool.Draft, Exposure: tool.Deferred,
		Domain: "content", Kind: kind, Area: area, Action: part[2], Concurrency: "piece:" + kind + "/{id}",
		Summary: summary, Description: description, Aliases: aliases,
	}
}
