package trace

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// masks are what a Log may have been given.
func masks() map[string]func([]byte) []byte {
	known := redact.New(redact.Options{Env: map[string]string{"A_TOKEN": "hunter2hunter2"}, Home: "/srv/ada", Work: "/srv/ada/work"})
	return map[string]func([]byte) []byte{
		"none":  nil,
		"known": known.Mask,
		"a name": func(b []byte) []byte { // of a field, which no secret should be
			return bytes.ReplaceAll(b, []byte("call"), []byte("c"))
		},
		"across": func(b []byte) []byte { // what stands in no text alone
			return bytes.ReplaceAll(b, []byte(`"ok":true`), []byte(`"ok":false`))
		},
		"in place": func(b []byte) []byte {
			for i := range b {
				if b[i] == 's' {
					b[i] = 'x'
				}
			}
			return b
		},
	}
}

// FuzzQuick holds the short way of the events of a call equal to the long one.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{"", "plain", `{"kind":"character"}`, "é \u2028 <b> & \"\\\b\f\n\r\t\x00\x1f\x7f", "\xff\xfe", "a\xc3", "/srv/ada/work/x", "hunter2hunter2", `{"api_key":"sk-0123456789abcdef"}`, "\ufffd", "😀"} {
		f.Add(s, "call-1", 0, true, uint8(0))
		f.Add("text", s, -1, false, uint8(15))
	}
	f.Fuzz(func(t *testing.T, text, id string, n int, yes bool, set uint8) {
		called := ToolCalled{Index: n, Call: id, Tool: "studio.read", Input: text}
		finished := ToolFinished{Call: id, Tool: text, OK: yes, Text: text, NotRun: set&1 > 0}
		if set&2 > 0 {
			called.Round, finished.Code, finished.Handle = n, id, text
		}
		if set&4 > 0 {
			finished.Reveal, finished.Review = []string{id}, &draft.Review{Draft: id}
		}
		if set&8 > 0 {
			finished.Images = []model.Blob{}
		}
		for name, mask := range masks() {
			l := &Log{opt: Options{Mask: mask}, quick: namesStay(mask)}
			for _, p := range []Payload{called, finished} {
				got, err := l.encode(p)
				if err != nil {
					t.Fatal(err)
				}
				want, err := encodeAny(p, mask)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("mask %s: %s, want %s", name, got, want)
				}
			}
		}
		line, err := appendText(nil, id)
		if want, werr := json.Marshal(id); err != nil || werr != nil || !bytes.Equal(line, want) {
			t.Errorf("text %s, %v, want %s, %v", line, err, want, werr)
		}
	})
}

// A mask that changes a name leaves nothing to the short way, and no name is written that
// was not asked about.
func TestQuickNames(t *testing.T) {
	for name, mask := range masks() {
		if stay := namesStay(mask); stay == (name == "a name") {
			t.Errorf("mask %s: names stay %v", name, stay)
		}
	}
	for _, p := range []Payload{ToolCalled{Index: 1, Round: 1}, ToolFinished{Code: "c", Handle: "h", NotRun: true}} {
		data, ok := quick(p, nil)
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil || !ok {
			t.Fatalf("%s, %v", data, err)
		}
		for name := range fields {
			if !slices.Contains(quickNames, name) {
				t.Errorf("%s has %q, which no mask was asked about", p.EventType(), name)
			}
		}
	}
}

// The short way is taken, or it would be in nobody's way.
func TestQuick(t *testing.T) {
	for _, p := range []Payload{ToolCalled{Call: "c", Tool: "t", Input: "{}"}, ToolFinished{Call: "c", Tool: "t", OK: true, Text: "a\nb"}} {
		if _, ok := quick(p, masks()["known"]); !ok {
			t.Errorf("%s took the long way", p.EventType())
		}
		if _, ok := quick(p, masks()["across"]); ok != (p.EventType() == "tool.called") {
			t.Errorf("%s: short way %v with a mask", p.EventType(), ok)
		}
	}
}
