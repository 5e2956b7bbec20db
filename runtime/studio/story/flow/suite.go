package flow

import (
	"context"
	"path"
	"runtime"
	"strings"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// MaxFlows is how many fixtures one suite runs.
const MaxFlows = 5_000

// A Suite is the flows of one story.
type Suite struct {
	Files    load.Files
	App      string          // the manifest, or its folder
	Work     string          // the folder that the run works in: pages link the files that they name from here
	Root     string          // of @library/name imports
	Glob     string          // of fixtures, seen from the story's folder; flows/*.yaml if empty
	Forgive  bool            // a call without a stub fails the call, and not the flow
	FailFast bool            // stop at the first flow that fails
	Others   engine.Handlers // answer what no stub does
	Done     func(Result)    // is told of each flow, in order; nil: nobody
}

// A Report is how the flows of one story went.
type Report struct {
	App      string         `json:"app" jsonschema:"the story's manifest, as it was named"`
	Passed   int            `json:"passed"`
	Failed   int            `json:"failed"`
	Skipped  int            `json:"skipped"`
	Flows    []Result       `json:"flows"`
	Findings []load.Finding `json:"findings,omitempty" jsonschema:"of the story itself, and of documents among its flows that nothing runs"`
}

// Run loads the story once and runs its flows, several at a time. What is wrong with the
// story is in the report, and then nothing runs.
func (s Suite) Run(ctx context.Context) (Report, error) {
	rep := Report{App: s.App, Flows: []Result{}}
	app := s.App
	if ext := path.Ext(app); ext != ".yaml" && ext != ".yml" {
		app = path.Join(app, "app.yaml")
	}
	story, found, err := load.Load(ctx, load.Options{Files: s.Files, App: app, Work: s.Work, Root: s.Root})
	rep.Findings = found
	if err != nil {
		return rep, err
	}
	if story == nil {
		return rep, fault.New(load.CodeInvalid, "story.test", "the story %q has errors, and no flow of it runs", s.App).WithHint("see them with: soundstage story validate %s", s.App)
	}
	glob := s.Glob
	if glob == "" {
		glob = "flows/*.yaml"
	}
	names, err := s.Files.Glob(ctx, path.Dir(app), glob)
	if err != nil {
		return rep, err
	}
	if len(names) == 0 {
		return rep, fault.New(CodeFlow, "story.test", "the story %q has no flows: nothing is called %s", s.App, glob).WithHint("write one into its folder flows, or name others with --flows")
	}
	var fixtures []*Fixture
	for _, name := range names {
		raw, err := s.Files.Read(ctx, name)
		if err != nil {
			return rep, err
		}
		list, others := Parse(name, raw)
		for _, f := range others {
			f.File = strings.TrimPrefix(f.File, path.Dir(app)+"/")
			rep.Findings = append(rep.Findings, f)
		}
		if fixtures = append(fixtures, list...); len(fixtures) > MaxFlows {
			return rep, fault.New(fault.TooLarge, "story.test", "the story %q has more than %d flows", s.App, MaxFlows)
		}
	}
	rep.Flows, err = s.runAll(ctx, app, story, fixtures)
	for _, r := range rep.Flows {
		switch {
		case r.Skipped:
			rep.Skipped++
		case r.Passed:
			rep.Passed++
		default:
			rep.Failed++
		}
	}
	return rep, err
}

// runAll runs fixtures as many at a time as there are processors, and gives their results
// in the order of the fixtures.
func (s Suite) runAll(ctx context.Context, app string, story *program.Story, fixtures []*Fixture) ([]Result, error) {
	m := machine.New(story)
	results := make([]Result, len(fixtures))
	done := make([]chan struct{}, len(fixtures))
	for i := range done {
		done[i] = make(chan struct{})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(fixtures)) {
		wg.Go(func() {
			for i := range work {
				results[i] = s.runOne(ctx, app, story, m, fixtures[i])
				close(done[i])
			}
		})
	}
	go func() {
		defer close(work)
		for i := range fixtures {
			select {
			case work <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	kept := results[:0:0]
	for i := range fixtures {
		select {
		case <-done[i]:
		case <-ctx.Done():
			wg.Wait()
			return kept, ctx.Err()
		}
		kept = append(kept, results[i])
		if s.Done != nil {
			s.Done(results[i])
		}
		if s.FailFast && !results[i].Passed && !results[i].Skipped {
			break
		}
	}
	stop()
	wg.Wait()
	return kept, nil
}

func (s Suite) runOne(ctx context.Context, app string, story *program.Story, m *machine.Machine, f *Fixture) Result {
	if len(f.Bindings) > 0 {
		bound, _, err := load.Load(ctx, load.Options{Files: s.Files, App: app, Work: s.Work, Root: s.Root, Bindings: f.Bindings})
		if err != nil || bound == nil {
			return Result{File: f.File, Turns: []TurnResult{}, Problem: "the story does not load with the fixture's host_bindings"}
		}
		story, m = bound, machine.New(bound)
	}
	return Run(ctx, Options{Story: story, Machine: m, Work: s.Work, Files: s.Files, Forgive: s.Forgive, Others: s.Others}, f)
}
