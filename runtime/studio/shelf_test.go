package studio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// presets are notes with another name, and blocks.
type presets struct{ notes }

func (presets) Name() string     { return "preset" }
func (presets) Referenced() bool { return false }

type blocks struct{}

func (blocks) TakeBlock(body []byte, id string) (block, rest []byte, name string, err error) {
	var p struct {
		Title  string   `json:"title"`
		Blocks []string `json:"blocks"`
	}
	if err := json.Unmarshal(body, &p); err != nil || len(p.Blocks) == 0 || p.Blocks[0] != id {
		return nil, nil, "", fault.New("PRESET_BLOCK", "test", "no block %q", id)
	}
	return []byte(`{"id":"` + id + `"}`), []byte(`{"title":"` + p.Title + `"}`), "Block " + id, nil
}

type gallery struct{}

func (gallery) Picture(p store.Piece) (studio.Picture, string) {
	if strings.Contains(string(p.Body), "art") {
		return studio.Picture{Path: "/art", Source: "data", MIME: "image/png", Bytes: 70}, ""
	}
	return studio.Picture{}, "it names none"
}

// folders is one shared folder in memory.
type folders struct{ files map[string]string }

func (f *folders) Names(context.Context) ([]string, error) { return []string{"cards"}, nil }

func (f *folders) Walk(_ context.Context, at studio.Place, _, most int) (list []studio.FileEntry, more bool, err error) {
	for name, text := range f.files {
		if len(list) < most && (at.Path == "." || path.Dir(name) == at.Path) {
			list = append(list, studio.FileEntry{Path: at.Grant + "/" + name, Type: "file", Bytes: int64(len(text))})
		}
	}
	return list, false, nil
}

func (f *folders) Read(_ context.Context, at studio.Place, _ int64) ([]byte, error) {
	text, ok := f.files[at.Path]
	if !ok || at.Grant != "cards" {
		return nil, errors.New("not there")
	}
	return []byte(text), nil
}

// Incoming implements [studio.Importer].
func (b *bench) Incoming(string, []byte) (studio.Incoming, error) { return b.incoming, nil }

func (b *bench) piece(kind, id, body string) store.Piece {
	b.t.Helper()
	var n struct{ Title string }
	if err := json.Unmarshal([]byte(body), &n); err != nil {
		b.t.Fatal(err)
	}
	p, err := b.store.Create(b.t.Context(), store.Piece{Ref: store.Ref{Kind: kind, ID: id}, Title: n.Title, Body: []byte(body)}, store.Stamp{})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// shown is what a call puts on the screen.
func (b *bench) shown(id, input string) *tool.Show {
	b.t.Helper()
	t, _ := b.reg.Get(id)
	res, err := t.Run(b.t.Context(), tool.Call{Session: "s"}, []byte(input))
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Show
}

func TestDeleteNamesWhatStillRefers(t *testing.T) {
	b := newBench(t)
	b.note("book", "Book", "x")
	b.piece("note", "a", `{"title":"A","links":["book"]}`)
	b.piece("note", "b", `{"title":"B","text":"book"}`) // in running text: no link
	for i := range 12 {
		b.piece("preset", fmt.Sprintf("p%02d", i), `{"title":"P","links":["book"]}`)
	}
	card, err := studio.NewCards(b.deps).Card(t.Context(), gate.Request{Tool: "studio.delete", Input: []byte(`{"kind":"note","id":"book"}`)})
	if err != nil || !strings.Contains(card.Title, "Still named by note/a, preset/p00") || !strings.Contains(card.Title, "and 3 more") {
		t.Errorf("card %q, %v", card.Title, err)
	}
	out := b.must("studio.delete", `{"kind":"note","id":"book"}`)
	if by := out["named_by"].([]any); len(by) != 13 || by[0] != "note/a" {
		t.Errorf("receipt %v", out)
	}
	if _, err := studio.NewCards(b.deps).Card(t.Context(), gate.Request{Tool: "studio.delete", Input: []byte(`{"kind":"note","id":"book"}`)}); fault.CodeOf(err) != fault.Stale {
		t.Errorf("a miss: %v", err)
	}
}

func TestCollections(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.note("b", "B", "x")
	kept := studio.NewCollections(b.drawers, b.deps.Clock)
	ctx, a, other := t.Context(), store.Ref{Kind: "note", ID: "a"}, store.Ref{Kind: "note", ID: "b"}
	if _, err := kept.New(ctx, " Noir ", "dark"); err != nil {
		t.Fatal(err)
	}
	_, err := kept.New(ctx, "Noir", "")
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second one: %v", err)
	}
	if got, err := kept.Add(ctx, "Noir", a, other, a); err != nil || len(got.Pieces) != 2 {
		t.Errorf("added %v, %v", got, err)
	}
	b.must("studio.delete", `{"kind":"note","id":"b"}`)
	want := `map[collections:[map[about:dark name:Noir pieces:2]] pieces:[map[id:a kind:note title:A] map[id:b kind:note missing:true]]]`
	if got := fmt.Sprint(b.must("studio.collections", `{"name":"Noir"}`)); got != want {
		t.Errorf("read %s", got)
	}
	if got := fmt.Sprint(b.must("studio.collections", `{}`)); got != `map[collections:[map[about:dark name:Noir pieces:2]]]` {
		t.Errorf("listed %s", got)
	}
	if got, err := kept.Take(ctx, "Noir", other); err != nil || len(got.Pieces) != 1 {
		t.Errorf("taken out: %v, %v", got, err)
	}
	if _, err := kept.Take(ctx, "Noir", other); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("taken out twice: %v", err)
	}
	many := make([]store.Ref, 1001)
	for i := range many {
		many[i] = store.Ref{Kind: "note", ID: fmt.Sprint(i)}
	}
	if _, err := kept.Add(ctx, "Noir", many...); fault.CodeOf(err) != studio.CodeCollectionFull {
		t.Errorf("too many: %v", err)
	}
	if err := kept.Drop(ctx, "Noir"); err != nil {
		t.Error(err)
	}
	b.refused("studio.collections", `{"name":"Noir"}`, studio.CodeNoCollection)
}

