package load

import (
	"maps"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// interfaces reads those of a module, bound as all importers say.
func (l *loader) interfaces(m *module) {
	for _, k := range m.o.entries("host_interfaces") {
		o := l.object(k.Val, "host_interface %s", k.Name)
		i := &program.Interface{Name: m.scope.Prefix + k.Name, Description: o.text("description"), Default: o.text("default"), Scope: m.scope, Pos: k.Pos}
		for _, op := range o.entries("operations") {
			i.Operations = append(i.Operations, op.Name)
			oo := l.object(op.Val, "host_interface %s, operation %s", k.Name, op.Name)
			for _, part := range []string{"input", "output", "description"} {
				oo.node(part)
			}
			oo.done()
		}
		o.done()
		i.Binding = l.binding(m, k.Name, i.Default)
		l.s.Interfaces[i.Name] = i
		if i.Binding == "" {
			l.fail(k.Pos, "host_interface %q: no default and no host_binding override", i.Name)
		}
	}
	if m.imp == nil {
		return
	}
	for _, b := range m.imp.bindings {
		if _, ok := m.names.ifaces[b.Name]; !ok {
			l.fail(b.Pos, "imports.%s: host_bindings.%s: no matching host_interface (it has %s)", m.imp.alias, b.Name,
				strings.Join(slices.Sorted(maps.Keys(m.names.ifaces)), ", "))
		}
	}
}

// binding is what an interface is bound to: who imports further out has the last word.
func (l *loader) binding(m *module, name, to string) string {
	for x := m; x.parent != nil; x = x.parent {
		for _, b := range x.imp.bindings {
			if b.Name == name {
				to = b.Val.Scalar.Text()
			}
		}
		name = x.imp.alias + "__" + name
	}
	if given, ok := l.bindings[name]; ok {
		to = given
	}
	return to
}

// bound is the handler that an invoke means.
func (l *loader) bound(p place, invoke string, at program.Pos) string {
	rest, ok := strings.CutPrefix(invoke, "iface.")
	if !ok {
		return invoke
	}
	dot := strings.LastIndexByte(rest, '.')
	if dot < 1 {
		l.fail(at, "%s: invoke %q: expected iface.<name>.<op>", p.what, invoke)
		return invoke
	}
	name, op := rest[:dot], rest[dot+1:]
	for x := p.m; x != nil; x = x.parent {
		if _, ok := x.names.ifaces[name]; !ok {
			continue
		}
		i := l.s.Interfaces[x.scope.Prefix+name]
		if i == nil || i.Binding == "" {
			return invoke // said where it is declared
		}
		if !slices.Contains(i.Operations, op) {
			l.fail(at, "%s: invoke %q: op %q not declared on iface %q", p.what, invoke, op, name)
			return invoke
		}
		to := i.Binding + "." + op
		l.allowed[to] = true
		return to
	}
	l.fail(at, "%s: invoke %q: iface %q not declared (declared: %s)", p.what, invoke, name, strings.Join(slices.Sorted(maps.Keys(p.m.names.ifaces)), ", "))
	return invoke
}
