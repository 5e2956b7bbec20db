package cli

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// versionResult is what version prints with --json.
type versionResult struct {
	Version  string `json:"version" jsonschema:"module version, or devel"`
	Revision string `json:"revision,omitempty" jsonschema:"the commit it was built from"`
	Go       string `json:"go" jsonschema:"the toolchain"`
	Cassette int    `json:"cassette" jsonschema:"the cassette format that it writes"`
	KeyV     int    `json:"keyVersion" jsonschema:"how it computes keys"`
	Trace    int    `json:"trace" jsonschema:"the trace schema that it writes"`
}

// Version is what the build information says of this binary.
func Version() string { return buildInfo().Version }

func buildInfo() versionResult {
	v := versionResult{Version: "devel", Cassette: cassette.Format, KeyV: cassette.KeyVersion, Trace: trace.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go = info.GoVersion
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func (a *app) cmdVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the formats that it writes",
		Example: "  soundstage version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildInfo()
			return a.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "soundstage %s (%s)\n", v.Version, v.Go)
				fmt.Fprintf(w, "cassette format %d, key version %d, trace schema %d\n", v.Cassette, v.KeyV, v.Trace)
			})
		},
	}
}
