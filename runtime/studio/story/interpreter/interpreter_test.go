package interpreter_test

import (
	"context"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/agent"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/interpreter"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
)

type asker struct {
	parts []model.Part
	err   error
	got   []agent.Single
}

func (a *asker) Once(_ context.Context, in agent.Single) (model.Reply, error) {
	a.got = append(a.got, in)
	return model.Reply{Parts: a.parts}, a.err
}

func call(name, input string) model.Part {
	return model.Part{Kind: model.CallPart, Call: &model.ToolCall{Name: name, Input: input}}
}

func TestMean(t *testing.T) {
	for _, c := range []struct {
		parts []model.Part
		want  string
		code  fault.Code
	}{
		{[]model.Part{{Kind: model.Text, Text: "Well."}, call(route.Tool, `{"intent":"go","slots":{"n":2},"confidence":0.5}`)}, `go {"n":2} 0.5`, ""},
		{[]model.Part{call(route.Tool, `{"intent":"go","confidence":7}`)}, `go null 1`, ""},
		{[]model.Part{{Kind: model.Text, Text: "Who "}, {Kind: model.Text, Text: "knows?"}}, `: Who knows?`, ""},
		{[]model.Part{call("studio_list", `{}`)}, `:`, ""},
		{nil, `:`, ""},
		{[]model.Part{call(route.Tool, `{"intent":`)}, "", interpreter.CodeAnswer},
		{[]model.Part{call(route.Tool, `[]`)}, "", interpreter.CodeAnswer},
		{[]model.Part{call(route.Tool, `{"slots":{}}`)}, "", interpreter.CodeAnswer},
	} {
		a := &asker{parts: c.parts}
		m, err := interpreter.New(a, "p/m", 3).Mean(t.Context(), route.Question{Text: "hm", System: "s", Prompt: "p", Schema: []byte("{}")})
		if fault.CodeOf(err) != c.code {
			t.Errorf("%v: %v", c.parts, err)
		}
		if err != nil {
			continue
		}
		got := ": " + m.Said
		if m.Intent != "" {
			got = strings.Join([]string{m.Intent, m.Slots.JSON(), strings.TrimRight(strings.TrimRight(formatted(m.Confidence), "0"), ".")}, " ")
		}
		if strings.TrimSpace(got) != c.want || m.Model != "p/m" || m.Certain {
			t.Errorf("%v: %s, want %s", c.parts, got, c.want)
		}
		if in := a.got[0]; in.Turn != 3 || in.Text != "hm" || len(in.Tools) != 1 || in.Tools[0].Name != "transition" {
			t.Errorf("%+v", in)
		}
	}
}

func formatted(f float64) string {
	if f == 1 {
		return "1"
	}
	return "0.5"
}

// What fails is told, and each question is a turn of its own.
func TestMeanFails(t *testing.T) {
	a := &asker{err: fault.New(model.CodeBusy, "test", "busy")}
	i := interpreter.New(a, "p/m", 1)
	for range 2 {
		if _, err := i.Mean(t.Context(), route.Question{Text: "hm"}); fault.CodeOf(err) != model.CodeBusy {
			t.Error(err)
		}
	}
	if a.got[0].Turn != 1 || a.got[1].Turn != 2 {
		t.Errorf("turns %d and %d", a.got[0].Turn, a.got[1].Turn)
	}
}
