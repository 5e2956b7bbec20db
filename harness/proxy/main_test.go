package proxy_test

import (
	"os"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

func TestMain(m *testing.M) {
	seam.DenyDefaultTransport()
	os.Exit(m.Run())
}
