package load

import (
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

func (l *loader) routing(m *module) program.Routing {
	r := program.Routing{
		Enabled: true, High: .8, Mid: .65, CacheEnabled: true, CacheMaxAge: 30 * 24 * time.Hour, CacheCap: 10_000, CacheTrim: .1, Strikes: 3,
		ExtractAgent: "agent.local", Pos: m.o.n.Pos,
	}
	n := m.o.node("routing")
	if n.IsNull() {
		return r
	}
	o := l.object(n, "routing")
	r.Pos = n.Pos
	for name, to := range map[string]*bool{"enabled": &r.Enabled, "cache_enabled": &r.CacheEnabled} {
		if v := o.bool(name); o.has(name) {
			*to = v
		}
	}
	r.High, r.Mid = l.bar(o, "semantic_high_bar", r.High), l.bar(o, "semantic_mid_bar", r.Mid)
	if r.High > 0 && r.Mid > 0 && r.High <= r.Mid {
		l.fail(o.pos("semantic_high_bar"), "routing.semantic_high_bar (%.4f) must be greater than routing.semantic_mid_bar (%.4f)", r.High, r.Mid)
	}
	if age := o.text("cache_max_age"); age != "" {
		d, err := Duration(age)
		if err != nil {
			l.fail(o.pos("cache_max_age"), "routing.cache_max_age: %s", problem(err))
		} else if d > 0 {
			r.CacheMaxAge = d
		}
	}
	if c := o.int("cache_cap"); c != 0 {
		r.CacheCap = c
	}
	if t := o.float("cache_trim_fraction", 0); t != 0 {
		r.CacheTrim = t
	}
	if s := o.int("revalidate_strikes"); s != 0 {
		r.Strikes = s
	}
	r.Stopwords, r.ExtractOnMiss = o.texts("stopwords_extra"), o.bool("extract_llm_on_no_match")
	if a := o.text("extract_llm_agent"); a != "" {
		r.ExtractAgent = a
	}
	o.bool("confidence_decay")
	if e := o.node("embedding"); !e.IsNull() {
		b := l.object(e, "routing.embedding")
		for _, name := range []string{"endpoint", "model", "cache_dir"} {
			b.text(name)
		}
		b.float("confident_bar", 0)
		b.float("margin", 0)
		b.done()
	}
	if f := o.node("free_form_fallback"); !f.IsNull() {
		b := l.object(f, "routing.free_form_fallback")
		r.FallbackState, r.FallbackIntent = strings.TrimSpace(b.text("state")), strings.TrimSpace(b.text("intent"))
		b.done()
		if m.parent == nil {
			state, intent := r.FallbackState, r.FallbackIntent
			l.later(func() { l.sink(b, state, intent) })
		}
	}
	o.done()
	return r
}

func (l *loader) bar(o *object, name string, otherwise float64) float64 {
	f := o.float(name, otherwise)
	if f < 0 || f > 1 {
		l.fail(o.pos(name), "routing.%s: %.4f is outside [0, 1]", name, f)
	}
	if f == 0 {
		return otherwise
	}
	return f
}

// sink checks the state and the intent that take all free text.
func (l *loader) sink(o *object, state, intent string) {
	s := l.s.States[state]
	switch {
	case state == "":
		l.fail(o.n.Pos, "%s.state is required", o.what)
	case s == nil:
		l.fail(o.pos("state"), "%s.state %q is not declared in states", o.what, state)
	}
	switch {
	case intent == "":
		l.fail(o.n.Pos, "%s.intent is required", o.what)
	case s == nil:
	case !takes(s, intent):
		l.fail(o.pos("intent"), "%s.intent %q has no matching on: arc in state %q", o.what, intent, state)
	default:
		in := l.intentIn(s, intent)
		if in == nil {
			l.fail(o.pos("intent"), "%s.intent %q is not a declared intent", o.what, intent)
		} else if !oneText(in) {
			l.fail(o.pos("intent"), "%s.intent %q must declare exactly one required string slot to receive the free-text utterance", o.what, intent)
		}
	}
}

func takes(s *program.State, intent string) bool {
	return slices.ContainsFunc(s.On, func(on program.On) bool { return on.Intent == intent })
}

// intentIn is what an intent, by its folded name, is in a state.
func (l *loader) intentIn(s *program.State, name string) *program.Intent {
	for up := s; up != nil; up = up.Parent {
		if in := up.Intents[name]; in != nil {
			return in
		}
	}
	return l.s.Intents[name]
}

// oneText reports an intent that needs one text and nothing else.
func oneText(in *program.Intent) bool {
	needed := 0
	for _, s := range in.Slots {
		if s.Required {
			needed++
			if s.Type != "" && s.Type != "string" {
				return false
			}
		}
	}
	return needed == 1
}
