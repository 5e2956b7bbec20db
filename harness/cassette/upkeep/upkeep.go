// Package upkeep changes cassettes without recording them again: it migrates old
// formats, computes keys anew, takes secrets out, drops episodes and moves bodies
// apart.
//
// It belongs to harness, above cassette, seam, redact and lint. Lines that it has no
// reason to change stay as they are, byte for byte; a file is replaced whole or not at
// all. It makes up no answer, and it asks nobody.
package upkeep

import (
	"bytes"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// CodeAmbiguous says that two requests with different answers would have one key.
const CodeAmbiguous fault.Code = "CASSETTE_AMBIGUOUS"

// A Note says what became of an episode.
type Note struct {
	Episode int    `json:"episode" jsonschema:"1 is the first of the file as it was; 0 is the file itself"`
	What    string `json:"what" jsonschema:"what was done to it"`
}

// A Report says what was done, or in a dry run what would be.
type Report struct {
	Changed  bool   `json:"changed" jsonschema:"the file is, or would be, another one"`
	Episodes int    `json:"episodes" jsonschema:"that it has now"`
	Notes    []Note `json:"notes" jsonschema:"in order of the episodes"`
}

// An edit is a cassette that is being changed.
type edit struct {
	c        *cassette.Cassette
	episodes []cassette.Episode
	changes  []cassette.Change
	header   cassette.Header
	report   Report
}

func begin(c *cassette.Cassette, err error) (*edit, error) {
	if err != nil {
		return nil, err
	}
	if v := c.Header().KeyVersion; v > cassette.KeyVersion {
		return nil, fault.New(cassette.CodeNewer, "cassette.edit", "cassette %q has keys of version %d; this version computes version %d", c.Path(), v, cassette.KeyVersion).
			WithHint("use the version of soundstage that wrote it, or a later one; nothing was written")
	}
	e := &edit{c: c, header: c.Header(), changes: make([]cassette.Change, c.Len()), episodes: make([]cassette.Episode, c.Len())}
	e.report = Report{Episodes: c.Len(), Notes: []Note{}}
	for i := range e.episodes {
		if e.episodes[i], err = c.Episode(i); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *edit) note(i int, format string, args ...any) {
	e.report.Notes = append(e.report.Notes, Note{Episode: i + 1, What: fmt.Sprintf(format, args...)})
}

// finish writes the file, unless this is a dry run.
func (e *edit) finish(dry bool) (Report, error) {
	if dry {
		e.report.Changed = len(e.report.Notes) > 0
		return e.report, nil
	}
	var err error
	e.report.Changed, err = cassette.Rewrite(e.c, e.header, func(i int) (cassette.Change, error) { return e.changes[i], nil })
	return e.report, err
}

// Migrate brings a file of an older format to today's.
func Migrate(path string, dry bool) (Report, error) {
	e, err := begin(cassette.OpenAny(path))
	if err != nil {
		return Report{}, err
	}
	was := e.header.Format
	if was == cassette.Format {
		return e.report, nil
	}
	e.note(-1, "format %d → %d", was, cassette.Format)
	for i := range e.episodes {
		ep := &e.episodes[i]
		if ep.Raw != "" {
			continue
		}
		if _, raw, err := seam.KeyOf(e.header.Rules, ep.Lane, ep.Kind, ep.Request); err == nil {
			e.changes[i] = cassette.Change{Key: ep.Key, Raw: raw}
			e.note(i, "x-raw is computed as today")
		}
	}
	return e.finish(dry)
}

// Rekey computes every key as today, under rules, or under the file's own where rules
// is nil. It refuses two requests that would have one key and different answers.
func Rekey(path string, rules []string, dry bool) (Report, error) {
	e, err := begin(cassette.Open(path))
	if err != nil {
		return Report{}, err
	}
	if rules != nil && fmt.Sprint(rules) != fmt.Sprint(e.header.Rules) {
		e.note(-1, "rules %v → %v", e.header.Rules, rules)
		e.header.Rules = rules
	}
	if v := e.header.KeyVersion; v != cassette.KeyVersion {
		e.note(-1, "key version %d → %d", v, cassette.KeyVersion)
		e.header.KeyVersion = cassette.KeyVersion
	}
	keys := make([]string, len(e.episodes))
	for i := range e.episodes {
		key, raw, err := e.rekey(i, &e.episodes[i])
		if err != nil {
			return Report{}, err
		}
		keys[i] = key
		if was := e.episodes[i].Key; key != was {
			e.changes[i] = cassette.Change{Key: key, Raw: raw}
			e.note(i, "key %.12s → %.12s", was, key)
		}
	}
	if err := e.checkKeys(keys); err != nil {
		return Report{}, err
	}
	return e.finish(dry)
}

func (e *edit) rekey(i int, ep *cassette.Episode) (key, raw string, err error) {
	key, raw, err = seam.KeyOf(e.header.Rules, ep.Lane, ep.Kind, ep.Request)
	if err != nil {
		return "", "", fault.Wrap(err, fault.CodeOf(err), "cassette.rekey", "cassette %q, episode %d", e.c.Path(), i+1).WithHint("%s", fault.HintOf(err))
	}
	return key, raw, nil
}

// checkKeys refuses requests that were told apart before and would not be any more,
// where it matters which is asked.
func (e *edit) checkKeys(keys []string) error {
	first := map[string]int{}
	for i, key := range keys {
		j, seen := first[key]
		if !seen {
			first[key] = i
			continue
		}
		a, b := &e.episodes[j], &e.episodes[i]
		if a.Key != b.Key && !sameAnswer(&a.Response, &b.Response) {
			return fault.New(CodeAmbiguous, "cassette.rekey", "cassette %q: episodes %d and %d would have the same key and have different answers", e.c.Path(), j+1, i+1).
				WithHint("see how they differ: soundstage cassette show %s --episode %d; keep a rule that tells them apart, or record again", e.c.Path(), i+1)
		}
	}
	return nil
}

func sameAnswer(a, b *cassette.Response) bool {
	return a.Status == b.Status && a.End == b.End && a.Error == b.Error && bytes.Equal(a.Body, b.Body)
}

// Prune drops the episodes for which drop says so, counted from 0.
func Prune(path string, drop func(i int) bool, dry bool) (Report, error) {
	e, err := begin(cassette.Open(path))
	if err != nil {
		return Report{}, err
	}
	for i := range e.episodes {
		if drop(i) {
			ep := &e.episodes[i]
			e.changes[i].Drop = true
			e.report.Episodes--
			e.note(i, "dropped %s %s, key %.12s", ep.Request.Method, ep.Request.URL, ep.Key)
		}
	}
	return e.finish(dry)
}
