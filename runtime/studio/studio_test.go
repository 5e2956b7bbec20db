package studio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// notes is a kind with a title and a text.
type notes struct{}

func (notes) Name() string     { return "note" }
func (notes) Referenced() bool { return true }
func (notes) Links(body []byte) (refs []store.Ref) {
	var n struct{ Links []string }
	_ = json.Unmarshal(body, &n)
	for _, id := range n.Links {
		refs = append(refs, store.Ref{Kind: "note", ID: id})
	}
	return refs
}

func (notes) Title(body []byte) (string, error) {
	var n struct{ Title string }
	if err := json.Unmarshal(body, &n); err != nil || n.Title == "" {
		return "", fault.New(fault.Invalid, "note", "no title in %q", body)
	}
	return n.Title, nil
}

type bench struct {
	t        *testing.T
	reg      *tool.Registry
	store    store.Store
	drafts   *draft.Service
	results  *result.Sessions
	folders  *folders
	incoming studio.Incoming
	out      studio.File       // what Convert gives
	with     []store.Piece     // what it was given along
	saved    map[string][]byte // by path
	findings int               // of each piece
	drawers  drawer.Rows
	deps     studio.Deps
}

func newBench(t *testing.T) *bench {
	st, clk := memory.New(), clock.NewFixed(time.Unix(1_700_000_000, 0))
	kinds := studio.NewKinds(notes{}, presets{})
	drafts := draft.New(st, st, clk, kinds)
	results := result.NewSessions()
	b := &bench{t: t, store: st, drafts: drafts, results: results, folders: &folders{}, drawers: st}
	b.deps = studio.Deps{
		Store: st, Drafts: drafts, Results: results, Clock: clk, Kinds: kinds,
		Drawers: st, Blocks: blocks{}, Gallery: gallery{}, Rail: studio.NewRail(), Folders: b.folders, Importer: b,
		Converter: b, Exports: b, Linter: b,
	}
	b.reg = tool.NewRegistry(studio.Tools(b.deps)...)
	return b
}

// call runs a tool for a session and gives the structured part.
func (b *bench) call(session, id, input string) (map[string]any, error) {
	b.t.Helper()
	t, ok := b.reg.Get(id)
	if !ok {
		b.t.Fatalf("no tool %s", id)
	}
	res, err := t.Run(context.Background(), tool.Call{Session: session, Seq: 7}, []byte(input))
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(res.Structured, &out); err != nil {
		b.t.Fatalf("%s: %v in %q", id, err, res.Structured)
	}
	return out, nil
}

func (b *bench) must(id, input string) map[string]any {
	b.t.Helper()
	out, err := b.call("s", id, input)
	if err != nil {
		b.t.Fatalf("%s %s: %v (%s)", id, input, err, fault.HintOf(err))
	}
	return out
}

func (b *bench) refused(id, input string, code fault.Code) {
	b.t.Helper()
	if out, err := b.call("s", id, input); fault.CodeOf(err) != code {
		b.t.Errorf("%s %s: got %v, %v, want %s", id, input, out, err, code)
	}
}

