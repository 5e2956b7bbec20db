package official_test

import (
	"os"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

// TestMain closes the door that nobody may use: what a test reaches, it reaches by a
// transport of its own.
func TestMain(m *testing.M) {
	denied := seam.DenyDefaultTransport()
	os.Exit(denied.Exit(m.Run(), os.Stderr))
}
