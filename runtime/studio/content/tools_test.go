package content_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// noResults is a session without long results.
type noResults struct{}

func (noResults) Text(_, handle string) (string, error) {
	return "", fault.New(result.CodeUnknown, "result", "no result %q", handle)
}

type bench struct {
	t     *testing.T
	reg   *tool.Registry
	store store.Store
}

func newBench(t *testing.T) *bench {
	st, clk := memory.New(), clock.NewFixed(time.Unix(1_700_000_000, 0))
	kinds := studio.NewKinds(content.Characters{})
	drafts := draft.New(st, st, clk, kinds)
	tools := studio.Tools(studio.Deps{Store: st, Drafts: drafts, Results: noResults{}, Clock: clk, Kinds: kinds})
	return &bench{t: t, store: st, reg: tool.NewRegistry(append(tools, content.Tools(content.Deps{Drafts: drafts})...)...)}
}

// call runs a tool as session "s" and gives the structured part.
func (b *bench) call(id, input string) (map[string]any, error) {
	b.t.Helper()
	t, ok := b.reg.Get(id)
	if !ok {
		b.t.Fatalf("no tool %s", id)
	}
	res, err := t.Run(context.Background(), tool.Call{Session: "s", Seq: 7}, []byte(input))
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
	out, err := b.call(id, input)
	if err != nil {
		b.t.Fatalf("%s %s: %v (%s)", id, input, err, fault.HintOf(err))
	}
	return out
}

func (b *bench) refused(id, input string, code fault.Code) {
	b.t.Helper()
	if out, err := b.call(id, input); fault.CodeOf(err) != code {
		b.t.Errorf("%s %s: got %v, %v, want %s", id, input, out, err, code)
	}
}

func TestEveryToolHasATrustRow(t *testing.T) {
	table := trust.NewTable(trust.Rows()...)
	for _, tl := range newBench(t).reg.All() {
		if _, ok := table.Class(tl.ID); !ok {
			t.Errorf("%s has no row", tl.ID)
		}
	}
}

