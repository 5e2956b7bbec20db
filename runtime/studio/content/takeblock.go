package content

import (
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeBlock says that a preset has no block of an id.
const CodeBlock fault.Code = "PRESET_BLOCK"

// Blocks takes blocks out of presets.
type Blocks struct{}

// TakeBlock gives a block, what a person calls it, and the preset without it: also
// without what turned it on.
func (Blocks) TakeBlock(preset []byte, id string) (block, rest []byte, name string, err error) {
	p, err := Parse[Preset](preset)
	if err != nil {
		return nil, nil, "", err
	}
	i := slices.IndexFunc(p.Blocks, func(b Block) bool { return b.ID == id })
	if i < 0 {
		var ids []string
		for _, b := range p.Blocks[:min(len(p.Blocks), 20)] {
			ids = append(ids, b.ID)
		}
		e := fault.New(CodeBlock, "content.block", "the preset %q has no block %q", clip(p.Name, 80), clip(id, 80))
		if len(ids) == 0 {
			return nil, nil, "", e.WithHint("it has no blocks")
		}
		return nil, nil, "", e.WithHint("its blocks are %s", strings.Join(ids, ", "))
	}
	if block, err = json.Marshal(p.Blocks[i], jsonv1.OmitEmptyWithLegacySemantics(true)); err != nil {
		return nil, nil, "", err
	}
	if name = p.Blocks[i].Name; name == "" {
		name = id
	}
	p.Blocks = slices.Delete(p.Blocks, i, i+1)
	for c := range p.Choices {
		for o := range p.Choices[c].Options {
			of := &p.Choices[c].Options[o].Blocks
			*of = slices.DeleteFunc(*of, func(b string) bool { return b == id })
		}
	}
	rest, err = Bytes(p)
	return block, rest, name, err
}
