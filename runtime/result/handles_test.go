package result_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/result"
)

// What is listed can be read, the newest first; what went is not listed.
func TestHandlesAreListed(t *testing.T) {
	all := result.NewSessions()
	if got := all.Handles("s-1"); got != nil {
		t.Errorf("of no session: %q", got)
	}
	for i := range result.MaxResults + 2 {
		if _, err := all.Put(t.Context(), "s-1", fmt.Sprint("text ", i)); err != nil {
			t.Fatal(err)
		}
	}
	got := all.Handles("s-1")
	if len(got) != result.MaxResults || got[0] != "result-26" || got[len(got)-1] != "result-3" {
		t.Errorf("%q", got)
	}
	for _, h := range got {
		if text, err := all.Text("s-1", h); err != nil || !strings.HasPrefix(text, "text ") {
			t.Errorf("%s is listed, and reads as %q, %v", h, text, err)
		}
	}
	if got := all.Handles("s-2"); got != nil {
		t.Errorf("another session's: %q", got)
	}
	all.End("s-1")
	if got := all.Handles("s-1"); got != nil {
		t.Errorf("of a session that ended: %q", got)
	}
	all.Resume("s-3", []string{"result-1", "result-2"})
	if got := all.Handles("s-3"); len(got) != 0 {
		t.Errorf("of an earlier run of the program: %q", got)
	}
}
