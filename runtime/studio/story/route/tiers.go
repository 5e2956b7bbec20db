package route

import (
	"context"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A search is one text on its way through the tiers.
type search struct {
	*Router
	in      Input
	allowed []machine.Allowed
	takes   map[string]*program.Intent
	words   []word
	tried   []Tier
}

func (s *search) miss(t Tier) (Verdict, bool, error) {
	s.tried = append(s.tried, t)
	return Verdict{}, false, nil
}

// exact is a row of the menu, as it stands there, or the example of one row alone.
func (s *search) exact(context.Context) (Verdict, bool, error) {
	text := folded(s.in.Text)
	menu := s.machine.Menu(s.in.At)
	for _, how := range []struct {
		match string
		fits  func(machine.Row) bool
	}{
		{"display", func(row machine.Row) bool { return folded(row.Display) == text }},
		{"example", func(row machine.Row) bool { return s.exampleOf(row, text) }},
	} {
		var one *machine.Row
		many := false
		for i := range menu.Primary {
			if how.fits(menu.Primary[i]) {
				many, one = one != nil, &menu.Primary[i]
				if many {
					break
				}
			}
		}
		if one != nil && !many {
			return Verdict{Result: Hit, By: Exact, Match: how.match, Confidence: sure, Intent: one.Intent, Slots: value.NewMap(nil).Merge(one.Slots)}, true, nil
		}
	}
	return s.miss(Exact)
}

// exampleOf reports a text that is an example of a row that needs nothing more: of its
// intent, or of the value that it gives a slot.
func (s *search) exampleOf(row machine.Row, text string) bool {
	in := s.takes[row.Intent]
	if in == nil || len(row.Missing) > 0 {
		return false
	}
	is := func(example string) bool { return folded(example) == text }
	if slices.ContainsFunc(in.Examples, is) {
		return true
	}
	for name, v := range row.Slots.Members() {
		if slot := in.Slots[name]; slot != nil && is(v.Text()) && slices.ContainsFunc(slot.Examples, is) {
			return true
		}
	}
	return false
}

// semantic is a synonym, or a template where no synonym is said.
func (s *search) semantic(context.Context) (Verdict, bool, error) {
	s.words = s.index().split(s.in.Text)
	if len(s.words) == 0 || len(s.words) > maxWords {
		return s.miss(Semantic)
	}
	v, ok := s.synonym()
	if !ok {
		v, ok = s.template()
	}
	if !ok || v.Result == Hit && s.lacks(v) {
		return s.miss(Semantic)
	}
	o := s.story.Routing
	switch {
	case v.Result == Tie:
		return v, true, nil
	case v.Confidence >= o.High:
		return v, true, nil
	case v.Confidence >= o.Mid:
		return s.unsure(v), true, nil
	}
	return s.miss(Semantic)
}

// unsure is a verdict that a person has to confirm or to complete.
func (s *search) unsure(v Verdict) Verdict {
	v.Result = Ask
	v.Candidates = []Candidate{s.candidate(v.Intent, v.Match)}
	v.Message = "is " + quote(v.Candidates[0].Title) + " meant?"
	if len(v.Missing) > 0 {
		v.Message = "it is not clear what it says of " + strings.Join(v.Missing, ", ")
	}
	return v
}

func (s *search) candidate(intent, match string) Candidate {
	c := Candidate{Intent: intent, Title: intent, Match: match}
	if in := s.takes[intent]; in != nil && in.Title != "" {
		c.Title = in.Title
	}
	return c
}

func (s *search) tie(of []Candidate) Verdict {
	return Verdict{Result: Tie, By: Semantic, Match: "ambiguous", Confidence: tied, Candidates: of, Message: "several intents fit"}
}

func (s *search) synonym() (Verdict, bool) {
	hits := s.index().said(s.words, s.takes)
	if len(hits) == 0 {
		return Verdict{}, false
	}
	one, match := hits[0], hits[0].reason()
	if len(hits) > 1 {
		if one = leading(s.words, hits); one == nil {
			var of []Candidate
			for _, p := range hits {
				of = append(of, s.candidate(p.intent, p.reason()))
			}
			return s.tie(of), true
		}
		match = "leading-verb:" + lead(s.words)
	}
	v := Verdict{Result: Hit, By: Semantic, Match: match, Confidence: saidSynonym, Intent: one.intent, Slots: value.NewMap(nil)}
	// A synonym fills no slot: what was said beside it would be lost.
	return v, !s.lacks(v) && (len(s.takes[one.intent].Slots) == 0 || len(stems(s.words)) == len(one.stems))
}

func (s *search) template() (Verdict, bool) {
	type best struct {
		*template
		filling filling
	}
	env := surroundings{lexicon: s.index().lexicon, today: s.in.Now}
	var all []best
	for _, t := range s.index().templates {
		if s.takes[t.intent] == nil {
			continue
		}
		f, ok := t.match(s.words, env)
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(b best) bool { return b.intent == t.intent })
		switch {
		case i < 0:
			all = append(all, best{t, f})
		case len(f.slots) > len(all[i].filling.slots):
			all[i] = best{t, f}
		}
	}
	if len(all) == 0 {
		return Verdict{}, false
	}
	if len(all) > 1 {
		var of []Candidate
		for _, b := range all {
			of = append(of, s.candidate(b.intent, "template:"+b.source))
		}
		return s.tie(of), true
	}
	b := all[0]
	v := Verdict{
		Result: Hit, By: Semantic, Match: "template:" + b.source, Confidence: allSlots, Intent: b.intent, Slots: value.Owned(b.filling.slots),
	}
	if len(b.filling.missing) > 0 {
		v.Result, v.Confidence, v.Missing, v.Match = Ask, someSlots, b.filling.missing, "template_partial:"+b.source
	}
	return v, true
}

