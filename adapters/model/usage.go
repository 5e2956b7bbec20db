package model

import (
	"github.com/tidwall/gjson"

	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// A tally collects what a provider says of its tokens. Providers disagree on what
// a count includes, so each has its own method that makes the four disjoint.
type tally struct {
	port.Usage
	final bool // a count of the whole output was among them
}

// state is the usage with its state; whole says that the reply came to its end.
func (t *tally) state(whole bool) port.Usage {
	u := t.Usage
	switch {
	case u.State == "":
		u.State = port.UsageUnknown
	case whole && t.final:
		u.State = port.Exact
	default:
		u.State = port.Partial
	}
	return u
}

// set replaces the counts when any was reported.
func (t *tally) set(u port.Usage, final bool) {
	u.State = port.Partial
	u.Input, u.Output = max(u.Input, 0), max(u.Output, 0)
	t.Usage, t.final = u, t.final || final
}

// anthropic: input_tokens leaves the cache out. Each event repeats or updates
// some of the counts.
func (t *tally) anthropic(v gjson.Result, final bool) {
	if !v.IsObject() {
		return
	}
	u := t.Usage
	for _, f := range []struct {
		name string
		to   *int64
	}{
		{"input_tokens", &u.Input},
		{"output_tokens", &u.Output},
		{"cache_read_input_tokens", &u.CacheRead},
		{"cache_creation_input_tokens", &u.CacheWrite},
	} {
		if n := v.Get(f.name); n.Type == gjson.Number {
			*f.to = n.Int()
		}
	}
	t.set(u, final && v.Get("output_tokens").Exists())
}

// chat: prompt_tokens includes the cache. completion_tokens includes reasoning,
// save with providers whose total shows that it does not (xAI).
func (t *tally) chat(v gjson.Result) {
	if !v.IsObject() || !v.Get("prompt_tokens").Exists() {
		return
	}
	u := port.Usage{
		Output:     v.Get("completion_tokens").Int(),
		CacheRead:  v.Get("prompt_tokens_details.cached_tokens").Int(),
		CacheWrite: v.Get("prompt_tokens_details.cache_write_tokens").Int(),
		Reasoning:  v.Get("completion_tokens_details.reasoning_tokens").Int(),
	}
	prompt := v.Get("prompt_tokens").Int()
	if u.Reasoning > 0 && v.Get("total_tokens").Int() == prompt+u.Output+u.Reasoning {
		u.Output += u.Reasoning
	}
	u.Input = prompt - u.CacheRead - u.CacheWrite
	t.set(u, true)
}

// responses: input_tokens includes the cache, output_tokens the reasoning.
func (t *tally) responses(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	u := port.Usage{
		Output:     v.Get("output_tokens").Int(),
		CacheRead:  v.Get("input_tokens_details.cached_tokens").Int(),
		CacheWrite: v.Get("input_tokens_details.cache_write_tokens").Int(),
		Reasoning:  v.Get("output_tokens_details.reasoning_tokens").Int(),
	}
	u.Input = v.Get("input_tokens").Int() - u.CacheRead - u.CacheWrite
	t.set(u, true)
}

// google: promptTokenCount includes the cache, candidatesTokenCount leaves the
// thoughts out. Each chunk has the sums so far.
func (t *tally) google(v gjson.Result) {
	if !v.IsObject() || v.Get("totalTokenCount").Int() == 0 {
		return
	}
	u := port.Usage{
		CacheRead: v.Get("cachedContentTokenCount").Int(),
		Reasoning: v.Get("thoughtsTokenCount").Int(),
	}
	u.Input = v.Get("promptTokenCount").Int() + v.Get("toolUsePromptTokenCount").Int() - u.CacheRead
	u.Output = v.Get("candidatesTokenCount").Int() + u.Reasoning
	t.set(u, true)
}
