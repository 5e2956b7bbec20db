package proposal

import "github.com/soundstage-dev/soundstage/runtime/studio/story/value"

// Value is the proposal as it lies in the world: its draft's fields stand beside the rest,
// so that a story reads proposal.cost.
func (p Proposal) Value() value.Value {
	m := map[string]value.Value{}
	for name, v := range p.Current.Members() {
		m[name] = v
	}
	history := make([]value.Value, len(p.History))
	for i, v := range p.History {
		row := map[string]value.Value{"version": value.Of(v.Number), "draft": v.Draft}
		if v.Feedback != "" {
			row["feedback"] = value.Of(v.Feedback)
		}
		history[i] = value.NewMap(row)
	}
	m["kind"], m["status"], m["current"], m["history"] = value.Of(p.Kind), value.Of(string(p.Status)), p.Current, value.NewList(history...)
	if !p.Result.IsNil() {
		m["result"] = p.Result
	}
	if p.Job != "" {
		m["job_ref"] = value.Of(p.Job)
	}
	return value.NewMap(m)
}

// From is the proposal that lies in a world; the zero one where there is none.
func From(world value.Value) Proposal {
	v, _ := world.Get(Key)
	get := func(name string) value.Value { it, _ := v.Get(name); return it }
	p := Proposal{Kind: get("kind").Str(), Status: Status(get("status").Str()), Current: get("current"), Result: get("result"), Job: get("job_ref").Str()}
	for _, row := range get("history").Items() {
		number, _ := row.Get("version")
		n, _ := number.Int()
		draft, _ := row.Get("draft")
		feedback, _ := row.Get("feedback")
		p.History = append(p.History, Version{Number: int(n), Draft: draft, Feedback: feedback.Str()})
	}
	return p
}
