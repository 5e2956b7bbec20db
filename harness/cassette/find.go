package cassette

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// minKey is the least of a key that names an episode.
const minKey = 6

// Find gives the episode that a person names: by its number, counted from 1, or by at
// least six digits of the beginning of its key.
func (c *Cassette) Find(id string) (int, error) {
	const op = "cassette.find"
	hint := "see which there are: soundstage cassette show"
	if n, err := strconv.Atoi(id); err == nil && (len(id) < minKey || n <= c.Len()) {
		if n < 1 || n > c.Len() {
			return 0, fault.New(fault.NotFound, op, "cassette %q has no episode %d: it has %d", c.path, n, c.Len()).WithHint("%s", hint)
		}
		return n - 1, nil
	}
	if len(id) < minKey || len(id) > keyLen || !isHex([]byte(id)) {
		return 0, fault.New(fault.Invalid, op, "%q names no episode", id).
			WithHint("give its number, or at least %d digits of its key; %s", minKey, hint)
	}
	var found []int
	for i, key := range c.Keys() {
		if strings.HasPrefix(key, id) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, fault.New(fault.NotFound, op, "cassette %q has no episode with a key that begins %q", c.path, id).WithHint("%s", hint)
	case 1:
		return found[0], nil
	}
	return 0, fault.New(fault.Invalid, op, "%d episodes of cassette %q have a key that begins %q: the first are %d and %d",
		len(found), c.path, id, found[0]+1, found[1]+1).WithHint("give the number")
}
