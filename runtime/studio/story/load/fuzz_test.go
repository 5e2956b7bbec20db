package load_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
)

// FuzzLoad loads anything: it neither panics nor gives a story together with an error, and
// every finding has a place.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{small, door, spelling, town["/s/app.yaml"], town["/inn/app.yaml"], town["/lib/cellar/app.yaml"]} {
		f.Add(seed, small)
		f.Add(small, seed)
	}
	f.Fuzz(func(t *testing.T, app, inn string) {
		s, found, err := load.Load(t.Context(), load.Options{
			Files: files{"/s/app.yaml": app, "/inn/app.yaml": inn, "/s/rooms/a.yaml": inn, "/lib/cellar/app.yaml": inn}, App: "/s", Root: "/lib",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range found {
			if x.Severity == load.Error && s != nil {
				t.Fatalf("a story with the error %s", x)
			}
			if x.File == "" && len(found) <= load.MaxFindings {
				t.Errorf("%q stands nowhere", x.Message)
			}
		}
	})
}