func (b *bench) note(id, title, text string) store.Piece {
	b.t.Helper()
	body, _ := json.Marshal(map[string]string{"title": title, "text": text})
	p, err := b.store.Create(b.t.Context(), store.Piece{
		Ref: store.Ref{Kind: "note", ID: id}, Title: title, Body: body, Profiles: []byte(`{"x":1}`),
		Escrow: []store.Escrow{{Format: "txt", Name: "a.txt", Raw: []byte("raw")}},
	}, store.Stamp{})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func TestEveryToolHasATrustRow(t *testing.T) {
	table := trust.NewTable(trust.Rows()...)
	for _, tl := range newBench(t).reg.All() {
		if _, ok := table.Class(tl.ID); !ok {
			t.Errorf("%s has no row", tl.ID)
		}
	}
}

func TestListAndSearch(t *testing.T) {
	b := newBench(t)
	for i := range 5 {
		b.note(fmt.Sprintf("n%d", i), fmt.Sprintf("Note %d", i), strings.Repeat("padding ", 20)+"Étage "+strings.Repeat("padding ", 20))
	}
	page := b.must("studio.list", `{"limit":2}`)
	if got := page["pieces"].([]any); len(got) != 2 || page["next"] != "note/n1" {
		t.Fatalf("page %v", page)
	}
	rest := b.must("studio.list", `{"kind":"note","after":"note/n1"}`)
	if got := rest["pieces"].([]any); len(got) != 3 || rest["next"] != nil {
		t.Errorf("rest %v", rest)
	}
	if got := b.must("studio.list", `{"kind":"other"}`)["pieces"].([]any); len(got) != 0 {
		t.Errorf("other kind %v", got)
	}
	hits := b.must("studio.search", `{"query":"étage"}`)["pieces"].([]any)
	match := hits[0].(map[string]any)["matches"].([]any)[0].(map[string]any)
	if len(hits) != 5 || match["path"] != "/text" || !strings.Contains(match["text"].(string), "…") {
		t.Errorf("hits %v", hits)
	}
	b.refused("studio.search", `{"query":"  "}`, fault.Invalid)
	b.refused("studio.list", `{"limit":201}`, fault.Invalid)
	b.refused("studio.list", `{"after":"n1"}`, fault.Invalid)
}

// TestReadBounds measures the text, which is what a model reads.
func TestReadBounds(t *testing.T) {
	for _, r := range []string{"a", "é", "灯", "😀"} {
		for _, over := range []int{-1, 0, 1} {
			b := newBench(t)
			frame := len(`{"text":"","title":"A"}`)
			p := b.note("a", "A", strings.Repeat(r, result.MaxInlineRead-frame+over))
			read, _ := b.reg.Get("studio.read")
			res, err := read.Run(t.Context(), tool.Call{Session: "s"}, []byte(`{"kind":"note","id":"a"}`))
			if err != nil || res.Text != string(p.Body) {
				t.Errorf("%s%+d: not the whole text, %v", r, over, err)
			}
			if fits := utf8.RuneCountInString(res.Text) <= read.Inline; fits != (over <= 0) || utf8.RuneCount(res.Structured) > read.Inline {
				t.Errorf("%s%+d: fits %v, structured has %d", r, over, fits, utf8.RuneCount(res.Structured))
			}
		}
	}
}

// TestListsStayInline fills the first page of a list and of a search.
func TestListsStayInline(t *testing.T) {
	b := newBench(t)
	for i := range 40 {
		b.note(fmt.Sprintf("a-note-with-a-long-id-%03d", i), fmt.Sprintf("Sir Percival, number %d", i), strings.Repeat("say Percival again; ", 30))
	}
	for _, call := range [][2]string{{"studio.list", `{}`}, {"studio.search", `{"query":"percival"}`}} {
		tl, _ := b.reg.Get(call[0])
		res, err := tl.Run(t.Context(), tool.Call{Session: "s"}, []byte(call[1]))
		if err != nil || utf8.RuneCountInString(res.Text) > result.MaxInline {
			t.Errorf("%s: %d characters, %v", call[0], utf8.RuneCountInString(res.Text), err)
		}
	}
}

func TestReadParts(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x灯é😀")
	tests := []struct{ in, field, want string }{
		{`"path":"/text"`, "text", "x灯é😀"},
		{`"path":"/text","offset":1,"limit":2`, "text", "灯é"},
		{`"path":"/text","offset":1,"limit":2`, "next_offset", "3"},
		{`"path":"/text","offset":3`, "text", "😀"},
		{`"path":"/text","offset":3`, "next_offset", "<nil>"},
		{`"path":"/text"`, "characters", "4"},
		{`"action":"outline"`, "children", "[map[characters:4 path:/text type:a string] map[characters:1 path:/title type:a string]]"},
		{`"revision":1`, "revision", "1"},
		{`"path":""`, "originals", "[txt]"},
	}
	for _, tt := range tests {
		out := b.must("studio.read", `{"kind":"note","id":"a",`+tt.in+`}`)
		if got := fmt.Sprint(out[tt.field]); got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.in, tt.field, got, tt.want)
		}
	}
	b.refused("studio.read", `{"kind":"note","id":"a","path":"/nope"}`, fault.NotFound)
	b.refused("studio.read", `{"kind":"note","id":"a","path":"text"}`, "JSON_POINTER")
	b.refused("studio.read", `{"kind":"note","id":"a","path":"/text","offset":4}`, studio.CodeOffset)
	b.refused("studio.read", `{"kind":"note","id":"a","limit":32001}`, fault.Invalid)
	b.refused("studio.read", `{"kind":"note","id":"b"}`, fault.NotFound)
	b.refused("studio.read", `{"kind":"note","id":"a","revision":2}`, fault.NotFound)
}

func TestDelete(t *testing.T) {
	b := newBench(t)
	p := b.note("a", "A", "x")
	b.refused("studio.delete", `{"kind":"note","id":"b"}`, fault.Stale)
	b.refused("studio.delete", `{"kind":"note","id":"a","revision":9}`, fault.Stale)
	if h, _ := b.store.History(t.Context(), p.Ref); len(h) != 1 {
		t.Fatalf("a miss wrote: %v", h)
	}
	out := b.must("studio.delete", `{"kind":"note","id":"a"}`)
	if out["deleted"] != true || out["note"] != nil || out["named_by"] != nil {
		t.Errorf("receipt %v", out)
	}
	h, err := b.store.History(t.Context(), p.Ref)
	if err != nil || len(h) != 2 || h[1].Cause != "studio.delete" || h[1].Session != "s" || h[1].Seq != 7 {
		t.Errorf("history %+v, %v", h, err)
	}
}

