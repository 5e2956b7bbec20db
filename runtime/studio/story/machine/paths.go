package machine

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

// A parallel is a situation in several regions at once: root#leaf|leaf.
type parallel struct {
	root   string
	leaves []string // sorted
}

func parallelOf(state string) (parallel, bool) {
	root, tail, ok := strings.Cut(state, "#")
	if !ok {
		return parallel{}, false
	}
	p := parallel{root: root}
	if tail != "" {
		p.leaves = strings.Split(tail, "|")
	}
	return p, true
}

func isParallel(state string) bool { return strings.Contains(state, "#") }

func (p parallel) String() string {
	return p.root + "#" + strings.Join(slices.Sorted(slices.Values(p.leaves)), "|")
}

// plainState is a state without its regions.
func plainState(state string) string {
	root, _, _ := strings.Cut(state, "#")
	return root
}

// region is the name of the region that a leaf is in.
func (p parallel) region(leaf string) string {
	rest, ok := strings.CutPrefix(leaf, p.root+".")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, ".")
	return name
}

func regionNames(s *program.State) []string {
	var names []string
	for _, c := range s.Children {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// leaving are the states that are left on the way, the innermost first.
func leaving(from, to string) []string {
	list := below(plainState(to), plainState(from))
	slices.Reverse(list)
	return list
}

// entering are the states that are entered on the way, the outermost first.
func entering(from, to string) []string {
	par, ok := parallelOf(to)
	if !ok {
		return below(plainState(from), to)
	}
	list := below(plainState(from), par.root)
	for _, leaf := range par.leaves {
		if leaf != par.root && leaf != "" {
			list = append(list, below(par.root, leaf)...)
		}
	}
	return list
}

// below are the states of a path that another path is not in.
func below(other, path string) []string {
	a, b := strings.Split(other, "."), strings.Split(path, ".")
	shared := 0
	for shared < min(len(a), len(b)) && a[shared] == b[shared] {
		shared++
	}
	var list []string
	for i := shared; i < len(b); i++ {
		list = append(list, strings.Join(b[:i+1], "."))
	}
	return list
}
