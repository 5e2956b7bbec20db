package chaos_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want, err string }{
		{"3 429 retry-after=1s", "3 429 retry-after=1s", ""},
		{"* 500", "* 500", ""},
		{"2 timeout", "2 timeout after=1m0s", ""},
		{"2 timeout after=90s", "2 timeout after=1m30s", ""},
		{"1 refused", "1 refused", ""},
		{"writer@1 reset chunk=0", "writer@1 reset chunk=0", ""},
		{"@2 reset chunk=5", "@2 reset chunk=5", ""},
		{"https://*/v1/messages@* truncate bytes=300", "https://*/v1/messages@* truncate bytes=300", ""},
		{"1 slow 50ms", "1 slow 50ms", ""},
		{"1 slow by=50ms", "1 slow 50ms", ""},
		{"1 garbage", "1 garbage seed=1", ""},
		{"1 garbage bytes=10 seed=4", "1 garbage bytes=10 seed=4", ""},
		{"* rechunk seed=7", "* rechunk seed=7 max=32", ""},
		{"* rechunk seed=18446744073709551615 max=1", "* rechunk seed=18446744073709551615 max=1", ""},

		{"exec://git@1 exit code=128", "exec://git@1 exit code=128", ""},

		{"", "", "needs a call"},
		{"3", "", "needs a call"},
		{"0 429", "", `"0" is not the number of a call`},
		{"-1 429", "", "not the number"},
		{"+1 429", "", "not the number"},
		{"1048577 429", "", "not the number"},
		{"writer@ 429", "", "not the number"},
		{"https://x/y 429", "", "does not say which call"},
		{"1 200", "", `status "200"`},
		{"1 600", "", `status "600"`},
		{"1 status", "", `"status" is nothing that goes wrong`},
		{"1 flaky rate=0.1", "", `"flaky" is nothing`},
		{"1 429 retry_after=1s", "", `takes no "retry_after=1s"`},
		{"1 429 retry-after=1", "", `retry-after="1" is not a time`},
		{"1 429 retry-after=0s", "", "not a time"},
		{"1 429 retry-after=1s retry-after=2s", "", "said twice"},
		{"1 refused now", "", `takes no "now"`},
		{"1 reset", "", `reset needs a value for "chunk"`},
		{"1 truncate bytes=", "", `bytes="" is not a number`},
		{"1 truncate bytes=+1", "", "not a number"},
		{"1 truncate bytes=67108865", "", "not a number"},
		{"1 slow", "", `slow needs a value`},
		{"1 slow 50", "", "not a time"},
		{"1 exit", "", `exit needs a value`},
		{"1 exit code=0", "", "not a number from 1 to 255"},
		{"1 rechunk", "", `rechunk needs a value for "seed"`},
		{"1 rechunk seed=-1", "", "not a seed"},
		{"1 rechunk seed=1 max=0", "", "not a number"},
		{"1 429 " + strings.Repeat("x", 1000), "", "longer than 1000"},
	} {
		f, err := chaos.Parse(tt.text)
		if tt.err != "" {
			if fault.CodeOf(err) != chaos.CodeFault || !strings.Contains(err.Error(), tt.err) || fault.HintOf(err) == "" {
				t.Errorf("Parse(%.60q): %v, want an error with %q", tt.text, err, tt.err)
			}
			continue
		}
		if err != nil || f.String() != tt.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", tt.text, f, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"3 429 retry-after=1s", "a@* rechunk seed=7", "https://*@1 garbage bytes=3", "1 slow 1h", "2 timeout", "@1 reset chunk=0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := chaos.Parse(text)
		if err != nil {
			return
		}
		again, err := chaos.Parse(one.String())
		if err != nil || again.String() != one.String() {
			t.Errorf("%q is %q, which reads as %q, %v", text, one, again, err)
		}
	})
}
