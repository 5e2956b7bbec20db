package scenario

import (
	"github.com/soundstage-dev/soundstage/harness/upstream"
	"github.com/soundstage-dev/soundstage/runtime/model"
	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// Upstream is a script with which a provider says what the model said in a trace. Notes
// are what it leaves out.
func Upstream(name string, events []trace.Event) (script []byte, notes []string, err error) {
	var turns []upstream.Spoken
	input, results := "", []string(nil)
	for _, e := range events {
		p, err := trace.Decode(e)
		if err != nil {
			continue // of a type that is not known here
		}
		switch p := p.(type) {
		case trace.TurnOpened:
			input, results = p.Input, nil
		case trace.ModelRetried:
			notes = append(notes, "a request that failed and was made again is not in the upstream script")
		case trace.ModelReplied:
			if p.Code != "" {
				notes = append(notes, "a reply that broke off is not in the upstream script")
				continue
			}
			s := spoken(p.Reply)
			s.User, s.Results = input, results
			turns = append(turns, s)
			input, results = "", []string{}
			for _, c := range s.Calls {
				results = append(results, c.Tool)
			}
		}
	}
	script, err = upstream.Compose("What the model said in the session from which scenarios/"+name+".txtar was made.", turns)
	return script, notes, err
}

func spoken(r model.Reply) upstream.Spoken {
	var s upstream.Spoken
	for _, p := range r.Parts {
		switch {
		case p.Kind == model.Text && r.Reason == model.Refusal:
			s.Refusal += p.Text
		case p.Kind == model.Text:
			s.Text += p.Text
		case p.Kind == model.Reasoning:
			s.Reasoning += p.Text
		case p.Kind == model.CallPart && p.Call != nil:
			s.Calls = append(s.Calls, upstream.SpokenCall{Tool: p.Call.Name, Input: p.Call.Input})
		}
	}
	s.Length = r.Reason == model.Length
	if r.Usage.State == model.Exact {
		s.Usage = &upstream.Spent{
			Input: int(r.Usage.Input), CacheRead: int(r.Usage.CacheRead), CacheWrite: int(r.Usage.CacheWrite),
			Output: int(r.Usage.Output), Reasoning: int(r.Usage.Reasoning),
		}
	}
	return s
}
