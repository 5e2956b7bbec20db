package engine

import (
	"testing"
	"time"
)

func TestJobIDs(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"00000000000000000000000001": jobID(time.Unix(0, 0), 1),
		"0000000000000000000000000Z": jobID(time.Unix(-5, 0), 31),
		"01ARYZ6S410000000000000011": jobID(time.UnixMilli(1469918176385), 33),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
