package studio

import (
	"github.com/soundstage-dev/soundstage/runtime/prompt"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Prompts are the workflows of a studio that a session with these tools can do, for MCP
// clients, which offer them to a person.
func Prompts(r *tool.Registry) *prompt.Book { return prompt.NewBook(r, tool.MCP, prompts()...) }

func prompts() []prompt.Prompt {
	piece := prompt.Argument{Name: "piece", Title: "Piece", Description: "The piece, as kind/id, such as character/ada.", Required: true}
	return []prompt.Prompt{
		{
			Name: "read_piece", Title: "Read a piece", Description: "Read one piece and say what is in it.",
			Arguments: []prompt.Argument{piece, {Name: "question", Title: "Question", Description: "What you want to know of it."}},
			Needs:     []string{"studio.read"},
			Text: `Read the piece {piece} with studio.read.

Answer this of it: {question}

Say only what stands in it, and name the place. Change nothing.`,
		},
		{
			Name: "edit_piece", Title: "Edit a piece", Description: "Change a piece through a draft, and show the draft before anything is saved.",
			Arguments: []prompt.Argument{piece, {Name: "change", Title: "Change", Description: "What should be different.", Required: true}},
			Needs:     []string{"studio.read", "capability.find", "capability.call", "change.query", "change.apply"},
			Text: `Change the piece {piece}: {change}

1. Read it with studio.read.
2. Find the capability that fits with capability.find, with target {piece}.
3. Run it with capability.call. It composes a draft; several calls on one piece compose into one draft.
4. Show the draft with change.query, action show, and tell me what it changes.
5. Call change.apply once, with the draft's id. If I say no, leave it at that.

Change nothing else. Say that it was saved only if change.apply says so.`,
		},
		{
			Name: "create_character", Title: "Create a character", Description: "Write a new character as a draft, and show it before anything is saved.",
			Arguments: []prompt.Argument{{Name: "idea", Title: "Idea", Description: "Who it should be.", Required: true}},
			Needs:     []string{"capability.find", "capability.call", "change.query", "change.apply", "studio.character.create"},
			Text: `Create a new character: {idea}

1. Describe the capability studio.character.create with capability.find, and run it with capability.call.
2. Show the draft with change.query, action show, and tell me what is in it.
3. Call change.apply once, with the draft's id. If I say no, leave it at that.`,
		},
		{
			Name: "review_drafts", Title: "Review and apply drafts", Description: "Go through what waits to be saved.",
			Arguments: []prompt.Argument{{Name: "draft", Title: "Draft", Description: "Only this draft, such as d-0001; all that are open if left out."}},
			Needs:     []string{"change.query", "change.apply", "change.discard"},
			Text: `Go through the open drafts with change.query.

Only the draft {draft} is meant.

For each: show it, check it with action validate, and tell me what it changes and what speaks against it. Then ask me which to apply and which to discard. Call change.apply or change.discard for those that I named, and for no other.`,
		},
		{
			Name: "move_piece", Title: "Move a piece to another platform", Description: "Say what a piece would lose elsewhere, then write it as a file.",
			Arguments: []prompt.Argument{piece, {Name: "platform", Title: "Platform", Description: "Where it should go, such as SillyTavern, Risu or a format's name.", Required: true}},
			Needs:     []string{"capability.find", "capability.call", "studio.transfer", "studio.export"},
			Text: `Move the piece {piece} to {platform}.

1. Describe the capability studio.transfer with capability.find, and run it with capability.call for the format of {platform} that holds this kind; an error lists the formats.
2. Tell me every loss with its path and reason, which credentials are left out, and what I could change before.
3. When I say so, call studio.export once with the same format, and give me the file's path.

Say that a file was written only if studio.export says so.`,
		},
		{
			Name: "find_capability", Title: "Find a capability", Description: "Find the tools for a task, without running them.",
			Arguments: []prompt.Argument{
				{Name: "task", Title: "Task", Description: "What should be done, in a few words.", Required: true},
				{Name: "piece", Title: "Piece", Description: "The piece that it is about, as kind/id."},
			},
			Needs: []string{"capability.find"},
			Text: `Find the capabilities for this task with capability.find: {task}

It is about the piece {piece}: give it as the target.

Tell me which fit, what each does, and what it needs. Run none of them.`,
		},
		{
			Name: "describe_capability", Title: "Describe a capability", Description: "Say what one tool does and takes.",
			Arguments: []prompt.Argument{{Name: "capability", Title: "Capability", Description: "Its id, such as character.identity.update.", Required: true}},
			Needs:     []string{"capability.find"},
			Text:      `Describe the capability {capability} with capability.find, and tell me what it does, what it takes, and what it cannot do. Do not run it.`,
		},
	}
}
