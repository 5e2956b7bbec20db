package route_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load/loadtest"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/route"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

const river = `
app: {id: river, version: 0.1.0, title: A river}
routing: {cache_cap: 3, cache_trim_fraction: 0.5, cache_max_age: 2d, revalidate_strikes: 2, stopwords_extra: [yonder]}
world: {deep: {type: bool, default: false}, oxen: {type: int, default: 2}}
intents:
  ford: {title: Ford the river, examples: [ford it], synonyms: [wade, "walk through the water"]}
  stage: {title: Stage a fix, synonyms: [stage]}
  commit: {title: Commit, synonyms: [commit]}
  wait: {title: Wait}
  look: {title: Look, examples: [look around], slots: {at: {type: string}}, synonyms: [look, "look at {at}"]}
  hunt: {title: Hunt, examples: ["go for it"]}
  fish: {title: Fish, examples: ["go for it"]}
  buy:
    title: Buy
    synonyms: ["buy {n} {what}", "buy {n} oxen for {price}", "{n} oxen", "pay {price}"]
    slots: {n: {type: int, required: true}, price: {type: money}, what: {type: string}}
  pick:
    title: Pick
    slots:
      job: {type: enum, values: [banker, carpenter], required: true, synonyms: {banker: [rich guy]}}
    synonyms: ["be a {job}", "make me {job}"]
  camp: {title: Camp, synonyms: ["camp {when}", "rest for {days} days"], slots: {when: {type: date}, days: {type: int}}}
  sure: {title: Sure, synonyms: ["answer {yes}"], slots: {yes: {type: bool}}}
  mark: {title: Mark, synonyms: ["mark {pages}"], slots: {pages: {type: "list[int]"}}}
  say: {title: Say, slots: {words: {type: string, required: true}}}
  dive: {title: Dive}
root: bank
states:
  bank:
    description: The bank of a river.
    relevant_world: [oxen]
    view: "You stand at the river."
    on:
      ford: {target: far}
      stage: {target: .}
      commit: {target: .}
      wait: {target: .}
      look: {target: .}
      hunt: {target: .}
      fish: {target: .}
      buy: {target: .}
      pick: {target: .}
      camp: {target: .}
      sure: {target: .}
      mark: {target: .}
      dive: [{when: world.deep, target: far}]
  far: {default_intent: say, on: {say: {target: .}, ford: {target: bank}}}
`

func story(t testing.TB, text string) (*program.Story, *machine.Machine) {
	t.Helper()
	s := loadtest.Story(t, text)
	return s, machine.New(s)
}

// monday is the day of all these tests.
var monday = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

func at(m *machine.Machine, state, text string) route.Input {
	return route.Input{Text: text, At: machine.Situation{State: state, World: m.World()}, Now: monday}
}

// shown is a verdict in one line.
func shown(v route.Verdict) string {
	var of []string
	for _, c := range v.Candidates {
		of = append(of, c.Intent)
	}
	slots := v.Slots.JSON()
	if v.Slots.Len() == 0 {
		slots = ""
	}
	return strings.Join(strings.Fields(strings.Join([]string{string(v.Result), string(v.By), v.Match, v.Intent, slots, strings.Join(v.Missing, ","), strings.Join(of, "|")}, " ")), " ")
}

func TestTiers(t *testing.T) {
	s, m := story(t, river)
	r := route.New(route.Options{Story: s, Machine: m})
	for _, c := range []struct {
		state, text, want string
		sure              float64
	}{
		// The menu and examples.
		{"bank", " WAIT ", "hit deterministic display wait", 1},
		{"bank", "pick banker", `hit deterministic display pick {"job":"banker"}`, 1},
		{"bank", "Ford  it", "hit deterministic example ford", 1},
		{"bank", "go for it", "ambiguous semantic ambiguous fish|hunt", .5},
		{"bank", "dive", "unasked", 0}, // the guard refuses it
		// Synonyms.
		{"bank", "let's wade across", "hit semantic synonym:wade ford", .9},
		{"bank", "wading yonder, please", "hit semantic synonym:wade ford", .9},
		{"bank", "WALK through the ｗａｔｅｒ", "hit semantic synonym:walk through the water ford", .9},
		{"bank", "the water", "unasked", 0},
		{"bank", "commit the staged fix", "hit semantic leading-verb:commit commit", .9},
		{"bank", "now commit and stage", "ambiguous semantic ambiguous commit|stage", .5},
		{"bank", "look", "hit deterministic display look", 1},
		{"bank", "Look...", "hit deterministic display look", 1},
		{"bank", "please look", "hit semantic synonym:look look", .9},
		{"bank", "look sharp", "unasked", 0},                                                      // a synonym would lose what stands beside it
		{"bank", "wade " + strings.Repeat("one two three four five six seven ", 2), "unasked", 0}, // it stands somewhere in a long text
		// Templates.
		{"bank", "please look at the tall Tree", `hit semantic template:look at {at} look {"at":"the tall tree"}`, .8},
		{"bank", "buy six oxen for $240", `hit semantic template:buy {n} oxen for {price} buy {"n":6,"price":240}`, .8},
		{"bank", "two hundred and fifty oxen", `hit semantic template:{n} oxen buy {"n":250}`, .8},
		{"bank", "pay 20 dollars", "unasked", 0}, // n is required
		{"bank", "be a rich guy", `hit semantic template:be a {job} pick {"job":"banker"}`, .8},
		{"bank", "make me a bankr", `hit semantic template:make me {job} pick {"job":"banker"}`, .8},
		{"bank", "be a pirate", "clarify semantic template_partial:be a {job} pick job pick", .65},
		{"bank", "be a banker carpenter", "clarify semantic template_partial:be a {job} pick job pick", .65},
		{"bank", "camp tomorrow", `hit semantic template:camp {when} camp {"when":"2026-03-03"}`, .8},
		{"bank", "answer nope", `hit semantic template:answer {yes} sure {"yes":false}`, .8},
		{"bank", "mark 6, 12 and three", `hit semantic template:mark {pages} mark {"pages":[6,12,3]}`, .8},
		// The sink takes what nothing else does, as it was said.
		{"far", "Hello, Ada!", `hit default free_text say {"words":"Hello, Ada!"}`, 1},
		{"far", "wade back", "hit semantic synonym:wade ford", .9},
	} {
		v, err := r.Route(t.Context(), at(m, c.state, c.text))
		if err != nil {
			t.Fatal(c.text, err)
		}
		if got := shown(v); got != c.want || v.Confidence != c.sure {
			t.Errorf("%q in %s:\n got %s (%g)\nwant %s (%g)", c.text, c.state, got, v.Confidence, c.want, c.sure)
		}
	}
}

