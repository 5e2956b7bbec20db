package cli

import (
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette/upkeep"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// The result of the commands that change cassettes.
type (
	cassetteEdit struct {
		Name string `json:"name" jsonschema:"area/name"`
		upkeep.Report
	}
	cassetteEdits struct {
		DryRun    bool           `json:"dry_run" jsonschema:"nothing was written"`
		Cassettes []cassetteEdit `json:"cassettes" jsonschema:"in the order given, or of name"`
	}
)

// edit runs a change over the cassettes named, or over all.
func (a *app) edit(names []string, dry bool, change func(path string) (upkeep.Report, error)) error {
	names, err := a.named(names)
	if err != nil {
		return err
	}
	out := cassetteEdits{DryRun: dry, Cassettes: []cassetteEdit{}}
	for _, name := range names {
		if err := a.mustHave(name); err != nil {
			return err
		}
		report, err := change(a.cassetteFile(name))
		if err != nil {
			return err
		}
		out.Cassettes = append(out.Cassettes, cassetteEdit{name, report})
	}
	return a.print(out, func(w io.Writer) { writeEdits(w, out) })
}

func writeEdits(w io.Writer, out cassetteEdits) {
	changed := 0
	for _, c := range out.Cassettes {
		if !c.Changed {
			continue
		}
		changed++
		fmt.Fprintf(w, "%s\n", c.Name)
		for _, n := range c.Notes {
			if n.Episode > 0 {
				fmt.Fprintf(w, "  episode %d: %s\n", n.Episode, n.What)
			} else {
				fmt.Fprintf(w, "  %s\n", n.What)
			}
		}
	}
	what := "changed"
	if out.DryRun {
		what = "would change"
	}
	fmt.Fprintf(w, "%s, %d %s\n", count(len(out.Cassettes), "cassette"), changed, what)
}

func dryRun(c *cobra.Command, dry *bool) *cobra.Command {
	c.Flags().BoolVar(dry, "dry-run", false, "say what would be done, and write nothing")
	return c
}

func (a *app) cmdCassetteMigrate() *cobra.Command {
	var dry bool
	return dryRun(&cobra.Command{
		Use: "migrate [NAME…]", Short: "Bring cassettes of an older format to today's (default: all)",
		Long: `Migrate rewrites files of an older x-format. Bodies, keys and order stay as they are; hashes
that are computed in another way today are computed anew. A file of today's format is not
touched.`,
		Example: "  soundstage cassette migrate\n  soundstage cassette migrate content/rename --dry-run",
		RunE: func(_ *cobra.Command, names []string) error {
			return a.edit(names, dry, func(path string) (upkeep.Report, error) { return upkeep.Migrate(path, dry) })
		},
	}, &dry)
}

func (a *app) cmdCassetteRekey() *cobra.Command {
	var dry bool
	var rules []string
	c := dryRun(&cobra.Command{
		Use: "rekey [NAME…]", Short: "Compute the keys of cassettes anew (default: all)",
		Long: `Rekey computes every key as this version does, under the rules in the file or under --rules,
without recording again. Order and answers stay. It refuses where two requests would come to
have one key and have different answers, and names them.`,
		Example: "  soundstage cassette rekey\n  soundstage cassette rekey content/rename --rules call-ids/1,session-noise/1",
		RunE: func(_ *cobra.Command, names []string) error {
			return a.edit(names, dry, func(path string) (upkeep.Report, error) { return upkeep.Rekey(path, rules, dry) })
		},
	}, &dry)
	c.Flags().StringSliceVar(&rules, "rules", nil, "the `presets` that matching ignores by from now on (docs/reference/cassette.md)")
	return c
}

func (a *app) cmdCassetteDedupe() *cobra.Command {
	var dry, inline bool
	c := dryRun(&cobra.Command{
		Use: "dedupe [NAME…]", Short: "Move large and repeated bodies out of cassettes (default: all)",
		Long: `Dedupe moves bodies of more than 64 KB, and those of more than 1 KB that occur three times or
more, into <name>.blobs beside the cassette, each once. Keep both files together. Other
tools that read go-vcr files find such a body empty. With --inline all bodies come back.`,
		Example: "  soundstage cassette dedupe content/rename\n  soundstage cassette dedupe --inline content/rename",
		RunE: func(_ *cobra.Command, names []string) error {
			return a.edit(names, dry, func(path string) (upkeep.Report, error) { return upkeep.Dedupe(path, inline, dry) })
		},
	}, &dry)
	c.Flags().BoolVar(&inline, "inline", false, "put all bodies back into the cassette, and remove <name>.blobs")
	return c
}

func (a *app) cmdCassetteRedact() *cobra.Command {
	var dry bool
	var values []string
	c := dryRun(&cobra.Command{
		Use: "redact [NAME…]", Short: "Take secrets out of cassettes (default: all)",
		Long: `Redact applies today's rules of redaction: allowed headers, provider keys, names of
credentials, and the values of this environment's credentials. --value-env names a variable
whose value leaked, whatever the variable is called. Keys of what changed are computed anew.
It says which places changed, and never a value. A secret that was committed is in the
history all the same: replace it where it is valid.`,
		Example: "  soundstage cassette redact --dry-run\n  LEAKED=… soundstage cassette redact --value-env LEAKED content/rename",
		RunE: func(_ *cobra.Command, names []string) error {
			r, err := a.scrubber(values)
			if err != nil {
				return err
			}
			return a.edit(names, dry, func(path string) (upkeep.Report, error) { return upkeep.Redact(path, r, dry) })
		},
	}, &dry)
	c.Flags().StringSliceVar(&values, "value-env", nil, "the `variable` that holds a value to be taken out")
	return c
}

// scrubber is the redactor of this environment, which takes the values of the named
// variables for secrets too.
func (a *app) scrubber(names []string) (*redact.Redactor, error) {
	env := maps.Clone(a.doors.Env)
	if env == nil {
		env = map[string]string{}
	}
	for _, name := range names {
		value := env[name]
		if !redact.IsCredentialName(name) {
			name += "_SECRET" // what makes a value one is its variable's name
		}
		if value == "" || redact.New(redact.Options{Env: map[string]string{name: value}}).MaskString(value) == value {
			return nil, fault.New(fault.Invalid, "cassette.redact", "the value of variable %q is empty, or too short to be taken out wherever it occurs", name).
				WithHint("give the whole secret, of at least eight characters")
		}
		env[name] = value
	}
	home := env["HOME"]
	return redact.New(redact.Options{Env: env, Home: home, Work: a.doors.Dir}), nil
}
