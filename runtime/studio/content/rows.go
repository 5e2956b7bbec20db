package content

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Codes of lists whose items have ids.
const (
	CodeNoItem fault.Code = "CONTENT_NO_ITEM" // no item of that id
	CodeOrder  fault.Code = "CONTENT_ORDER"   // an order that does not name what is there
)

// rows is a list whose items have ids that are unique in it. what is the word for an item.
type rows[T any] struct {
	what string
	id   func(T) string
}

// at is the place of an item, or an error that names those that are there.
func (r rows[T]) at(list []T, id string) (int, error) {
	if i := slices.IndexFunc(list, func(it T) bool { return r.id(it) == id }); i >= 0 {
		return i, nil
	}
	e := fault.New(CodeNoItem, "content."+r.what, "there is no %s %q", r.what, clip(id, 80))
	if len(list) == 0 {
		return 0, e.WithHint("there are none yet: add one")
	}
	return 0, e.WithHint("use one of %s", clip(strings.Join(r.ids(list), ", "), 300))
}

func (r rows[T]) ids(list []T) []string {
	ids := make([]string, len(list))
	for i, it := range list {
		ids[i] = r.id(it)
	}
	return ids
}

// ordered is the list with the named items first, in that order; the rest keeps its own.
func (r rows[T]) ordered(list []T, order []string) ([]T, error) {
	first := make([]T, 0, len(list))
	rest := slices.Clone(list)
	for k, id := range order {
		if slices.Contains(order[:k], id) {
			return nil, fault.New(CodeOrder, "content."+r.what, "the order names the %s %q twice", r.what, clip(id, 80)).WithHint("name each once")
		}
		i, err := r.at(rest, id)
		if err != nil {
			return nil, err
		}
		first = append(first, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return append(first, rest...), nil
}
