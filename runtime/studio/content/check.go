package content

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

var roles = []string{"system", "user", "assistant"}

// unique wants an id that is neither empty nor taken.
func unique(op, what, id string, taken map[string]bool) error {
	if id == "" || taken[id] {
		return fault.New(CodeBody, op, "the %s id %q is empty or taken", what, id).WithHint("give every %s an id of its own", what)
	}
	taken[id] = true
	return nil
}

// oneOf wants one of a few words, or none.
func oneOf(op, where, what, is string, of []string) error {
	if is == "" || slices.Contains(of, is) {
		return nil
	}
	return fault.New(CodeBody, op, "%s has the %s %q", where, what, is).WithHint("use one of %s", strings.Join(of, ", "))
}

// A Number is a JSON number as it was written, or null where a format tells "the
// provider's default" from "not said".
type Number = jsontext.Value

func number(op, what string, n Number) error {
	if n == nil || n.Kind() == '0' || n.Kind() == 'n' {
		return nil
	}
	return fault.New(CodeBody, op, "%s is %s, not a number", what, n)
}

// refs are the pieces of one kind with these ids.
func refs(kind string, ids ...string) []store.Ref {
	var list []store.Ref
	for _, id := range ids {
		if id != "" {
			list = append(list, store.Ref{Kind: kind, ID: id})
		}
	}
	return list
}
