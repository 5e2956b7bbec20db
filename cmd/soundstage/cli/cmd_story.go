package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/storydir"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

func (a *app) cmdStory() *cobra.Command {
	c := &cobra.Command{
		Use:     "story",
		Short:   "Write, check, test and draw stories: state machines in YAML",
		Example: "  soundstage story new stories/door\n  soundstage story test stories/door\n  soundstage story test --root library stories/door stories/shop --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.cmdStoryNew(), a.cmdStoryValidate(), a.cmdStoryTest(), a.cmdStoryGraph(), a.cmdStoryTurn(), a.cmdStoryExplain(), a.cmdStoryOpen(), a.cmdStoryClose())
	return c
}

// storyTest is what the flags of story test say.
type storyTest struct {
	root, glob string
	unstubbed  string
	failFast   bool
	verbose    bool
}

func (a *app) cmdStoryTest() *cobra.Command {
	var o storyTest
	c := &cobra.Command{
		Use:   "test APP...",
		Short: "Run the flows of stories",
		Long: `Test runs the fixtures in each story's folder flows, over their stubs and cassettes: no model
is called, and nothing outside. APP is an app.yaml or its folder. With --json each story is one
line: its flows, and of each turn the state, the allowed intents, the view and the events.

A call that no stub answers fails its flow. A library that is named with --root may be written
for a runner that forgives such a call, so there it fails only the call; --unstubbed says
otherwise.`,
		Example: "  soundstage story test stories/door\n  soundstage story test --root ../library/stories ../library/stories/shop --json",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.storyTest(c.Context(), args, o) },
	}
	c.Flags().StringVar(&o.root, "root", "", "the `folder` in which @library/name imports are found")
	c.Flags().StringVar(&o.glob, "flows", "", "run the fixtures that match this `glob`, seen from the story (default: flows/*.yaml)")
	c.Flags().StringVar(&o.unstubbed, "unstubbed", "", "what a call without a stub does: `fail` the flow, or forgive it (default: fail, with --root forgive)")
	c.Flags().BoolVar(&o.failFast, "fail-fast", false, "stop at the first flow that fails")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show each turn")
	return c
}

func (a *app) storyTest(ctx context.Context, apps []string, o storyTest) error {
	if o.unstubbed == "" {
		o.unstubbed = "fail"
		if o.root != "" {
			o.unstubbed = "forgive"
		}
	}
	if !slices.Contains([]string{"fail", "forgive"}, o.unstubbed) {
		return fault.New(fault.Invalid, "story.test", "--unstubbed is %q", o.unstubbed).WithHint("give fail or forgive")
	}
	passed, failed, broken := 0, 0, 0
	for _, name := range apps {
		s := flow.Suite{
			Files: a.filesOf(name, o.root), App: filepath.ToSlash(a.path(name)), Work: filepath.ToSlash(a.path(".")), Glob: o.glob, Forgive: o.unstubbed == "forgive", FailFast: o.failFast,
		}
		if o.root != "" {
			s.Root = filepath.ToSlash(a.path(o.root))
		}
		if !a.json {
			s.Done = func(r flow.Result) {
				r.File = a.shownFlow(name, r.File)
				a.showFlow(r, o.verbose)
			}
		}
		rep, err := s.Run(ctx)
		if err != nil && fault.CodeOf(err) != load.CodeInvalid {
			return err
		}
		rep.App = name
		for i := range rep.Flows {
			rep.Flows[i].File = a.shownFlow(name, rep.Flows[i].File)
		}
		passed, failed = passed+rep.Passed, failed+rep.Failed
		if err != nil {
			rep.Failed++ // the story itself
			broken++
		}
		if err := a.print(rep, func(w io.Writer) { writeReport(w, rep) }); err != nil {
			return err
		}
		if failed+broken > 0 && o.failFast {
			break
		}
	}
	if broken > 0 {
		return fault.New(flow.CodeFailed, "story.test", "%d of %d stories have errors and do not run, and %d of %d flows failed", broken, len(apps), failed, passed+failed).WithHint("see all that is wrong with soundstage story validate APP")
	}
	if failed > 0 {
		return fault.New(flow.CodeFailed, "story.test", "%d of %d flows failed", failed, passed+failed).WithHint("read the first difference above, or run one story with -v")
	}
	return nil
}

