// Package params says whether the parameters of a request are of the types that its method
// has.
//
// It belongs to adapters/mcp, below both of its transports. The SDK refuses what does not
// fit before anything of ours sees it, in words about its own types and with all that was
// sent; here it is refused before the SDK sees it. It knows the members that lead a
// method, and leaves all else, and methods that it does not know, to the SDK.
package params

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Code says that a member of a request's parameters is of another type.
const Code fault.Code = "MCP_PARAMS"

const (
	text   = jsontext.KindString
	object = jsontext.KindBeginObject
)

// members are by method; null is as good as none where the SDK takes it so.
var members = map[string]map[string]jsontext.Kind{
	"initialize":               {"protocolVersion": text, "clientInfo": object, "capabilities": object},
	"tools/list":               {"cursor": text},
	"tools/call":               {"name": text}, // its arguments are the tool's: a model is told
	"prompts/list":             {"cursor": text},
	"prompts/get":              {"name": text, "arguments": object},
	"resources/list":           {"cursor": text},
	"resources/templates/list": {"cursor": text},
	"resources/read":           {"uri": text},
	"resources/subscribe":      {"uri": text},
	"resources/unsubscribe":    {"uri": text},
	"logging/setLevel":         {"level": text},
	"completion/complete":      {"ref": object, "argument": object},
}

// Check is the error of parameters that do not fit the method, nil where they may.
func Check(method string, raw []byte) error {
	want := members[method]
	if want == nil || len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if is := d.PeekKind(); is != object && is != jsontext.KindInvalid {
		return misfit(method, "params", is, object)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == text {
		name, err := d.ReadToken()
		if err != nil {
			return nil // the SDK says what it is
		}
		member := name.String()
		kind, known := want[member]
		if is := d.PeekKind(); known && is != kind && is != jsontext.KindNull && is != jsontext.KindInvalid {
			return misfit(method, member, is, kind)
		}
		if d.SkipValue() != nil {
			return nil
		}
	}
	return nil
}

func misfit(method, member string, is, want jsontext.Kind) error {
	var fits []string
	for _, m := range slices.Sorted(maps.Keys(members[method])) {
		fits = append(fits, m+" is "+word(members[method][m]))
	}
	return fault.New(Code, "mcp."+strings.ReplaceAll(method, "/", "."), "%s of %s is %s, and has to be %s", member, method, word(is), word(want)).
		WithHint("in the params of %s %s", method, strings.Join(fits, ", "))
}

func word(k jsontext.Kind) string {
	switch k {
	case text:
		return "a text"
	case object:
		return "an object"
	case jsontext.KindBeginArray:
		return "a list"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindNull:
		return "null"
	}
	return "true or false"
}
