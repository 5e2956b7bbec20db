package twin_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func TestMoreFields(t *testing.T) {
	fields := []twin.Field{
		twin.Alt("/a", twin.Plain("/new", twin.Int), twin.Plain("/old", twin.Int)),
		twin.Switches("/on", "there is no such switch", [2]string{"/in/x", "x"}, [2]string{"/y", "y"}),
		{Path: "/mode", Ptr: "/mode", Codec: twin.Alias(twin.Words([2]string{"0", ""}, [2]string{"1", "deep"}), "flat", "0")},
		{Path: "/n", Ptr: "/n", Codec: twin.AbsentIs(twin.IntOrNull, twin.Parsed("4")), Required: true},
		{Path: "/deep/known", Ptr: "/known", Codec: twin.Text},
		twin.Rest("it has no place"),
	}
	for _, tt := range []struct{ name, doc, body, want, losses string }{
		{"nothing", `{"old":1}`, `{"a":1,"n":4}`, `{"old":1}`, ""},
		{"where it stands", `{"old":1}`, `{"a":2,"n":4}`, `{"old":2}`, ""},
		{"where there is none", `{}`, `{"a":2,"n":4}`, `{"new":2}`, ""},
		{"cleared", `{"old":1,"n":1}`, `{}`, `{"n":null}`, ""},
		{"switches", `{"y":"true"}`, `{"on":["x","z"],"n":4}`, `{"y":"false","in":{"x":true}}`, "/on/1"},
		{"an alias", `{"mode":1}`, `{"mode":"flat","n":4}`, `{"mode":0}`, ""},
		{"the rest", `{}`, `{"n":4,"deep":{"known":"k","other":1},"else":[1]}`, `{"known":"k"}`, "/deep/other /else"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := twin.Parsed(tt.doc)
			var paths []string
			for _, l := range twin.Lay(doc, fields, twin.Parsed(tt.body)) {
				paths = append(paths, l.Path)
			}
			if got := string(doc.Bytes()); got != tt.want || strings.Join(paths, " ") != tt.losses {
				t.Errorf("got %s, losses %q; want %s, %q", got, paths, tt.want, tt.losses)
			}
		})
	}
}
