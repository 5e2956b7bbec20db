package load

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// Nodes that stand in no file: what a phase writes.

func text(s string) value.Value { return value.Of(s) }

func scalarNode(at program.Pos, v value.Value) *source.Node { return &source.Node{Pos: at, Scalar: v} }

func textNode(at program.Pos, s string) *source.Node { return scalarNode(at, value.Of(s)) }

func listNode(at program.Pos, items ...*source.Node) *source.Node {
	return &source.Node{Pos: at, Kind: source.List, List: items}
}

func mapNode(at program.Pos, keys ...*source.Key) *source.Node {
	return &source.Node{Pos: at, Kind: source.Map, Keys: keys}
}

func key(name string, val *source.Node) *source.Key {
	return &source.Key{Name: name, Pos: val.Pos, Val: val}
}
