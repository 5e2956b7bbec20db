package starlark

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of what a script makes.
const (
	MaxMade  = 128 << 20 // bytes of all large things that it makes, also those that it drops
	MaxParts = 1 << 20   // of one thing, each counted as often as it stands in it
	MaxRange = MaxSteps  // items of a range
	MaxBits  = 1 << 14   // of a product: what is longer takes its time at every step

	large = 64 << 10 // bytes from which a thing counts
	word  = 16       // bytes of a part
)

// A scale weighs what one run of a script makes.
type scale struct{ made int }

func heavy(what string) error {
	return fault.New(CodeMemory, "story.script", "%s would take more memory than a script has", what).WithHint("make less at once; look for something that grows in a loop")
}

// guards are the functions that a rewritten script calls, and the builtins that it sees in
// place of others.
func (s *scale) guards() starlark.StringDict {
	return starlark.StringDict{
		guardCall: builtin(guardCall, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if b, ok := args[0].(*starlark.Builtin); ok {
				return s.weighed(b), nil
			}
			return args[0], nil
		}),
		guardBinary: builtin(guardBinary, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			op, _ := starlark.AsString(args[0])
			if err := s.fits(op, args[1], args[2]); err != nil {
				return nil, err
			}
			out, err := starlark.Binary(tokens[op], args[1], args[2])
			if err != nil {
				return nil, err
			}
			return out, s.count(out)
		}),
		guardGrow: builtin(guardGrow, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			op, _ := starlark.AsString(args[0])
			if err := s.fits(op, args[1], args[2]); err != nil {
				return nil, err
			}
			grown := shallow(args[2])
			if _, list := args[1].(*starlark.List); !list { // made anew
				grown += shallow(args[1])
			}
			return args[2], s.add(grown)
		}),
		guardMade: builtin(guardMade, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if _, tuple := args[0].(starlark.Tuple); tuple { // it can be a key: all of it is looked at then
				if _, ok := deep(args[0]); !ok {
					return nil, heavy("a tuple")
				}
			}
			return args[0], s.count(args[0])
		}),
	}
}

var tokens = map[string]syntax.Token{"+": syntax.PLUS, "*": syntax.STAR, "%": syntax.PERCENT, "|": syntax.PIPE}

// fits refuses an operation before it makes something large.
func (s *scale) fits(op string, x, y starlark.Value) error {
	size := shallow(x) + shallow(y)
	switch op {
	case "*":
		if n, ok := y.(starlark.Int); ok {
			x, y, size = y, x, times(shallow(x), n)
		} else if n, ok := x.(starlark.Int); ok {
			size = times(shallow(y), n)
		}
		if a, ok := x.(starlark.Int); ok {
			if b, ok := y.(starlark.Int); ok {
				if a.BigInt().BitLen()+b.BigInt().BitLen() > MaxBits {
					return heavy("a number")
				}
				size = 0
			}
		}
	case "%":
		if form, ok := x.(starlark.String); ok {
			return s.written("%", string(form), "%", y)
		}
	}
	if size > MaxMade {
		return heavy(op)
	}
	return nil
}

func times(size int, n starlark.Int) int {
	k, ok := n.Int64()
	switch {
	case size == 0 || ok && k <= 0:
		return 0
	case !ok || k > MaxMade || size > MaxMade/int(k):
		return MaxMade + 1
	}
	return size * int(k)
}

// written refuses a text that holds others: each of args, as often as form has mark.
func (s *scale) written(what, form, mark string, args ...starlark.Value) error {
	size := 0
	for _, a := range args {
		n, ok := deep(a)
		if !ok {
			return heavy(what)
		}
		size += n
	}
	if mark != "" {
		size *= max(strings.Count(form, mark), 1)
	}
	if size+len(form) > MaxMade {
		return heavy(what)
	}
	return nil
}

// weighed is a builtin whose arguments are looked at before, and its result after.
func (s *scale) weighed(b *starlark.Builtin) starlark.Value {
	if strings.HasPrefix(b.Name(), "·") {
		return b
	}
	return builtin(b.Name(), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
		if err := s.before(b, args, kw); err != nil {
			return nil, err
		}
		out, err := b.CallInternal(t, args, kw)
		if err != nil {
			return nil, err
		}
		return out, s.count(out)
	})
}

