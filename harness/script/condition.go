package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Condition says whether a line of a script is run.
type Condition struct {
	Arg   string // what stands behind the colon; "" is no colon either
	Help  string // when it holds: "where an agent is installed"
	Holds func(arg string) (bool, error)
}

// condition answers [name] and [name:argument].
func condition[X any](o Options[X], name string) (bool, error) {
	kind, arg, _ := strings.Cut(name, ":")
	if holds := o.Conditions[kind].Holds; holds != nil {
		return holds(arg)
	}
	if name == "replay" {
		return !o.Record && o.Outside == nil, nil
	}
	known := "replay"
	for _, own := range slices.Sorted(maps.Keys(o.Conditions)) {
		known += ", " + o.Conditions[own].spelled(own)
	}
	return false, fmt.Errorf("there is no condition %q; there is %s", name, known)
}

func (c Condition) spelled(name string) string {
	if c.Arg == "" {
		return name
	}
	return name + ":" + c.Arg
}
