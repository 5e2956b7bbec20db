// Package cassettes holds the recordings: <area>/<name>.yaml, for the scenario of
// the same name.
//
// It is data, with one file that puts the recording of `soundstage demo` into the
// binary.
package cassettes

import "embed"

// Demo is the recording that the demo replays.
//
//go:embed content/rename.yaml
var Demo embed.FS
