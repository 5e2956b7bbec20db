package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Every code that there is has a status of its own choosing: one that nobody thought
// of would look like a bug of ours.
func TestEveryCodeHasAStatus(t *testing.T) {
	list, err := os.ReadFile("../../../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(string(list), -1)
	if len(codes) < 100 {
		t.Fatalf("found %d codes", len(codes))
	}
	for _, m := range codes {
		thought := false
		for prefix := range byCode {
			thought = thought || strings.HasPrefix(m[1], prefix)
		}
		if !thought {
			t.Errorf("code %s has no exit status", m[1])
		}
	}
}

func TestStatus(t *testing.T) {
	for code, want := range map[fault.Code]int{
		"INTERNAL": 1, "STORE_DAMAGED": 1, "SCENARIO_FAILED": 1, "EXPORT_FORMAT": 2, "INVALID_INPUT": 2, "STORE_NEWER": 2,
		"NOT_FOUND": 3, "MODEL_UNKNOWN": 3, "SESSION_NONE": 3, "STALE": 4, "DRAFT_CLOSED": 4, "SESSION_BUSY": 4, "SESSION_BAD_ID": 2, "GATE_NOBODY": 5, "SEAM_MISS": 6,
		"CASSETTE_DAMAGED": 6, "BUDGET_OVER_CAP": 7, "MODEL_NO_KEY": 8, "STOP_ROUNDS": 9, "STOP_CANCELLED": 130, "CANCELLED": 130,
	} {
		if got := status(fault.New(code, "test", "x")); got != want {
			t.Errorf("status of %s is %d, want %d", code, got, want)
		}
	}
	if got := status(nil); got != 0 {
		t.Errorf("status of no error is %d", got)
	}
	if got := status(os.ErrClosed); got != 1 {
		t.Errorf("status of an error without a code is %d", got)
	}
}
