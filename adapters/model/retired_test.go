package model

import (
	"testing"
	"time"
)

func TestRetired(t *testing.T) {
	for _, r := range retirements {
		day, err := time.Parse(time.DateOnly, r.when)
		if err != nil {
			t.Fatal(err)
		}
		if when, from := Retired(r.model, day); when != r.when || from != r.from || from == "" {
			t.Errorf("%s: %q, %q", r.model, when, from)
		}
		if when, _ := Retired(r.model, day.Add(-time.Hour)); when != "" {
			t.Errorf("%s is retired before %s", r.model, r.when)
		}
	}
	if when, _ := Retired("claude-sonnet-4-5", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)); when != "" {
		t.Error("a model that nobody has retired is")
	}
}
