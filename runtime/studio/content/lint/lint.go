// Package lint looks into pieces for what their author hardly wants: links that lead
// nowhere, entries that never enter, rules that never match, credentials.
//
// It is above the bodies of runtime/studio/content, and fills the studio's port Linter. It
// judges no prose, changes nothing and runs no pattern. What a body may not be at all,
// content.Parse refuses.
package lint

import (
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

// The bounds from which on a finding says that something is large.
const (
	LongText  = 32_000    // characters of one text: more than a model reads in one answer
	LargeBody = 512 << 10 // bytes
	ManyItems = 2_000     // entries, blocks, rules …
)

// A Rule is one thing that is looked for.
type Rule struct {
	ID       string
	Severity string
	Says     string // for the page of documentation
}

// Rules are all of them, by id.
func Rules() []Rule {
	return []Rule{
		{"block-ghost", studio.LintWarning, "an enabled block has neither text nor marker, so that it sends nothing"},
		{"block-unlisted", studio.LintNote, "a block is in no order, so that it is never sent"},
		{"body", studio.LintError, "the stored body is not one of its kind"},
		{"choice-dead", studio.LintWarning, "an answer of a choice turns on a block that is not there"},
		{"entry-empty", studio.LintWarning, "an enabled entry has no text"},
		{"key-blank", studio.LintWarning, "a key is empty or blank, so that it matches nothing, or everything"},
		{"key-duplicate", studio.LintNote, "an entry has the same key twice"},
		{"key-empty", studio.LintWarning, "an enabled entry waits for keys and has none, so that it never enters"},
		{"link-dead", studio.LintError, "the piece names another one that is not in the studio"},
		{"name-duplicate", studio.LintWarning, "two items of a piece have the same name, so that people and programs mix them up"},
		{"regex-depth", studio.LintError, "minDepth is above maxDepth, so that the rule never runs"},
		{"regex-empty", studio.LintWarning, "an enabled rule has no pattern"},
		{"regex-no-g", studio.LintNote, "a rule has no flag g, so that it changes the first match only"},
		{"regex-placement", studio.LintWarning, "an enabled rule is placed nowhere, so that it never runs"},
		{"secret", studio.LintError, "a text looks like a credential, or stands under a name of one"},
		{"secret-original", studio.LintNote, "the imported file that is kept has a credential; no export has it"},
		{"size-body", studio.LintNote, "the body is large"},
		{"size-list", studio.LintNote, "a list is long"},
		{"size-text", studio.LintNote, "a text is longer than a model reads in one answer"},
	}
}

// A Linter fills the studio's port. It is immutable. Make one with New.
type Linter struct {
	redactor *redact.Redactor
	severity map[string]string
}

var _ studio.Linter = (*Linter)(nil)

// New makes a Linter that knows credentials by their shape, and none by value.
func New() *Linter {
	l := &Linter{redact.New(redact.Options{}), map[string]string{}}
	for _, r := range Rules() {
		l.severity[r.ID] = r.Severity
	}
	return l
}

// Lint implements [studio.Linter]: the findings of one piece, in order of the body.
func (l *Linter) Lint(p store.Piece, has func(store.Ref) (bool, error)) ([]studio.Finding, error) {
	v := &visit{l: l, piece: p}
	links, err := v.body()
	if err != nil {
		v.add("body", "", "%v", err)
		return v.found, nil
	}
	for _, ref := range links {
		there, err := has(ref)
		if err != nil {
			return v.found, err
		}
		if !there {
			v.add("link-dead", "", "it names %s, which is not in this studio", ref)
		}
	}
	v.texts()
	v.originals()
	return v.found, nil
}

// A visit is at one piece.
type visit struct {
	l     *Linter
	piece store.Piece
	found []studio.Finding
}

func (v *visit) add(rule, path, format string, args ...any) {
	v.found = append(v.found, studio.Finding{
		Rule: rule, Severity: v.l.severity[rule], Piece: v.piece.Ref.String(), Path: path, Message: fmt.Sprintf(format, args...),
	})
}

// body looks at what the kind means.
func (v *visit) body() (links []store.Ref, err error) {
	for _, k := range content.Kinds() {
		if k.Name() == v.piece.Kind {
			if _, err := k.Title(v.piece.Body); err != nil {
				return nil, err
			}
			links = k.Links(v.piece.Body)
		}
	}
	switch v.piece.Kind {
	case content.KindCharacter:
		return links, in(v, v.character)
	case content.KindLorebook:
		return links, in(v, v.lorebook)
	case content.KindPreset:
		return links, in(v, v.preset)
	case content.KindRegex:
		return links, in(v, v.regex)
	case content.KindQuickReply:
		return links, in(v, v.quickReplies)
	case content.KindPack:
		return links, in(v, v.pack)
	}
	return links, nil
}

// in parses the body and looks into it.
func in[B content.Body](v *visit, look func(B)) error {
	b, err := content.Parse[B](v.piece.Body)
	if err == nil {
		look(b)
	}
	return err
}

// names says where two items of a list have one name.
func (v *visit) names(what, list, field string, names []string) {
	first := map[string]int{}
	for i, name := range names {
		if name == "" {
			continue
		}
		if n, ok := first[name]; ok {
			v.add("name-duplicate", fmt.Sprintf("%s/%d/%s", list, i, field), "the %s is named %q, as the one at %s/%d", what, plain.Clip(name, 60), list, n)
			continue
		}
		first[name] = i
	}
	if len(names) > ManyItems {
		v.add("size-list", list, "%d items", len(names))
	}
}
