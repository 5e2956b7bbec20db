package scenarios_test

import (
	"bytes"
	"flag"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/cli"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/scenario"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
)

var record = flag.Bool("record", false, "record every scripted cassette anew")

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--print" { // no flag of go test
		os.Exit(fakeClaude(os.Args[1:]))
	}
	denied := seam.DenyDefaultTransport()
	log.SetOutput(io.Discard) // as in the program
	os.Exit(alone(denied.Exit(script.Main(m, program), os.Stderr)))
}

// program is the whole program, for the few scenarios that need a process, or one of
// somebody else that a scenario is recorded with.
func program() int {
	if how := os.Getenv("SOUNDSTAGE_TEST_SERVER"); how != "" {
		return badServer(how)
	}
	return cli.Process()
}

// options is how the scenarios of this repository are run. They share one program, and
// so the catalogue of models.
func options() script.Options[*scenario.Bag] {
	o := scenario.Options(cli.NewProgram().Main)
	o.Root, o.Cassettes = ".", "../cassettes"
	o.Update, o.Record = snapshot.Updating(), *record
	if examples, err := filepath.Abs("../docs/examples/stories"); err == nil {
		o.Env = map[string]string{"STORIES": examples}
	}
	return o
}

func TestScenarios(t *testing.T) { script.Run(t, options()) }

const intro = `# Scenarios

One journey a file: <area>/<name>.txtar, with the model's part in cassettes/<area>/<name>.yaml. This page is
generated; docs/howto/add-a-scenario.md says how to write one.
`

func TestREADME(t *testing.T) {
	want := script.Readme(options(), intro)
	if snapshot.Updating() {
		if err := os.WriteFile("README.md", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("README.md")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("README.md is stale (%v); run: make update", err)
	}
}
