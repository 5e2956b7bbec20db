package content

import (
	"testing"

	"github.com/soundstage-dev/soundstage/runtime/store"
)

// rename is im with another name, as a capability would leave it.
func rename(t *testing.T, im Imported) store.Piece {
	t.Helper()
	c, err := ParseCharacter(im.Piece.Body)
	if err != nil {
		t.Fatal(err)
	}
	c.Identity.Name = "Renamed"
	p := im.Piece
	if p.Body, err = c.Body(); err != nil {
		t.Fatal(err)
	}
	p.Title = titleOf(c)
	return p
}
