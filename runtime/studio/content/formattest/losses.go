package formattest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// seeds is how many bodies are made of each kind.
const seeds = 60

// A Made says of which bodies a format is tested.
type Made struct {
	Format, Kind string
	Words        map[string][]string // instead of the usual words, by the path of Go fields
	Moves        map[string]string   // where a value goes that a loss names, by pointer
	Fill         map[string]string   // defaults that a file says and a body leaves out, by pointer: * is each item
}

// Losses wants, of any body, what the losses leave of it: in a new file, and over the
// file of any other body.
func (s Suite) Losses(t *testing.T, g Made) {
	t.Helper()
	for seed := range uint64(seeds) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 7)), only: g.Words}
		first := makers[g.Kind](t, m)
		out := s.Write(t, first, g.Format, nil)
		s.again(t, g, first, out, seed)
		second := makers[g.Kind](t, m)
		second.Escrow = []store.Escrow{{Format: g.Format, Name: "other.json", Raw: out.Data}}
		s.again(t, g, second, s.Write(t, second, g.Format, nil), seed)
		if t.Failed() {
			return
		}
	}
}

func (s Suite) again(t *testing.T, g Made, p store.Piece, out content.Written, seed uint64) {
	t.Helper()
	got, want := s.Read(t, g.Format, g.Kind, out.Data).Found[0].Body, parse(t, p.Body)
	for _, l := range out.Losses {
		if l.Reason == "" || l.Path == "" {
			t.Errorf("seed %d: the loss %+v says nothing", seed, l)
		}
	}
	less(t, want, got, out.Losses)
	for from, to := range g.Moves {
		if slices.ContainsFunc(out.Losses, func(l content.Loss) bool { return l.Path == from }) && got.At(to) != nil {
			must(t, want.Set(to, got.At(to)))
		}
	}
	for path, def := range g.Fill {
		for _, at := range places(got, path) {
			if now := got.At(at); string(now.Bytes()) == def && want.At(at) == nil {
				must(t, want.Set(at, now))
			}
		}
	}
	if Tidy(want); !canon.Equal(want, Tidy(got)) {
		t.Errorf("seed %d: the body\n%s\nwritten as\n%s\nreads\n%s\nwant\n%s\nlosses %+v", seed, p.Body, out.Data, sorted(t, got), sorted(t, want), out.Losses)
	}
}

// places are the pointers in n that path means, of which * is any item.
func places(n *canon.Node, path string) []string {
	list := []string{""}
	for _, tok := range strings.Split(path, "/")[1:] {
		var next []string
		for _, at := range list {
			if tok != "*" {
				next = append(next, at+"/"+tok)
				continue
			}
			for i := range n.At(at).Len() {
				next = append(next, at+"/"+strconv.Itoa(i))
			}
		}
		list = next
	}
	return slices.DeleteFunc(list, func(at string) bool { return n.At(at) == nil })
}

func sorted(t *testing.T, n *canon.Node) []byte {
	b, err := canon.JSON(n.Bytes())
	must(t, err)
	return b
}

// less takes out of want what the losses say: what is dropped goes, what is another
// value is what was read.
func less(t *testing.T, want, got *canon.Node, losses []content.Loss) {
	t.Helper()
	var dropped []string
	whole := slices.Clone(losses)
	losses = slices.DeleteFunc(slices.Clone(losses), func(l content.Loss) bool { // the list of which it is one is said as a whole
		return slices.ContainsFunc(whole, func(w content.Loss) bool {
			return w.Verdict == twin.Approximated && strings.HasPrefix(l.Path, w.Path+"/")
		})
	})
	for _, l := range losses {
		if l.Verdict == twin.Dropped {
			dropped = append(dropped, l.Path)
		}
	}
	for _, l := range losses {
		if strings.HasPrefix(l.Path, "original:") || l.Verdict == twin.Dropped {
			continue
		}
		if want.At(l.Path) == nil {
			t.Errorf("the loss %+v is of nothing", l)
			continue
		}
		if l.Verdict == twin.Embedded {
			continue // it is read again
		}
		at := shifted(l.Path, dropped)
		now := got.At(at)
		if l.Verdict == twin.Approximated && canon.Equal(now, want.At(l.Path)) && !inList(want, l.Path) && sameItems(want, got, l.Path, at) {
			t.Errorf("the loss %+v did not happen", l)
		}
		if now == nil {
			_, err := want.Delete(l.Path)
			must(t, err)
			continue
		}
		must(t, want.Set(l.Path, now))
	}
	slices.SortFunc(dropped, func(a, b string) int { return comparePaths(b, a) })
	for _, path := range slices.Compact(dropped) {
		if strings.HasPrefix(path, "original:") {
			continue
		}
		within := func(l content.Loss) bool {
			return l.Verdict != twin.Dropped && strings.HasPrefix(path, l.Path+"/")
		}
		if ok, err := want.Delete(path); err != nil || !ok && !slices.ContainsFunc(losses, within) {
			t.Errorf("the loss of %s is of nothing", path)
		}
	}
}

// comparePaths compares indices as numbers.
func comparePaths(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		x, ex := strconv.Atoi(as[i])
		y, ey := strconv.Atoi(bs[i])
		if c := x - y; ex == nil && ey == nil && c != 0 {
			return c
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 && (ex != nil || ey != nil) {
			return c
		}
	}
	return len(as) - len(bs)
}

// shifted is a path in what was read, from which items before it are gone.
func shifted(path string, dropped []string) string {
	toks := strings.Split(path, "/")
	for i := range toks {
		n, err := strconv.Atoi(toks[i])
		if err != nil {
			continue
		}
		gone := 0
		for _, d := range dropped {
			ds := strings.Split(d, "/")
			if len(ds) == i+1 && slices.Equal(ds[:i], strings.Split(path, "/")[:i]) {
				if k, err := strconv.Atoi(ds[i]); err == nil && k < n {
					gone++
				}
			}
		}
		toks[i] = strconv.Itoa(n - gone)
	}
	return strings.Join(toks, "/")
}

// Tidy takes out what is empty: objects and lists.
func Tidy(n *canon.Node) *canon.Node {
	for name, v := range n.Clone().Members() {
		inner := Tidy(n.Field(name))
		if (v.Kind() == canon.Object || v.Kind() == canon.Array) && inner.Len() == 0 {
			_, _ = n.Delete(canon.JoinPointer(name))
		}
	}
	for _, v := range n.Items() {
		Tidy(v)
	}
	return n
}
