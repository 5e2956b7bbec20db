package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// success is a result as a client gets it: text, images, a link to what was too long,
// and the structured part for a tool that has a schema for it.
func success(t tool.Tool, res tool.Result, links bool) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Text}}}
	for _, b := range res.Blocks {
		out.Content = append(out.Content, &sdk.ImageContent{Data: b.Data, MIMEType: b.MediaType})
	}
	if links && res.Handle != "" {
		out.Content = append(out.Content, link(res.Handle))
	}
	if res.Show != nil { // for the client's screen; a model gets the text and the structured part
		out.Meta = sdk.Meta{"soundstage/show": res.Show}
	}
	switch {
	case res.Structured != nil:
		out.StructuredContent = json.RawMessage(res.Structured)
	case t.Output() != nil && t.ID != carrier:
		// A schema was listed, so clients want an object, also for a long result.
		out.StructuredContent = struct {
			Handle string `json:"handle,omitempty"`
		}{res.Handle}
	}
	return out
}

// maxError bounds the words of an error, in characters: they may quote an input.
const maxError = 4_000

// failure is an error that a model can act on: it is no protocol error, and has no
// structured part, since that would have to fit the tool's schema.
func failure(err error) *sdk.CallToolResult {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A struct of strings always encodes.
	_ = e.Encode(struct {
		OK      bool   `json:"ok"`
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}{false, string(fault.CodeOf(err)), clip(err.Error(), maxError), clip(fault.HintOf(err), maxError)})
	return &sdk.CallToolResult{
		IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(bytes.TrimSpace(b.Bytes()))}},
	}
}

// textOf is the text of an answer.
func textOf(out *sdk.CallToolResult) string {
	if text, ok := out.Content[0].(*sdk.TextContent); ok {
		return text.Text
	}
	return ""
}
