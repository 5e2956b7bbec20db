// Command soundstage runs, records, replays and serves tool-using agents. All of
// it is in package cli.
package main

import (
	"os"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/cli"
)

func main() { os.Exit(cli.Process()) }
