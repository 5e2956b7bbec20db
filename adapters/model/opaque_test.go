package model

import (
	"bytes"
	"testing"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
)

// fantasyMetadata is what came back, as the library gives it.
func fantasyMetadata(o fantasy.ProviderOptions) fantasy.ProviderMetadata {
	return fantasy.ProviderMetadata(o)
}

// Every signature comes back as it was, whatever its bytes.
func FuzzSeal(f *testing.F) {
	f.Add("sig", "", "\xff\x00")
	f.Add("", "redacted", "")
	f.Add("\u2028\ufeff<&>", "", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, sig, redacted, bytes2 string) {
		m := fantasy.ProviderMetadata{
			anthropic.Name: &anthropic.ReasoningOptionMetadata{Signature: sig, RedactedData: redacted},
			google.Name:    &google.ReasoningMetadata{Signature: bytes2, ToolID: "a-random-id"},
		}
		b := seal(m)
		if bytes.Contains(b, []byte("a-random-id")) {
			t.Fatal("an id of the library is kept")
		}
		out := unseal(b)
		if sig != "" || redacted != "" {
			a := out[anthropic.Name].(*anthropic.ReasoningOptionMetadata)
			if a.Signature != sig || a.RedactedData != redacted {
				t.Errorf("%q %q became %q %q", sig, redacted, a.Signature, a.RedactedData)
			}
		}
		if bytes2 != "" && out[google.Name].(*google.ReasoningMetadata).Signature != bytes2 {
			t.Errorf("%q became %q", bytes2, out[google.Name])
		}
	})
}

// What another adapter wrote is ignored.
func TestUnsealOther(t *testing.T) {
	for _, s := range []string{"", "x", "{}", `[{"provider":"other","signature":"eA=="}]`, `"text"`, "[1]"} {
		if got := unseal([]byte(s)); len(got) != 0 {
			t.Errorf("%q: %v", s, got)
		}
	}
}
