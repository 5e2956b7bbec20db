//go:build unix

package cassette_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Nobody waits for a named pipe: neither Open nor a signal would end that.
func TestNamedPipesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	for _, name := range []string{path, path + ".part"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
	}
	if _, err := cassette.Open(path); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("open: %v", err)
	}
	if _, err := cassette.CreateWith(path, cassette.Header{}, cassette.CreateOptions{Replace: true}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("create: %v", err)
	}
	if _, err := cassette.Resume(path); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("resume: %v", err)
	}
}
