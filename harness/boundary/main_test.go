package boundary_test

import (
	"os"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

func TestMain(m *testing.M) {
	denied := seam.DenyDefaultTransport()
	os.Exit(denied.Exit(m.Run(), os.Stderr))
}
