package studio

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// maxNamed bounds the pieces that a sentence names; the rest is counted.
const maxNamed = 10

// referrers are the pieces whose bodies name ref, by kind and id.
func (d Deps) referrers(ctx context.Context, ref store.Ref) ([]store.Ref, error) {
	if !d.Kinds.referenced(ref.Kind) {
		return nil, nil
	}
	var found []store.Ref
	// A link is a text of the body, so that the store's own search finds every candidate.
	for s, err := range store.All(ctx, d.Store, store.Query{Text: ref.ID}) {
		if err != nil {
			return nil, err
		}
		kind, ok := d.Kinds.byName[s.Kind]
		if !ok || s.Ref == ref {
			continue
		}
		p, err := d.Store.Get(ctx, s.Ref, s.Revision)
		if fault.CodeOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(kind.Links(p.Body), ref) {
			found = append(found, s.Ref)
		}
	}
	return found, nil
}

// named is a list of pieces as a sentence has it: "a, b and 3 more".
func named(refs []store.Ref) string {
	var names []string
	for _, r := range refs[:min(len(refs), maxNamed)] {
		names = append(names, r.String())
	}
	text := strings.Join(names, ", ")
	if n := len(refs) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// CodeSeveral says that a name fits several pieces.
const CodeSeveral fault.Code = "PIECE_SEVERAL"

// match finds the piece that somebody means by an id or a title. What is said whole
// outweighs what is a part. Several are for the caller to choose from, never for us.
func (d Deps) match(ctx context.Context, kind, name string) ([]store.Summary, error) {
	want := store.Fold(strings.TrimSpace(name))
	var whole, part []store.Summary
	if want == "" {
		return nil, nil
	}
	for s, err := range store.All(ctx, d.Store, store.Query{Kind: kind}) {
		if err != nil {
			return nil, err
		}
		title := store.Fold(s.Title)
		switch {
		case s.ID == want || s.Ref.String() == want || title == want:
			whole = append(whole, s)
		case strings.Contains(title, want) || strings.Contains(s.ID, want):
			part = append(part, s)
		}
	}
	if len(whole) > 0 {
		return whole, nil
	}
	return part, nil
}

// several is the refusal to choose.
func several(op, name string, found []store.Summary) error {
	var names []string
	for _, s := range found[:min(len(found), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%q)", s.Ref, plain.Clip(s.Title, 60)))
	}
	more := ""
	if n := len(found) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fault.New(CodeSeveral, op, "%q fits %d pieces: %s%s", plain.Clip(name, 80), len(found), strings.Join(names, ", "), more).
		WithHint("ask which one is meant, and give its id; do not choose")
}
