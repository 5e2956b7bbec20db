package tool

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of a Spec. Clients cut longer names and descriptions, or drop the tool.
const (
	maxName        = 64
	maxSummary     = 240
	maxDescription = 2_000
)

// isID says whether s is lower segments of words with dots between: studio.graveyard_bury,
// character.behavior-scripts.manage.
func isID(s string) bool {
	segments := strings.Split(s, ".")
	for i, part := range segments {
		first := byte(0)
		if part != "" {
			first = part[0]
		}
		letter, digit := first >= 'a' && first <= 'z', first >= '0' && first <= '9'
		if !letter && (!digit || i == 0) || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return false
		}
	}
	return len(segments) > 1
}

// eachField rewrites the fields, {name}, of a Concurrency key.
func eachField(key string, f func(name string) string) string {
	var b strings.Builder
	for {
		head, rest, open := strings.Cut(key, "{")
		name, tail, closed := strings.Cut(rest, "}")
		if !open || !closed {
			return b.String() + key
		}
		if i := strings.LastIndexByte(name, '{'); i >= 0 { // the innermost is the field
			head, name = head+"{"+name[:i], name[i+1:]
		}
		b.WriteString(head)
		b.WriteString(f(name))
		key = tail
	}
}

// New makes a typed tool. The schemas of In and Out come from their fields, json
// tags and jsonschema tags (the description). A field type with a method Enum()
// []string becomes an enum; [Object] is an open object.
//
// It panics on what must not reach a client, since one bad property makes some of
// them drop the whole list: an any, a json.RawMessage, an array [N]T, a property
// without a description, a pointer that is not optional, a bad id, a missing
// summary, or a deferred tool that applies. What is wrong with In and Out shows when
// the schemas are first asked for, or the tool is called: the reference of all tools,
// which a test makes, asks for them all.
func New[In, Out any](spec Spec, fn func(context.Context, Call, In) (Reply[Out], error)) Tool {
	spec, err := complete(spec)
	if err == nil && spec.Exposure == Deferred && spec.Effect == Apply {
		err = fmt.Errorf("%s is deferred and applies: what can be discovered must not write", spec.ID)
	}
	if err != nil {
		panic("tool: " + err.Error())
	}
	t := Tool{Spec: spec, schemas: sync.OnceValue(func() schemas { return schemasFor[In, Out](spec) })}
	t.check = func(input []byte) ([]byte, error) { return checkInput(spec.ID, t.schemas().in, input) }
	t.checked = func(ctx context.Context, c Call, input []byte) (Result, error) {
		return runTyped(ctx, t, c, input, fn)
	}
	t.Run = func(ctx context.Context, c Call, input []byte) (Result, error) {
		input, err := t.check(input)
		if err != nil {
			return Result{}, err
		}
		return t.checked(ctx, c, input)
	}
	return t
}

// schemas are what the types of a tool say. They are made when somebody asks: a client
// that starts us waits for those of a few tools, and not of all that can be found.
type schemas struct {
	in            *schema
	input, output []byte
}

func schemasFor[In, Out any](spec Spec) schemas {
	in, err := schemaFor(reflect.TypeFor[In](), true)
	if err != nil {
		panic(fmt.Sprintf("tool %s: input: %v", spec.ID, err))
	}
	eachField(spec.Concurrency, func(name string) string {
		if in.find(name).is == nil {
			panic(fmt.Sprintf("tool %s: concurrency key %q names no input field %q", spec.ID, spec.Concurrency, name))
		}
		return ""
	})
	out, err := schemaFor(reflect.TypeFor[Out](), false)
	if err != nil {
		panic(fmt.Sprintf("tool %s: output: %v", spec.ID, err))
	}
	made := schemas{in: in, input: mustJSON(in)}
	if len(out.fields) > 0 {
		made.output = mustJSON(out)
	}
	return made
}

