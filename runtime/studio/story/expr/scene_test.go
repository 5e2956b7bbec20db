package expr_test

import (
	"fmt"
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A part of a story sees its own keys under their own names, others' as they are, and what
// changes at once; the scene that a run began with stays.
func TestScene(t *testing.T) {
	world := value.NewMap(map[string]value.Value{"gold": value.Of(1), "inn__gold": value.Of(20), "bell": value.Of("ding")})
	scene := expr.NewScene(world)
	inn := expr.NewNames(map[string]string{"gold": "inn__gold", "mood": "inn__mood"})
	e, err := expr.Compile("[world.gold, world.bell, world.mood, slots.n]")
	if err != nil {
		t.Fatal(err)
	}
	see := func(env *expr.Env) string {
		t.Helper()
		v, err := e.Eval(env)
		if err != nil {
			t.Fatal(err)
		}
		return v.JSON()
	}
	slots := value.NewMap(map[string]value.Value{"n": value.Of(3)})
	stage := scene.Stage()
	for i, step := range []struct {
		key        string
		v          value.Value
		inn, whole string
	}{
		{"", value.Value{}, `[20,"ding",null,3]`, `[1,"ding",null,3]`},
		{"gold", value.Of(2), `[20,"ding",null,3]`, `[2,"ding",null,3]`},
		{"inn__gold", value.Of(21), `[21,"ding",null,3]`, `[2,"ding",null,3]`},
		{"inn__mood", value.Of("glad"), `[21,"ding","glad",3]`, `[2,"ding",null,3]`},
		{"bell", value.Of("dong"), `[21,"dong","glad",3]`, `[2,"dong",null,3]`},
	} {
		if step.key != "" {
			stage.Set(step.key, step.v)
		}
		if got := see(stage.Env(inn, slots)); got != step.inn {
			t.Errorf("step %d: the inn sees %s, want %s", i, got, step.inn)
		}
		if got := see(stage.Env(nil, slots)); got != step.whole {
			t.Errorf("step %d: the whole sees %s, want %s", i, got, step.whole)
		}
		if got := see(stage.Scene().Env(inn, slots)); got != step.inn {
			t.Errorf("step %d: others see %s, want %s", i, got, step.inn)
		}
	}
	if got := see(scene.Env(inn, slots)); got != `[20,"ding",null,3]` {
		t.Errorf("the scene changed: %s", got)
	}
}

// A key that is set in a large world costs what it is, and not what the world is.
func BenchmarkStage(b *testing.B) {
	for _, size := range []int{20, 600} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			keys := map[string]value.Value{}
			own := map[string]string{}
			for i := range size {
				keys[fmt.Sprintf("inn__k%d", i)] = value.Of(i)
				own[fmt.Sprintf("k%d", i)] = fmt.Sprintf("inn__k%d", i)
			}
			names := expr.NewNames(own)
			stage := expr.NewScene(value.NewMap(keys)).Stage()
			guard, err := expr.CompileBool("world.k7 >= 0")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				stage.Set("inn__k7", value.Of(i))
				if ok, err := guard.Bool(stage.Env(names, value.Value{})); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
