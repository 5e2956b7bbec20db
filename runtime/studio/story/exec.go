package story

import (
	"context"

	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// execTool is story.turn with the calls made. It is a tool of its own, and not a word of
// the other's input, because trust classifies by name: whoever may try a turn may not
// thereby start a program.
func execTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.turn.exec", Title: "Try one turn of a story, and make its calls", Effect: tool.Apply, Concurrency: "story", Inline: result.MaxInlineRead,
		Summary: "Try one transition of a story as story.turn does, and run the calls that no stub answers: commands, scripts, files that it writes.",
		Description: "What ran is in host_calls with ran true; calls that have no handler here are in would_call. Commands run in the workspace, or else in the story's folder; " +
			"files are written in the workspace alone. The story itself stays where it was.",
	}), func(ctx context.Context, _ tool.Call, in TurnIn) (rep tool.Reply[TurnOut], err error) {
		err = d.in(ctx, "story.turn.exec", in.Dir, func(p Place, dir string) error {
			o := host.Options{Files: p.Disk, Work: dir}
			if p.Workspace != "" {
				o.Work, o.Write = p.Workspace, p.Disk.Write
			}
			if o.Runner, err = d.Commands(ctx, o.Work); err != nil {
				return err
			}
			rep.Out, err = Take(ctx, TurnDeps{Files: p.Disk, App: dir, Root: p.Stories, Calls: host.New(o)}, in)
			return err
		})
		return rep, err
	})
}
