package model

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A patch is what the library cannot be asked to send: whole schemas, and inputs
// of calls with their numbers and order as the model wrote them.
type patch struct {
	schemas map[string][]byte // by tool name
	inputs  [][]byte          // of the calls in history, in order; nil for what is no JSON object
}

// apply puts the patch into a request body. The library writes some keys in the
// order of a Go map, so the body is brought into canonical order first.
func (p patch) apply(body []byte, d dialect) ([]byte, error) {
	out, err := canon.JSON(body)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "model.send", "the library made a request body that is not JSON")
	}
	set := func(path string, raw []byte) {
		if err != nil || raw == nil {
			return
		}
		out, err = sjson.SetRawBytes(out, path, raw)
	}
	p.tools(out, d, set)
	if d == dialectAnthropic || d == dialectGoogle {
		p.calls(out, d, set)
	}
	if err == nil && d == dialectGoogle {
		out, err = renameGoogleSchemas(out)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "model.send", "the request body cannot be completed")
	}
	return out, nil
}

// tools finds each tool of the body and sets its schema.
func (p patch) tools(body []byte, d dialect, set func(string, []byte)) {
	each := func(list gjson.Result, path, name, schema string) {
		for i, t := range list.Array() {
			set(fmt.Sprintf("%s.%d.%s", path, i, schema), p.schemas[t.Get(name).String()])
		}
	}
	tools := gjson.GetBytes(body, "tools")
	switch d {
	case dialectAnthropic:
		each(tools, "tools", "name", "input_schema")
	case dialectResponses:
		each(tools, "tools", "name", "parameters")
	case dialectChat:
		each(tools, "tools", "function.name", "function.parameters")
	case dialectGoogle:
		for i, t := range tools.Array() {
			each(t.Get("functionDeclarations"), fmt.Sprintf("tools.%d.functionDeclarations", i), "name", "parametersJsonSchema")
		}
	}
}

// renameGoogleSchemas drops the library's reduced schemas: Gemini takes one of
// the two fields only.
func renameGoogleSchemas(body []byte) ([]byte, error) {
	var err error
	for i, t := range gjson.GetBytes(body, "tools").Array() {
		for j, f := range t.Get("functionDeclarations").Array() {
			if err == nil && f.Get("parametersJsonSchema").Exists() {
				body, err = sjson.DeleteBytes(body, fmt.Sprintf("tools.%d.functionDeclarations.%d.parameters", i, j))
			}
		}
	}
	return body, err
}

// calls finds each call of the history and sets its input. Calls are told apart by
// their order: Vertex takes no ids. No call is missing, because toolCall gives the
// library an input that it keeps.
func (p patch) calls(body []byte, d dialect, set func(string, []byte)) {
	list, parts, input := "messages", "content", "input"
	if d == dialectGoogle {
		list, parts, input = "contents", "parts", "functionCall.args"
	}
	n := 0
	for i, m := range gjson.GetBytes(body, list).Array() {
		content := m.Get(parts)
		if !content.IsArray() {
			continue
		}
		for j, c := range content.Array() {
			if c.Get("type").String() != "tool_use" && !c.Get("functionCall").Exists() {
				continue
			}
			if n < len(p.inputs) {
				set(fmt.Sprintf("%s.%d.%s.%d.%s", list, i, parts, j, input), p.inputs[n])
			}
			n++
		}
	}
}
