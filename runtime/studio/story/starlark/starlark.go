// Package starlark runs the scripts of a story: a function from inputs to outputs that
// its sidecar declares, with bounds on steps, on memory and on what it may look at.
//
// It is a part of the story studio beside the engine, which calls it for
// host.starlark.run. Requests and files go through doors that its caller gives; without
// them a script that asks fails. It has no clock, no randomness and no environment.
package starlark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	sjson "go.starlark.net/lib/json"
	smath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The bounds of a script.
const (
	MaxSteps  = 10_000_000
	MaxSource = 1 << 20  // bytes
	MaxFile   = 1 << 20  // bytes of a file that it reads
	MaxResult = 8 << 20  // bytes of what it gives, as JSON
	MaxText   = 32 << 20 // bytes of all texts and lists that it is given by doors
)

// The codes of this package.
const (
	CodeScript fault.Code = "STORY_SCRIPT"           // it does not parse, or failed
	CodeSteps  fault.Code = "STORY_SCRIPT_STEPS"     // more than MaxSteps
	CodeMemory fault.Code = "STORY_SCRIPT_MEMORY"    // it makes more than MaxMade
	CodeShape  fault.Code = "STORY_SCRIPT_SHAPE"     // inputs or outputs that its sidecar does not declare
	CodeDoor   fault.Code = "STORY_SCRIPT_NO_DOOR"   // it asks for something that this run does not give
	CodeLarge  fault.Code = "STORY_SCRIPT_TOO_LARGE" // a script, or what it is given or gives, beyond a bound
)

// HTTP makes the requests of a script.
type HTTP interface {
	Do(ctx context.Context, r Request) (Response, error)
}

// A Request is one that a script makes.
type Request struct {
	Method, URL, Body string
	Headers           map[string]string
}

// A Response is its answer.
type Response struct {
	Status  int
	Body    string
	Headers map[string]string
}

// Inspector looks at the story's repository for a script; it changes nothing.
type Inspector interface {
	Read(ctx context.Context, path string) (string, error)
	Exists(ctx context.Context, path string) (bool, error)
	Glob(ctx context.Context, pattern string) ([]string, error)
	// Probe runs one of a few commands that only look.
	Probe(ctx context.Context, name string, args []string) (exit int, out string, err error)
}

// A Script is a program with its sidecar.
type Script struct {
	Name    string // for errors
	Source  string
	Sidecar Sidecar
}

// Doors are what a script may ask. A nil one is closed.
type Doors struct {
	HTTP    HTTP
	Inspect Inspector
}

// Run calls the script's main with these inputs. world is what it may read of the story.
func Run(ctx context.Context, s Script, inputs, world value.Value, d Doors) (out value.Value, err error) {
	const op = "story.script"
	if len(s.Source) > MaxSource {
		return out, fault.New(CodeLarge, op, "%s has %d bytes, the bound is %d", s.Name, len(s.Source), MaxSource)
	}
	inputs, err = s.Sidecar.inputs(s.Name, inputs)
	if err != nil {
		return out, err
	}
	thread := &starlark.Thread{Name: s.Name, Print: func(*starlark.Thread, string) {}, Load: func(*starlark.Thread, string) (starlark.StringDict, error) {
		return nil, errors.New("a story's script loads no other")
	}}
	thread.SetMaxExecutionSteps(MaxSteps)
	stop := context.AfterFunc(ctx, func() { thread.Cancel("the run has ended") })
	defer stop()
	defer func() {
		if r := recover(); r != nil {
			err = fault.New(CodeScript, op, "%s: %v", s.Name, r)
		}
	}()
	predeclared := (&scale{}).guards()
	predeclared["json"], predeclared["math"] = sjson.Module, smath.Module
	program, err := compiled(s, predeclared.Has)
	if err != nil {
		return out, s.failed(ctx, thread, err)
	}
	globals, err := program.Init(thread, predeclared)
	if err != nil {
		return out, s.failed(ctx, thread, err)
	}
	globals.Freeze()
	main, ok := globals["main"].(starlark.Callable)
	if !ok {
		return out, fault.New(CodeScript, op, "%s has no function main(ctx)", s.Name)
	}
	c := &call{ctx: ctx, doors: d, room: MaxText}
	arg, err := c.value(inputs, world)
	if err != nil {
		return out, err
	}
	got, err := starlark.Call(thread, main, starlark.Tuple{arg}, nil)
	if err != nil {
		return out, s.failed(ctx, thread, err)
	}
	if _, ok := deep(got); !ok { // before it is spelled out
		return out, fault.New(CodeLarge, op, "%s gives more than %d parts or %d bytes", s.Name, MaxParts, MaxMade)
	}
	if out, err = toValue(got, 0); err != nil {
		return out, fault.Wrap(err, CodeShape, op, "%s gives something that a world cannot hold", s.Name)
	}
	if n := len(out.JSON()); n > MaxResult {
		return out, fault.New(CodeLarge, op, "%s gives %d bytes, the bound is %d", s.Name, n, MaxResult)
	}
	if err := s.Sidecar.outputs(s.Name, out); err != nil {
		return value.Value{}, err
	}
	if len(c.exchanges) > 0 {
		out = out.With("__http_exchanges", value.NewList(c.exchanges...))
	}
	return out, nil
}