func TestJourney(t *testing.T) {
	b := newBench(t)
	made := b.must("studio.character.create", `{"name":"Ada Lighthouse","description":"Keeps the lamp.","first_message":"Evening.","tags":["oc"]}`)
	if made["target"] != "character/ada-lighthouse" || made["saved"] != false {
		t.Fatalf("created %v", made)
	}
	// operations compose on a character that is not stored yet
	again := b.must("character.identity.update", `{"id":"ada-lighthouse","nickname":"Ada","pronouns":"she/her"}`)
	if again["draft"] != made["draft"] {
		t.Errorf("a second draft: %v", again["draft"])
	}
	if _, err := b.store.Get(t.Context(), store.Ref{Kind: "character", ID: "ada-lighthouse"}, 0); fault.CodeOf(err) != fault.NotFound {
		t.Fatalf("a preview wrote: %v", err)
	}
	id := made["draft"].(string)
	if v := b.must("change.query", `{"action":"validate","draft":"`+id+`"}`)["validation"].(map[string]any); v["valid"] != true {
		t.Errorf("validation %v", v)
	}
	if r := b.must("change.apply", `{"draft":"`+id+`"}`); r["outcome"] != "applied" || r["revision"] != 1.0 {
		t.Fatalf("receipt %v", r)
	}
	b.must("character.prompts.update", `{"id":"ada-lighthouse","scenario":"A storm.","depth_injections":[{"content":"Be brief.","depth":4}]}`)
	g := b.must("character.greetings.update", `{"id":"ada-lighthouse","add":[{"text":"One"},{"text":"Two","title":"Second"}],"group_only":["All aboard."]}`)
	b.must("character.greetings.update", `{"id":"ada-lighthouse","order":[2,1],"first":""}`)
	b.must("character.greetings.update", `{"id":"ada-lighthouse","replace":[{"position":1,"text":"Zwei"}],"remove":[2]}`)
	b.must("change.apply", `{"draft":"`+g["draft"].(string)+`"}`)
	read := b.must("studio.read", `{"kind":"character","id":"ada-lighthouse"}`)
	got, _ := json.Marshal(read["body"])
	const want = `{"discovery":{"tags":["oc"]},"greetings":{"alternates":[{"text":"Zwei","title":"Second"}],"groupOnly":["All aboard."]},` +
		`"identity":{"name":"Ada Lighthouse","nickname":"Ada","pronouns":"she/her"},"persona":{"description":"Keeps the lamp.","scenario":"A storm."},` +
		`"prompts":{"depthInjections":[{"content":"Be brief.","depth":4,"role":"system"}]}}`
	if string(got) != want || read["revision"] != 2.0 {
		t.Errorf("revision %v, body\n%s\nwant\n%s", read["revision"], got, want)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	made := b.must("studio.character.create", `{"name":"Ada","id":"ada"}`)
	b.must("change.apply", `{"draft":"`+made["draft"].(string)+`"}`)
	b.refused("studio.character.create", `{"name":"Ada"}`, fault.Conflict)
	b.refused("studio.character.create", `{"name":"Ada","id":"../x"}`, store.CodeBadRef)
	b.refused("studio.character.create", `{"name":""}`, content.CodeBody)
	b.refused("character.identity.update", `{"id":"ada","name":"Ada"}`, draft.CodeUnchanged)
	b.refused("character.identity.update", `{"id":"ada"}`, draft.CodeUnchanged)
	b.refused("character.identity.update", `{"id":"ada","name":""}`, content.CodeBody)
	b.refused("character.identity.update", `{"id":"nobody","name":"x"}`, fault.NotFound)
	b.refused("character.identity.update", `{"id":"ada","variant":"v","name":"x"}`, content.CodeVariant)
	b.refused("character.identity.update", `{"id":"ada","wrong":"x"}`, fault.Invalid)
	b.refused("character.prompts.update", `{"id":"ada","depth_injections":[{"content":"x","depth":-1}]}`, content.CodeBody)
	b.refused("character.greetings.update", `{"id":"ada","remove":[1]}`, content.CodeGreeting)
	b.refused("character.greetings.update", `{"id":"ada","add":[{"text":"a"},{"text":"b"}],"order":[1,1]}`, content.CodeGreeting)
	b.refused("character.greetings.update", `{"id":"ada","add":[{"text":""}]}`, content.CodeGreeting)
	b.refused("studio.read", `{"kind":"character","id":"ada","path":"/nope"}`, fault.NotFound)
	b.refused("studio.read", `{"kind":"character","id":"nobody"}`, fault.NotFound)
	b.refused("studio.delete", `{"kind":"character","id":"nobody"}`, fault.NotFound)
	b.refused("studio.delete", `{"kind":"character","id":"ada","revision":9}`, fault.Stale)
	b.refused("change.apply", `{"draft":"d-9999"}`, fault.NotFound)
	b.refused("result.query", `{"handle":"result-9"}`, result.CodeUnknown)
	if rows := b.must("change.query", `{}`); len(rows["drafts"].([]any)) != 0 {
		t.Errorf("a refusal left a draft: %v", rows)
	}
}

func TestVariantAndImported(t *testing.T) {
	b := newBench(t)
	im, err := content.Import("x.json", []byte(`{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada","description":"d","x":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	p := im.Piece
	p.Body = []byte(strings.Replace(string(p.Body), `{`, `{"variants":[{"id":"old"}],`, 1))
	if _, err := b.store.Create(t.Context(), p, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	out := b.must("character.identity.update", `{"id":"ada","variant":"old","nickname":"Granny"}`)
	if out["changes"].([]any)[0].(map[string]any)["path"] == "/identity/nickname" {
		t.Errorf("the base was edited: %v", out)
	}
	out = b.must("character.identity.update", `{"id":"ada","nickname":"A"}`)
	impact := out["impact"].([]any)[0].(map[string]any)
	if impact["platform"] != "json-v2" || !strings.Contains(impact["effect"].(string), "embedded") {
		t.Errorf("impact %v", impact)
	}
	b.must("change.apply", `{"draft":"`+out["draft"].(string)+`"}`)
	dup := b.must("studio.piece.duplicate", `{"kind":"character","id":"ada"}`)
	if dup["target"] != "character/ada-copy" {
		t.Errorf("copy %v", dup["target"])
	}
	b.must("change.apply", `{"draft":"`+dup["draft"].(string)+`"}`)
	c, err := b.store.Get(t.Context(), store.Ref{Kind: "character", ID: "ada-copy"}, 0)
	if err != nil || len(c.Escrow) != 1 || string(c.Escrow[0].Raw) != string(im.Piece.Escrow[0].Raw) {
		t.Errorf("the copy lost the original: %v", err)
	}
	b.refused("studio.piece.duplicate", `{"kind":"character","id":"ada"}`, fault.Conflict)
	found := b.must("studio.search", `{"query":"granny"}`)["pieces"].([]any)
	if len(found) != 2 || found[0].(map[string]any)["matches"].([]any)[0].(map[string]any)["path"] != "/variants/0/fields/identity/nickname" {
		t.Errorf("found %v", found)
	}
	if b.must("studio.delete", `{"kind":"character","id":"ada"}`)["deleted"] != true {
		t.Error("not deleted")
	}
	if list := b.must("studio.list", `{"kind":"character"}`)["pieces"].([]any); len(list) != 1 {
		t.Errorf("list %v", list)
	}
}

func TestReadBounds(t *testing.T) {
	for _, r := range []string{"a", "é", "灯", "😀"} {
		for _, over := range []int{-1, 0, 1} {
			b := newBench(t)
			frame := len(`{"identity":{"name":"A"},"persona":{"description":""}}`)
			text := strings.Repeat(r, result.MaxInlineRead-frame+over)
			p := store.Piece{Ref: store.Ref{Kind: "character", ID: "a"}, Title: "A", Body: []byte(`{"identity":{"name":"A"},"persona":{"description":"` + text + `"}}`)}
			if _, err := b.store.Create(t.Context(), p, store.Stamp{}); err != nil {
				t.Fatal(err)
			}
			out := b.must("studio.read", `{"kind":"character","id":"a"}`)
			if whole := out["body"] != nil; whole != (over <= 0) || out["characters"] != float64(result.MaxInlineRead+over) {
				t.Errorf("%s%+d: whole %v, %v characters", r, over, whole, out["characters"])
			}
			page := b.must("studio.read", `{"kind":"character","id":"a","path":"/persona/description","offset":3,"limit":2}`)
			if page["text"] != r+r || page["next_offset"] != 5.0 {
				t.Errorf("page %v", page)
			}
			outline := b.must("studio.read", `{"kind":"character","id":"a","action":"outline"}`)["children"].([]any)
			if len(outline) != 2 || outline[1].(map[string]any)["path"] != "/persona" {
				t.Errorf("outline %v", outline)
			}
		}
	}
}
