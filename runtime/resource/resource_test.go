package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/resource"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

type none struct{}

// tools are a registry of tools that do nothing.
func tools(ids ...string) *tool.Registry {
	var list []tool.Tool
	for _, id := range ids {
		spec := tool.Spec{ID: id, Summary: "Does nothing.", Effect: tool.Draft, Exposure: tool.Direct}
		if strings.HasPrefix(id, "character.") {
			spec.Exposure = tool.Deferred
		}
		list = append(list, tool.New(spec, func(context.Context, tool.Call, none) (tool.Reply[none], error) {
			return tool.Reply[none]{}, nil
		}))
	}
	return tool.NewRegistry(list...)
}

type drafts []draft.Draft

func (d drafts) List(context.Context, bool) ([]draft.Draft, error) { return d, nil }

// newOptions is a studio of some pieces, two drafts, two traces and two pages.
func newOptions(t *testing.T, pieces ...string) resource.Options {
	t.Helper()
	st := memory.New()
	for _, p := range pieces {
		kind, id, _ := strings.Cut(p, "/")
		if _, err := st.Create(t.Context(), store.Piece{Ref: store.Ref{Kind: kind, ID: id}, Title: strings.ToUpper(id), Body: []byte(`{"a":1}`)}, store.Stamp{At: clock.Epoch}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, id := range []string{"s-0001", "s-0002"} {
		log, err := trace.Open(filepath.Join(dir, id+".jsonl"), trace.Options{Session: id, Clock: clock.NewFixed(clock.Epoch)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if _, err := log.Record(t.Context(), 0, trace.Steered{Text: fmt.Sprintf("secret-%d %s", i, strings.Repeat("x", 300_000))}); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ada := store.Piece{Ref: store.Ref{Kind: "character", ID: "ada"}}
	return resource.Options{
		Registry: tools("studio.read", "change.query", "result.query", "character.identity.update"),
		Store:    st, Drafts: drafts{{ID: "d-0001", Rev: 1, Proposed: ada}, {ID: "d-0002", Rev: 3, Proposed: ada}}, Sessions: dir,
		Docs: fstest.MapFS{"howto/record.md": {Data: []byte("# Record\n")}, "tutorial.md": {Data: []byte("# Tutorial\n")}, "x.png": {Data: []byte("png")}},
	}
}

func uris(list []resource.Entry) []string {
	var uris []string
	for _, e := range list {
		uris = append(uris, strings.TrimPrefix(e.URI, "soundstage://"))
	}
	return uris
}

func TestList(t *testing.T) {
	c := resource.New(newOptions(t, "character/ada", "character/bob", "lorebook/moor"))
	first, next, err := c.List(t.Context(), "", 2)
	if err != nil || !slices.Equal(uris(first), []string{"piece/character/ada", "piece/character/bob"}) || next == "" {
		t.Fatalf("List = %q, %q, %v", uris(first), next, err)
	}
	rest, next, err := c.List(t.Context(), next, 2)
	want := []string{"piece/lorebook/moor", "draft/d-0001", "draft/d-0002", "doc/howto/record.md", "doc/tutorial.md", "trace/s-0002", "trace/s-0001"}
	if err != nil || !slices.Equal(uris(rest), want) || next != "" {
		t.Errorf("List = %q, %q, %v, want %q", uris(rest), next, err, want)
	}
	for _, cursor := range []string{"x", "soundstage://trace/s-0001"} {
		if _, _, err := c.List(t.Context(), cursor, 2); fault.CodeOf(err) != resource.CodeCursor {
			t.Errorf("List from %q: %v", cursor, err)
		}
	}
}

// Without the tool that reads something there is nothing of it.
func TestShelvesFollowTheTools(t *testing.T) {
	o := newOptions(t, "character/ada")
	o.Registry, o.Sessions, o.Docs = tools("studio.list"), "", nil
	c := resource.New(o)
	list, _, err := c.List(t.Context(), "", 10)
	if err != nil || len(list)+len(c.Templates()) > 0 {
		t.Errorf("List = %q, %v, templates %v", uris(list), err, c.Templates())
	}
	for _, arg := range []string{"piece", "id", "kind", "draft", "session", "path", "capability"} {
		if values, _, err := c.Complete(t.Context(), arg, "", nil); len(values) > 0 || err != nil {
			t.Errorf("Complete(%s) = %q, %v", arg, values, err)
		}
	}
	for _, a := range []resource.Address{{Shelf: resource.Trace, ID: "s-0001"}, {Shelf: resource.Doc, ID: "tutorial.md"}} {
		if _, err := c.Read(t.Context(), a); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Read(%s): %v", a, err)
		}
	}
	if got, err := c.Revision(t.Context(), "soundstage://piece/character/ada"); got != "" || err != nil {
		t.Errorf("Revision = %q, %v", got, err)
	}
}

var addresses = []struct {
	uri  string
	want resource.Address // zero: refused
}{
	{"soundstage://piece/character/ada", resource.Address{Shelf: resource.Piece, Kind: "character", ID: "ada"}},
	{"soundstage://draft/d-0001", resource.Address{Shelf: resource.Draft, ID: "d-0001"}},
	{"soundstage://result/result-1", resource.Address{Shelf: resource.Result, ID: "result-1"}},
	{"soundstage://trace/s-0001?after=12", resource.Address{Shelf: resource.Trace, ID: "s-0001", After: 12}},
	{"soundstage://doc/howto/record.md", resource.Address{Shelf: resource.Doc, ID: "howto/record.md"}},
	{"soundstage://piece/character", resource.Address{}},
	{"soundstage://piece/character/Ada", resource.Address{}},
	{"soundstage://piece/character/ada/x", resource.Address{}},
	{"soundstage://piece/character/ada?after=1", resource.Address{}},
	{"soundstage://trace/s-0001?after=-1", resource.Address{}},
	{"soundstage://trace/s-0001?after=1&x=2", resource.Address{}},
	{"soundstage://trace/../s-0001", resource.Address{}},
	{"soundstage://trace/..%2fx", resource.Address{}},
	{"soundstage://doc/../secret.md", resource.Address{}},
	{"soundstage://doc//etc/passwd", resource.Address{}},
	{"soundstage://shelf/x", resource.Address{}},
	{"soundstage://", resource.Address{}},
	{"file:///etc/passwd", resource.Address{}},
	{"soundstage://draft/" + strings.Repeat("d", resource.MaxURI), resource.Address{}},
}

func TestParse(t *testing.T) {
	for _, tt := range addresses {
		a, err := resource.Parse(tt.uri)
		if a != tt.want || (fault.CodeOf(err) == resource.CodeAddress) != (tt.want == resource.Address{}) {
			t.Errorf("Parse(%.60q) = %+v, %v", tt.uri, a, err)
		}
	}
}

// What parses writes itself again, and makes calls that are JSON.
func FuzzParse(f *testing.F) {
	for _, tt := range addresses {
		f.Add(tt.uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		a, err := resource.Parse(uri)
		if err != nil {
			return
		}
		if b, err := resource.Parse(a.String()); err != nil || a != b {
			t.Errorf("%q is %+v, and written again %+v, %v", uri, a, b, err)
		}
		if id, input := a.Call(); id != "" && !json.Valid(input) {
			t.Errorf("%q calls %s with %s", uri, id, input)
		}
		if strings.Contains(a.ID, "..") && a.Shelf == resource.Doc {
			t.Errorf("%q leads out", uri)
		}
	})
}

// A trace comes in pages of whole lines, with what is secret taken out.
func TestReadTrace(t *testing.T) {
	o := newOptions(t)
	o.Mask = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "secret", "******")) }
	c := resource.New(o)
	a := resource.Address{Shelf: resource.Trace, ID: "s-0001"}
	var seqs []int64
	for range 10 {
		p, err := c.Read(t.Context(), a)
		if err != nil || len(p.Text) > resource.MaxText || strings.Contains(p.Text, "secret") {
			t.Fatalf("Read(%s): %d bytes, %v", a, len(p.Text), err)
		}
		for line := range strings.Lines(p.Text) {
			var e struct {
				Seq  int64           `json:"seq"`
				Type string          `json:"type"`
				Data json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type == "" || len(e.Data) == 0 {
				t.Fatalf("%.80q: %v", line, err)
			}
			seqs = append(seqs, e.Seq)
		}
		if p.Next == "" {
			break
		}
		if a, err = resource.Parse(p.Next); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int64{1, 2, 3, 4, 5}; !slices.Equal(seqs, want) {
		t.Errorf("events %d, want %d", seqs, want)
	}
	for _, id := range []string{"s-0009", ".hidden"} {
		if _, err := c.Read(t.Context(), resource.Address{Shelf: resource.Trace, ID: id}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Read(%s): %v", id, err)
		}
	}
}

// A link in the folder of the traces does not lead out of it.
func TestATraceIsNoLink(t *testing.T) {
	o := newOptions(t)
	if err := os.Symlink(filepath.Join(o.Sessions, "s-0001.jsonl"), filepath.Join(o.Sessions, "s-0003.jsonl")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	c := resource.New(o)
	if _, err := c.Read(t.Context(), resource.Address{Shelf: resource.Trace, ID: "s-0003"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Read: %v", err)
	}
}

func TestReadDoc(t *testing.T) {
	c := resource.New(newOptions(t))
	if p, err := c.Read(t.Context(), resource.Address{Shelf: resource.Doc, ID: "howto/record.md"}); err != nil || p.Text != "# Record\n" {
		t.Errorf("Read = %+v, %v", p, err)
	}
	for _, path := range []string{"x.png", "no.md", "howto"} {
		if _, err := c.Read(t.Context(), resource.Address{Shelf: resource.Doc, ID: path}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Read(%s): %v", path, err)
		}
	}
}

// A revision changes when what it is of does, and not else.
func TestRevision(t *testing.T) {
	o := newOptions(t, "character/ada")
	c := resource.New(o)
	at := func(uri string) string {
		t.Helper()
		r, err := c.Revision(t.Context(), uri)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const uri = "soundstage://piece/character/ada"
	first := at(uri)
	if first == "" || at(uri) != first {
		t.Errorf("revision %q, then %q", first, at(uri))
	}
	p, err := o.Store.Get(t.Context(), store.Ref{Kind: "character", ID: "ada"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Body = []byte(`{"a":2}`)
	if _, err := o.Store.Update(t.Context(), p, store.Stamp{At: clock.Epoch}); err != nil {
		t.Fatal(err)
	}
	second := at(uri)
	if err := o.Store.Delete(t.Context(), p.Ref, 2, store.Stamp{At: clock.Epoch}); err != nil {
		t.Fatal(err)
	}
	if third := at(uri); second == first || third == second {
		t.Errorf("revisions %q, %q, %q", first, second, third)
	}
	for uri, want := range map[string]bool{
		"soundstage://draft/d-0002": true, "soundstage://draft/d-0009": false, "soundstage://trace/s-0001": true, "soundstage://trace/s-0009": false,
		"soundstage://piece/character/eve": false, "soundstage://result/result-1": false, "test://watched": false,
	} {
		if got := at(uri); (got != "") != want {
			t.Errorf("Revision(%s) = %q", uri, got)
		}
	}
}

func TestComplete(t *testing.T) {
	pieces := []string{"character/ada", "character/adele", "character/bob", "lorebook/moor"}
	for i := range 150 {
		pieces = append(pieces, fmt.Sprintf("character/x%03d", i))
	}
	c := resource.New(newOptions(t, pieces...))
	character := map[string]string{"kind": "character"}
	for _, tt := range []struct {
		arg, prefix string
		with        map[string]string
		want        string
	}{
		{"piece", "character/ad", nil, "character/ada character/adele"},
		{"piece", "lore", nil, "lorebook/moor"},
		{"piece", "character/ada", nil, "character/ada"},
		{"piece", "character/z", nil, ""},
		{"id", "ad", character, "ada adele"},
		{"id", "b", nil, "bob"},
		{"id", "x149", character, "x149"},
		{"id", "é", character, ""},
		{"kind", "", nil, "character lorebook"},
		{"draft", "d-", nil, "d-0001 d-0002"},
		{"draft", "d-0002", nil, "d-0002"},
		{"session", "s", nil, "s-0002 s-0001"},
		{"path", "how", nil, "howto/record.md"},
		{"capability", "char", nil, "character.identity.update"},
		{"capability", "studio", nil, ""},
		{"nothing", "", nil, ""},
	} {
		values, more, err := c.Complete(t.Context(), tt.arg, tt.prefix, tt.with)
		if got := strings.Join(values, " "); got != tt.want || more || err != nil {
			t.Errorf("Complete(%s, %q) = %q, %v, %v, want %q", tt.arg, tt.prefix, got, more, err, tt.want)
		}
	}
	for _, tt := range []struct{ arg, prefix string }{{"id", ""}, {"id", "x"}, {"piece", "character/"}, {"piece", "c"}} {
		if values, more, err := c.Complete(t.Context(), tt.arg, tt.prefix, character); len(values) != 100 || !more || err != nil {
			t.Errorf("Complete(%s, %q) = %d values, %v, %v", tt.arg, tt.prefix, len(values), more, err)
		}
	}
}