// lacks reports a hit without a slot that its intent needs: only a model can find it in the
// text.
func (s *search) lacks(v Verdict) bool {
	for name, slot := range s.takes[v.Intent].Slots {
		if got, _ := v.Slots.Get(name); slot.Required && got.IsNil() {
			return true
		}
	}
	return false
}

// cached is what a model made of such a text before, if the story still takes it.
func (s *search) cached(ctx context.Context) (Verdict, bool, error) {
	if s.cache == nil || !s.story.Routing.CacheEnabled {
		return Verdict{}, false, nil
	}
	var err error
	s.swept.Do(func() { err = s.sweep(ctx, s.in.Now) })
	k, ok := s.key(s.in)
	if !ok || err != nil {
		v, _, _ := s.miss(Cached)
		return v, false, err
	}
	e, ok, err := s.cache.Get(ctx, k)
	if err != nil {
		return Verdict{}, false, err
	}
	if old := s.story.Routing.CacheMaxAge; !ok || old > 0 && s.in.Now.Sub(e.Used) > old {
		return s.miss(Cached)
	}
	if step, err := s.machine.Turn(s.in.At, machine.Input{Intent: e.Intent, Slots: e.Slots}); err != nil || step.Rejection != nil {
		s.tried = append(s.tried, Cached)
		return Verdict{}, false, s.cache.Strike(ctx, k, s.story.Routing.Strikes)
	}
	v := Verdict{Result: Hit, By: Cached, Match: "signature:" + k.Signature, Confidence: e.Confidence, Intent: e.Intent, Slots: e.Slots, Model: e.Model}
	return v, true, s.cache.Hit(ctx, k, s.in.Now)
}

// sink is the state's intent for texts that are no command.
func (s *search) sink(context.Context) (Verdict, bool, error) {
	leaf := s.story.States[s.in.At.State]
	if leaf == nil || leaf.DefaultIntent == "" {
		return Verdict{}, false, nil
	}
	return s.whole(Default, leaf.DefaultIntent)
}

// fallback is the story's, for states that have no sink of their own.
func (s *search) fallback(context.Context) (Verdict, bool, error) {
	o, leaf := s.story.Routing, s.story.States[s.in.At.State]
	if o.FallbackIntent == "" || leaf == nil || leaf.DefaultIntent != "" || leaf.OffRamp != nil || leaf.Path == o.FallbackState {
		return Verdict{}, false, nil
	}
	return s.whole(Fallback, o.FallbackIntent)
}

// whole gives a whole text to the one text slot of an intent.
func (s *search) whole(by Tier, intent string) (Verdict, bool, error) {
	in := s.takes[intent]
	if in == nil {
		return s.miss(by)
	}
	slot := ""
	for _, name := range in.SlotOrder {
		if def := in.Slots[name]; def.Required {
			if slot != "" || def.Type != "" && def.Type != "string" {
				return s.miss(by)
			}
			slot = name
		}
	}
	if slot == "" {
		return s.miss(by)
	}
	return Verdict{
		Result: Hit, By: by, Match: "free_text", Confidence: sure, Intent: intent, Slots: value.Owned(map[string]value.Value{slot: value.Of(s.in.Text)}),
	}, true, nil
}

// ask asks the model, or says what it would be asked.
func (s *search) ask(ctx context.Context) (Verdict, bool, error) {
	q := s.question(s.in, s.allowed)
	if s.model == nil {
		return Verdict{Result: Unasked, Question: &q, Message: "no tier knows what " + quote(clipped(s.in.Text)) + " means in state " + quote(s.in.At.State) + ", and no model was asked"}, true, nil
	}
	m, err := s.model.Mean(ctx, q)
	if err != nil {
		return Verdict{}, false, err
	}
	v := Verdict{Result: Hit, By: ByModel, Match: "main-turn", Confidence: m.Confidence, Intent: m.Intent, Slots: m.Slots, Model: m.Model}
	if v.Slots.Kind() != value.Map {
		v.Slots = value.NewMap(nil)
	}
	o := s.story.Routing
	switch {
	case m.Intent == "":
		v.Result, v.Message = Refused, m.Said
		if v.Message == "" {
			v.Message = "no intent fits"
		}
	case m.Certain || m.Confidence == 0 || m.Confidence >= o.High:
	case m.Confidence >= o.Mid:
		v = s.unsure(v)
	default:
		v.Result, v.Candidates = Refused, []Candidate{s.candidate(v.Intent, v.Match)}
		v.Message = "it is not clear what is meant"
	}
	return v, true, nil
}