func TestDuplicateAndChanges(t *testing.T) {
	b := newBench(t)
	p := b.note("a", "A", "x")
	dup := b.must("studio.piece.duplicate", `{"kind":"note","id":"a"}`)
	id := dup["draft"].(string)
	if dup["target"] != "note/a-copy" || dup["create"] != true || dup["saved"] != false {
		t.Errorf("draft %v", dup)
	}
	list := b.must("change.query", `{}`)["drafts"].([]any)
	if row := list[0].(map[string]any); len(list) != 1 || row["mine"] != true || row["state"] != "open" {
		t.Errorf("list %v", list)
	}
	if v := b.must("change.query", `{"action":"validate","draft":"`+id+`"}`)["validation"].(map[string]any); v["valid"] != true {
		t.Errorf("validation %v", v)
	}
	show := b.must("change.query", `{"action":"show","draft":"`+id+`"}`)["draft"].(map[string]any)
	if show["proposed"].(map[string]any)["body"].(map[string]any)["title"] != "A" {
		t.Errorf("show %v", show)
	}
	page := b.must("change.query", `{"action":"show","draft":"`+id+`","offset":5,"limit":10}`)
	if len(page["text"].(string)) != 10 || page["next_offset"] != 15.0 {
		t.Errorf("page %v", page)
	}
	if _, err := b.call("other", "change.apply", `{"draft":"`+id+`"}`); fault.CodeOf(err) != draft.CodeNotOwner {
		t.Errorf("another session applied: %v", err)
	}
	if r := b.must("change.apply", `{"draft":"`+id+`"}`); r["outcome"] != "applied" || r["revision"] != 1.0 {
		t.Fatalf("receipt %v", r)
	}
	c, err := b.store.Get(t.Context(), store.Ref{Kind: "note", ID: "a-copy"}, 0)
	if err != nil || string(c.Body) != string(p.Body) || string(c.Profiles) != string(p.Profiles) || !store.EqualEscrow(c.Escrow, p.Escrow) {
		t.Errorf("copy %+v, %v", c, err)
	}
	b.refused("studio.piece.duplicate", `{"kind":"note","id":"a"}`, fault.Conflict)
	b.refused("studio.piece.duplicate", `{"kind":"note","id":"a","new_id":"A B"}`, store.CodeBadRef)
	b.refused("studio.piece.duplicate", `{"kind":"note","id":"zz"}`, fault.NotFound)
	b.refused("change.apply", `{"draft":"d-9999"}`, fault.NotFound)
	b.refused("change.apply", `{"draft":"`+id+`"}`, draft.CodeClosed)
	more := b.must("studio.piece.duplicate", `{"kind":"note","id":"a","new_id":"b"}`)
	if r := b.must("change.discard", `{"draft":"`+more["draft"].(string)+`","reason":"no"}`); r["state"] != "discarded" || r["reason"] != "no" {
		t.Errorf("discard %v", r)
	}
	if all := b.must("change.query", `{"all":true}`)["drafts"].([]any); len(all) != 2 {
		t.Errorf("all %v", all)
	}
}

func TestResultQuery(t *testing.T) {
	b := newBench(t)
	text := strings.Repeat("灯a", 7000) + "END"
	if h, err := b.results.Put(t.Context(), "s", text); err != nil || h != "result-1" {
		t.Fatal(h, err)
	}
	if out := b.must("result.query", `{"handle":"result-1","action":"stat"}`); out["characters"] != 14003.0 || out["bytes"] != 28003.0 || out["text"] != nil {
		t.Errorf("stat %v", out)
	}
	first := b.must("result.query", `{"handle":"result-1"}`)
	if len([]rune(first["text"].(string))) != result.MaxRead || first["next_offset"] != float64(result.MaxRead) {
		t.Errorf("page of %d, next %v", len([]rune(first["text"].(string))), first["next_offset"])
	}
	if out := b.must("result.query", `{"handle":"result-1","offset":14000}`); out["text"] != "END" || out["next_offset"] != nil {
		t.Errorf("last %v", out)
	}
	found := b.must("result.query", `{"handle":"result-1","action":"search","query":"A灯"}`)
	if rows := found["rows"].([]any); len(rows) != result.MaxRows || found["more"] != true || rows[1].(map[string]any)["offset"] != 3.0 {
		t.Errorf("rows %v", rows)
	}
	if none := b.must("result.query", `{"handle":"result-1","action":"search","query":"zzz"}`); len(none["rows"].([]any)) != 0 || none["more"] != nil {
		t.Errorf("none %v", none)
	}
	b.refused("result.query", `{"handle":"result-2"}`, result.CodeUnknown)
	b.refused("result.query", `{"handle":"result-1","limit":12001}`, fault.Invalid)
	b.refused("result.query", `{"handle":"result-1","action":"search"}`, fault.Invalid)
	b.refused("result.query", `{"handle":"result-1","offset":14004}`, fault.Invalid)
	if _, err := b.call("other", "result.query", `{"handle":"result-1"}`); fault.CodeOf(err) != result.CodeUnknown {
		t.Errorf("another session read it: %v", err)
	}
	b.results.End("s")
	b.refused("result.query", `{"handle":"result-1"}`, result.CodeExpired)
}
