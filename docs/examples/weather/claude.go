package weather

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
)

// AskClaude answers with Anthropic's Messages.
func AskClaude(ctx context.Context, client anthropic.Client, t Thermometer, question string) (string, error) {
	params := anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 500,
		System:   []anthropic.TextBlockParam{{Text: system}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "temperature", Description: anthropic.String("The temperature of a city"),
			InputSchema: anthropic.ToolInputSchemaParam{
				Properties: map[string]any{"city": map[string]any{"type": "string"}}, Required: []string{"city"},
			},
		}}},
	}
	for range maxRounds {
		message, err := client.Messages.New(ctx, params)
		if err != nil {
			return "", err
		}
		text, results := "", []anthropic.ContentBlockParamUnion(nil)
		for _, block := range message.Content {
			switch b := block.AsAny().(type) {
			case anthropic.TextBlock:
				text += b.Text
			case anthropic.ToolUseBlock:
				result, failed := t.run(string(b.Input))
				results = append(results, anthropic.NewToolResultBlock(b.ID, result, failed))
			}
		}
		if len(results) == 0 {
			return text, nil
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return "", errRounds
}
