package story

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// TestIn says which flows are run.
type TestIn struct {
	Dir      string `json:"dir,omitempty" jsonschema:"the story's folder: below the workspace or the stories folder; the workspace if left out"`
	Flows    string `json:"flows,omitempty" jsonschema:"only the fixtures of this pattern, seen from the story: flows/a*.yaml; all of flows/*.yaml if left out"`
	Forgive  bool   `json:"forgive,omitempty" jsonschema:"a call without a stub fails that call, and not the flow"`
	FailFast bool   `json:"fail_fast,omitempty" jsonschema:"stop at the first flow that fails"`
	Detailed bool   `json:"detailed,omitempty" jsonschema:"show each turn: its state, its view and what failed"`
}

// TestOut is how flows went.
type TestOut struct {
	OK      bool      `json:"ok"`
	Passed  int       `json:"passed"`
	Failed  int       `json:"failed"`
	Skipped int       `json:"skipped"`
	Results []FlowRun `json:"results"`
	Errors  []Finding `json:"errors"` // of the story: where there are any, no flow runs
}

// A FlowRun is how one flow went.
type FlowRun struct {
	File     string    `json:"file"`
	Passed   bool      `json:"passed"`
	Skipped  bool      `json:"skipped,omitempty"`
	Problem  string    `json:"problem,omitempty"` // why it could not be run to its end
	Failures []string  `json:"failures,omitempty"`
	Warnings []Finding `json:"warnings,omitempty"` // what in the fixture checks nothing
	Turns    []TurnRun `json:"turns,omitempty"`
}

// A TurnRun is how one turn of a flow went.
type TurnRun struct {
	Turn     int      `json:"turn"` // from 1; 0 for what holds of the whole flow
	Passed   bool     `json:"passed"`
	State    string   `json:"state"`
	Allowed  []string `json:"allowed_intents"`
	View     string   `json:"view,omitempty"`
	Events   []string `json:"events"` // their kinds
	Failures []string `json:"failures,omitempty"`
}

func testTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.test", Title: "Test a story", Inline: result.MaxInlineRead,
		Summary: "Run the flows of a story over their stubs, cassettes and recordings.",
		Description: "Nothing outside is called, and no model. A call that no stub answers fails its flow. ok false is an answer: failures say what was wanted and what came. " +
			"detailed shows each turn.",
	}), func(ctx context.Context, call tool.Call, in TestIn) (rep tool.Reply[TestOut], err error) {
		err = d.in(ctx, "story.test", in.Dir, func(p Place, dir string) error {
			if in.Flows != "" && !local(in.Flows) {
				return fault.New(CodePath, "story.test", "flows %q leads out of the story's folder", in.Flows).WithHint("give a pattern below it: flows/*.yaml")
			}
			rep.Out, err = runFlows(ctx, call, p, dir, in)
			return err
		})
		return rep, err
	})
}

func runFlows(ctx context.Context, call tool.Call, p Place, dir string, in TestIn) (TestOut, error) {
	out := TestOut{Results: []FlowRun{}, Errors: []Finding{}}
	done := 0.0
	s := flow.Suite{
		Files: p.Disk, App: dir, Root: p.Stories, Glob: in.Flows, Forgive: in.Forgive, FailFast: in.FailFast,
		Done: func(r flow.Result) {
			done++
			call.Progress(done, 0, path.Base(r.File))
		},
	}
	report, err := s.Run(ctx)
	if err != nil && fault.CodeOf(err) != load.CodeInvalid {
		return out, err
	}
	out.Passed, out.Failed, out.Skipped = report.Passed, report.Failed, report.Skipped
	out.OK = err == nil && report.Failed == 0
	for _, f := range report.Findings {
		if f.Severity == load.Error {
			out.Errors = append(out.Errors, found(f))
		}
	}
	for _, r := range report.Flows {
		out.Results = append(out.Results, flowRun(r, dir, in.Detailed))
	}
	return out, nil
}

func flowRun(r flow.Result, dir string, detailed bool) FlowRun {
	f := FlowRun{File: strings.TrimPrefix(r.File, dir+"/"), Passed: r.Passed, Skipped: r.Skipped, Problem: r.Problem}
	for _, w := range r.Findings {
		f.Warnings = append(f.Warnings, Finding{File: strings.TrimPrefix(w.File, dir+"/"), Line: w.Line, Column: w.Column, Message: w.Message})
	}
	for _, t := range r.Turns {
		for _, text := range t.Failures {
			f.Failures = append(f.Failures, where(t.Index)+text)
		}
		if !detailed {
			continue
		}
		run := TurnRun{Turn: t.Index + 1, Passed: t.Passed, State: t.State, Allowed: append([]string{}, t.Allowed...), View: t.View, Events: []string{}, Failures: t.Failures}
		for _, e := range t.Events {
			run.Events = append(run.Events, e.Kind)
		}
		f.Turns = append(f.Turns, run)
	}
	return f
}

func where(turn int) string {
	if turn < 0 {
		return "at the end: "
	}
	return fmt.Sprintf("turn %d: ", turn+1)
}
