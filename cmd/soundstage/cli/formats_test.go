package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// corpusDir is the corpus of files beside the repository.
var corpusDir = filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "synthetic")

// An expectation is a row of the corpus's table: only what a row says is checked.
type expectation struct {
	Name, Spec, Warn, Error, Brief string
	PersonaKind                    string   `json:"persona_kind"`
	BookEntries                    *int     `json:"book_entries"`
	Assets, Missing                *int     `json:",omitempty"`
	Entries, Rules, Replies        *int     `json:",omitempty"`
	Folders, Personas, Parts       *int     `json:",omitempty"`
	Preserve, Secrets, Orphans     []string `json:",omitempty"`
	Ghosts                         []string
	Prompts                        json.RawMessage
	Temperature                    json.Number
	RejectEntries                  *int     `json:"reject_entries"`
	Stripped, Handlers             []string // of a page
	RemoteMin                      int      `json:"remote_min"`
	Clean                          *bool
}

// codes are the codes that the corpus's words for errors mean.
var codes = map[string][]fault.Code{
	"no_card": {carrier.CodeNoCard}, "truncated": {carrier.CodeTruncated}, "too_large": {carrier.CodeTooLarge}, "bad_payload": {carrier.CodePayload},
	"no_card_json": {carrier.CodeNoCard}, "duplicate_entry": {carrier.CodeDuplicate}, "too_many_entries": {carrier.CodeEntries}, "slip": {carrier.CodeUnsafe}, "entry_too_large": {carrier.CodeTooLarge},
}

// warnings are the words of ours that the corpus's warnings mean.
var warnings = map[string]string{
	"chara/ccv3 differ": "differ", "2 chara chunks": "chara", "not base64": "base64", "crc": "crc", "spec_version type": "spec_version", "version": "version", "spec missing": "spec",
}

