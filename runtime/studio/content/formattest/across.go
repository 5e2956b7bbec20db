package formattest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Across takes made bodies of a kind from one format to another and back, and wants all
// that no loss names to be there again, as it was. What a format adds as its default is
// no loss. It gives how many values it compared.
func (s Suite) Across(t *testing.T, kind, from, to string, bodies int) (compared int) {
	t.Helper()
	for seed := range uint64(bodies) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 11))}
		first := s.cross(t, makers[kind](t, m), from)
		there := s.cross(t, first.Piece, to)
		back := s.cross(t, there.Piece, from)
		want := parse(t, first.Piece.Body)
		got := parse(t, back.Piece.Body)
		losses := there.losses
		for _, l := range back.losses {
			if !strings.HasPrefix(l.Path, "original:") {
				losses = append(losses, l)
			}
		}
		for _, miss := range missing(want, got, losses) {
			t.Errorf("%s, %s, %s, seed %d: %s\nfirst %s\nthere %s\nback  %s\nlosses %+v", from, to, from, seed, miss, first.Piece.Body, there.Piece.Body, back.Piece.Body, losses)
			return compared
		}
		compared += len(leaves(want))
	}
	return compared
}

// A crossed is a piece that went through a file of a format.
type crossed struct {
	Piece  store.Piece
	losses []content.Loss
}

func (s Suite) cross(t *testing.T, p store.Piece, format string) crossed {
	t.Helper()
	p.Escrow = nil
	c, err := s.Formats.Convert(p, format, nil)
	must(t, err)
	f := s.Read(t, format, p.Kind, c.Data).Found[0]
	raw, err := canon.JSON(f.Body.Bytes())
	must(t, err)
	if f.Body.At("/name") == nil && f.Body.At("/identity/name") == nil { // the file's own
		b := parse(t, raw)
		must(t, b.Set("/name", canon.NewText("made")))
		raw = b.Bytes()
	}
	return crossed{store.Piece{Ref: p.Ref, Title: p.Title, Body: raw}, c.Losses}
}

// missing are values of want that got does not have, and that no loss names. Items of a
// list that lost some are compared as a set, since their places moved.
func missing(want, got *canon.Node, losses []content.Loss) []string {
	var found []string
	lists := map[string]bool{}
	for _, l := range losses {
		if l.Verdict == twin.Dropped {
			if i := strings.LastIndexByte(l.Path, '/'); i >= 0 && want.At(l.Path[:i]).Kind() == canon.Array {
				lists[l.Path[:i]] = true
			}
		}
	}
	for path, v := range leaves(want) {
		if said(path, losses) || moved(path, lists) {
			continue
		}
		n := got.At(path)
		if n == nil {
			found = append(found, path+" is gone: "+v)
		} else if string(n.Bytes()) != v && !canon.Equal(n, want.At(path)) {
			found = append(found, path+" was "+v+", and is "+string(n.Bytes()))
		}
	}
	return found
}

// said reports a loss of the value, of what it is in, or of a part of it.
func said(path string, losses []content.Loss) bool {
	for _, l := range losses {
		if l.Path == path || strings.HasPrefix(path, l.Path+"/") || strings.HasPrefix(l.Path, path+"/") {
			return true
		}
	}
	return false
}

func moved(path string, lists map[string]bool) bool {
	for list := range lists {
		if strings.HasPrefix(path, list+"/") {
			return true
		}
	}
	return false
}