// A story without routing knows its menu and nothing else.
func TestOff(t *testing.T) {
	s, m := story(t, strings.Replace(river, "routing: {", "routing: {enabled: false, ", 1))
	r := route.New(route.Options{Story: s, Machine: m})
	for text, want := range map[string]string{"wait": "hit deterministic display wait", "wade": "unasked"} {
		if v, err := r.Route(t.Context(), at(m, "bank", text)); err != nil || shown(v) != want {
			t.Errorf("%q: %s, %v", text, shown(v), err)
		}
	}
	if v, err := r.Route(t.Context(), at(m, "far", "anything")); err != nil || v.Result != route.Unasked {
		t.Errorf("a sink without routing: %s, %v", shown(v), err)
	}
}

// What a story has no intent for goes to the one that it names for that.
func TestFallback(t *testing.T) {
	s, m := story(t, `
app: {id: desk, version: 0.1.0}
routing: {free_form_fallback: {state: landing, intent: work}}
intents: {work: {title: Work, slots: {request: {type: string, required: true}}}, back: {title: Back}}
root: menu
states:
  landing: {on: {work: {target: .}}}
  menu: {on: {back: {target: landing}}}
`)
	r := route.New(route.Options{Story: s, Machine: m})
	for state, want := range map[string]string{"menu": `hit fallback free_text work {"request":"Fix the Door"}`, "landing": "unasked"} {
		if v, err := r.Route(t.Context(), at(m, state, "Fix the Door")); err != nil || shown(v) != want {
			t.Errorf("%s: %s, %v", state, shown(v), err)
		}
	}
}

// says answers as a model.
type says struct {
	route.Meaning
	asked []route.Question
}

func (s *says) Mean(_ context.Context, q route.Question) (route.Meaning, error) {
	s.asked = append(s.asked, q)
	return s.Meaning, nil
}

func TestModel(t *testing.T) {
	s, m := story(t, river)
	for _, c := range []struct {
		says route.Meaning
		want string
	}{
		{route.Meaning{Intent: "ford", Confidence: .9}, "hit llm main-turn ford"},
		{route.Meaning{Intent: "ford"}, "hit llm main-turn ford"}, // it does not say how sure it is
		{route.Meaning{Intent: "ford", Confidence: .7}, "clarify llm main-turn ford ford"},
		{route.Meaning{Intent: "ford", Confidence: .3}, "refused llm main-turn ford ford"},
		{route.Meaning{Intent: "ford", Confidence: .3, Certain: true}, "hit llm main-turn ford"},
		{route.Meaning{Said: "Which river?"}, "refused llm main-turn"},
	} {
		model := &says{Meaning: c.says}
		r := route.New(route.Options{Story: s, Machine: m, Model: model})
		v, err := r.Route(t.Context(), at(m, "bank", "over to the other side"))
		if err != nil || shown(v) != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.says, shown(v), err, c.want)
		}
		q := model.asked[0]
		for _, part := range []string{"bank of a river", "You stand at the river", `{"oxen":2}`, "- pick: Pick", "job, enum, required: banker, carpenter", "over to the other side"} {
			if !strings.Contains(q.Prompt, part) {
				t.Errorf("the model is not told %q:\n%s", part, q.Prompt)
			}
		}
		if !strings.Contains(string(q.Schema), `"enum":["banker","carpenter"]`) || strings.Contains(string(q.Schema), "words") {
			t.Errorf("schema %s", q.Schema)
		}
	}
}

