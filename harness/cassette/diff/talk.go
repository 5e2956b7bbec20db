package diff

import (
	"cmp"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/transcript"
)

// tools compares two lists of tools by name; order is no difference.
func (d *differ) tools(a, b []transcript.Tool) {
	old := map[string]transcript.Tool{}
	for _, t := range a {
		old[t.Name] = t
	}
	now := map[string]bool{}
	for _, t := range b {
		now[t.Name] = true
		was, ok := old[t.Name]
		subject := fmt.Sprintf("tool %q", t.Name)
		if !ok {
			d.add(Change{Subject: subject, Where: t.Where, New: quoteClip(cmp.Or(t.Description, t.Name))})
			continue
		}
		d.text(subject, "description", t.Where, was.Description, t.Description)
		d.json(subject, "schema", t.Where, was.Schema, t.Schema)
		d.json(subject, "fields", t.Where, was.Extra, t.Extra)
	}
	for _, t := range a {
		if !now[t.Name] {
			d.add(Change{Subject: fmt.Sprintf("tool %q", t.Name), Where: t.Where, Old: quoteClip(cmp.Or(t.Description, t.Name))})
		}
	}
}

func (d *differ) settings(a, b []transcript.Setting) {
	old := map[string]string{}
	for _, s := range a {
		old[s.Name] = s.Value
	}
	now := map[string]bool{}
	for _, s := range b {
		now[s.Name] = true
		if was, ok := old[s.Name]; ok {
			d.json("setting "+s.Name, "", "/"+s.Name, was, s.Value)
		} else {
			d.add(Change{Subject: "setting " + s.Name, Where: "/" + s.Name, New: clip(s.Value)})
		}
	}
	for _, s := range a {
		if !now[s.Name] {
			d.add(Change{Subject: "setting " + s.Name, Where: "/" + s.Name, Old: clip(s.Value)})
		}
	}
}

func (d *differ) messages(a, b []transcript.Message) {
	for _, p := range align(len(a), len(b),
		func(i, j int) bool { return a[i].Role == b[j].Role && equalParts(a[i].Parts, b[j].Parts) },
		func(i, j int) bool { return a[i].Role == b[j].Role }) {
		switch {
		case p[0] < 0:
			m := b[p[1]]
			d.add(Change{Subject: messageName(p[1], m), Where: m.Where, New: gist(m)})
		case p[1] < 0:
			m := a[p[0]]
			d.add(Change{Subject: messageName(p[0], m), Where: m.Where, Old: gist(m)})
		default:
			d.parts(messageName(p[1], b[p[1]]), a[p[0]].Parts, b[p[1]].Parts)
		}
	}
}

func messageName(i int, m transcript.Message) string {
	return fmt.Sprintf("message %d (%s)", i+1, m.Role)
}

// gist is what a message begins with.
func gist(m transcript.Message) string {
	for _, p := range m.Parts {
		return partGist(p)
	}
	return "nothing"
}

func partGist(p transcript.Part) string {
	switch p.Kind {
	case transcript.Call:
		return clip("call of " + p.Name + " " + p.Input)
	case transcript.Result:
		return "result " + quoteClip(p.Text)
	case transcript.Other:
		return clip(p.Extra)
	}
	return quoteClip(p.Text)
}

func equalParts(a, b []transcript.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equalPart(a[i], b[i]) {
			return false
		}
	}
	return true
}

// equalPart leaves aside where a part stands and how its call is named.
func equalPart(a, b transcript.Part) bool {
	if a.Kind != b.Kind || a.Name != b.Name || a.Text != b.Text || a.Error != b.Error {
		return false
	}
	var d differ
	d.part("", a, b)
	return len(d.found) == 0
}

func (d *differ) parts(subject string, a, b []transcript.Part) {
	for _, p := range align(len(a), len(b),
		func(i, j int) bool { return equalPart(a[i], b[j]) },
		func(i, j int) bool { return a[i].Kind == b[j].Kind && a[i].Name == b[j].Name }) {
		switch {
		case p[0] < 0:
			d.add(Change{Subject: subject, Field: string(b[p[1]].Kind), Where: b[p[1]].Where, New: partGist(b[p[1]])})
		case p[1] < 0:
			d.add(Change{Subject: subject, Field: string(a[p[0]].Kind), Where: a[p[0]].Where, Old: partGist(a[p[0]])})
		default:
			d.part(subject, a[p[0]], b[p[1]])
		}
	}
}

func (d *differ) part(subject string, a, b transcript.Part) {
	field := string(b.Kind)
	d.text(subject, "kind of part", b.Where, string(a.Kind), string(b.Kind))
	if b.Kind == transcript.Call {
		subject = fmt.Sprintf("%s, call of %s", subject, b.Name)
		d.text(subject, "tool", b.Where, a.Name, b.Name)
		d.json(subject, "argument", b.Where, a.Input, b.Input)
	}
	d.text(subject, field, b.Where, a.Text, b.Text)
	if a.Error != b.Error {
		d.text(subject, "outcome", b.Where, outcome(a.Error), outcome(b.Error))
	}
	if a.Extra != b.Extra && !inPieces(a.Extra) && !inPieces(b.Extra) {
		d.json(subject, "fields", b.Where, orObject(a.Extra), orObject(b.Extra))
	}
}

func outcome(failed bool) string {
	if failed {
		return "failed"
	}
	return "succeeded"
}
