// Package scenarios holds the journeys: <area>/<name>.txtar, and beside it what a
// scripted provider says.
//
// It is data, with one file that puts the journey of `soundstage demo` into the
// binary. The words are listed in README.md; harness/script runs them.
package scenarios

import "embed"

// Demo is the journey that the demo replays.
//
//go:embed content/rename.txtar
var Demo embed.FS
