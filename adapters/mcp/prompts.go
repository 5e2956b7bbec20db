package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/runtime/prompt"
)

// prompts gives the SDK what it serves, once somebody asked for it.
func (s *Server) prompts(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch req.(type) {
		case *sdk.ListPromptsRequest, *sdk.GetPromptRequest:
			s.prompted.Do(func() {
				for _, p := range s.o.Prompts.All() {
					s.sdk.AddPrompt(describePrompt(p), s.getPrompt)
				}
			})
		}
		return next(ctx, method, req)
	}
}

func describePrompt(p prompt.Prompt) *sdk.Prompt {
	d := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		d.Arguments = append(d.Arguments, &sdk.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
	}
	return d
}

func (s *Server) getPrompt(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	text, err := s.o.Prompts.Fill(req.Params.Name, req.Params.Arguments)
	if err != nil {
		return nil, refusal(err, "")
	}
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
}

// complete gives the values of an argument of a prompt or of a template. A name that it
// does not know has none, which is no error: the person types on.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	ref := req.Params.Ref.Type
	if ref != "ref/prompt" && ref != "ref/resource" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a reference is a ref/prompt or a ref/resource"}
	}
	var with map[string]string
	if req.Params.Context != nil {
		with = req.Params.Context.Arguments
	}
	arg := req.Params.Argument
	values, more, err := s.o.Resources.Complete(ctx, arg.Name, arg.Value, with)
	if arg.Name == "handle" && s.o.Results != nil {
		values = begin(s.o.Results.Handles(s.session.ID), arg.Value)
	}
	if err != nil {
		return nil, refusal(err, "")
	}
	if values == nil {
		values = []string{}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, HasMore: more}}, nil
}

// begin are the values that begin with what was typed.
func begin(values []string, typed string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, typed) })
}
