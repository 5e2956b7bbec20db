package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestCodeAndHintSurviveWrapping(t *testing.T) {
	inner := fault.New(fault.Stale, "store.update", "piece %q is at revision 3, not 2", "ada").WithHint("read it again")
	outer := fault.Wrap(inner, fault.Internal, "draft.apply", "save draft d-1")
	tests := []struct {
		name string
		err  error
		code fault.Code
		hint string
	}{
		{"nil", nil, "", ""},
		{"plain", errors.New("x"), fault.Internal, ""},
		{"direct", inner, fault.Stale, "read it again"},
		{"outermost code wins, innermost hint is kept", outer, fault.Internal, "read it again"},
		{"through fmt", fmt.Errorf("while: %w", inner), fault.Stale, "read it again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.CodeOf(tt.err); got != tt.code {
				t.Errorf("CodeOf = %q, want %q", got, tt.code)
			}
			if got := fault.HintOf(tt.err); got != tt.hint {
				t.Errorf("HintOf = %q, want %q", got, tt.hint)
			}
		})
	}
	if got, want := outer.Error(), `draft.apply: save draft d-1: store.update: piece "ada" is at revision 3, not 2`; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	again := fault.Wrap(fault.Wrap(inner, fault.Internal, "store.update", "piece %q", "ada"), fault.Internal, "store.update", "shelf 1")
	if got, want := again.Error(), `store.update: shelf 1: piece "ada": piece "ada" is at revision 3, not 2`; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(outer, &fault.Error{Code: fault.Stale}) {
		t.Error("errors.Is does not find the cause's code")
	}
}
