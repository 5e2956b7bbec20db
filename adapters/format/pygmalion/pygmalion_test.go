package pygmalion_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/format/pygmalion"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
)

var table = content.NewFormats(pygmalion.Formats()...)

func TestCorpus(t *testing.T) {
	dir, want := formattest.Corpus(t)
	data, err := os.ReadFile(filepath.Join(dir, "character", "ooba.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	im, err := table.Import("ooba.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	p := formattest.Main(im)
	if im.Format != "ooba-yaml" || p.Title != want["character/ooba.yaml"]["name"] || !bytes.Equal(p.Escrow[0].Raw, data) {
		t.Errorf("%s, %q", im.Format, p.Title)
	}
	formattest.Canonical(t, p)
	if got := formattest.Body(t, p).At("/persona/description").Text(); got != "Ada keeps the lamp.\nShe is calm." {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"persona-wpp.txt", "persona-sbf.txt"} { // texts of a persona, not characters of a file
		data, err := os.ReadFile(filepath.Join(dir, "character", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Import(name, data); err == nil {
			t.Errorf("%s was taken", name)
		}
		kind := strings.TrimSuffix(strings.TrimPrefix(name, "persona-"), ".txt")
		if traits, of, err := content.ReadTraits(kind, string(data)); err != nil || of != "Ada" || len(traits.Attributes["mind"]) != 2 {
			t.Errorf("%s: %+v of %q, %v", name, traits, of, err)
		}
	}
}

func TestReads(t *testing.T) {
	for _, tt := range []struct{ name, in, format, want string }{
		{"pygmalion", `{"char_name":"A","char_persona":"P","world_scenario":"W","char_greeting":"G","example_dialogue":"E"}`, "pygmalion-json", `{"examples":"E","greetings":{"first":"G"},"identity":{"name":"A"},"persona":{"description":"P","scenario":"W"}}`},
		{"another key is another's", `{"char_name":"A"}`, "", ""},
		{"a card", `{"char_name":"A","char_persona":"P","spec":"chara_card_v2","data":{}}`, "", ""},
		{"yaml", "name: 7\ncontext: >\n  C\ngreeting: null\n", "ooba-yaml", `{"identity":{"name":"7"},"persona":{"description":"C\n"}}`},
		{"yaml without a context", "name: A\ngreeting: G\n", "", ""},
		{"yaml of something else", "a: &x [1]\nb: *x\n", "", ""},
		{"a text", "Once upon a time", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im, err := table.Import("x.yaml", []byte(tt.in))
			if tt.format == "" {
				if err == nil {
					t.Errorf("taken by %s", im.Format)
				}
				return
			}
			if err != nil || im.Format != tt.format || string(im.Pieces[0].Body) != tt.want {
				t.Errorf("%v, %s: %s", err, im.Format, im.Pieces[0].Body)
			}
		})
	}
}

func TestOnlyRead(t *testing.T) {
	if _, err := table.Named("ooba-yaml", content.KindCharacter); fault.CodeOf(err) != content.CodeFormat {
		t.Error(err)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte("name: A\ncontext: |-\n  C\ngreeting: \"g\"\n"))
	f.Add([]byte(`{"char_name":"A","char_persona":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if im, err := table.Import("x", data); err == nil {
			formattest.Canonical(t, im.Pieces[0])
		}
	})
}
