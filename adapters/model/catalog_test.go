package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// Nothing is read before somebody asks, and then once. Models of local servers
// need no catalogue.
func TestCatalogOpensOnFirstUse(t *testing.T) {
	c := NewCatalog()
	cfg := settings(roundTrip(nil))
	cfg.Catalog = c
	if _, err := Open(t.Context(), "ollama/llama3.2", cfg); err != nil || c.Opened() != 0 {
		t.Fatalf("opened %d times before use, %v", c.Opened(), err)
	}
	for range 3 {
		if _, err := c.Find("anthropic/claude-sonnet-4-6"); err != nil {
			t.Fatal(err)
		}
	}
	if c.Opened() != 1 {
		t.Errorf("opened %d times, want once", c.Opened())
	}
}

func TestFind(t *testing.T) {
	i, err := catalog.Find("anthropic/claude-sonnet-4-5")
	if err != nil {
		t.Fatal(err)
	}
	want := port.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	if i.Ref != "anthropic/claude-sonnet-4-5" || i.Price == nil || *i.Price != want || !i.Images || i.Context < 200_000 ||
		!slices.Equal(i.Reasoning, []string{"low", "medium", "high"}) {
		t.Errorf("%+v %+v", i, i.Price)
	}
	if i, err := catalog.Find("google/gemini-2.5-pro"); err != nil || i.Price == nil {
		t.Errorf("%+v, %v", i, err)
	}
	if i, err := catalog.Find("ollama/qwen3:8b"); err != nil || i.Price != nil || i.MaxOutput <= 0 {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestFindNear(t *testing.T) {
	for ref, want := range map[string]string{
		"anthropic/claude-sonnet-4-7": "anthropic/claude-sonnet-4-6",
		"claude-sonnet-4-6":           "anthropic/claude-sonnet-4-6",
		"gemini/gemini-2.5-pro":       "google/gemini-2.5-pro",
		"opnai/gpt-5.5":               "openai/gpt-5.5",
		"gpt-5.5":                     "openai/gpt-5.5",
		"zzzzzzzzzzzzzzzzzzzzzzzzzzz": "provider/model",
		"":                            "provider/model",
		"anthropic/":                  "",
		strings.Repeat("x", 5000):     "provider/model",
	} {
		_, err := catalog.Find(ref)
		if fault.CodeOf(err) != port.CodeUnknown || !strings.Contains(fault.HintOf(err), want) || len(err.Error()) > 1000 {
			t.Errorf("%.40q: %v with hint %q, want one with %q", ref, err, fault.HintOf(err), want)
		}
	}
}

// Every model of the catalogue has sane facts and can be opened.
func TestEveryModel(t *testing.T) {
	cfg := settings(roundTrip(nil))
	priced := 0
	for _, ref := range catalog.Refs() {
		i, err := catalog.Find(ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if i.MaxOutput <= 0 || i.Price != nil && min(i.Price.Input, i.Price.Output, i.Price.CacheRead, i.Price.CacheWrite) < 0 {
			t.Errorf("%s: %+v", ref, i)
		}
		for _, l := range i.Reasoning {
			if !slices.Contains(levels, l) {
				t.Errorf("%s has the level %q, which no table of ours knows", ref, l)
			}
		}
		if i.Price != nil {
			priced++
		}
		if _, err := Open(t.Context(), ref, cfg); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	t.Logf("%d models, %d with a price", len(catalog.Refs()), priced)
	if len(catalog.Refs()) < 500 || priced < 400 {
		t.Error("too few")
	}
}

func TestPrice(t *testing.T) {
	for _, c := range []struct {
		m    catwalk.Model
		want *port.Price
	}{
		{catwalk.Model{}, nil},
		{catwalk.Model{CostPer1MInCached: 1, CostPer1MOutCached: 1}, nil},
		{catwalk.Model{CostPer1MIn: 0.075, CostPer1MOut: 0.3}, &port.Price{Input: 75_000, Output: 300_000, CacheRead: 75_000, CacheWrite: 75_000}},
		{
			catwalk.Model{CostPer1MIn: 1.1, CostPer1MOut: 4.4, CostPer1MInCached: 1.375, CostPer1MOutCached: 0.11},
			&port.Price{Input: 1_100_000, Output: 4_400_000, CacheRead: 110_000, CacheWrite: 1_375_000},
		},
		// 0.0000005 dollars are half a pico-dollar a token: away from zero.
		{catwalk.Model{CostPer1MIn: 5e-7, CostPer1MOut: 4e-7}, &port.Price{Input: 1, Output: 0, CacheRead: 1, CacheWrite: 1}},
	} {
		got := price(c.m)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %+v, want %+v", c.m, got, c.want)
		}
	}
}

func TestPrices(t *testing.T) {
	b, err := catalog.Prices("anthropic/claude-sonnet-4-5")
	if err != nil || string(b) != `{"anthropic/claude-sonnet-4-5":{"cache_read":300000,"cache_write":3750000,"input":3000000,"output":15000000}}` {
		t.Errorf("%s, %v", b, err)
	}
	if again, err := canon.JSON(b); err != nil || string(again) != string(b) {
		t.Errorf("%s is not canonical: %s, %v", b, again, err)
	}
	if b, err := catalog.Prices("ollama/x"); err != nil || string(b) != `{"ollama/x":null}` {
		t.Errorf("%s, %v", b, err)
	}
}

func TestClamp(t *testing.T) {
	for _, c := range []struct {
		want string
		have []string
		is   string
	}{
		{"medium", nil, ""},
		{"", []string{"low"}, ""},
		{"silly", []string{"low"}, ""},
		{"medium", []string{"low", "high"}, "low"},
		{"high", []string{"low", "medium"}, "medium"},
		{"none", []string{"minimal", "low"}, "minimal"},
		{"none", []string{"none", "low"}, "none"},
		{"low", []string{"medium", "high"}, "medium"},
		{"high", []string{"xhigh", "max"}, "xhigh"},
	} {
		if got := clamp(c.want, c.have); got != c.is {
			t.Errorf("%q of %q: %q, want %q", c.want, c.have, got, c.is)
		}
	}
}

// The level that is sent is one that the model has, in the provider's own setting.
func TestReasoningLevels(t *testing.T) {
	for _, c := range []struct{ ref, level, path, want string }{
		{"anthropic/claude-sonnet-4-5", "low", "thinking.budget_tokens", "2048"},
		{"anthropic/claude-sonnet-4-5", "none", "thinking", ""},
		{"anthropic/claude-sonnet-4-5", "", "thinking", ""},
		{"anthropic/claude-opus-4-6", "high", "output_config.effort", "high"},
		{"openai/gpt-5.5", "low", "reasoning.effort", "low"},
		{"openai/gpt-4o", "low", "reasoning", ""},
		{"google/gemini-2.5-pro", "low", "generationConfig.thinkingConfig.thinkingBudget", "2048"},
		{"google/gemini-3-pro-preview", "high", "generationConfig.thinkingConfig.thinkingLevel", "HIGH"},
		{"openrouter/anthropic/claude-sonnet-4.5", "high", "reasoning.effort", "high"},
		{"ollama/x", "high", "reasoning_effort", ""},
	} {
		req := hello()
		req.Reasoning, req.MaxOutput = c.level, 10_000
		var body map[string]any
		if err := json.Unmarshal([]byte(capture(t, c.ref, settings(nil), req).body), &body); err != nil {
			t.Fatal(err)
		}
		var v any = body
		for _, key := range strings.Split(c.path, ".") {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		got, _ := json.Marshal(v)
		if s := strings.Trim(string(got), `"`); s != c.want && (c.want != "" || s != "null") {
			t.Errorf("%s at %q: %s is %s, want %q", c.ref, c.level, c.path, got, c.want)
		}
	}
}

// The most output is always set, and never more than the model gives.
func TestMaxOutput(t *testing.T) {
	for _, c := range []struct {
		ask  int64
		want string
	}{{100, `"max_tokens":100,`}, {0, `"max_tokens":64000,`}, {-1, `"max_tokens":64000,`}, {1 << 40, `"max_tokens":64000,`}} {
		req := hello()
		req.MaxOutput = c.ask
		if got := capture(t, "anthropic/claude-haiku-4-5-20251001", settings(nil), req); !strings.Contains(got.body, c.want) {
			t.Errorf("%d: %s has no %s", c.ask, got.body, c.want)
		}
	}
}

func BenchmarkCatalogFirstFind(b *testing.B) {
	for b.Loop() {
		if _, err := NewCatalog().Find("anthropic/claude-sonnet-4-6"); err != nil {
			b.Fatal(err)
		}
	}
}
