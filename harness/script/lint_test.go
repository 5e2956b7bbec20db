package script

import (
	"strings"
	"testing"
)

func TestEnvNames(t *testing.T) {
	got := strings.Join(envNames("# x\nenv A=1 B=2\n[unix] env 'C=a b'\nenv\nenv D\n! env E=\n"), " ")
	if got != "A B C E" {
		t.Errorf("envNames = %q", got)
	}
}

func TestParseFlags(t *testing.T) {
	known := []string{"-json", "-turn="}
	tests := []struct{ args, rest, err string }{
		{"-json -turn=2 x -y", "x -y", ""},
		{"-- -json", "-json", ""},
		{"- x", "- x", ""},
		{"-turn x", "", `flag "-turn" needs a value`},
		{"-json=1", "", `flag "-json" takes no value`},
		{"-jsn", "", `unknown flag "-jsn" (did you mean "-json"?)`},
		{"-wholly=1", "", `unknown flag "-wholly" (there are: -json, -turn=)`},
	}
	for _, tt := range tests {
		_, rest, err := parseFlags(strings.Fields(tt.args), known)
		if got := strings.Join(rest, " "); got != tt.rest || (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("parseFlags(%q) = %q, %v; want %q, %q", tt.args, got, err, tt.rest, tt.err)
		}
	}
}

// FuzzLint looks for scripts that panic, and for words that are let through.
func FuzzLint(f *testing.F) {
	f.Add("# x\nclock +1h\n")
	f.Add("# x\n[unix] ! prog -a\nstdin f\nexec x\n")
	f.Add("# x\nenv $A=1\n[")
	f.Fuzz(func(t *testing.T, text string) {
		flags := map[string][]string{"clock": nil, "prog": nil, "cassette": {"-replay"}}
		if lint(text, flags, "prog") != nil {
			return
		}
		for _, l := range parseLines(text) {
			if _, own := flags[l.word]; !own && !strings.Contains(strings.Join(builtin, " "), l.word) {
				t.Errorf("the word %q was let through", l.word)
			}
		}
		envNames(text)
	})
}
