// Package route finds what a person means by a text that they typed at a story: the
// intent, and what it says of the slots.
//
// It is a part of the story studio above machine, which says what a state takes. Tiers are
// asked in an order, from the surest and cheapest on: what stands in the menu, synonyms,
// synonyms with slots, what a model said of such a text before, the intent that a state or
// a story gives all other texts to, and at last a model, through a port. It takes no turn,
// keeps nothing but what its caller's cache keeps, and has no clock.
package route

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/machine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The bounds of a text.
const (
	MaxText  = 64 << 10 // bytes
	maxWords = 256      // more are no command, and are not matched with synonyms
)

// CodeText is a text that cannot be routed: none, or one over MaxText.
const CodeText fault.Code = "STORY_TEXT"

// The codes of texts that lead to no intent.
const (
	Ambiguous     machine.Code = "AMBIGUOUS_INTENT"  // several intents fit
	Unclear       machine.Code = "LLM_CLARIFICATION" // the model names none, or is not sure
	UnknownIntent machine.Code = "INTENT_UNKNOWN"    // no tier decides, and there is no model to ask
)

// A Tier is who found what a text means.
type Tier string

// The tiers, as the trace has them.
const (
	Exact          Tier = "deterministic"  // a row of the menu, or an example
	Semantic       Tier = "semantic"       // a synonym, or a template
	Cached         Tier = "turncache"      // a model said it of such a text
	Default        Tier = "default"        // the state's intent for all other texts
	Fallback       Tier = "fallback"       // the story's
	Disambiguation Tier = "disambiguation" // a person, of several candidates
	ByModel        Tier = "llm"
)

// How sure the tiers are.
const (
	sure        = 1.00
	saidSynonym = 0.90
	allSlots    = 0.80
	someSlots   = 0.65
	tied        = 0.50
)

// A Result says what is to be done with a verdict.
type Result string

// The results.
const (
	Hit     Result = "hit"       // take the intent
	Ask     Result = "clarify"   // ask the person for Missing, or whether the candidate is meant
	Tie     Result = "ambiguous" // ask the person which of Candidates is meant
	Refused Result = "refused"   // the model says that no intent fits
	Unasked Result = "unasked"   // nobody but a model can say, and there is none: Question
)

// A Verdict is what a text means, and who says so.
type Verdict struct {
	Result     Result
	By         Tier   // "" of Unasked
	Match      string // how: "display", "synonym:wade", "template:buy {n}"
	Confidence float64
	Intent     string // folded
	Slots      value.Value
	Missing    []string    // slots whose words are no value
	Candidates []Candidate // of a tie, or the one that is not sure
	Message    string      // for the person, of what is no hit
	Model      string      // that was asked, now or when the cache was filled
	Question   *Question   // of Unasked
	Tried      []Tier      // that found nothing, in their order
}

// A Candidate is an intent that may be meant.
type Candidate struct {
	Intent string
	Title  string
	Match  string
}

// An Input is a text, and where it was typed.
type Input struct {
	Text string
	At   machine.Situation
	Now  time.Time // for days and the age of what is cached
	Past []Past    // the newest last
}

// Options are the doors of a Router.
type Options struct {
	Story   *program.Story
	Machine *machine.Machine // of the same story
	Cache   Cache            // nil: nothing is kept
	Model   Model            // nil: what it would be asked is said
}

// A Router routes the texts of one story. It is safe for concurrent use.
type Router struct {
	story   *program.Story
	machine *machine.Machine
	cache   Cache
	model   Model
	index   func() *index
	hash    func() string
	swept   sync.Once
}

// New makes the router of a story. It reads the synonyms when the first text needs them.
func New(o Options) *Router {
	if o.Story == nil || o.Machine == nil {
		panic("route: the story or the machine is missing")
	}
	return &Router{
		story: o.Story, machine: o.Machine, cache: o.Cache, model: o.Model,
		index: sync.OnceValue(func() *index { return newIndex(o.Story) }),
		hash:  sync.OnceValue(func() string { return surface(o.Story) }),
	}
}

// Problems are the synonyms of a story that can never be matched.
func Problems(s *program.Story) []Problem { return newIndex(s).problems }

// Route says what a text means.
func (r *Router) Route(ctx context.Context, in Input) (Verdict, error) {
	switch {
	case strings.TrimSpace(in.Text) == "":
		return Verdict{}, fault.New(CodeText, "story.route", "the text is empty").WithHint("say what is wanted, or name an intent")
	case len(in.Text) > MaxText:
		return Verdict{}, fault.New(CodeText, "story.route", "a text of %d bytes is over the bound of %d", len(in.Text), MaxText).WithHint("say it in less")
	case !utf8.ValidString(in.Text):
		return Verdict{}, fault.New(CodeText, "story.route", "the text %q is not UTF-8", clipped(in.Text)).WithHint("give it in that encoding")
	}
	s := &search{Router: r, in: in, allowed: r.machine.Allowed(in.At.State), takes: map[string]*program.Intent{}}
	for _, a := range s.allowed {
		s.takes[a.Name] = a.Intent
	}
	tiers := []func(context.Context) (Verdict, bool, error){s.exact}
	if r.story.Routing.Enabled {
		tiers = append(tiers, s.semantic, s.cached, s.sink, s.fallback)
	}
	for _, tier := range append(tiers, s.ask) {
		v, ok, err := tier(ctx)
		if err != nil {
			return Verdict{}, err
		}
		if ok {
			v.Tried = s.tried
			return v, nil
		}
	}
	return Verdict{}, nil // not reached: ask always says something
}

// Learn keeps what the model made of a text, once the story took it.
func (r *Router) Learn(ctx context.Context, in Input, v Verdict) error {
	if r.cache == nil || v.By != ByModel || v.Result != Hit || !r.story.Routing.CacheEnabled || !r.story.Routing.Enabled {
		return nil
	}
	k, ok := r.key(in)
	if !ok {
		return nil
	}
	e := Entry{Intent: v.Intent, Slots: v.Slots, Confidence: v.Confidence, Model: v.Model, Made: in.Now, Used: in.Now}
	if err := r.cache.Put(ctx, k, e); err != nil {
		return err
	}
	return r.sweep(ctx, in.Now)
}

func (r *Router) key(in Input) (Key, bool) {
	k := Key{App: r.story.ID, Hash: r.hash(), State: in.At.State, Signature: signature(r.index().split(in.Text))}
	return k, k.Signature != ""
}

func (r *Router) sweep(ctx context.Context, now time.Time) error {
	o := r.story.Routing
	b := Broom{App: r.story.ID, Hash: r.hash(), Cap: o.CacheCap, Trim: o.CacheTrim}
	if o.CacheMaxAge > 0 {
		b.Before = now.Add(-o.CacheMaxAge)
	}
	return r.cache.Sweep(ctx, b)
}

func quote(s string) string { return strconv.Quote(s) }

// clipped is the beginning of a text, for messages.
func clipped(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Rejection is a verdict as the machine would refuse an intent; nil of a hit.
func (v Verdict) Rejection() *machine.Rejection {
	rej := &machine.Rejection{Message: v.Message, Missing: v.Missing}
	for _, c := range v.Candidates {
		rej.Allowed = append(rej.Allowed, c.Intent)
	}
	switch {
	case v.Result == Hit:
		return nil
	case v.Result == Ask && len(v.Missing) > 0:
		rej.Code, rej.Allowed = machine.MissingSlots, nil
	case v.Result == Refused:
		rej.Code = Unclear
	case v.Result == Unasked:
		rej.Code = UnknownIntent
	default:
		rej.Code = Ambiguous
	}
	return rej
}