func TestCache(t *testing.T) {
	s, m := story(t, river)
	cache, model := route.NewMemory(), &says{Meaning: route.Meaning{Intent: "dive", Confidence: .95, Model: "m"}}
	r := route.New(route.Options{Story: s, Machine: m, Cache: cache, Model: model})
	deep := func(text string, yes bool, later time.Duration) route.Input {
		in := at(m, "bank", text)
		in.At.World, in.Now = in.At.World.With("deep", value.Of(yes)), monday.Add(later)
		return in
	}
	ask := func(in route.Input) route.Verdict {
		t.Helper()
		v, err := r.Route(t.Context(), in)
		if err == nil {
			err = r.Learn(t.Context(), in, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	by := func(in route.Input, want route.Tier) {
		t.Helper()
		if v := ask(in); v.By != want || v.Intent != "dive" || v.Model != "m" {
			t.Errorf("%q: %s, want %s", in.Text, shown(v), want)
		}
	}
	by(deep("jump in, headfirst", true, 0), route.ByModel)
	by(deep("headfirst please jump", true, time.Hour), route.Cached) // the same words that count
	by(deep("jump", true, time.Hour), route.ByModel)
	// Where the story does not take it any more it is no hit, and gone after two strikes.
	for range 2 {
		if v, err := r.Route(t.Context(), deep("jump headfirst", false, time.Hour)); err != nil || v.By != route.ByModel {
			t.Errorf("what a guard refuses came from the cache: %s, %v", shown(v), err)
		}
	}
	by(deep("jump headfirst", true, time.Hour), route.ByModel) // and kept again
	by(deep("jump headfirst", true, 50*time.Hour), route.ByModel)
	by(deep("jump headfirst", true, 51*time.Hour), route.Cached)
	// Of more than three the half that was used the longest ago goes.
	for i, text := range []string{"plunge", "splash", "submerge"} {
		by(deep(text, true, 51*time.Hour+time.Duration(i+1)*time.Minute), route.ByModel)
	}
	by(deep("splash", true, 52*time.Hour), route.Cached)
	by(deep("jump headfirst", true, 52*time.Hour), route.ByModel)
	if n := len(model.asked); n != 10 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A synonym that is edited drops what was kept.
func TestSurface(t *testing.T) {
	cache, model := route.NewMemory(), &says{Meaning: route.Meaning{Intent: "wait"}}
	for i, text := range []string{river, river + "# other words\n", strings.Replace(river, "[wade,", "[wade, cross,", 1), river} {
		s, m := story(t, text)
		r := route.New(route.Options{Story: s, Machine: m, Cache: cache, Model: model})
		in := at(m, "bank", "dawdle")
		v, err := r.Route(t.Context(), in)
		if err == nil {
			err = r.Learn(t.Context(), in, v)
		}
		if want := i == 1; err != nil || (v.By == route.Cached) != want {
			t.Errorf("story %d: %s, %v", i, shown(v), err)
		}
	}
}

func TestBounds(t *testing.T) {
	s, m := story(t, river)
	r := route.New(route.Options{Story: s, Machine: m})
	for _, text := range []string{"", " \n", strings.Repeat("x", route.MaxText+1), "wa\xffde"} {
		if _, err := r.Route(t.Context(), at(m, "bank", text)); fault.CodeOf(err) != route.CodeText {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if v, err := r.Route(t.Context(), at(m, "bank", strings.Repeat("wade ", 10_000))); err != nil || v.Result != route.Unasked || len(v.Message) > 400 {
		t.Errorf("%s, %d bytes, %v", shown(v), len(v.Message), err)
	}
}

func TestProblems(t *testing.T) {
	s, _ := story(t, `
app: {id: bad, version: 0.1.0}
intents:
  go:
    slots: {a: {type: string}, b: {type: string}}
    synonyms: ["go {a}{b}", "go {a}, {b}", "{", "go }", "{}", "go {c}", "the", "go {a} and {b}"]
root: here
states: {here: {on: {go: {target: .}}}}
`)
	want := []string{"no word stands between {a} and {b}", "no word stands between {a} and {b}", "never closed", "closes nothing", "names no slot", `no slot "c"`, "no word that says anything"}
	got := route.Problems(s)
	if len(got) != len(want) {
		t.Fatalf("%d problems: %v", len(got), got)
	}
	for i, p := range got {
		if !strings.Contains(p.Message, want[i]) || p.Pos.Line == 0 {
			t.Errorf("%s:%d: %s, want %s", p.Pos.File, p.Pos.Line, p.Message, want[i])
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	s, m := story(b, river)
	r := route.New(route.Options{Story: s, Machine: m})
	for name, text := range map[string]string{"exact": "wait", "synonym": "let's wade across", "template": "buy six oxen for $240", "none": "over to the other side"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			in := at(m, "bank", text)
			for b.Loop() {
				if _, err := r.Route(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
