package load

import (
	"path"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/expr"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/proposal"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

// proposals reads what a story can propose. What only one that comes to life would run into
// is a warning: a story may declare what it still does by hand.
func (l *loader) proposals(m *module) map[string]*program.Proposal {
	all := map[string]*program.Proposal{}
	for _, k := range m.o.entries("proposals") {
		o := l.object(k.Val, "proposal %q", k.Name)
		p := &program.Proposal{Name: m.scope.Prefix + k.Name, Schema: map[string]string{}, Views: map[string]*expr.Template{}, Scope: m.scope, Pos: k.Pos}
		for _, f := range o.entries("schema") {
			if p.Schema[f.Name] = proposal.Type(f.Val.Value().Text()); p.Schema[f.Name] == "" {
				l.warn(f.Val.Pos, "%s, schema.%s: %q is no type (%s)", o.what, f.Name, f.Val.Value().Text(), strings.Join(proposal.Types, ", "))
			}
		}
		for _, v := range o.entries("views") {
			l.proposalView(m, p, v, o.what)
		}
		p.Draft, p.Refine = l.step(m, o, "draft"), l.step(m, o, "refine")
		if n := o.node("execute"); !n.IsNull() {
			l.execute(m, p, n, o.what+" execute")
		}
		if n := o.node("policy"); !n.IsNull() {
			c := l.object(n, "%s, policy", o.what)
			p.RequireConfirm = c.bool("require_confirm")
			if src := c.text("auto_accept_if"); src != "" {
				var err error
				if p.AutoAccept, err = expr.CompilePolicy(src); err != nil {
					l.warn(c.pos("auto_accept_if"), "%s: auto_accept_if: %s", c.what, problem(err))
				}
			}
			c.done()
		}
		o.done()
		all[p.Name] = p
	}
	return all
}

func (l *loader) proposalView(m *module, p *program.Proposal, v *source.Key, what string) {
	if !slices.Contains(proposal.Statuses(), proposal.Status(v.Name)) {
		l.warn(v.Pos, "%s, views: %q is no status of a proposal", what, v.Name)
	}
	if !v.Val.IsText() {
		l.warn(v.Val.Pos, "%s, views.%s is %s, and not a text", what, v.Name, v.Val.What())
		return
	}
	page, err := m.pages.Page(expr.Undollared(v.Val.Scalar.Str()))
	if err != nil {
		l.warn(v.Val.Pos, "%s, views.%s: %s", what, v.Name, problem(err))
		return
	}
	p.Views[v.Name] = page
}

// step reads who writes: a prompt, which is a file or a text.
func (l *loader) step(m *module, o *object, name string) string {
	n := o.node(name)
	if n.IsNull() {
		return ""
	}
	s := l.object(n, "%s, %s", o.what, name)
	defer s.done()
	prompt := s.text("prompt")
	if file := path.Ext(prompt) != "" && !strings.ContainsAny(prompt, " \n"); file {
		if _, err := l.files.Read(l.ctx, path.Join(m.scope.Dir, prompt)); err != nil {
			l.warn(s.pos("prompt"), "%s: the prompt %q cannot be read", s.what, prompt)
		}
	}
	return prompt
}

// execute reads what a proposal does: an effect with words of its own beside it.
func (l *loader) execute(m *module, p *program.Proposal, n *source.Node, what string) {
	x := l.object(n, "%s", what)
	p.Repeatable, p.OnSuccess = x.bool("repeatable"), x.text("on_success")
	call := &source.Node{Pos: x.n.Pos, Kind: source.Map}
	for _, name := range []string{"invoke", "with", "background", "on_complete"} {
		x.node(name)
		if k := x.n.Key(name); k != nil {
			call.Keys = append(call.Keys, k)
		}
	}
	if !x.has("invoke") && !x.has("background") { // the latter is an error
		l.warn(x.n.Pos, "%s: without invoke: nothing is done", what)
	}
	l.later(func() {
		if to := p.OnSuccess; to != "" && to != "stay" && to != "back" && !strings.HasPrefix(to, "..") && l.s.States[absolute(nil, m.scope, to)] == nil {
			l.warn(x.pos("on_success"), "%s: on_success %q is neither stay nor back nor a state", what, to)
		}
	})
	x.done()
	p.Execute = l.effect(place{m: m, what: what, unread: true}, call, false)
}
