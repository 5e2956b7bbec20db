package route

import (
	"maps"
	"slices"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// maxBeside is how many words beside a synonym a text may say. A synonym that stands
// somewhere in a long text that was pasted is no command.
const maxBeside = 6

// A phrase is a synonym without slots, or an example.
type phrase struct {
	intent, source string
	example        bool
	stems          []string
}

// reason names a phrase on the trace.
func (p *phrase) reason() string {
	if p.example {
		return "example:" + p.source
	}
	return "synonym:" + p.source
}

// An index is all phrases and templates of a story.
type index struct {
	lexicon
	phrases   []phrase
	byStem    map[string][]int
	templates []*template // in the order of their intents
	problems  []Problem
}

// newIndex reads every definition of every intent: what a state says of an intent counts
// wherever the intent is taken.
func newIndex(s *program.Story) *index {
	x := &index{lexicon: lexicon{more: s.Routing.Stopwords}, byStem: map[string][]int{}}
	defs := map[string][]*program.Intent{}
	for name, in := range s.Intents {
		defs[name] = append(defs[name], in)
	}
	for _, path := range slices.Sorted(maps.Keys(s.States)) {
		for name, in := range s.States[path].Intents {
			if !slices.Contains(defs[name], in) {
				defs[name] = append(defs[name], in)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		for _, in := range defs[name] {
			x.add(name, in)
		}
	}
	return x
}

func (x *index) add(name string, in *program.Intent) {
	for _, source := range in.Synonyms {
		if !isTemplate(source) {
			if x.phrase(phrase{intent: name, source: source}) {
				continue
			}
			x.problems = append(x.problems, Problem{in.Pos, "synonym " + quote(source) + " of intent " + quote(in.Bare) + " has no word that says anything, and is never matched"})
			continue
		}
		t, err := x.compile(in, source)
		if err != nil {
			x.problems = append(x.problems, Problem{in.Pos, "synonym " + quote(source) + " of intent " + quote(in.Bare) + ": " + err.Error()})
			continue
		}
		t.intent = name
		x.templates = append(x.templates, t)
	}
	for _, source := range in.Examples {
		x.phrase(phrase{intent: name, source: source, example: true})
	}
}

func (x *index) phrase(p phrase) bool {
	if p.stems = stems(x.split(p.source)); len(p.stems) == 0 {
		return false
	}
	for _, stem := range p.stems {
		x.byStem[stem] = append(x.byStem[stem], len(x.phrases))
	}
	x.phrases = append(x.phrases, p)
	return true
}

// said are the phrases whose stems are all in a text, one an intent, in the order of the
// intents.
func (x *index) said(list []word, takes map[string]*program.Intent) []*phrase {
	content := stems(list)
	var ids []int
	for _, stem := range content {
		ids = append(ids, x.byStem[stem]...)
	}
	slices.Sort(ids)
	var hits []*phrase
	for i := 0; i < len(ids); {
		p, n := &x.phrases[ids[i]], 1
		for i+n < len(ids) && ids[i+n] == ids[i] {
			n++
		}
		i += n
		if n < len(p.stems) || len(content)-n > maxBeside || takes[p.intent] == nil {
			continue
		}
		if len(hits) == 0 || hits[len(hits)-1].intent != p.intent {
			hits = append(hits, p)
		}
	}
	return hits
}

// leading is the one phrase that a text begins with, of several that are in it: in
// "commit the staged fix" stage is no command.
func leading(list []word, hits []*phrase) *phrase {
	verb := lead(list)
	var one *phrase
	for _, p := range hits {
		if verb == "" || !slices.Contains(p.stems, verb) {
			continue
		}
		if one != nil {
			return nil
		}
		one = p
	}
	return one
}
