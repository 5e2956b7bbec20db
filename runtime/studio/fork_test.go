package studio_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
)

// save writes a body over the current revision of a note.
func (b *bench) save(id, body string) store.Piece {
	b.t.Helper()
	p, err := b.store.Get(b.t.Context(), store.Ref{Kind: "note", ID: id}, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	var n struct{ Title string }
	if err := json.Unmarshal([]byte(body), &n); err != nil {
		b.t.Fatal(err)
	}
	p.Body, p.Title = []byte(body), n.Title
	if p, err = b.store.Update(b.t.Context(), p, store.Stamp{Cause: "test"}); err != nil {
		b.t.Fatal(err)
	}
	return p
}

// apply saves the draft that out tells of.
func (b *bench) apply(out map[string]any) {
	b.t.Helper()
	if r := b.must("change.apply", fmt.Sprintf(`{"draft":%q}`, out["draft"])); r["outcome"] != "applied" {
		b.t.Fatalf("receipt %v", r)
	}
}

func (b *bench) body(id string) string {
	b.t.Helper()
	p, err := b.store.Get(b.t.Context(), store.Ref{Kind: "note", ID: id}, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(p.Body)
}

func TestHistory(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.save("a", `{"title":"A","text":"y","entries":[{"id":"rain","t":"wet"}]}`)
	b.save("a", `{"title":"A","text":"y","entries":[{"id":"sun","t":"dry"},{"id":"rain","t":"wetter"}]}`)
	revs := b.must("studio.history", `{"kind":"note","id":"a"}`)["revisions"].([]any)
	if first := revs[0].(map[string]any); len(revs) != 3 || first["revision"] != 3.0 || first["cause"] != "test" || first["by"] != "a person" {
		t.Errorf("revisions %v", revs)
	}
	out := b.must("studio.history", `{"kind":"note","id":"a","revision":3}`)
	want := `[map[after:{"id":"sun","t":"dry"} before: label:Entries (sun) path:/entries/0] map[after:wetter before:wet label:T (rain) path:/entries/1/t]]`
	if got := fmt.Sprint(out["rows"]); got != want || out["from"] != 2.0 {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
	if out := b.must("studio.history", `{"kind":"note","id":"a","revision":1}`); len(out["rows"].([]any)) != 3 || out["from"] != nil {
		t.Errorf("the first revision: %v", out)
	}
	b.must("studio.delete", `{"kind":"note","id":"a"}`)
	if out := b.must("studio.history", `{"kind":"note","id":"a"}`); out["revisions"].([]any)[0].(map[string]any)["deleted"] != true {
		t.Errorf("after the removal %v", out)
	}
	b.refused("studio.history", `{"kind":"note","id":"zz"}`, fault.NotFound)
	b.refused("studio.history", `{"kind":"note","id":"a","revision":4}`, fault.NotFound)
	b.refused("studio.history", `{"kind":"note","id":"a","revision":3,"against":9}`, fault.NotFound)
}

func TestRestore(t *testing.T) {
	b := newBench(t)
	p := b.note("a", "A", "x")
	b.save("a", `{"title":"B","text":"y"}`)
	out := b.must("studio.restore", `{"kind":"note","id":"a","revision":1}`)
	if got := b.body("a"); got != `{"text":"y","title":"B"}` || out["saved"] != false {
		t.Fatalf("a preview wrote %s, %v", got, out)
	}
	b.apply(out)
	got, err := b.store.Get(t.Context(), p.Ref, 0)
	if err != nil || got.Revision != 3 || got.Title != "A" || string(got.Body) != string(p.Body) || !store.EqualEscrow(got.Escrow, p.Escrow) {
		t.Errorf("restored %+v, %v", got, err)
	}
	b.refused("studio.restore", `{"kind":"note","id":"a","revision":3}`, draft.CodeUnchanged)
	b.refused("studio.restore", `{"kind":"note","id":"a","revision":7}`, fault.NotFound)

	// What was deleted comes back by a person's hand only, with its original.
	b.must("studio.delete", `{"kind":"note","id":"a"}`)
	b.refused("studio.restore", `{"kind":"note","id":"a","revision":2}`, studio.CodeDeleted)
	b.refused("studio.restore", `{"kind":"note","id":"a","revision":4}`, fault.NotFound)
	if _, err := b.call("", "studio.restore", `{"kind":"note","id":"a","revision":2}`); err != nil {
		t.Errorf("a person: %v", err)
	}
}

func TestForkAndMerge(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.save("a", `{"title":"A","text":"x","tags":["one"],"entries":[{"id":"rain","t":"wet"}]}`)
	b.apply(b.must("studio.piece.fork", `{"kind":"note","id":"a"}`))
	f, err := b.store.Get(t.Context(), store.Ref{Kind: "note", ID: "a-fork"}, 0)
	src, ok := studio.SourceOf(f)
	if err != nil || !ok || src != (studio.Source{Ref: store.Ref{Kind: "note", ID: "a"}, Revision: 2}) || len(f.Escrow) != 1 {
		t.Fatalf("the fork %+v has the source %v, %v", f, src, err)
	}
	b.refused("studio.piece.merge", `{"kind":"note","id":"a-fork"}`, draft.CodeUnchanged)

	b.save("a", `{"title":"A","text":"theirs","tags":["one","two"],"entries":[{"id":"sun","t":"dry"},{"id":"rain","t":"wet"}]}`)
	b.save("a-fork", `{"title":"F","text":"ours","tags":["one","mine"],"entries":[{"id":"rain","t":"wetter"}]}`)
	out := b.must("studio.piece.merge", `{"kind":"note","id":"a-fork"}`)
	want := `[map[base:x label:Text ours:ours path:/text theirs:theirs]]`
	if got := fmt.Sprint(out["conflicts"]); got != want || out["base"] != "note/a at revision 2" || out["theirs"] != "note/a at revision 3" {
		t.Errorf("merge %v\nconflicts %s\nwant      %s", out, got, want)
	}
	if !strings.Contains(fmt.Sprint(out["warnings"]), "both changed /text") {
		t.Errorf("warnings %v", out["warnings"])
	}
	b.apply(out)
	const merged = `{"entries":[{"id":"sun","t":"dry"},{"id":"rain","t":"wetter"}],"tags":["one","mine","two"],"text":"ours","title":"F"}`
	if got := b.body("a-fork"); got != merged {
		t.Errorf("merged %s", got)
	}
	// The source that was merged is the base of the next merge.
	b.refused("studio.piece.merge", `{"kind":"note","id":"a-fork"}`, draft.CodeUnchanged)

	// The other way, the source takes what the fork changed since; it becomes no fork.
	back := b.must("studio.piece.merge", `{"kind":"note","id":"a","from":"note/a-fork"}`)
	b.apply(back)
	a, err := b.store.Get(t.Context(), store.Ref{Kind: "note", ID: "a"}, 0)
	if _, forked := studio.SourceOf(a); err != nil || forked || string(a.Profiles) != `{"x":1}` {
		t.Errorf("the source has the profiles %s, %v", a.Profiles, err)
	}
	if got := b.body("a"); !strings.Contains(got, `"wetter"`) || !strings.Contains(got, `"mine"`) {
		t.Errorf("the source is %s", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.note("b", "B", "x")
	b.refused("studio.piece.merge", `{"kind":"note","id":"a"}`, studio.CodeUnrelated)
	b.refused("studio.piece.merge", `{"kind":"note","id":"a","from":"note/b"}`, studio.CodeUnrelated)
	b.refused("studio.piece.merge", `{"kind":"note","id":"a","from":"b"}`, fault.Invalid)
	b.refused("studio.piece.merge", `{"kind":"note","id":"zz"}`, fault.NotFound)
	b.refused("studio.piece.merge", `{"kind":"note","id":"a","from":"note/zz"}`, fault.NotFound)
	b.refused("studio.piece.fork", `{"kind":"note","id":"a","new_id":"b"}`, fault.Conflict)
	b.refused("studio.piece.fork", `{"kind":"note","id":"a","new_id":"A B"}`, store.CodeBadRef)

	// A source that was deleted is still the base, and its last revision can be taken.
	b.apply(b.must("studio.piece.fork", `{"kind":"note","id":"a","new_id":"f"}`))
	b.save("a", `{"title":"A2","text":"x"}`)
	b.must("studio.delete", `{"kind":"note","id":"a"}`)
	b.refused("studio.piece.merge", `{"kind":"note","id":"f"}`, fault.NotFound)
	b.apply(b.must("studio.piece.merge", `{"kind":"note","id":"f","revision":2}`))
	if got := b.body("f"); got != `{"text":"x","title":"A2"}` {
		t.Errorf("merged %s", got)
	}
}

// Where every difference is a conflict and the piece is no fork, there is nothing to
// draft, and the conflicts are still told.
func TestMergeOfConflictsOnly(t *testing.T) {
	b := newBench(t)
	b.note("a", "A", "x")
	b.apply(b.must("studio.piece.fork", `{"kind":"note","id":"a","new_id":"f"}`))
	b.save("a", `{"title":"A","text":"ours"}`)
	b.save("f", `{"title":"A","text":"theirs"}`)
	out := b.must("studio.piece.merge", `{"kind":"note","id":"a","from":"note/f"}`)
	if out["draft"] != "" || len(out["conflicts"].([]any)) != 1 {
		t.Errorf("merge %v", out)
	}
	if list, err := b.drafts.List(t.Context(), false); err != nil || len(list) != 0 {
		t.Errorf("drafts %v, %v", list, err)
	}
}
