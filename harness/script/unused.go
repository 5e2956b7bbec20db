package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// CodeUnused says that a scenario's cassette holds episodes that nothing asked for.
const CodeUnused fault.Code = "SCENARIO_UNUSED"

// unused is an error where a replayed cassette that this scenario owns holds episodes
// that nothing asked for: the journey has become another one, and the cassette tells of
// calls that are no longer made. A cassette of another scenario's name is that one's.
func (s *Script) unused() error {
	var errs []error
	for _, t := range s.tapes {
		if t.seam.Mode() != seam.Replay || t.forgiving {
			continue
		}
		left := t.seam.Unused()
		if s.cfg.unused != nil {
			s.cfg.unused(s.Area+"/"+s.Name, t.name, left)
		} else if len(left) > 0 && !t.spare && s.owns(t.name) {
			errs = append(errs, s.unusedIn(t, left))
		}
	}
	return errors.Join(errs...)
}

// unusedIn names the episodes that are left in a cassette.
func (s *Script) unusedIn(t *tape, left []int) error {
	c, err := cassette.Open(t.file)
	if err != nil {
		return err
	}
	defer c.Close()
	const most = 3
	var named []string
	for _, i := range left[:min(most, len(left))] {
		e, err := c.Episode(i)
		if err != nil {
			return err
		}
		named = append(named, strings.TrimSpace(fmt.Sprintf("episode %d (%s %s %s)", i+1, e.Request.Method, e.Request.URL, e.Model)))
	}
	if n := len(left) - len(named); n > 0 {
		named = append(named, fmt.Sprintf("%d more", n))
	}
	return fault.New(CodeUnused, "script.cassette", "nothing asked for %d of %d episodes of cassette %q: %s",
		len(left), c.Len(), t.name, strings.Join(named, ", ")).
		WithHint("record it again: %s record %s; or drop them: %s cassette prune %s; or allow them: cassette -unused %s",
			s.cfg.program, t.name, s.cfg.program, t.name, t.name)
}

// owns reports whether a cassette is this scenario's: it has its name, or no other
// scenario's.
func (s *Script) owns(name string) bool {
	if name == s.Area+"/"+s.Name {
		return true
	}
	_, err := os.Stat(filepath.Join(s.cfg.root, filepath.FromSlash(name)+".txtar"))
	return err != nil
}