func (s *scale) before(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) error {
	all := args
	for _, k := range kw {
		all = append(all[:len(all):len(all)], k[1])
	}
	self, _ := b.Receiver().(starlark.String)
	switch b.Name() {
	case "str", "repr", "print", "fail", "hash", "json.encode", "json.indent", "sorted", "min", "max":
		return s.written(b.Name(), "", "", all...)
	case "format":
		return s.written("format", string(self), "{", all...)
	case "join":
		for _, a := range args {
			n, parts := 0, 0
			if seq, ok := a.(starlark.Sequence); ok {
				parts = seq.Len()
			}
			n, ok := deep(a)
			if !ok || n+parts*len(self) > MaxMade {
				return heavy("join")
			}
		}
	case "replace":
		if len(args) > 1 {
			old, _ := starlark.AsString(args[0])
			now, _ := starlark.AsString(args[1])
			if len(self)+strings.Count(string(self), old)*len(now) > MaxMade {
				return heavy("replace")
			}
		}
	case "range":
		if n, ok := rangeLen(args); ok && n > MaxRange {
			return heavy("a range")
		}
	case "list", "tuple", "set", "dict", "enumerate", "zip", "reversed":
		n := 0
		for _, a := range all {
			if seq, ok := a.(starlark.Sequence); ok {
				n += seq.Len()
			}
		}
		if n > MaxMade/word {
			return heavy(b.Name())
		}
	case "split", "rsplit", "splitlines":
		if len(self) > MaxMade/word {
			return heavy(b.Name())
		}
	case "extend":
		for _, a := range args {
			if err := s.add(shallow(a)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rangeLen is how many items a range has that goes by ones; by more it has fewer.
func rangeLen(args starlark.Tuple) (int64, bool) {
	ends := make([]int64, 0, 3)
	for _, a := range args {
		n, ok := a.(starlark.Int)
		if !ok {
			return 0, false
		}
		k, ok := n.Int64()
		if !ok {
			return MaxRange + 1, true
		}
		ends = append(ends, k)
	}
	switch len(ends) {
	case 1:
		return ends[0], true
	case 2:
		return ends[1] - ends[0], true
	case 3:
		if ends[2] != 0 {
			return (ends[1] - ends[0]) / ends[2], true
		}
	}
	return 0, false
}

// count takes what was made against the bound of the run.
func (s *scale) count(v starlark.Value) error { return s.add(shallow(v)) }

func (s *scale) add(size int) error {
	if size < large {
		return nil
	}
	if s.made += size; s.made > MaxMade {
		return heavy("what it makes")
	}
	return nil
}

// shallow is about how many bytes a thing takes without its parts.
func shallow(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case starlark.Int:
		if _, ok := v.Int64(); ok {
			return 0
		}
		return v.BigInt().BitLen() / 8
	case starlark.Sequence:
		return v.Len() * word
	}
	return 0
}

// deep is about how many bytes a thing takes as a text, all parts counted as often as they
// stand in it; ok is false where there are too many.
func deep(v starlark.Value) (size int, ok bool) {
	parts := 0
	var walk func(v starlark.Value, depth int) bool
	walk = func(v starlark.Value, depth int) bool {
		if parts++; parts > MaxParts || depth > MaxParts/1000 {
			return false
		}
		switch v := v.(type) {
		case *starlark.List:
			for i := range v.Len() {
				if !walk(v.Index(i), depth+1) {
					return false
				}
			}
		case starlark.Tuple:
			for _, it := range v {
				if !walk(it, depth+1) {
					return false
				}
			}
		case *starlark.Dict:
			for _, it := range v.Items() {
				if !walk(it[0], depth+1) || !walk(it[1], depth+1) {
					return false
				}
			}
		case *starlark.Set:
			size += v.Len() * word
		case starlark.String:
			size += len(v)
		default:
			size += max(shallow(v), word)
		}
		return size <= MaxMade
	}
	return size, walk(v, 0) && size <= MaxMade
}
