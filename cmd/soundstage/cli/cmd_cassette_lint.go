package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/cassette/lint"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// codeLint says that cassettes hold what must not be there.
const codeLint fault.Code = "CASSETTE_LINT"

// The result of cassette lint.
type cassetteLinted struct {
	Cassettes int            `json:"cassettes" jsonschema:"files that were looked at"`
	Errors    int            `json:"errors" jsonschema:"findings that make the command fail"`
	Warnings  int            `json:"warnings" jsonschema:"findings that do so with --strict"`
	Findings  []lint.Finding `json:"findings" jsonschema:"in order of cassette and episode"`
}

// lintFlags are the flags of cassette lint.
type lintFlags struct {
	maxAge, format string
	maxSize        int64
	strict, run    bool
}

func (a *app) cmdCassetteLint() *cobra.Command {
	f := lintFlags{}
	c := &cobra.Command{
		Use: "lint [NAME…]", Short: "Look for secrets, age, drift and waste in cassettes (default: all)",
		Long: `Lint names what is wrong with recordings, each with a code, a place and the next step:
secrets, damage, formats and keys that are not replayed, episodes that no scenario asks for
(it runs those that play the cassette), duplicates, age, models that are retired, prompts and
tool schemas that are others in today's registry, and size. What a person wrote (origin
scripted) does not age.

It fails on errors, and with --strict on warnings; notes never fail it.`,
		Example: "  soundstage cassette lint\n  soundstage cassette lint content/rename --max-age 90d\n  soundstage cassette lint --format lines --unused=false",
		RunE:    func(c *cobra.Command, names []string) error { return a.lint(c, names, f) },
	}
	set := c.Flags()
	set.StringVar(&f.maxAge, "max-age", "365d", "how old an answer of the world may be, in `days` (90d) or as 48h; 0: any age")
	set.Int64Var(&f.maxSize, "max-size", 1<<20, "how large a file may be, in `bytes`; 0: any size")
	set.StringVar(&f.format, "format", "text", "text, or lines: CASSETTE:EPISODE: SEVERITY CODE: …, one a finding, for editors and CI")
	set.BoolVar(&f.strict, "strict", false, "fail on warnings too")
	set.BoolVar(&f.run, "unused", true, "run the scenarios that play the cassettes, to find episodes that none asks for")
	return c
}

func (a *app) lint(c *cobra.Command, names []string, f lintFlags) error {
	o, err := a.lintOptions(c, f)
	if err != nil {
		return err
	}
	if names, err = a.named(names); err != nil {
		return err
	}
	uses := map[string]*playing{}
	if f.run {
		var known []string
		for _, name := range names {
			known = append(known, played(name))
		}
		if uses, err = a.unused(known, io.Discard); err != nil {
			return err
		}
	}
	out := cassetteLinted{Cassettes: len(names), Findings: []lint.Finding{}}
	for _, name := range names {
		if err := a.mustHave(name); err != nil {
			return err
		}
		o.Unused = nil
		if u := uses[played(name)]; u != nil && len(u.failed) > 0 {
			out.Findings = append(out.Findings, lint.Finding{
				Code: lint.CodeUnproven, Severity: lint.Note, Cassette: name,
				Message: fmt.Sprintf("scenario %q fails, so that nobody knows which episodes are asked for", u.failed[0]), Fix: "soundstage test " + u.failed[0],
			})
		} else if u != nil {
			o.Unused = u.left
		}
		out.Findings = append(out.Findings, lint.Check(name, a.cassetteFile(name), o)...)
	}
	for _, finding := range out.Findings {
		switch finding.Severity {
		case lint.Error:
			out.Errors++
		case lint.Warning:
			out.Warnings++
		}
	}
	if err := a.print(out, func(w io.Writer) { writeLint(w, out, f.format) }); err != nil {
		return err
	}
	if out.Errors > 0 || f.strict && out.Warnings > 0 {
		return fault.New(codeLint, "cassette.lint", "%s, %s in %s", count(out.Errors, "error"), count(out.Warnings, "warning"), count(out.Cassettes, "cassette")).
			WithHint("each finding names what to do")
	}
	return nil
}

// lintOptions is what this program holds against a cassette.
func (a *app) lintOptions(c *cobra.Command, f lintFlags) (lint.Options, error) {
	const op = "cassette.lint"
	if f.format != "text" && f.format != "lines" {
		return lint.Options{}, fault.New(fault.Invalid, op, "--format is %q", f.format).WithHint("use text or lines, or --json")
	}
	if f.maxSize < 0 {
		return lint.Options{}, fault.New(fault.Invalid, op, "--max-size is %d", f.maxSize).WithHint("give a number of bytes, or 0")
	}
	age, err := days(f.maxAge)
	if err != nil {
		return lint.Options{}, err
	}
	r, err := a.scrubber(nil)
	if err != nil {
		return lint.Options{}, err
	}
	h, err := a.bare(c.Context())
	if err != nil {
		return lint.Options{}, err
	}
	defer h.close()
	o := lint.Options{Redactor: r, Today: a.doors.Clock.Now(), MaxAge: age, MaxSize: f.maxSize, Retired: model.Retired, System: []string{studio.Instructions}}
	for _, t := range h.registry.All() {
		o.Tools = append(o.Tools, transcript.Tool{Name: t.Name(), Description: t.Description, Schema: string(t.Input())})
	}
	return o, nil
}

// days reads 90d, or a duration as Go writes it.
func days(s string) (time.Duration, error) {
	n, isDays := strings.CutSuffix(s, "d")
	if count, err := strconv.Atoi(n); isDays && err == nil && count >= 0 && count < 100_000 {
		return time.Duration(count) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fault.New(fault.Invalid, "cassette.lint", "--max-age is %q", s).WithHint("write it like 90d or 48h, or 0 for any age")
	}
	return d, nil
}

func writeLint(w io.Writer, out cassetteLinted, format string) {
	for _, f := range out.Findings {
		where := f.Cassette
		if format == "lines" {
			fmt.Fprintf(w, "%s:%d: %s %s: %s: %s\n", where, f.Episode, f.Severity, f.Code, f.Message, f.Fix)
			continue
		}
		if f.Episode > 0 {
			where += fmt.Sprintf(", episode %d", f.Episode)
		}
		if f.Place != "" {
			where += ", " + f.Place
		}
		fmt.Fprintf(w, "%s %s %s\n  %s\n  → %s\n", f.Severity, f.Code, where, f.Message, f.Fix)
	}
	if format != "lines" {
		fmt.Fprintf(w, "%s: %s, %s, %s\n", count(out.Cassettes, "cassette"), count(out.Errors, "error"), count(out.Warnings, "warning"),
			count(len(out.Findings)-out.Errors-out.Warnings, "note"))
	}
}
