package formattest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// pixel is the smallest picture, as a portrait.
const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// portraits are where the kinds have a picture.
var portraits = map[string]string{content.KindCharacter: "/media/portrait", content.KindPersona: "/portrait"}

// Across takes made bodies of a kind from one format to another and back, and wants all
// that no loss names to be there again, as it was; and of what a loss names it wants that
// it was lost. What a format adds as its default is no loss. It gives how many values it
// compared.
func (s Suite) Across(t *testing.T, kind, from, to string, bodies int) (compared int) {
	t.Helper()
	for seed := range uint64(bodies) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 11))}
		made := makers[kind](t, m)
		if at := portraits[kind]; at != "" {
			b := parse(t, made.Body)
			must(t, b.Set(at, canon.NewText(pixel)))
			var err error
			made.Body, err = canon.JSON(b.Bytes())
			must(t, err)
		}
		first, ok := s.cross(t, made, from)
		there, ok2 := s.cross(t, first.Piece, to)
		if !ok || !ok2 {
			return compared // no picture comes so far
		}
		want := parse(t, first.Piece.Body)
		for _, l := range untrue(want, parse(t, there.Piece.Body), there.losses) {
			t.Errorf("%s, %s, seed %d: the loss %+v did not happen\nfirst %s\nthere %s", from, to, seed, l, first.Piece.Body, there.Piece.Body)
			return compared
		}
		back, ok := s.cross(t, there.Piece, from)
		if !ok {
			if lost := said(portraits[kind], there.losses); !lost {
				t.Errorf("%s, %s, seed %d: the picture is gone, and no loss says so: %+v", from, to, seed, there.losses)
			}
			continue
		}
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

// Behind wants of made characters that one which is read out of an archive behind a JPEG
// is the one that the archive alone gives, and goes out as it does.
func (s Suite) Behind(t *testing.T, bodies int) {
	t.Helper()
	for seed := range uint64(bodies) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 13))}
		c, err := s.Formats.Convert(makers[content.KindCharacter](t, m), "charx", nil)
		must(t, err)
		alone := s.Import(t, "made.charx", c.Data)
		behind := s.Import(t, "made.jpg", slices.Concat([]byte("\xff\xd8\xff\xe0 a picture \xff\xd9"), c.Data))
		if alone.Format != "charx" || behind.Format != "jpeg-charx" || string(Main(alone).Body) != string(Main(behind).Body) {
			t.Fatalf("seed %d: %s and %s\n%s\n%s", seed, alone.Format, behind.Format, Main(alone).Body, Main(behind).Body)
		}
		out, err := s.Formats.Convert(Main(behind), s.Formats.Usual(Main(behind)), nil)
		if again := s.Import(t, "made.charx", out.Data); err != nil || len(out.Losses) > 0 || string(Main(again).Body) != string(Main(alone).Body) {
			t.Errorf("seed %d: %v, losses %+v", seed, err, out.Losses)
		}
	}
}

// generic are formats that others extend: without what those add, a file is one of them.
var generic = map[string]string{"rolecall-preset": "sillytavern-chat"}

// A crossed is a piece that went through a file of a format.
type crossed struct {
	Piece  store.Piece
	losses []content.Loss
}

// cross writes the file and reads it as another person does, who has nothing but it. It
// is not ok where the file must be a picture and there is none.
func (s Suite) cross(t *testing.T, p store.Piece, format string) (_ crossed, ok bool) {
	t.Helper()
	c, err := s.Formats.Convert(p, format, nil)
	if fault.CodeOf(err) == content.CodeNoPicture {
		return crossed{}, false
	}
	must(t, err)
	if im, err := s.Formats.Import(c.Name, c.Data); len(bytes.Trim(c.Data, "[]\n")) > 0 && (err != nil || im.Format != format && im.Format != generic[format]) {
		t.Errorf("a file of %s is taken for one of %q, %v\n%s", format, im.Format, err, c.Data[:min(len(c.Data), 2000)])
	}
	f := s.Read(t, format, p.Kind, c.Data).Found[0]
	raw, err := canon.JSON(f.Body.Bytes())
	must(t, err)
	if f.Body.At("/name") == nil && f.Body.At("/identity/name") == nil { // the file's own
		b := parse(t, raw)
		must(t, b.Set("/name", canon.NewText("made of "+format)))
		raw = b.Bytes()
	}
	file := store.Escrow{Format: format, Name: c.Name, Raw: c.Data}
	return crossed{store.Piece{Ref: p.Ref, Title: p.Title, Body: raw, Escrow: []store.Escrow{file}}, c.Losses}, true
}

// untrue are the losses of values that are there all the same. One that is embedded is
// there, where few look, and one that is renamed under another name.
func untrue(want, got *canon.Node, losses []content.Loss) (list []content.Loss) {
	var dropped []string
	for _, l := range losses {
		if l.Verdict == twin.Dropped {
			dropped = append(dropped, l.Path)
		}
	}
	for _, l := range losses {
		at := l.Path
		if l.Verdict != twin.Dropped {
			at = shifted(l.Path, dropped)
		}
		kept := l.Verdict == twin.Embedded || l.Verdict == twin.Renamed || strings.HasPrefix(l.Path, "original:")
		was, now := want.At(l.Path), got.At(at)
		if !kept && was != nil && canon.Equal(was, now) && !inList(want, l.Path) && sameItems(want, got, l.Path, at) {
			list = append(list, l)
		}
	}
	return list
}

// sameItems reports that two paths lead through items of the same ids.
func sameItems(want, got *canon.Node, path, at string) bool {
	ps, as := strings.Split(path, "/"), strings.Split(at, "/")
	for i := range ps {
		a, b := strings.Join(ps[:i+1], "/"), strings.Join(as[:i+1], "/")
		if want.At(a).Field("id").Text() != got.At(b).Field("id").Text() {
			return false
		}
	}
	return true
}

// inList reports an item of a list: where it is gone, another may be like it.
func inList(n *canon.Node, path string) bool {
	i := strings.LastIndexByte(path, '/')
	return i >= 0 && n.At(path[:i]).Kind() == canon.Array
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
