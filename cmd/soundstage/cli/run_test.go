package cli

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// An answer that was cut at its bound is not passed off as a whole one.
func TestACutAnswerSaysSo(t *testing.T) {
	w := newWorld(t)
	w.must("", "init")
	w.env[script.EnvUpstream] = w.write("up.yaml", "turns:\n  - say: {text: Once upon, stop: length}\n")
	if out := w.must("", "run", "tell a tale"); !strings.Contains(out, "Once upon\n  → The answer was cut") {
		t.Errorf("%s", out)
	}
}