// Every file of the corpus, through the formats as they are wired: what the table expects
// of it, the same tokens where nobody edited it, and no credential in what goes out.
func TestCorpus(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(corpusDir, "EXPECT.json"))
	if err != nil {
		t.Skip("the content corpus is not beside this repository: ", err)
	}
	var want map[string]expectation
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			suite := formattest.Suite{Formats: newFormats()}
			if strings.HasSuffix(name, ".risum") || strings.HasSuffix(name, ".risup") || name == "character/risu-module-overrides.charx" {
				table := formattest.RisuTable(t)
				suite.Formats = formatsWith(rpack.New(func() ([]byte, error) { return table, nil }))
			}
			data, err := os.ReadFile(filepath.Join(corpusDir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			in, err := suite.Formats.Import(filepath.Base(name), data)
			if w.Error != "" || w.RejectEntries != nil {
				if w.RejectEntries != nil {
					w.Error = "slip"
				}
				code := fault.CodeOf(err)
				if list := codes[w.Error]; err == nil || list != nil && !slices.Contains(list, code) || code == fault.Internal {
					t.Errorf("error %v, want %s", err, w.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.check(t, suite.Formats, in)
			for _, p := range in.Pieces {
				formattest.Canonical(t, p)
				suite.Unedited(t, p, in.Pieces)
			}
		})
	}
}

func (w expectation) check(t *testing.T, formats *content.Formats, in content.Imported) {
	t.Helper()
	count := func(list string) (n int) { // a module is several pieces
		for _, p := range in.Pieces {
			n += formattest.Body(t, p).At(list).Len()
		}
		return n
	}
	main, notes := in.Pieces[len(in.Pieces)-1], in.Notes[len(in.Notes)-1]
	body := formattest.Body(t, main)
	if name := body.At("/identity/name").Text() + body.At("/name").Text(); w.Name != "" && name != w.Name {
		t.Errorf("it is called %q, want %q", name, w.Name)
	}
	if w.Spec != "" && notes.Spec != w.Spec {
		t.Errorf("spec %q, want %q", notes.Spec, w.Spec)
	}
	if word := warnings[w.Warn]; w.Warn != "" && (word == "" || !strings.Contains(strings.Join(in.Warnings, "\n"), word)) {
		t.Errorf("warnings %q, want one of %q", in.Warnings, w.Warn)
	}
	counts := map[string]struct {
		want *int
		got  int
	}{
		"book entries": {w.BookEntries, notes.BookEntries}, "assets": {w.Assets, notes.Assets}, "missing": {w.Missing, notes.Missing},
		"entries": {w.Entries, count("/entries")}, "rules": {w.Rules, count("/rules")}, "replies": {w.Replies, body.At("/replies").Len()},
		"folders": {w.Folders, body.At("/folders").Len()}, "personas": {w.Personas, len(in.Pieces)},
	}
	for what, c := range counts {
		if c.want != nil && c.got != *c.want {
			t.Errorf("%d %s, want %d", c.got, what, *c.want)
		}
	}
	if got := body.At("/samplers/temperature").Raw(); w.Temperature != "" && got != string(w.Temperature) {
		t.Errorf("temperature %s, want %s", got, w.Temperature)
	}
	if got := body.At("/brief").Text(); w.Brief != "" && got != w.Brief {
		t.Errorf("brief %q, want %q", got, w.Brief)
	}
	if got := body.At("/persona/structured/kind").Text(); w.PersonaKind != "" && got != w.PersonaKind {
		t.Errorf("attributes in %q, want %q", got, w.PersonaKind)
	}
	w.checkParts(t, in, body)
	w.checkPage(t, main, body)
	w.out(t, formats, in, main)
}

// checkParts looks at the prompts of a preset, by name or counted, and at the parts of a
// master export, which are one preset here.
func (w expectation) checkParts(t *testing.T, in content.Imported, body *canon.Node) {
	t.Helper()
	var ids []string
	for _, b := range body.At("/blocks").Items() {
		ids = append(ids, b.Field("id").Text())
	}
	var names []string
	n := -1
	switch {
	case w.Prompts == nil:
	case json.Unmarshal(w.Prompts, &names) == nil:
		if !slices.Equal(ids, names) {
			t.Errorf("prompts %q, want %q", ids, names)
		}
	case json.Unmarshal(w.Prompts, &n) != nil || len(ids) != n:
		t.Errorf("prompts %q, want %s", ids, w.Prompts)
	}
	if w.Parts == nil {
		return
	}
	if told := fmt.Sprintf("the file's %d parts", *w.Parts); !strings.Contains(strings.Join(in.Warnings, "\n"), told) {
		t.Errorf("warnings %q, want %q", in.Warnings, told)
	}
	for _, ptr := range []string{"/templates/instruct/input_sequence", "/templates/story", "/blocks/0/content", "/samplers/temperature"} {
		if body.At(ptr) == nil {
			t.Errorf("%s of a part is nowhere", ptr)
		}
	}
}

// checkPage wants a page to be kept as it is: what a preview would leave out of it stands
// in the document, as data.
func (w expectation) checkPage(t *testing.T, main store.Piece, body *canon.Node) {
	t.Helper()
	if w.Stripped == nil && w.Clean == nil {
		return
	}
	html := body.Field("html").Text()
	if main.Kind != content.KindHTMLDoc || html != string(main.Escrow[0].Raw) {
		t.Errorf("a %s that is not the file", main.Kind)
	}
	lower := strings.ToLower(html)
	for _, tag := range w.Stripped {
		if !strings.Contains(lower, "<"+tag) {
			t.Errorf("<%s> is gone", tag)
		}
	}
	for _, handler := range w.Handlers {
		if !strings.Contains(lower, handler+"=") {
			t.Errorf("%s is gone", handler)
		}
	}
	if n := strings.Count(lower, "http://") + strings.Count(lower, "https://") + strings.Count(lower, `"//`); n < w.RemoteMin {
		t.Errorf("%d remote references, want %d", n, w.RemoteMin)
	}
}

// out checks what leaves again.
func (w expectation) out(t *testing.T, formats *content.Formats, in content.Imported, main store.Piece) {
	t.Helper()
	c, err := formats.Convert(main, formats.Usual(main), in.Pieces)
	if err != nil {
		t.Fatal(err)
	}
	doc := content.Open("x", c.Data).Doc
	for _, ptr := range w.Preserve {
		if doc.At(ptr) == nil {
			t.Errorf("%s did not come out again", ptr)
		}
	}
	for _, ptr := range w.Secrets {
		if !slices.Contains(c.Stripped, ptr) || doc.At(ptr) != nil {
			t.Errorf("%s is %v; stripped are %q", ptr, doc.At(ptr), c.Stripped)
		}
	}
	told := strings.Join(in.Warnings, "\n")
	for _, name := range slices.Concat(w.Orphans, w.Ghosts) {
		if !strings.Contains(told, name) {
			t.Errorf("%q is not told of in %q", name, told)
		}
	}
}

// bodies is how many bodies of a kind cross each pair of formats.
var bodies = flag.Int("bodies", 6, "bodies that cross each pair of formats")

// What a loss list says between any two formats of a kind is all that is lost on the way
// there and back, and all of it is. A kind that one format writes crosses to itself.
func TestThereAndBackAgain(t *testing.T) {
	suite := formattest.Suite{Formats: formatsWith(formattest.Spelling())}
	compared := 0
	for _, k := range content.Kinds() {
		names := suite.Formats.Writing(k.Name())
		values := 0
		for _, from := range names {
			for _, to := range names {
				if from == to && len(names) > 1 {
					continue
				}
				t.Run(k.Name()+" "+from+" "+to, func(t *testing.T) { values += suite.Across(t, k.Name(), from, to, *bodies) })
			}
		}
		if values < 40 {
			t.Errorf("of the kind %s %d values were compared: the table is broken", k.Name(), values)
		}
		compared += values
	}
	t.Logf("%d values", compared)
	t.Run("behind a JPEG", func(t *testing.T) { suite.Behind(t, *bodies) })
}

// picture says that a file of the format needs a picture to be in.
func picture(format string) bool {
	return strings.HasPrefix(format, "png-") || strings.HasSuffix(format, "-png")
}

// Hostile files end with a code, and leave the studio as it was.
func TestHostileFiles(t *testing.T) {
	w := newWorld(t)
	w.must("", "init", ".")
	w.write("ada.json", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","character_book":{"name":"B","entries":[]}}}`)
	w.must("", "import", "ada.json")
	rows := func() (all string) {
		for _, args := range [][]string{{"piece", "ls", "--json"}, {"piece", "show", "character/ada", "--json"}, {"piece", "history", "character/ada", "--json"}, {"piece", "show", "lorebook/b", "--json"}} {
			all += w.must("", args...)
		}
		return all
	}
	before := rows()
	files := map[string][]byte{
		"second.json": []byte(`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"","character_book":{"name":"B","entries":[{"id":1,"keys":["a"],"content":"` + strings.Repeat("x", store.MaxBody) + `"}]}}}`), // the card is sound, its book is not
		"deep.json":   []byte(strings.Repeat("[", 200_000)),
		"deeper.json": []byte(`{"spec":"chara_card_v2","data":` + strings.Repeat(`{"x":`, 100_000) + "1" + strings.Repeat("}", 100_001)),
		"cut.png":     []byte("\x89PNG\r\n\x1a\n\x00\x00"), "cut.zip": []byte("PK\x03\x04\x00"), "cut.jpg": []byte("\xff\xd8\xff\xe0"),
		"nothing": {}, "nul.json": []byte("{\"a\":\"\x00\"}"), "half.json": []byte(`{"spec":"chara_card_v2","data":{"name":"A`),
	}
	if list, err := filepath.Glob(filepath.Join(corpusDir, "character", "*")); err == nil {
		for _, name := range list {
			for _, word := range []string{"bomb", "slip", "many", "dup-", "huge", "trunc", "subdir", "no-card", "bad-base64"} {
				if raw, err := os.ReadFile(name); err == nil && strings.Contains(filepath.Base(name), word) {
					files[filepath.Base(name)] = raw
				}
			}
		}
	}
	for name, raw := range files {
		w.write(name, string(raw))
		code, _, errs := w.do("", "import", name)
		if code != exitInvalid || !strings.Contains(errs, "soundstage: ") || strings.Contains(errs, "INTERNAL") {
			t.Errorf("%s: exit status %d, %s", name, code, errs)
		}
	}
	if after := rows(); after != before {
		t.Errorf("the studio was\n%s\nand is\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(w.dir, exportDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an export folder: %v", err)
	}
}
