package content

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Pack is a set of pictures, sounds and other media under labels.
type Pack struct {
	Name        string      `json:"name,omitempty"`        // the name; the one field that must be there
	Description string      `json:"description,omitempty"` // what is in it, for people
	Tags        []string    `json:"tags,omitempty"`        // for the shelf
	Items       []PackItem  `json:"items,omitempty"`
	Groups      []PackGroup `json:"groups,omitempty"`
	Default     string      `json:"default,omitempty"` // the id of the item shown first
}

// A PackItem is one file.
type PackItem struct {
	ID    string   `json:"id"`              // unique in the pack
	Label string   `json:"label,omitempty"` // joy, sadness, …
	Ref   string   `json:"ref"`             // a data: URI, an http(s) URL, asset:ID or archive:PATH
	MIME  string   `json:"mime,omitempty"`  // image/png and the like
	Tags  []string `json:"tags,omitempty"`  // for finding it
}

// A PackGroup is a named choice of items: a costume, a mood.
type PackGroup struct {
	Name  string   `json:"name"`            // unique in the pack
	Items []string `json:"items,omitempty"` // ids
}

func (p Pack) title() string      { return p.Name }
func (p Pack) links() []store.Ref { return nil }

func (p Pack) check() error {
	const op = "content.pack"
	ids := map[string]bool{}
	for _, it := range p.Items {
		if err := unique(op, "item", it.ID, ids); err != nil {
			return err
		}
		if err := checkMediaRef(op, it.ID, it.Ref); err != nil {
			return err
		}
	}
	names := map[string]bool{}
	for _, g := range p.Groups {
		if err := unique(op, "group", g.Name, names); err != nil {
			return err
		}
		for _, id := range g.Items {
			if !ids[id] {
				return fault.New(CodeBody, op, "the group %q has the item %q, which is not there", g.Name, id)
			}
		}
	}
	if p.Default != "" && !ids[p.Default] {
		return fault.New(CodeBody, op, "the default is the item %q, which is not there", p.Default)
	}
	return nil
}

// MediaRefs are how a reference to a file can begin.
var MediaRefs = []string{"data:", "http://", "https://", "asset:", "archive:", "original:"}

func checkMediaRef(op, where, ref string) error {
	for _, p := range MediaRefs {
		if strings.HasPrefix(ref, p) && len(ref) > len(p) {
			return nil
		}
	}
	return fault.New(CodeBody, op, "the item %q refers to %q", where, clip(ref, 60)).
		WithHint("give a data: URI, an http(s) URL, asset:ID or archive:PATH")
}
