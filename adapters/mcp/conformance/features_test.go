package conformance_test

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds the resources that the suite reads.
func addResources(s *sdk.Server) {
	read := func(mime string, fill func(*sdk.ResourceContents)) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: mime}
			fill(c)
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
		}
	}
	text := func(c *sdk.ResourceContents) { c.Text = "a text" }
	s.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, read("text/plain", text))
	s.AddResource(&sdk.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain"}, read("text/plain", text))
	s.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"},
		read("image/png", func(c *sdk.ResourceContents) { c.Blob = pixel() }))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		read("application/json", func(c *sdk.ResourceContents) {
			id := strings.TrimSuffix(strings.TrimPrefix(c.URI, "test://template/"), "/data")
			c.Text = fmt.Sprintf(`{"id":%q}`, id)
		}))
}

func asUser(content ...sdk.Content) *sdk.GetPromptResult {
	res := &sdk.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func plainPrompt(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	return asUser(&sdk.TextContent{Text: "a plain prompt"}), nil
}

// addPrompts adds the prompts that the suite gets.
func addPrompts(s *sdk.Server) {
	required := func(names ...string) (args []*sdk.PromptArgument) {
		for _, n := range names {
			args = append(args, &sdk.PromptArgument{Name: n, Description: "an argument", Required: true})
		}
		return args
	}
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Is plain."}, plainPrompt)
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Says its arguments.", Arguments: required("arg1", "arg2")},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			a := req.Params.Arguments
			return asUser(&sdk.TextContent{Text: fmt.Sprintf("arg1 is %q, arg2 is %q", a["arg1"], a["arg2"])}), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Has a resource.", Arguments: required("resourceUri")},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return asUser(attached(req.Params.Arguments["resourceUri"]), &sdk.TextContent{Text: "look at it"}), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Has a picture."},
		func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return asUser(&sdk.ImageContent{Data: pixel(), MIMEType: "image/png"}, &sdk.TextContent{Text: "look at it"}), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks first."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if text, ok := filled(req.Params.InputResponses, "user_context", "context"); ok {
				return asUser(&sdk.TextContent{Text: "the context is " + text}), nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{
				"user_context": &sdk.ElicitParams{Message: "What context should the prompt use?", RequestedSchema: textForm("context")},
			}}, nil
		})
}

// nothing is the result that says nothing; the SDK does not let others make one.
type nothing struct{ sdk.CompleteResult }

func (*nothing) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// acknowledge answers what is asked of the suite's prompts and resources, which are not
// ours: completions, and the wish to be told of changes.
func acknowledge(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch p := req.GetParams().(type) {
		case *sdk.CompleteParams:
			if p.Ref != nil && strings.HasPrefix(p.Ref.Name, "test_") {
				return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
			}
		case *sdk.SubscribeParams:
			if strings.HasPrefix(p.URI, "test://") {
				return &nothing{}, nil
			}
		case *sdk.UnsubscribeParams:
			if strings.HasPrefix(p.URI, "test://") {
				return &nothing{}, nil
			}
		}
		return next(ctx, method, req)
	}
}