func (s Script) failed(ctx context.Context, thread *starlark.Thread, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if thread.ExecutionSteps() >= MaxSteps {
		return fault.New(CodeSteps, "story.script", "%s takes more than %d steps", s.Name, MaxSteps).WithHint("look for a loop that does not end")
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		at := ""
		for _, frame := range slices.Backward(e.CallStack) {
			if frame.Pos.Filename() == s.Name {
				at = fmt.Sprintf(":%d:%d", frame.Pos.Line, frame.Pos.Col)
				break
			}
		}
		return fault.New(CodeScript, "story.script", "%s%s: %s", s.Name, at, e.Msg)
	}
	return fault.New(CodeScript, "story.script", "%s", err)
}

func toStarlark(v value.Value) starlark.Value {
	switch v.Kind() {
	case value.Bool:
		return starlark.Bool(v.Bool())
	case value.Int:
		n, _ := v.Int()
		return starlark.MakeInt64(n)
	case value.Float:
		f, _ := v.Float()
		if n, whole := v.Int(); whole && math.Abs(f) < 1<<53 {
			return starlark.MakeInt64(n) // as JSON has it: 3.0 is 3
		}
		return starlark.Float(f)
	case value.String:
		return starlark.String(v.Str())
	case value.List:
		items := make([]starlark.Value, 0, v.Len())
		for _, it := range v.Items() {
			items = append(items, toStarlark(it))
		}
		return starlark.NewList(items)
	case value.Map:
		d := starlark.NewDict(v.Len())
		for name, it := range v.Members() {
			_ = d.SetKey(starlark.String(name), toStarlark(it)) // a text can always be a key
		}
		return d
	}
	return starlark.None
}

func toValue(v starlark.Value, depth int) (value.Value, error) {
	if depth > value.MaxDepth {
		return value.Value{}, fault.New(value.CodeDepth, "story.script", "nested deeper than %d", value.MaxDepth)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return value.Value{}, nil
	case starlark.Bool:
		return value.Of(bool(v)), nil
	case starlark.Int:
		if n, ok := v.Int64(); ok {
			return value.Of(n), nil
		}
		return value.Of(float64(v.Float())), nil
	case starlark.Float:
		return value.Of(float64(v)), nil
	case starlark.String:
		return value.Of(string(v)), nil
	case *starlark.Dict:
		m := map[string]value.Value{}
		for _, it := range v.Items() {
			name, ok := starlark.AsString(it[0])
			if !ok {
				return value.Value{}, fault.New(CodeShape, "story.script", "a key is %s, and not a text", it[0].Type())
			}
			val, err := toValue(it[1], depth+1)
			if err != nil {
				return value.Value{}, err
			}
			m[name] = val
		}
		return value.NewMap(m), nil
	case starlark.Iterable:
		var items []value.Value
		it := v.Iterate()
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			val, err := toValue(x, depth+1)
			if err != nil {
				return value.Value{}, err
			}
			items = append(items, val)
		}
		return value.NewList(items...), nil
	}
	return value.Value{}, fault.New(CodeShape, "story.script", "a %s", v.Type())
}
