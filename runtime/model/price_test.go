package model

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func TestCost(t *testing.T) {
	p := Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	for _, c := range []struct {
		u    Usage
		want int64
	}{
		{Usage{}, 0},
		{Usage{Input: 1000, Output: 10, CacheRead: 100, CacheWrite: 1, Reasoning: 9}, 3_000_000_000 + 150_000_000 + 30_000_000 + 3_750_000},
		{Usage{Input: -5, Output: 1}, 15_000_000},
		{Usage{Input: math.MaxInt64}, math.MaxInt64},
		{Usage{Input: math.MaxInt64 / 3_000_000, Output: math.MaxInt64 / 15_000_000}, math.MaxInt64},
	} {
		if got := p.Cost(c.u); got != c.want {
			t.Errorf("%+v: %d, want %d", c.u, got, c.want)
		}
	}
}

func TestPicoPerToken(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		code fault.Code
	}{
		{"1", 1_000_000, ""},
		{"0.075", 75_000, ""},
		{"0", 0, ""},
		{"1.1", 1_100_000, ""},
		{"30", 30_000_000, ""},
		{"0.0000005", 1, ""},
		{"0.00000049", 0, ""},
		{"-0.0000005", -1, ""},
		{"0.0000015", 2, ""},
		{"1e-2", 10_000, ""},
		{"", 0, CodePrice},
		{"x", 0, CodePrice},
		{"1e30", 0, CodePrice},
		{strings.Repeat("1", 50), 0, CodePrice},
	} {
		got, err := PicoPerToken(c.in)
		if got != c.want || fault.CodeOf(err) != c.code {
			t.Errorf("%q: %d, %v", c.in, got, err)
		}
	}
}

func TestPriceLists(t *testing.T) {
	list := map[string]*Price{"b/<x>": {Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, "a/y": nil}
	b := EncodePrices(list)
	if want := `{"a/y":null,"b/<x>":{"cache_read":3,"cache_write":4,"input":1,"output":2}}`; string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	back, err := DecodePrices(b)
	if err != nil || !reflect.DeepEqual(back, list) {
		t.Errorf("%v, %v", back, err)
	}
	if got, err := DecodePrices(nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"x", `{"a":{"input":-1}}`, `{"a":{"other":1}}`, `[]`, strings.Repeat(" ", maxPrices+1)} {
		if _, err := DecodePrices([]byte(bad)); err == nil {
			t.Errorf("%.30q is taken", bad)
		}
	}
}
