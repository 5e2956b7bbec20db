package script

import (
	"io"
	"os"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Doors are all the ways in which a program touches the world around it, as
// values. A main that takes Doors can run many times in one process.
type Doors struct {
	Args    []string          // without the program's name
	Env     map[string]string // the whole environment
	Dir     string            // absolute; relative paths are joined to it
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Clock   clock.Clock
	Signals <-chan os.Signal // an interrupt asks main to stop; may be nil
	// Seam is the door to the outside that a whole scenario shares, so that its calls
	// are in one order in one cassette. Nil: main opens one of its own.
	Seam *seam.Seam
}
