package starlark

import (
	"slices"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Sidecar says what a script takes and gives: <script>.star.yaml.
type Sidecar struct {
	Inputs, Outputs []Field
}

// A Field is one of them.
type Field struct {
	Name, Type string // string, int, number, bool, object, list, any
	Required   bool
}

// Types are the types of fields.
var Types = []string{"string", "int", "number", "bool", "object", "list", "any"}

// ParseSidecar reads a sidecar, and says what is wrong with it.
func ParseSidecar(name string, raw []byte) (Sidecar, []source.Problem) {
	var r source.Reader
	n := r.Parse(name, raw)
	problems := r.Problems()
	var s Sidecar
	for key, into := range map[string]*[]Field{"inputs": &s.Inputs, "outputs": &s.Outputs} {
		block := n.Get(key)
		if block.IsNull() {
			continue
		}
		for _, k := range block.Keys {
			f := Field{Name: k.Name, Type: k.Val.Get("type").Value().Text(), Required: k.Val.Get("required").Value().Bool()}
			if k.Val.IsText() {
				f.Type = k.Val.Scalar.Str()
			}
			if f.Type == "" {
				f.Type = "any"
			}
			if !slices.Contains(Types, f.Type) {
				problems = append(problems, source.Problem{Pos: k.Pos, Message: key + "." + k.Name + " has the type " + f.Type + ", which is none"})
			}
			*into = append(*into, f)
		}
	}
	return s, problems
}

// Fits reports a value that a type allows. A whole number is a number, and 3.0 is whole.
func Fits(kind string, v value.Value) bool {
	switch kind {
	case "string":
		return v.Kind() == value.String
	case "int":
		_, ok := v.Int()
		return ok
	case "number":
		_, ok := v.Float()
		return ok
	case "bool":
		return v.Kind() == value.Bool
	case "object":
		return v.Kind() == value.Map
	case "list":
		return v.Kind() == value.List
	}
	return true
}

func (s Sidecar) inputs(name string, in value.Value) (value.Value, error) {
	if in.IsNil() {
		in = value.NewMap(nil)
	}
	for _, f := range s.Inputs {
		v, ok := in.Get(f.Name)
		switch {
		case f.Required && (!ok || v.IsNil()):
			return in, fault.New(CodeShape, "story.script", "%s needs the input %q", name, f.Name)
		case ok && !v.IsNil() && !Fits(f.Type, v):
			return in, fault.New(CodeShape, "story.script", "%s: the input %q is a %s, and not a %s", name, f.Name, v.Kind(), f.Type)
		}
	}
	for got := range in.Members() {
		if !slices.ContainsFunc(s.Inputs, func(f Field) bool { return f.Name == got }) {
			return in, fault.New(CodeShape, "story.script", "%s does not declare the input %q", name, got)
		}
	}
	return in, nil
}

func (s Sidecar) outputs(name string, out value.Value) error {
	if out.Kind() != value.Map {
		return fault.New(CodeShape, "story.script", "%s gives a %s, and not a dict", name, out.Kind())
	}
	for _, f := range s.Outputs {
		v, ok := out.Get(f.Name)
		switch {
		case !ok:
			return fault.New(CodeShape, "story.script", "%s does not give the output %q", name, f.Name)
		case !v.IsNil() && !Fits(f.Type, v):
			return fault.New(CodeShape, "story.script", "%s: the output %q is a %s, and not a %s", name, f.Name, v.Kind(), f.Type)
		}
	}
	for got := range out.Members() {
		if !slices.ContainsFunc(s.Outputs, func(f Field) bool { return f.Name == got }) {
			return fault.New(CodeShape, "story.script", "%s does not declare the output %q", name, got)
		}
	}
	return nil
}
