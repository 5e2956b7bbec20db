package content

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// The codes of what stands in a list of a body: entries, blocks, rules, replies.
const (
	CodeTaken fault.Code = "CONTENT_ID_TAKEN" // an item of that id is there
	CodePlace fault.Code = "CONTENT_PLACE"    // a place that cannot be meant
	CodeMany  fault.Code = "CONTENT_TOO_MANY" // more items than one call changes
	maxItems             = 1_000              // items that one call names, selects or adds
	maxItemID            = 60                 // characters of an id that we make
	shownIDs             = 12                 // ids that a hint lists
)

// A Place is where in a list something goes.
type Place string

// Enum lists the places.
func (Place) Enum() []string { return []string{"first", "last", "before", "after"} }

// A spot is a place, and what it is beside.
type spot struct {
	place  Place
	beside string // an item's id, of before and after
}

// all finds items by ids, each once, in the order asked for.
func (r rows[T]) all(list []T, ids []string) ([]int, error) {
	if len(ids) > maxItems {
		return nil, tooMany(r.what, len(ids))
	}
	var at []int
	for _, id := range ids {
		i, err := r.at(list, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	return at, nil
}

// remove takes items out, and gives what went.
func (r rows[T]) remove(list []T, ids []string) (kept, gone []T, err error) {
	at, err := r.all(list, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range at {
		gone = append(gone, list[i])
	}
	for i, t := range list {
		if !slices.Contains(at, i) {
			kept = append(kept, t)
		}
	}
	return kept, gone, nil
}

// insert puts items in at a spot; no place is the end.
func (r rows[T]) insert(list, items []T, to spot) ([]T, error) {
	if len(items) > maxItems {
		return nil, tooMany(r.what, len(items))
	}
	i, err := r.slot(list, to)
	if err != nil {
		return nil, err
	}
	return slices.Insert(list, i, items...), nil
}

func (r rows[T]) slot(list []T, to spot) (int, error) {
	beside := to.place == "before" || to.place == "after"
	switch {
	case beside && to.beside == "":
		return 0, fault.New(CodePlace, "content.list", "the place is %q, and beside is empty", to.place).
			WithHint("give the id of the %s that it goes %s as beside", r.what, to.place)
	case !beside && to.beside != "":
		return 0, fault.New(CodePlace, "content.list", "beside is %q, and the place is %q", to.beside, to.place).
			WithHint("use before or after as the place, or leave beside out")
	case to.place == "first":
		return 0, nil
	case !beside:
		return len(list), nil
	}
	i, err := r.at(list, to.beside)
	if err == nil && to.place == "after" {
		i++
	}
	return i, err
}

// move takes items out and puts them in together at a spot, in the order asked for. No
// place leaves them in the places that they hold, in that order.
func (r rows[T]) move(list []T, ids []string, to spot) ([]T, error) {
	at, err := r.all(list, ids)
	switch {
	case err != nil:
		return nil, err
	case len(at) != len(ids):
		return nil, fault.New(CodePlace, "content.list", "one %s is named twice in %q", r.what, ids).WithHint("name each %s once", r.what)
	case slices.Contains(ids, to.beside):
		return nil, fault.New(CodePlace, "content.list", "%s %q cannot go beside itself", r.what, to.beside).WithHint("name another %s as beside", r.what)
	}
	var moved []T
	for _, i := range at {
		moved = append(moved, list[i])
	}
	if to == (spot{}) {
		slices.Sort(at)
		for k, i := range at {
			list[i] = moved[k]
		}
		return list, nil
	}
	kept, _, err := r.remove(list, ids)
	if err != nil {
		return nil, err
	}
	return r.insert(kept, moved, to)
}

// claim is the id for a new item: the one asked for, if it is free, else one made of
// its name. taken learns it.
func (r rows[T]) claim(taken map[string]bool, asked, name string) (string, error) {
	switch {
	case asked == "":
		asked = freshID(taken, name, r.what)
	case taken[asked]:
		return "", fault.New(CodeTaken, "content.list", "the %s id %q is taken", r.what, asked).WithHint("choose another, or leave it out")
	case utf8.RuneCountInString(asked) > store.MaxID:
		return "", fault.New(CodeTaken, "content.list", "the %s id %q is longer than %d characters", r.what, clip(asked, 80), store.MaxID).WithHint("choose a shorter one")
	}
	taken[asked] = true
	return asked, nil
}

func (r rows[T]) taken(list []T) map[string]bool {
	taken := make(map[string]bool, len(list))
	for _, t := range list {
		taken[r.id(t)] = true
	}
	return taken
}

// freshID makes an id of a name, or of what the item is, that is not taken: the same
// for the same list.
func freshID(taken map[string]bool, name, what string) string {
	base := what
	if strings.TrimSpace(name) != "" {
		base = store.DeriveID(name)
	}
	base = strings.TrimRight(base[:min(len(base), maxItemID)], "-")
	id := base
	for n := 2; taken[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	return id
}

func tooMany(what string, n int) error {
	return fault.New(CodeMany, "content.list", "%d of %q at once, and the most is %d", n, what, maxItems).WithHint("do it in several calls, which compose into one draft")
}

// some are the first of a list of names, for a sentence.
func some(names []string) string {
	var quoted []string
	for _, n := range names[:min(len(names), shownIDs)] {
		quoted = append(quoted, strconv.Quote(clip(n, 60)))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		list += " and " + strconv.Itoa(more) + " more"
	}
	return list
}

// unset runs what takes a field away, for each name.
func unset(op string, names []string, fields map[string]func()) error {
	for _, n := range names {
		if fields[n] == nil {
			return fault.New(fault.Invalid, op, "the field %q cannot be cleared", n)
		}
		fields[n]()
	}
	return nil
}

// wipe is a function that empties a field.
func wipe[T any](to *T) func() {
	return func() {
		var none T
		*to = none
	}
}

// set keeps what was given behind a pointer.
func set[T any](to **T, given *T) {
	if given != nil {
		*to = given
	}
}

// words are names of an enumeration as plain texts.
func words[T ~string](list []T) []string {
	var plain []string
	for _, w := range list {
		plain = append(plain, string(w))
	}
	return plain
}

// nested wants every item of a tree to lie in one that is there, and none in itself.
func nested[T any](r rows[T], list []T, parent func(T) string) error {
	above := map[string]string{}
	for _, t := range list {
		above[r.id(t)] = parent(t)
	}
	for _, t := range list {
		if parent(t) == "" {
			continue
		}
		if _, err := r.at(list, parent(t)); err != nil {
			return err
		}
		at := parent(t)
		for range list {
			if at == r.id(t) {
				return fault.New(CodePlace, "content.list", "the %s %q would lie in itself", r.what, r.id(t)).WithHint("give it another parent")
			}
			at = above[at]
		}
	}
	return nil
}
