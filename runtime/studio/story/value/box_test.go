package value_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A map that grew key by key is the map that it would be at once, however it is kept; and
// those before it stay as they were.
func TestLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain := map[string]value.Value{}
	for i := range 300 {
		plain[fmt.Sprintf("key%03d", i)] = value.Of(i)
	}
	v := value.NewMap(plain)
	type kept struct {
		v    value.Value
		want map[string]value.Value
	}
	var before []kept
	for i := range 500 {
		before = append(before, kept{v, maps.Clone(plain)})
		if i%7 == 0 {
			more := map[string]value.Value{}
			for range r.IntN(40) {
				more[fmt.Sprintf("key%03d", r.IntN(400))] = value.Of(-i)
			}
			v = v.Merge(value.NewMap(more))
			maps.Copy(plain, more)
			continue
		}
		name := fmt.Sprintf("key%03d", r.IntN(400))
		v = v.With(name, value.Of(i))
		plain[name] = value.Of(i)
		_ = v.Shared() // what is made once must not be shown to the next
	}
	for i, k := range append(before, kept{v, plain}) {
		if k.v.Len() != len(k.want) {
			t.Fatalf("after %d: %d members, want %d", i, k.v.Len(), len(k.want))
		}
		var names []string
		for name, got := range k.v.Members() {
			names = append(names, name)
			if !got.Equal(k.want[name]) {
				t.Fatalf("after %d: %s is %s, want %s", i, name, got.JSON(), k.want[name].JSON())
			}
		}
		if !slices.Equal(names, slices.Sorted(maps.Keys(k.want))) {
			t.Fatalf("after %d: the members are %v", i, names)
		}
		if at := value.NewMap(k.want); !k.v.Equal(at) || k.v.JSON() != at.JSON() {
			t.Fatalf("after %d: it is not what it would be at once", i)
		}
	}
}

func TestSame(t *testing.T) {
	a := value.NewMap(map[string]value.Value{"x": value.Of(1)})
	if b := a; !a.Same(b) || a.Same(a.With("x", value.Of(1))) || (value.Value{}).Same(value.Value{}) || !a.Merge(value.Value{}).Same(a) {
		t.Error("Same looks inside, or does not see one and the same")
	}
}
