package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
)

// large is a story of 200 rooms with a page, guards and calls each, that imports the town
// ten times.
func large() files {
	var rooms, imports strings.Builder
	for i := range 200 {
		fmt.Fprintf(&rooms, `
  room%d:
    relevant_world: [ gold ]
    view:
      - prose: "You stand in room %d with {{ world.gold }} pieces."
      - list: { items: [ "{{ world.mood }}", { label: north, when: "world.gold > %d" } ] }
    on_enter:
      - { set: { mood: "{{ world.gold + %d }}" } }
      - { invoke: host.run, with: { cmd: "echo {{ world.mood }}" }, bind: { mood: stdout }, on_error: room0 }
    on:
      go_in: [ { when: "world.gold > %d && world.mood != ''", target: room%d }, { default: true, target: . } ]
`, i, i, i, i, i, (i+1)%200)
	}
	for i := range 10 {
		fmt.Fprintf(&imports, "\n  t%d: { source: ../town, exits: {} }", i)
	}
	f := files{"/town/app.yaml": town["/s/app.yaml"], "/inn/app.yaml": town["/inn/app.yaml"], "/lib/cellar/app.yaml": town["/lib/cellar/app.yaml"]}
	f["/s/app.yaml"] = "app: { id: large }\nhosts: [ host.run ]\nroot: room0\nworld: { gold: 1, mood: \"\" }\nintents: { go_in: {} }\nimports:" + imports.String() + "\nstates:" + rooms.String()
	return f
}

func BenchmarkLoad(b *testing.B) {
	f := large()
	for b.Loop() {
		s, found, err := load.Load(b.Context(), load.Options{Files: f, App: "/s", Root: "/lib"})
		if s == nil || err != nil {
			b.Fatal(found, err)
		}
	}
}

// BenchmarkLoadPackage loads the story that SOUNDSTAGE_STORY names within
// SOUNDSTAGE_STORIES.
func BenchmarkLoadPackage(b *testing.B) {
	root, name := os.Getenv("SOUNDSTAGE_STORIES"), os.Getenv("SOUNDSTAGE_STORY")
	if root == "" || name == "" {
		b.Skip("SOUNDSTAGE_STORIES and SOUNDSTAGE_STORY name no story")
	}
	for b.Loop() {
		s, found, err := load.Load(b.Context(), load.Options{Files: loadtest.Disk{}, App: filepath.Join(root, name), Root: filepath.Join(root, "stories")})
		if s == nil || err != nil {
			b.Fatal(found, err)
		}
	}
}
