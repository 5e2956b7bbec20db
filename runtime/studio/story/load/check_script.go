package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// checkScript checks a call of a script: that it is there, with its sidecar, and that what
// it is given can be what it takes.
func (l *loader) checkScript(p place, o *object, e *program.Effect) {
	say := p.said(l)
	name := strings.TrimSpace(literalOf(e.With, "script"))
	if name == "" {
		say(o.pos("with"), "%s: host.starlark.run requires a non-empty with.script", p.what)
		return
	}
	if strings.Contains(name, "{{") {
		return
	}
	at := e.With.Map["script"].Pos
	file := p.assetOf(name)
	if !strings.HasPrefix(file, p.m.dir+"/") {
		l.refuse(CodeEscapes, at, "%s: host.starlark.run script %q resolves outside the app root", p.what, name)
		return
	}
	if _, err := l.files.Read(l.ctx, file); err != nil {
		say(at, "%s: host.starlark.run script %q not found (resolved to %q)", p.what, name, l.shown(file))
		return
	}
	raw, err := l.files.Read(l.ctx, file+".yaml")
	if err != nil {
		say(at, "%s: host.starlark.run script %q has no sidecar (expected %q)", p.what, name, l.shown(file+".yaml"))
		return
	}
	side, problems := starlark.ParseSidecar(l.shown(file+".yaml"), raw)
	for _, pr := range problems {
		l.fail(pr.Pos, "host.starlark.run sidecar is malformed: %s", pr.Message)
	}
	l.checkInputs(p, e, side)
}

var bareRoot = regexp.MustCompile(`^(world|slots|args|form)\s*[.?\[]`)

func (l *loader) checkInputs(p place, e *program.Effect, side starlark.Sidecar) {
	in := e.With.Map["inputs"]
	if in == nil {
		return
	}
	types := map[string]string{}
	for _, f := range side.Inputs {
		types[f.Name] = f.Type
	}
	for name, v := range in.Map {
		text := strings.TrimSpace(v.Literal.Str())
		if v.Template != nil || strings.Contains(text, "{%") {
			continue
		}
		if bareRoot.MatchString(text) || strings.Contains(text, "??") || strings.Contains(text, "?.") {
			p.said(l)(v.Pos, "%s: host.starlark.run input %q is a bare expression %q, which reaches the script as that text; write %q", p.what, name, text, "{{ "+text+" }}")
			continue
		}
		if kind := types[name]; kind != "" && !starlark.Fits(kind, whole(v)) {
			p.said(l)(v.Pos, "%s: host.starlark.run input %q is declared %s and given %s, which can never be one", p.what, name, kind, whole(v).Kind())
		}
	}
}

// whole is a tree as a value of its kind; what templates give is not known.
func whole(t *program.Tree) value.Value {
	switch t.Kind {
	case program.TreeList:
		return value.NewList()
	case program.TreeMap:
		return value.NewMap(nil)
	}
	return t.Literal
}

// checkGrammar: a small model that is held to a grammar needs a schema that can be one.
func (l *loader) checkGrammar(p place, e *program.Effect, verb string) {
	plug := l.s.Plugins[e.Agent]
	if verb != "decide" || plug == nil || plug.Kind != "builtin.local_llm" || !plug.Grammar {
		return
	}
	name := strings.TrimSpace(literalOf(e.With, "schema"))
	if name == "" || strings.Contains(name, "{{") {
		return
	}
	at := e.With.Map["schema"].Pos
	raw, err := l.files.Read(l.ctx, p.assetOf(name))
	if err != nil {
		p.said(l)(at, "%s: agent %q is builtin.local_llm with grammar: true but its decide schema %q could not be read: %s", p.what, e.Agent, name, err)
		return
	}
	var r source.Reader
	schema := r.Parse(name, raw)
	if bad := beyond(schema); bad != "" {
		p.said(l)(at, "%s: agent %q is builtin.local_llm with grammar: true but its decide schema %q %s", p.what, e.Agent, name, bad)
	}
}

// rejected are parts of schemas that no grammar can say.
var rejected = []string{"$ref", "$defs", "definitions", "uniqueItems", "not", "if", "then", "else", "dependentSchemas", "contains"}

// beyond says what in a schema is more than a grammar can hold, or "".
func beyond(n *source.Node) string {
	if n == nil || n.Kind != source.Map {
		return "is not an object"
	}
	for _, k := range n.Keys {
		if slices.Contains(rejected, k.Name) {
			return sprintf("has %q, which is outside of what a grammar can say", k.Name)
		}
	}
	for _, either := range []string{"anyOf", "oneOf"} {
		if n.Get(either) == nil {
			continue
		}
		if n.Get("properties") != nil || n.Get("type") != nil {
			return sprintf("has %q beside properties or a type, which is outside of what a grammar can say", either)
		}
		for _, it := range n.Get(either).Items() {
			if bad := beyond(it); bad != "" {
				return bad
			}
		}
	}
	if pat := n.Get("pattern"); pat != nil && (!strings.HasPrefix(pat.Scalar.Str(), "^") || !strings.HasSuffix(pat.Scalar.Str(), "$")) {
		return sprintf("has the pattern %q, which is not anchored", pat.Scalar.Str())
	}
	for _, block := range []string{"properties", "patternProperties"} {
		if of := n.Get(block); of != nil {
			for _, k := range of.Keys {
				if bad := beyond(k.Val); bad != "" {
					return bad
				}
			}
		}
	}
	if it := n.Get("items"); it != nil {
		if bad := beyond(it); bad != "" {
			return bad
		}
	}
	if more := n.Get("additionalProperties"); more != nil && more.Kind == source.Map {
		return beyond(more)
	}
	return ""
}
