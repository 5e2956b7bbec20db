package weather

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// AskResponses answers with OpenAI's Responses.
func AskResponses(ctx context.Context, client openai.Client, t Thermometer, question string) (string, error) {
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(question, "user")}
	for range maxRounds {
		answer, err := client.Responses.New(ctx, responses.ResponseNewParams{
			Model: "gpt-5-mini", Instructions: openai.String(system),
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
			Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
				Name: "temperature", Description: openai.String("The temperature of a city"), Parameters: schema(),
			}}},
		})
		if err != nil {
			return "", err
		}
		calls := 0
		for _, item := range answer.Output {
			if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
				calls++
				result, _ := t.run(call.Arguments)
				input = append(input,
					responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
					responses.ResponseInputItemParamOfFunctionCallOutput(call.CallID, result))
			}
		}
		if calls == 0 {
			return answer.OutputText(), nil
		}
	}
	return "", errRounds
}
