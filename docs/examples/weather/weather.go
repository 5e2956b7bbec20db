// Package weather is an example: an agent that answers a question with the help of one
// tool, three times, with the official SDKs of Anthropic and OpenAI.
//
// It is a module of its own, as yours is, and its code knows nothing of Soundstage: it
// takes a client, and the tests give it one that replays. It is no part of the product.
package weather

import (
	"encoding/json"
	"errors"
	"fmt"
)

// maxRounds bounds the loop: a model that only calls tools is stopped.
const maxRounds = 4

const system = "Answer questions about the weather in one sentence. Ask the thermometer first."

var errRounds = errors.New("the model has called tools too often")

// A Thermometer tells the temperature of a city in °C.
type Thermometer func(city string) (float64, error)

// run is the tool: the input is what the model wrote.
func (t Thermometer) run(input string) (result string, failed bool) {
	var in struct {
		City string `json:"city"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return "the input is no JSON: " + err.Error(), true
	}
	degrees, err := t(in.City)
	if err != nil {
		return err.Error(), true
	}
	return fmt.Sprintf("%.1f °C in %s", degrees, in.City), false
}
