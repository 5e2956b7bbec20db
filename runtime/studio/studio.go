// Package studio holds the tools that every studio shares: pieces listed, read,
// searched, copied and deleted, drafts reviewed and applied, long results read on.
//
// It stands above the kernel and below nothing: a kind of piece is a value of Kind
// that a studio hands in, and this package knows no kind by name. It asks for no
// permission; runtime/gate did before a handler runs.
package studio

import (
	"context"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// A Kind is a kind of piece, as its studio knows it.
type Kind interface {
	// Name is the kind in a Ref: "character".
	Name() string
	// Title parses a body again and gives what lists show, or says what is wrong.
	Title(body []byte) (string, error)
	// Links are the pieces that a body names; none where it is not one of this kind.
	Links(body []byte) []store.Ref
	// Referenced says whether other pieces can name one of this kind, so that a
	// deletion may leave them with a dead end.
	Referenced() bool
}

// Kinds is the table of kinds. It is the draft service's Checker.
type Kinds struct{ byName map[string]Kind }

// NewKinds makes the table. Two kinds of one name are a wiring bug and panic.
func NewKinds(kinds ...Kind) *Kinds {
	k := &Kinds{byName: map[string]Kind{}}
	for _, kind := range kinds {
		if k.byName[kind.Name()] != nil {
			panic("studio: the kind " + kind.Name() + " is registered twice")
		}
		k.byName[kind.Name()] = kind
	}
	return k
}

// CodeKind says that no studio here knows the kind.
const CodeKind fault.Code = "UNKNOWN_KIND"

// CheckPiece parses a piece as its kind demands, and wants the title that the body
// has.
func (k *Kinds) CheckPiece(_ context.Context, p store.Piece) error {
	kind, ok := k.byName[p.Kind]
	if !ok {
		return fault.New(CodeKind, "studio.check", "no studio here knows the kind %q", p.Kind)
	}
	title, err := kind.Title(p.Body)
	if err != nil {
		return err
	}
	if title != p.Title {
		return fault.New(fault.Invalid, "studio.check", "the title of %s is %q and its body says %q", p.Ref, p.Title, title)
	}
	return nil
}

// title gives what lists show of a body.
func (k *Kinds) title(name string, body []byte) (string, error) {
	kind, ok := k.byName[name]
	if !ok {
		return "", fault.New(CodeKind, "studio.title", "no studio here knows the kind %q", name)
	}
	return kind.Title(body)
}

func (k *Kinds) referenced(name string) bool {
	kind, ok := k.byName[name]
	return ok && kind.Referenced()
}

// Deps are the doors of the tools.
type Deps struct {
	Store   store.Store
	Drafts  *draft.Service
	Results *result.Sessions
	Clock   clock.Clock
	Kinds   *Kinds
	// What is kept beside the pieces, and what is shown, shared and brought in.
	Drawers  drawer.Rows
	Blocks   Blocks
	Gallery  Gallery
	Rail     *Rail
	Folders  Folders
	Importer Importer
	// What becomes of a piece elsewhere.
	Converter Converter
	Exports   Exports
	Linter    Linter
}

// Tools are the tools that every studio shares.
func Tools(d Deps) []tool.Tool {
	if d.Store == nil || d.Drafts == nil || d.Results == nil || d.Clock == nil || d.Kinds == nil ||
		d.Drawers == nil || d.Blocks == nil || d.Gallery == nil || d.Rail == nil || d.Folders == nil || d.Importer == nil ||
		d.Converter == nil || d.Exports == nil || d.Linter == nil {
		panic("studio: a door is missing")
	}
	return []tool.Tool{
		listTool(d), searchTool(d), readTool(d), deleteTool(d), duplicateTool(d),
		collectionsTool(d), graveyardTool(d), buryTool(d), choiceTool(), artTool(d), railTool(d), folderTool(d), importTool(d),
		historyTool(d), restoreTool(d), forkTool(d), mergeTool(d), transferTool(d), exportTool(d), lintTool(d),
		queryTool(d), applyTool(d), discardTool(d), resultTool(d),
	}
}

// stored reads a piece and makes a miss a sentence with a next step.
func (d Deps) stored(ctx context.Context, op string, ref store.Ref, revision int64) (store.Piece, error) {
	if err := store.CheckRef(ref); err != nil {
		return store.Piece{}, err
	}
	p, err := d.Store.Get(ctx, ref, revision)
	if fault.CodeOf(err) == fault.NotFound {
		what := ref.String()
		if revision != 0 {
			what = fmt.Sprintf("revision %d of %s", revision, ref)
		}
		return p, fault.New(fault.NotFound, op, "there is no %s", what).
			WithHint("call studio.list or studio.search to see what there is")
	}
	return p, err
}