func writeReport(w io.Writer, rep flow.Report) {
	for _, f := range rep.Findings {
		switch {
		case f.Severity == load.Error:
			fmt.Fprintf(w, "  %s\n", f)
		case strings.HasPrefix(f.File, "flows/"):
			fmt.Fprintf(w, "  warning: %s\n", f)
		}
	}
	fmt.Fprintf(w, "%s: %d passed, %d failed, %d skipped\n", rep.App, rep.Passed, rep.Failed, rep.Skipped)
}

// shownFlow is a fixture as whoever named the story would name it.
func (a *app) shownFlow(name, file string) string {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		name = filepath.Dir(name)
	}
	below, err := filepath.Rel(a.path(name), filepath.FromSlash(file))
	if err != nil {
		return file
	}
	return filepath.ToSlash(filepath.Join(name, below))
}

// showFlow tells of one flow as it ends: the first difference, and with verbose each turn.
func (a *app) showFlow(r flow.Result, verbose bool) {
	var b strings.Builder
	word := "ok  "
	if !r.Passed {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%s %s\n", word, r.File)
	if first := r.First(); first != "" {
		fmt.Fprintf(&b, "     %s\n", first)
	}
	if verbose {
		writeTurns(&b, r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "     warning: %s\n", f)
	}
	_ = a.put(b.String()) // the report that follows says if nobody reads
}

// writeTurns tells of each turn, and of all that differs.
func writeTurns(b *strings.Builder, r flow.Result) {
	for _, t := range r.Turns {
		if t.Index >= 0 {
			fmt.Fprintf(b, "     turn %d → %s\n", t.Index+1, t.State)
		}
		for _, f := range t.Failures {
			fmt.Fprintf(b, "       %s\n", f)
		}
	}
}

// storyFiles is the disk, as stories are read from it: a person named the folders.
type storyFiles struct{ dirs []string }

// filesOf are the files of a story, of its libraries and of where the person stands.
func (a *app) filesOf(app, root string) storyFiles {
	if ext := filepath.Ext(app); ext == ".yaml" || ext == ".yml" {
		app = filepath.Dir(app)
	}
	dirs := []string{a.path(app), a.path(".")}
	if root != "" {
		dirs = append(dirs, a.path(root))
	}
	return storyFiles{dirs}
}

// held refuses a link that leads from the folders of stories out of all of them.
func (s storyFiles) held(name string) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil || real == filepath.Clean(name) {
		return nil //nolint:nilerr // opening it says more
	}
	inside, stays := false, false
	for _, dir := range s.dirs {
		inside = inside || within(dir, name)
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			stays = stays || within(to, real)
		}
	}
	if inside && !stays {
		return fault.New(storydir.CodeOutside, "story.read", "%q is a link that leads out of the folders of stories", filepath.Base(name)).WithHint("put the file itself where the link is, or work from a folder above both")
	}
	return nil
}

func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// Read implements load.Files.
func (s storyFiles) Read(_ context.Context, name string) ([]byte, error) {
	if err := s.held(filepath.FromSlash(name)); err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fault.New(load.CodeNoFile, "story.read", "%q is no file", name).WithHint("name a story's folder, or its app.yaml")
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(load.CodeNoFile, "story.read", "there is no file %q", name).WithHint("name a story's folder, or its app.yaml")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.New(load.CodeNoFile, "story.read", "cannot open %q: %v", name, reasonOf(err))
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, source.MaxFile+1))
}

// Glob implements load.Files: no folders and no pipes.
func (storyFiles) Glob(_ context.Context, dir, pattern string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil {
		return nil, fault.New(fault.Invalid, "story.read", "%q is no pattern of names", pattern).WithHint("use *, ? and [a-z]: flows/*.yaml")
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && !info.Mode().IsRegular() // a link to nothing is told where it is read
	})
	for i, name := range names {
		names[i] = filepath.ToSlash(name)
	}
	slices.Sort(names)
	return names, nil
}
