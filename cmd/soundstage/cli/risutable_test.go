package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// The setting names a file, from the studio's folder or absolute; what is none says so
// when it is needed, and not before.
func TestRisuTable(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sound := write("table.bin", formattest.Table())
	write("long.bin", append(formattest.Table(), make([]byte, 1<<20)...))
	for name, says := range map[string]string{
		"table.bin": "", sound: "", "": "not built in", "absent.bin": "cannot be read", ".": "is not a file", "long.bin": "more than 512 bytes",
	} {
		spell := config{RisuTable: name}.spelling(dir)
		if spell.Set() != (name != "") {
			t.Errorf("%q: set %v", name, spell.Set())
		}
		_, err := spell.Read("x.risup", "preset", []byte("a"))
		if says == "" && err == nil {
			continue
		}
		if says == "" || err == nil || fault.CodeOf(err) != rpack.CodeTable || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Errorf("%q: %v, want %q", name, err, says)
		}
	}
}
