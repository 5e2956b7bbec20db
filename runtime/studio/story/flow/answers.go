package flow

import (
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// NewHandlers answers calls by stubs, and what they do not answer by others.
func NewHandlers(by map[string]*Stub, others engine.Handlers) engine.Handlers {
	return &stubs{f: &Fixture{Stubs: by}, others: others}
}

// Stubs reads stubs as host_handlers of a fixture has them.
func Stubs(v value.Value) (map[string]*Stub, error) {
	list, _ := Parse("stubs", []byte("test_kind: flow\nhost_handlers: "+v.JSON())) // JSON is YAML
	if len(list) != 1 {
		return nil, fault.New(CodeFlow, "story.stubs", "the stubs are %s, and no mapping by handler", v.Kind())
	}
	for _, found := range list[0].Findings {
		return nil, fault.New(CodeFlow, "story.stubs", "%s", found.Message).WithHint("a stub has data, error, infra_error, delay, by_op, by_call")
	}
	return list[0].Stubs, nil
}