// NewOpen makes a tool whose schema somebody else wrote (an external MCP server's)
// and passes on as it is: input is checked for being an object and no more, since
// the far side is the real validator. It may be deferred and apply: what somebody else's
// tool does cannot be known. It panics as New does on a bad Spec, and on a schema that is
// not a JSON object.
func NewOpen(spec Spec, input []byte, run Handler) Tool {
	spec, err := complete(spec)
	if err != nil {
		panic("tool: " + err.Error())
	}
	if v := jsontext.Value(input); v.Kind() != '{' || !v.IsValid() {
		panic(fmt.Sprintf("tool %s: input schema is not a JSON object", spec.ID))
	}
	return Tool{Spec: spec, schemas: func() schemas { return schemas{input: input} }, Run: run, check: func(in []byte) ([]byte, error) {
		_, v, err := parseInput(spec.ID, in)
		return v, err
	}}
}

// complete fills in what a Spec leaves out and refuses what it must not say.
func complete(s Spec) (Spec, error) {
	switch {
	case !isID(s.ID):
		return s, fmt.Errorf("id %q is not dotted lower snake segments", s.ID)
	case len(s.ID) > maxName:
		return s, fmt.Errorf("id %q is longer than %d", s.ID, maxName)
	case strings.TrimSpace(s.Summary) == "":
		return s, fmt.Errorf("%s has no summary", s.ID)
	case utf8.RuneCountInString(s.Summary) > maxSummary:
		return s, fmt.Errorf("%s: summary is longer than %d characters", s.ID, maxSummary)
	case s.Effect != Read && s.Effect != Draft && s.Effect != Apply && s.Effect != Unknown:
		return s, fmt.Errorf("%s: effect %q is none", s.ID, s.Effect)
	case s.Exposure != Direct && s.Exposure != Deferred && s.Exposure != Hidden:
		return s, fmt.Errorf("%s: exposure %q is none", s.ID, s.Exposure)
	}
	if s.Title == "" {
		s.Title = titleOf(s.ID)
	}
	if !strings.HasPrefix(s.Description, s.Summary) {
		s.Description = strings.TrimSpace(s.Summary + " " + s.Description)
	}
	if n := utf8.RuneCountInString(s.Description); n > maxDescription {
		return s, fmt.Errorf("%s: description has %d characters, more than %d", s.ID, n, maxDescription)
	}
	return s, nil
}

// titleOf is "Studio list" for studio.list.
func titleOf(id string) string {
	t := strings.NewReplacer(".", " ", "_", " ").Replace(id)
	return strings.ToUpper(t[:1]) + t[1:]
}

// wire is how values become JSON: as encoding/json does it, but a nil slice is []
// and a nil map {}, since no schema of ours allows null.
func wire() json.Options {
	return json.JoinOptions(jsonv1.DefaultOptionsV1(),
		json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
		jsontext.AllowInvalidUTF8(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
}

// runTyped decodes an input that was checked, calls and encodes.
func runTyped[In, Out any](ctx context.Context, t Tool, c Call, input []byte, fn func(context.Context, Call, In) (Reply[Out], error)) (Result, error) {
	var in In
	if err := json.Unmarshal(input, &in, wire()); err != nil {
		return Result{}, fault.Wrap(err, fault.Invalid, t.ID, "input does not fit").
			WithHint("Compare the input with the tool's schema.")
	}
	rep, err := fn(ctx, c, in)
	if err != nil {
		return Result{}, err
	}
	res := Result{Text: rep.Text, Blocks: rep.Blocks, Review: rep.Review, Reviews: rep.Reviews, Receipt: rep.Receipt, Show: rep.Show, Reveal: rep.Reveal}
	raw, err := json.Marshal(rep.Out, wire())
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Internal, t.ID, "encode the output")
	}
	out, err := canon.JSON(raw)
	if err != nil {
		return Result{}, fault.Wrap(err, fault.Internal, t.ID, "encode the output")
	}
	if t.Output() != nil {
		res.Structured = out
	}
	if res.Text == "" {
		res.Text = string(out)
	}
	return res, nil
}
