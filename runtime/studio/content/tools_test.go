package content_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/store/memory"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

type bench struct {
	t      *testing.T
	reg    *tool.Registry
	store  store.Store
	drafts *draft.Service
}

// checker is the part of the studio's table of kinds that this package fills.
type checker struct{}

func (checker) CheckPiece(_ context.Context, p store.Piece) error {
	for _, k := range content.Kinds() {
		if k.Name() != p.Kind {
			continue
		}
		title, err := k.Title(p.Body)
		if err == nil && title != p.Title {
			return fault.New(fault.Invalid, "test", "title %q, body says %q", p.Title, title)
		}
		return err
	}
	return fault.New(fault.Invalid, "test", "kind %q", p.Kind)
}

func newBench(t *testing.T) *bench {
	st := memory.New()
	drafts := draft.New(st, st, clock.NewFixed(time.Unix(1_700_000_000, 0)), checker{})
	return &bench{t: t, store: st, drafts: drafts, reg: tool.NewRegistry(content.Tools(content.Deps{Drafts: drafts, Formats: content.NewFormats()})...)}
}

func (b *bench) apply(made map[string]any) draft.Receipt {
	b.t.Helper()
	r, err := b.drafts.Apply(b.t.Context(), "s", made["draft"].(string), 7)
	if err != nil || r.Outcome != draft.Applied {
		b.t.Fatalf("apply: %v, %v", r, err)
	}
	return r
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
	b.apply(made)
	b.must("character.prompts.update", `{"id":"ada-lighthouse","scenario":"A storm.","depth_injections":[{"content":"Be brief.","depth":4}]}`)
	g := b.must("character.greetings.update", `{"id":"ada-lighthouse","add":[{"text":"One"},{"text":"Two","title":"Second"}],"group_only":["All aboard."]}`)
	b.must("character.greetings.update", `{"id":"ada-lighthouse","order":[2,1],"first":""}`)
	b.must("character.greetings.update", `{"id":"ada-lighthouse","replace":[{"position":1,"text":"Zwei"}],"remove":[2]}`)
	r := b.apply(g)
	p, err := b.store.Get(t.Context(), r.Target, 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"discovery":{"tags":["oc"]},"greetings":{"alternates":[{"text":"Zwei","title":"Second"}],"groupOnly":["All aboard."]},` +
		`"identity":{"name":"Ada Lighthouse","nickname":"Ada","pronouns":"she/her"},"persona":{"description":"Keeps the lamp.","scenario":"A storm."},` +
		`"prompts":{"depthInjections":[{"content":"Be brief.","depth":4,"role":"system"}]}}`
	if string(p.Body) != want || p.Revision != 2 || p.Title != "Ada Lighthouse" {
		t.Errorf("revision %d of %q, body\n%s\nwant\n%s", p.Revision, p.Title, p.Body, want)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	made := b.must("studio.character.create", `{"name":"Ada","id":"ada"}`)
	b.apply(made)
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
	if rows, err := b.drafts.List(t.Context(), false); err != nil || len(rows) != 0 {
		t.Errorf("a refusal left a draft: %v, %v", rows, err)
	}
}

func TestVariantAndImported(t *testing.T) {
	b := newBench(t)
	p := store.Piece{
		Ref: store.Ref{Kind: content.KindCharacter, ID: "ada"}, Title: "Ada", Escrow: []store.Escrow{{Format: "json-v2", Raw: []byte(`{"x":1}`)}},
		Body: []byte(`{"identity":{"name":"Ada"},"persona":{"description":"d"},"variants":[{"id":"old"}]}`),
	}
	if _, err := b.store.Create(t.Context(), p, store.Stamp{}); err != nil {
		t.Fatal(err)
	}
	out := b.must("character.identity.update", `{"id":"ada","variant":"old","nickname":"Granny"}`)
	if out["changes"].([]any)[0].(map[string]any)["path"] == "/identity/nickname" {
		t.Errorf("the base was edited: %v", out)
	}
	b.apply(b.must("character.identity.update", `{"id":"ada","nickname":"A"}`))
	got, err := b.store.Get(t.Context(), p.Ref, 0)
	if err != nil || len(got.Escrow) != 1 || string(got.Escrow[0].Raw) != string(p.Escrow[0].Raw) {
		t.Errorf("the original is not what was imported: %v", err)
	}
}
