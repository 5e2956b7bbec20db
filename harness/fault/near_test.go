package fault_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"studio.list", "studio.list", 0},
		{"studio.lst", "studio.list", 1},
		{"studio.lsit", "studio.list", 1}, // two letters that changed places
		{"größe", "grösse", 2},            // runes, not bytes
		{"abc", "xyz", 3},
	}
	for _, tt := range tests {
		if got := fault.Edits(tt.a, tt.b); got != tt.want {
			t.Errorf("Edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := fault.Edits(tt.b, tt.a); got != tt.want {
			t.Errorf("Edits(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
