package content

var regexRules = rows[Rule]{"rule", func(r Rule) string { return r.ID }}

// manageRules runs the operations of one call on rules that it may change.
func manageRules(list []Rule, in RegexRulesIn, warn say) ([]Rule, error) {
	for _, c := range in.Update {
		i, err := regexRules.at(list, c.RuleID)
		if err != nil {
			return nil, err
		}
		updateRule(&list[i], c)
		worryRule(list[i], warn)
	}
	for _, on := range []bool{true, false} {
		ids := in.Enable
		if !on {
			ids = in.Disable
		}
		at, err := regexRules.all(list, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range at {
			list[i].Enabled = on
		}
	}
	list, _, err := regexRules.remove(list, in.Remove)
	if err != nil {
		return nil, err
	}
	made, err := newRules(list, in.Add, warn)
	if err != nil {
		return nil, err
	}
	if list, err = regexRules.insert(list, made, spot{in.Place, in.Beside}); err != nil {
		return nil, err
	}
	for _, m := range in.Move {
		if list, err = regexRules.move(list, m.Rules, spot{m.Place, m.Beside}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func newRules(list []Rule, in []RuleIn, warn say) ([]Rule, error) {
	if len(in) > maxItems {
		return nil, tooMany("rule", len(in))
	}
	taken := regexRules.taken(list)
	var made []Rule
	for _, i := range in {
		id, err := regexRules.claim(taken, i.RuleID, i.Name)
		if err != nil {
			return nil, err
		}
		r := Rule{
			ID: id, Name: i.Name, Find: i.Find, Flags: i.Flags, Replace: i.Replace, Trim: i.Trim, Placement: words(i.Placement), Phases: words(i.Phases),
			Enabled: !i.Disabled, RunOnEdit: i.RunOnEdit, Substitute: string(i.Substitute), MinDepth: i.MinDepth, MaxDepth: i.MaxDepth,
		}
		worryRule(r, warn)
		made = append(made, r)
	}
	return made, nil
}

func updateRule(r *Rule, c RuleChange) {
	put(&r.Name, c.Name)
	put(&r.Find, c.Find)
	put(&r.Flags, c.Flags)
	put(&r.Replace, c.Replace)
	put(&r.Trim, c.Trim)
	if c.Placement != nil {
		r.Placement = words(*c.Placement)
	}
	if c.Phases != nil {
		r.Phases = words(*c.Phases)
	}
	put(&r.RunOnEdit, c.RunOnEdit)
	if c.Substitute != "" {
		r.Substitute = string(c.Substitute)
	}
	for _, d := range []struct {
		to    **int
		given *int
	}{{&r.MinDepth, c.MinDepth}, {&r.MaxDepth, c.MaxDepth}} {
		set(d.to, d.given)
		if d.given != nil && *d.given == -1 {
			*d.to = nil
		}
	}
}

// worryRule says what is plainly wrong with a rule. It compiles nothing.
func worryRule(r Rule, warn say) {
	where := "rule " + r.ID
	if r.Find == "" {
		warn("%s has no pattern", where)
	}
	worryPattern(where, r.Find, r.Flags, true, warn)
	if len(r.Placement) == 0 {
		warn("%s has no placement: it works on no text", where)
	}
	if r.MinDepth != nil && r.MaxDepth != nil && *r.MinDepth > *r.MaxDepth {
		warn("%s has the least depth %d above the greatest, %d: no message is in between", where, *r.MinDepth, *r.MaxDepth)
	}
}
