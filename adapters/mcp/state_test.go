package mcp_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/adapters/mcp"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A client brings back what it was given, or nothing that counts.
func TestStatesCannotBeAltered(t *testing.T) {
	now := clock.Epoch
	key := mcp.NewKey(clock.Real{})
	input := []byte(`{"id":"ada","n":1}`)
	st := mcp.Carried{Question: "q-1", Session: "s-1", Tool: "studio.delete", Input: mcp.DigestOf(input), Expires: now.Add(time.Hour).Unix()}
	text, err := mcp.Sign(st, key)
	if err != nil {
		t.Fatal(err)
	}
	body, sum, _ := strings.Cut(text, ".")
	plain, _ := base64.RawURLEncoding.DecodeString(body)
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(plain), "q-1", "q-2", 1)))
	for name, bad := range map[string]string{
		"empty": ".", "no form": "q-1", "another body": forged + "." + sum, "no sum": body + ".", "cut": text[:len(text)-1],
		"long": strings.Repeat("a", 5_000) + "." + sum, "swapped": sum + "." + body,
	} {
		if _, err := mcp.Unsign(key, bad); fault.CodeOf(err) != mcp.CodeState {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mcp.Unsign(mcp.NewKey(clock.Real{}), text); fault.CodeOf(err) != mcp.CodeState {
		t.Errorf("another process's: %v", err)
	}
	got, err := mcp.Unsign(key, text)
	if err != nil || got != st {
		t.Fatalf("%+v, %v", got, err)
	}
	tests := []struct {
		name, session, tool, input string
		after                      time.Duration
		want                       fault.Code
	}{
		{"as it was", "s-1", "studio.delete", `{"n":1, "id":"ada"}`, 0, ""},
		{"another session's", "s-2", "studio.delete", string(input), 0, mcp.CodeState},
		{"another tool's", "s-1", "change.apply", string(input), 0, mcp.CodeNoQuestion},
		{"another input's", "s-1", "studio.delete", `{"id":"eve","n":1}`, 0, mcp.CodeNoQuestion},
		{"too late", "s-1", "studio.delete", string(input), time.Hour, mcp.CodeStateExpired},
	}
	for _, tt := range tests {
		if err := mcp.CheckState(got, tt.session, tt.tool, []byte(tt.input), now.Add(tt.after)); err == nil != (tt.want == "") || err != nil && fault.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
