package seam_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Bytes of the other side are a message or a named error, and a message is written as
// it was read.
func FuzzMCPMessage(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7}}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1.5e300}}`,
		`{"jsonrpc":"2.0","id":1e5,"method":"x","params":[]}`, `{"jsonrpc":"2.0","id":1,"result":null}`, `[]`, `{"id":{}}`, "\xff", `{"jsonrpc":"2.0","id":1,"result":1,"error":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again, pointer, err := seam.ReadMessage(b, "/_meta/progressToken")
		if err != nil {
			if code := fault.CodeOf(err); code != seam.CodeMessage && code != fault.TooLarge {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		if !json.Valid(again) || bytes.ContainsAny(again, "\n\r") {
			t.Fatalf("%q becomes %q", b, again)
		}
		twice, pointer2, err := seam.ReadMessage(again, "/_meta/progressToken")
		if err != nil || !bytes.Equal(twice, again) || !bytes.Equal(pointer, pointer2) {
			t.Fatalf("%q becomes %q, and then %q, %v", b, again, twice, err)
		}
	})
}

// A transcript is a file's, and a file may be anybody's: whatever stands in it, playing
// it ends, with messages or with a named error.
func FuzzMCPTranscript(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"{{ask:1}}","method":"a","params":{}}` + "\n" + `{"await":"{{ask:1}}"}` + "\n" + `{"jsonrpc":"2.0","id":"{{call}}","result":{}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"{{progress}}"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"{{ask:9}}"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"{{subscription:99999999999999999999}}"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, m := range seam.PlayTranscript(t.Context(), body) {
			if !json.Valid(m) {
				t.Fatalf("%q plays %q", body, m)
			}
		}
	})
}
