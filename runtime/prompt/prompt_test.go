package prompt_test

import (
	"context"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/prompt"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

type none struct{}

func book(skin tool.Skin) *prompt.Book {
	r := tool.NewRegistry(tool.New(
		tool.Spec{ID: "studio.read", Summary: "Reads.", Effect: tool.Read, Exposure: tool.Direct, Skins: []tool.Skin{tool.MCP}},
		func(context.Context, tool.Call, none) (tool.Reply[none], error) { return tool.Reply[none]{}, nil },
	))
	return prompt.NewBook(
		r, skin,
		prompt.Prompt{
			Name: "edit", Needs: []string{"studio.read"}, Text: "Change {piece}.\n\nOnly this: {change}\n\nThen stop.",
			Arguments: []prompt.Argument{{Name: "piece", Required: true}, {Name: "change"}},
		},
		prompt.Prompt{Name: "burn", Needs: []string{"studio.read", "studio.burn"}, Text: "Burn it."},
		prompt.Prompt{Name: "greet", Text: "Say hello."},
	)
}

func TestBookFollowsTheTools(t *testing.T) {
	for skin, want := range map[tool.Skin]string{tool.MCP: "edit greet", tool.CLI: "greet"} {
		var names []string
		for _, p := range book(skin).All() {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", skin, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	long := strings.Repeat("é", prompt.MaxValue)
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
		code fault.Code
	}{
		{"edit", map[string]string{"piece": "a/b", "change": "the name"}, "Change a/b.\n\nOnly this: the name\n\nThen stop.", ""},
		{"edit", map[string]string{"piece": " a/b "}, "Change a/b.\n\nThen stop.", ""},
		{"edit", map[string]string{"piece": "{change}", "change": "{piece}"}, "Change {change}.\n\nOnly this: {piece}\n\nThen stop.", ""},
		{"edit", map[string]string{"piece": long}, "Change " + long + ".\n\nThen stop.", ""},
		{"greet", nil, "Say hello.", ""},
		{"edit", map[string]string{"piece": long + "x"}, "", prompt.CodeArgument},
		{"edit", map[string]string{"change": "x"}, "", prompt.CodeArgument},
		{"edit", map[string]string{"piece": " "}, "", prompt.CodeArgument},
		{"edit", map[string]string{"piece": "x", "who": "x"}, "", prompt.CodeArgument},
		{"greet", map[string]string{"who": "x"}, "", prompt.CodeArgument},
		{"burn", nil, "", prompt.CodeUnknown},
		{strings.Repeat("x", 10_000), nil, "", prompt.CodeUnknown},
	} {
		got, err := book(tool.MCP).Fill(tt.name, tt.args)
		if got != tt.want || err != nil != (tt.code != "") || err != nil && fault.CodeOf(err) != tt.code {
			t.Errorf("Fill(%.20q, %.60v) = %.60q, %v", tt.name, tt.args, got, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}