func TestGraveyard(t *testing.T) {
	b := newBench(t)
	b.piece("preset", "p", `{"title":"P","blocks":["main"]}`)
	out := b.must("studio.graveyard_bury", `{"preset":"p","blockId":"main","note":"too long"}`)
	if out["saved"] != false || out["grave"].(map[string]any)["id"] != "g-0001" {
		t.Fatalf("buried %v", out)
	}
	b.must("change.discard", fmt.Sprintf(`{"draft":%q}`, out["draft"]))
	read := b.must("studio.graveyard", `{"id":"g-0001"}`)
	if fmt.Sprint(read["block"]) != "map[id:main]" || read["grave"].(map[string]any)["note"] != "too long" {
		t.Errorf("the copy did not stay: %v", read)
	}
	b.apply(b.must("studio.graveyard_bury", `{"preset":"p","blockId":"main"}`))
	list := b.must("studio.graveyard", `{"preset":"p"}`)["blocks"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != "g-0002" {
		t.Errorf("list %v", list)
	}
	if none := b.must("studio.graveyard", `{"preset":"q"}`)["blocks"].([]any); len(none) != 0 {
		t.Errorf("of another preset: %v", none)
	}
	b.refused("studio.graveyard", `{"action":"read","id":"g-0009"}`, studio.CodeNoGrave)
	b.refused("studio.graveyard_bury", `{"preset":"p","blockId":"main"}`, "PRESET_BLOCK")
	b.refused("studio.graveyard_bury", `{"preset":"q","blockId":"main"}`, fault.NotFound)
	b.refused("studio.graveyard_bury", `{"preset":"p","blockId":"main","note":"`+strings.Repeat("x", 501)+`"}`, fault.TooLarge)
	if kept, _ := b.drawers.ListEntries(t.Context(), drawer.Graveyard); len(kept) != 2 {
		t.Errorf("a refusal left %d copies", len(kept))
	}
}

func TestChoice(t *testing.T) {
	b := newBench(t)
	show := b.shown("ask.choice", `{"question":"Which?","options":[{"label":"Ada"},{"label":"Mary","fill":"Take Mary.","detail":"the astronomer"}]}`)
	if show.Kind != "choice" || len(show.Options) != 2 || show.Options[0].Fill != "Ada" || show.Options[1].Fill != "Take Mary." {
		t.Errorf("show %+v", show)
	}
	for _, in := range []string{
		`{"question":"Which?","options":[{"label":"one"}]}`, `{"question":" ","options":[{"label":"a"},{"label":"b"}]}`,
		`{"question":"Which?","options":[{"label":"a"},{"label":"a"}]}`, `{"question":"Which?","options":[{"label":"a"},{"label":" "}]}`,
		`{"question":"Which?","options":[{"label":"a"},{"label":"` + strings.Repeat("x", 201) + `"}]}`,
		`{"question":"Which?","options":[` + strings.Repeat(`{"label":"a"},`, 12) + `{"label":"b"}]}`,
	} {
		b.refused("ask.choice", in, studio.CodeChoice)
	}
}

func TestArt(t *testing.T) {
	b := newBench(t)
	b.note("ada", "Ada", "art")
	b.note("ada-two", "Ada Two", "art")
	b.note("mary", "Mary", "none")
	show := b.shown("studio.art", `{"piece":"Ada"}`)
	if show.Kind != "art" || show.Target != "note/ada" || show.Path != "/art" {
		t.Errorf("show %+v", show)
	}
	b.refused("studio.art", `{"piece":"ad"}`, studio.CodeSeveral)
	b.refused("studio.art", `{"piece":"note/mary"}`, studio.CodeNoArt)
	b.refused("studio.art", `{"piece":"eve"}`, fault.NotFound)
	b.refused("studio.art", `{"piece":" "}`, fault.NotFound)
}

func TestRail(t *testing.T) {
	b := newBench(t)
	b.note("ada", "Ada", "x")
	b.piece("preset", "one", `{"title":"Noir One"}`)
	b.piece("preset", "two", `{"title":"Noir Two"}`)
	if out := b.must("rail.open", `{"action":"status"}`); out["open"] != false {
		t.Errorf("status %v", out)
	}
	if show := b.shown("rail.open", `{"preset":"noir one"}`); show.Kind != "rail" || show.Target != "preset/one" {
		t.Errorf("show %+v", show)
	}
	if out := b.must("rail.open", `{"action":"status"}`); out["preset"] != "one" || out["title"] != "Noir One" {
		t.Errorf("status %v", out)
	}
	if out, _ := b.call("other", "rail.open", `{"action":"status"}`); out["open"] != false {
		t.Errorf("another conversation's rail: %v", out)
	}
	b.refused("rail.open", `{"preset":"noir"}`, studio.CodeSeveral)
	b.refused("rail.open", `{"preset":"Ada"}`, studio.CodeNotHere)
	b.refused("rail.open", `{"preset":"eve"}`, fault.NotFound)
	b.refused("rail.open", `{}`, fault.Invalid)
	b.must("studio.delete", `{"kind":"preset","id":"one"}`)
	if out := b.must("rail.open", `{"action":"status"}`); out["open"] != false || !strings.Contains(out["note"].(string), "deleted") {
		t.Errorf("status %v", out)
	}
}

func TestFolderSearch(t *testing.T) {
	b := newBench(t)
	b.note("ada", "Ada", "x")
	b.folders.files = map[string]string{"a.json": `{"name":"Ada"}`, "b.bin": "\x00\x01"}
	top := b.must("folder.search", `{}`)["entries"].([]any)
	if len(top) != 2 || top[0].(map[string]any)["path"] != "studio" || top[1].(map[string]any)["path"] != "cards" {
		t.Errorf("top %v", top)
	}
	for in, want := range map[string]string{
		`{"path":"studio"}`:                  "[map[path:studio/Export type:folder] map[path:studio/pieces type:folder]]",
		`{"path":"studio/pieces"}`:           "[map[path:studio/pieces/note type:folder]]",
		`{"path":"studio/pieces","depth":2}`: "[map[path:studio/pieces/note type:folder] map[bytes:26 path:studio/pieces/note/ada.json type:file]]",
		`{"path":"studio/pieces/note/"}`:     "[map[bytes:26 path:studio/pieces/note/ada.json type:file]]",
	} {
		if got := fmt.Sprint(b.must("folder.search", in)["entries"]); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	if got := b.must("folder.search", `{"action":"read","path":"studio/pieces/note/ada.json"}`)["text"]; got != `{"text":"x","title":"Ada"}` {
		t.Errorf("read %v", got)
	}
	found := b.must("folder.search", `{"action":"search","query":"ADA"}`)["entries"].([]any)
	if len(found) != 2 {
		t.Errorf("found %v", found)
	}
	for in, code := range map[string]fault.Code{
		`{"path":"../x"}`: studio.CodeFolderPath, `{"path":"/etc"}`: studio.CodeFolderPath, `{"path":"cards/../x"}`: studio.CodeFolderPath,
		`{"path":"cards\\x"}`: studio.CodeFolderPath, `{"path":"cards/.env"}`: studio.CodeFolderPath, `{"path":"a\u0000b"}`: studio.CodeFolderPath,
		`{"path":"studio/store.db"}`: studio.CodeFolder, `{"path":"studio/.soundstage"}`: studio.CodeFolderPath, `{"path":"studio/soundstage.yaml"}`: studio.CodeFolder,
		`{"path":"studio/soundstage.yaml","action":"read"}`: studio.CodeFolder, `{"path":"studio/pieces/note/x.json","action":"read"}`: fault.NotFound,
		`{"path":"studio/pieces/note","action":"read"}`: studio.CodeFolder, `{"path":"cards","action":"read"}`: studio.CodeFolderPath,
		`{"path":"studio/pieces/note/ada.json"}`: studio.CodeFolderPath, `{"path":"cards/b.bin","action":"read"}`: studio.CodeFolderText,
		`{"action":"search"}`: fault.Invalid, `{"depth":9}`: fault.Invalid,
	} {
		b.refused("folder.search", in, code)
	}
}

func TestFolderImport(t *testing.T) {
	b := newBench(t)
	b.folders.files = map[string]string{"a.json": "x"}
	esc := []store.Escrow{{Format: "txt", Name: "a.json", Raw: []byte("x")}}
	made := func(id, body string) store.Piece {
		return store.Piece{Ref: store.Ref{Kind: "note", ID: id}, Title: "A", Body: []byte(body), Escrow: esc}
	}
	b.incoming = studio.Incoming{Format: "txt", Pieces: []store.Piece{made("book", `{"title":"A"}`), made("a", `{"links":["book"],"title":"A"}`)}, Warnings: []string{"odd"}}
	out := b.must("folder.import", `{"path":"cards/a.json"}`)
	drafts := out["drafts"].([]any)
	if len(drafts) != 2 || drafts[0].(map[string]any)["target"] != "note/book" || drafts[1].(map[string]any)["saved"] != false {
		t.Fatalf("drafts %v", drafts)
	}
	for _, d := range drafts {
		b.apply(d.(map[string]any))
	}
	if p, err := b.store.Get(t.Context(), store.Ref{Kind: "note", ID: "a"}, 0); err != nil || !store.EqualEscrow(p.Escrow, esc) {
		t.Errorf("imported %+v, %v", p, err)
	}
	// What is on the shelf is refused, equal or not, and nothing is drafted.
	for body, word := range map[string]string{`{"title":"A"}`: "equal", `{"title":"A","text":"y"}`: "differs"} {
		b.incoming.Pieces = []store.Piece{made("new", `{"title":"A"}`), made("book", body)}
		_, err := b.call("s", "folder.import", `{"path":"cards/a.json"}`)
		if fault.CodeOf(err) != studio.CodeTaken || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", body, err)
		}
	}
	// Where a piece cannot be drafted, none is, and nothing of it is ever seen.
	b.incoming.Pieces = []store.Piece{made("new", `{"title":"A","text":"new"}`), made("bad", `{"title":"B"}`)}
	b.refused("folder.import", `{"path":"cards/a.json"}`, fault.Invalid)
	if list, err := b.drafts.List(t.Context(), true); err != nil || len(list) != len(drafts) {
		t.Errorf("%d drafts, %v", len(list), err)
	}
	b.refused("folder.import", `{"path":"../a.json"}`, studio.CodeFolderPath)
}
