package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A wish is a tool with its arguments.
type wish struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// runClient does one scenario of the suite as a client that goes through the seam. The
// suite watches the server's side: a call that its server refuses is no failure of ours.
func runClient(ctx context.Context, scenario, config, url string) error {
	var given struct {
		client
		ToolCalls []wish `json:"toolCalls"`
	}
	if config != "" {
		if err := json.Unmarshal([]byte(config), &given); err != nil {
			return err
		}
	}
	do, ok := journeys[scenario]
	login := strings.HasPrefix(scenario, "auth/")
	if !ok && !login {
		return fault.New(fault.NotFound, "conformance", "scenario %q is none that our client has", scenario)
	}
	s, err := seam.Open(seam.Options{Mode: seam.Live, Transport: &http.Transport{}, Clock: clock.Real{}, AllowLive: true})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // nothing is recorded
	if login {
		return signIn(ctx, s, scenario, given.client, url)
	}
	o := &sdk.ClientOptions{ElicitationHandler: accept(scenario)}
	if o.ElicitationHandler != nil {
		o.Capabilities = &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}}
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "soundstage", Version: "v0"}, o).Connect(ctx, mcp.Outward{
		Door: s.MCP("suite"), Clock: clock.Real{},
		Below: &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: &http.Transport{}}},
	}, nil)
	if err != nil {
		return err
	}
	defer cs.Close() //nolint:errcheck // the suite saw what it wanted
	return do(ctx, cs, given.ToolCalls)
}

// accept is the person who fills in a form, where a scenario has one.
func accept(scenario string) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	content, ok := map[string]map[string]any{
		"elicitation-sep1034-client-defaults": {},
		"sep-2322-client-request-state":       {"confirmed": true},
	}[scenario]
	if !ok {
		return nil
	}
	return func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: content}, nil
	}
}

type journey func(ctx context.Context, cs *sdk.ClientSession, calls []wish) error

var journeys = map[string]journey{
	"initialize":                          list,
	"request-metadata":                    list,
	"json-schema-ref-no-deref":            list,
	"tools_call":                          each(`{"a":5,"b":3}`, true),
	"elicitation-sep1034-client-defaults": each(`{}`, true),
	"sse-retry":                           each(`{}`, true),
	"sep-2322-client-request-state":       each(`{}`, false),
	"http-invalid-tool-headers":           each(`{"region":"us-west1"}`, false),
	"http-standard-headers":               everything,
	"http-custom-headers":                 asTold,
	"json-schema-2020-12-preservation":    echo,
}

func list(ctx context.Context, cs *sdk.ClientSession, _ []wish) error {
	_, err := cs.ListTools(ctx, nil)
	return err
}

// each calls every tool that is listed with the same arguments; must says that all
// calls succeed.
func each(arguments string, must bool) journey {
	return func(ctx context.Context, cs *sdk.ClientSession, _ []wish) error {
		tools, err := cs.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		for _, t := range tools.Tools {
			if _, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: t.Name, Arguments: json.RawMessage(arguments)}); err != nil && must {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		return nil
	}
}

func everything(ctx context.Context, cs *sdk.ClientSession, calls []wish) error {
	if err := each(`{}`, false)(ctx, cs, calls); err != nil {
		return err
	}
	resources, err := cs.ListResources(ctx, nil)
	if err != nil {
		return err
	}
	for _, r := range resources.Resources {
		if _, err := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: r.URI}); err != nil {
			return err
		}
	}
	prompts, err := cs.ListPrompts(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range prompts.Prompts {
		if _, err := cs.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name}); err != nil {
			return err
		}
	}
	return nil
}

func asTold(ctx context.Context, cs *sdk.ClientSession, calls []wish) error {
	if err := list(ctx, cs, nil); err != nil {
		return err
	}
	for _, c := range calls {
		_, _ = cs.CallTool(ctx, &sdk.CallToolParams{Name: c.Name, Arguments: c.Arguments}) // the suite's server judges
	}
	return nil
}

// echo sends a tool's schema back as it came.
func echo(ctx context.Context, cs *sdk.ClientSession, _ []wish) error {
	tools, err := cs.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range tools.Tools {
		if t.Name == "json_schema_2020_12_tool" {
			_, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "json_schema_echo", Arguments: map[string]any{"schema": t.InputSchema}})
			return err
		}
	}
	return fault.New(fault.NotFound, "conformance", "the tool with the schema is not listed")
}
