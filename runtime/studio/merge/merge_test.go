package merge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/merge"
)

func parse(t testing.TB, s string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func text(n *canon.Node) string {
	if n == nil {
		return "-"
	}
	b, err := canon.JSON(n.Bytes())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func sets(name string) bool { return name == "tags" }

func TestThree(t *testing.T) {
	tests := []struct{ name, base, ours, theirs, merged, conflicts string }{
		{"fields of their own", `{"a":1,"b":1}`, `{"a":2,"b":1}`, `{"a":1,"b":2}`, `{"a":2,"b":2}`, ""},
		{"the same edit twice", `{"a":1}`, `{"a":2}`, `{"a":2}`, `{"a":2}`, ""},
		{"one field twice", `{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":2}`, `/a 1|2|3`},
		{"added twice", `{}`, `{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"x":1,"y":2}}`, ""},
		{"removed and changed", `{"a":1,"b":1}`, `{"b":1}`, `{"a":2,"b":1}`, `{"b":1}`, `/a 1|-|2`},
		{"changed and removed", `{"a":1,"b":1}`, `{"a":2,"b":1}`, `{"b":1}`, `{"a":2,"b":1}`, `/a 1|2|-`},
		{"another type", `{"a":1}`, `{"a":[]}`, `{"a":{}}`, `{"a":[]}`, `/a 1|[]|{}`},
		{"null is a value", `{"a":1}`, `{"a":null}`, `{"a":1}`, `{"a":null}`, ""},
		{"escaped names", `{"a/b~":1}`, `{"a/b~":2}`, `{"a/b~":3}`, `{"a/b~":2}`, `/a~1b~0 1|2|3`},
		{
			"entries by id", `{"e":[{"id":"x","t":1},{"id":"y","t":1}]}`, `{"e":[{"id":"n"},{"id":"x","t":2},{"id":"y","t":1}]}`,
			`{"e":[{"id":"x","t":1},{"id":"m"},{"id":"y","t":3}]}`, `{"e":[{"id":"n"},{"id":"x","t":2},{"id":"m"},{"id":"y","t":3}]}`, "",
		},
		{
			"an entry twice", `{"e":[{"id":"x","t":1}]}`, `{"e":[{"id":"n"},{"id":"x","t":2}]}`, `{"e":[{"id":"x","t":3}]}`,
			`{"e":[{"id":"n"},{"id":"x","t":2}]}`, `/e/1/t 1|2|3`,
		},
		{
			"an entry removed and changed", `{"e":[{"id":"x","t":1}]}`, `{"e":[]}`, `{"e":[{"id":"x","t":3}]}`,
			`{"e":[]}`, `/e/x {"id":"x","t":1}|-|{"id":"x","t":3}`,
		},
		{
			"both add behind the same", `{"e":[{"id":"x"}]}`, `{"e":[{"id":"x"},{"id":"o"}]}`, `{"e":[{"id":"x"},{"id":"t"}]}`,
			`{"e":[{"id":"x"},{"id":"o"},{"id":"t"}]}`, "",
		},
		{
			"one reorders, one adds", `{"e":[{"id":"x"},{"id":"y"},{"id":"z"}]}`, `{"e":[{"id":"x"},{"id":"n"},{"id":"y"},{"id":"z"}]}`,
			`{"e":[{"id":"z"},{"id":"x"},{"id":"y"}]}`, `{"e":[{"id":"z"},{"id":"x"},{"id":"n"},{"id":"y"}]}`, "",
		},
		{
			"both reorder", `{"e":[{"id":"x"},{"id":"y"},{"id":"z"}]}`, `{"e":[{"id":"y"},{"id":"x"},{"id":"z"}]}`,
			`{"e":[{"id":"z"},{"id":"x"},{"id":"y"}]}`, `{"e":[{"id":"y"},{"id":"x"},{"id":"z"}]}`, `/e order ["x","y","z"]|["y","x","z"]|["z","x","y"]`,
		},
		{
			"ids that came twice are no ids", `{"e":[{"id":"x","t":1},{"id":"x"}]}`, `{"e":[{"id":"x","t":2},{"id":"x"}]}`,
			`{"e":[{"id":"x","t":1},{"id":"x","t":9}]}`, `{"e":[{"id":"x","t":2},{"id":"x","t":9}]}`, "",
		},
		{"a set", `{"tags":["a","b"]}`, `{"tags":["a","b","o"]}`, `{"tags":["b","t"]}`, `{"tags":["b","o","t"]}`, ""},
		{"texts by place", `{"g":["a","b"]}`, `{"g":["A","b"]}`, `{"g":["a","B"]}`, `{"g":["A","B"]}`, ""},
		{"texts appended", `{"g":["a"]}`, `{"g":["a","o"]}`, `{"g":["a","t"]}`, `{"g":["a","o","t"]}`, ""},
		{"texts appended alike", `{"g":["a"]}`, `{"g":["a","x"]}`, `{"g":["a","x","t"]}`, `{"g":["a","x","t"]}`, ""},
		{"texts that moved", `{"g":["a","b"]}`, `{"g":["b"]}`, `{"g":["a","B"]}`, `{"g":["b"]}`, `/g ["a","b"]|["b"]|["a","B"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			merged, conflicts := merge.Three(parse(t, tt.base), parse(t, tt.ours), parse(t, tt.theirs), merge.Options{Set: sets})
			var said []string
			for _, c := range conflicts {
				order := ""
				if c.Order {
					order = "order "
				}
				said = append(said, fmt.Sprintf("%s %s%s|%s|%s", c.Path, order, text(c.Base), text(c.Ours), text(c.Theirs)))
			}
			if got := text(merged); got != tt.merged {
				t.Errorf("merged %s\nwant   %s", got, tt.merged)
			}
			if got := strings.Join(said, "\n"); got != tt.conflicts {
				t.Errorf("conflicts %s\nwant      %s", got, tt.conflicts)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	tests := []struct{ name, before, after, want string }{
		{"equal", `{"a":1}`, `{"a":1}`, ""},
		{"fields", `{"a":1,"b":{"x":1,"y":1}}`, `{"b":{"x":2,"y":1},"c":3}`, "/a 1>- \n/b/x 1>2 \n/c ->3 "},
		{"an object that came", `{}`, `{"a":{"x":1,"y":2}}`, "/a/x ->1 \n/a/y ->2 "},
		{"an empty object that came", `{}`, `{"a":{}}`, "/a ->{} "},
		{"an empty object that went", `{"a":{}}`, `{}`, "/a {}>- "},
		{
			"entries by id", `{"e":[{"id":"x","t":1},{"id":"y"}]}`, `{"e":[{"id":"n"},{"id":"x","t":2}]}`,
			`/e/1 {"id":"y"}>- y` + "\n" + `/e/0 ->{"id":"n"} n` + "\n/e/1/t 1>2 x",
		},
		{"order", `{"e":[{"id":"x"},{"id":"y"}]}`, `{"e":[{"id":"y"},{"id":"x"}]}`, `/e order ["x","y"]>["y","x"] `},
		{"texts", `{"g":["a","b"]}`, `{"g":["a","c"]}`, `/g/1 "b">"c" `},
		{"more texts", `{"g":["a"]}`, `{"g":["a","c"]}`, `/g ["a"]>["a","c"] `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			for _, r := range merge.Diff(parse(t, tt.before), parse(t, tt.after)) {
				order := ""
				if r.Order {
					order = "order "
				}
				said = append(said, fmt.Sprintf("%s %s%s>%s %s", r.Path, order, text(r.Before), text(r.After), strings.Join(r.Items, ",")))
			}
			if got := strings.Join(said, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A world makes documents and edits of them.
type world struct{ *rand.Rand }

func (w world) document() *canon.Node {
	doc := canon.NewObject()
	for i := range 4 {
		_ = doc.Set(fmt.Sprintf("/f%d", i), canon.NewInt(int64(w.IntN(3))))
	}
	entries := canon.NewArray()
	for i := range w.IntN(6) {
		_ = entries.Set("/-", w.entry(fmt.Sprintf("e%d", i)))
	}
	_ = doc.Set("/entries", entries)
	_ = doc.Set("/deep/words", canon.NewArray(canon.NewText("a"), canon.NewText("b")))
	return doc
}

func (w world) entry(id string) *canon.Node {
	e := canon.NewObject()
	_ = e.Set("/id", canon.NewText(id))
	_ = e.Set("/text", canon.NewInt(int64(w.IntN(5))))
	return e
}

// edit changes a copy, with new things named after who did it.
func (w world) edit(doc *canon.Node, who string) *canon.Node {
	doc = doc.Clone()
	for n := range w.IntN(5) {
		size := doc.At("/entries").Len()
		switch w.IntN(6) {
		case 0:
			_ = doc.Set(fmt.Sprintf("/f%d", w.IntN(4)), canon.NewInt(int64(w.IntN(9))))
		case 1:
			_, _ = doc.Delete(fmt.Sprintf("/f%d", w.IntN(4)))
		case 2:
			_ = doc.Set("/entries/-", w.entry(fmt.Sprintf("%s%d", who, n)))
		case 3:
			if size > 0 {
				_, _ = doc.Delete(fmt.Sprintf("/entries/%d", w.IntN(size)))
			}
		case 4:
			if size > 0 {
				_ = doc.Set(fmt.Sprintf("/entries/%d/text", w.IntN(size)), canon.NewInt(int64(w.IntN(9))))
			}
		case 5:
			var items []*canon.Node
			for _, v := range doc.At("/entries").Items() {
				items = append(items, v)
			}
			w.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			_ = doc.Set("/entries", canon.NewArray(items...))
		}
	}
	return doc
}

func ids(doc *canon.Node) (all []string) {
	for _, v := range doc.At("/entries").Items() {
		all = append(all, v.Field("id").Text())
	}
	return all
}

func TestProperties(t *testing.T) {
	for seed := range uint64(3000) {
		w := world{rand.New(rand.NewPCG(seed, 1))}
		base := w.document()
		ours, theirs := w.edit(base, "o"), w.edit(base, "t")
		three := func(b, o, t *canon.Node) (*canon.Node, []merge.Conflict) {
			return merge.Three(b, o, t, merge.Options{Set: sets})
		}
		equal := func(what string, got, want *canon.Node) {
			if text(got) != text(want) {
				t.Fatalf("seed %d, %s: %s, want %s", seed, what, text(got), text(want))
			}
		}
		for what, in := range map[string][4]*canon.Node{
			"only theirs": {base, base, theirs, theirs}, "only ours": {base, ours, base, ours}, "both alike": {base, ours, ours, ours},
		} {
			got, conflicts := three(in[0], in[1], in[2])
			equal(what, got, in[3])
			if len(conflicts) != 0 {
				t.Fatalf("seed %d, %s: conflicts %v", seed, what, conflicts)
			}
		}
		merged, conflicts := three(base, ours, theirs)
		mirrored, mirror := three(base, theirs, ours)
		if len(conflicts) != len(mirror) {
			t.Fatalf("seed %d: %d conflicts, mirrored %d", seed, len(conflicts), len(mirror))
		}
		if a, b := ids(merged), ids(mirrored); len(conflicts) == 0 && !slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
			t.Fatalf("seed %d: entries %v, mirrored %v", seed, a, b)
		}
		nothingLost(t, seed, base, ours, theirs, merged, conflicts)
		// What was merged is what ours became and, but for conflicts, what theirs changed.
		again, rest := three(base, merged, theirs)
		equal("merged again", again, merged)
		if len(conflicts) == 0 && len(rest) != 0 {
			t.Fatalf("seed %d: merged again conflicts %v", seed, rest)
		}
	}
}

// nothingLost: each entry that either side added is there once, with its text; each that
// one side changed and the other left alone is there as changed.
func nothingLost(t *testing.T, seed uint64, base, ours, theirs, merged *canon.Node, conflicts []merge.Conflict) {
	t.Helper()
	has := map[string]*canon.Node{}
	for _, v := range merged.At("/entries").Items() {
		id := v.Field("id").Text()
		if has[id] != nil {
			t.Fatalf("seed %d: %s is there twice", seed, id)
		}
		has[id] = v
	}
	by := func(doc *canon.Node, id string) *canon.Node {
		for _, v := range doc.At("/entries").Items() {
			if v.Field("id").Text() == id {
				return v
			}
		}
		return nil
	}
	for _, side := range [][2]*canon.Node{{ours, theirs}, {theirs, ours}} {
		for _, id := range ids(side[0]) {
			mine, other, was := by(side[0], id), by(side[1], id), by(base, id)
			switch {
			case was == nil && text(has[id]) != text(mine):
				t.Fatalf("seed %d: the new %s became %s", seed, text(mine), text(has[id]))
			case was != nil && text(other) == text(was) && text(has[id]) != text(mine):
				t.Fatalf("seed %d: %s became %s", seed, text(mine), text(has[id]))
			}
		}
	}
	for _, c := range conflicts {
		if at := merged.At(c.Path); !c.Order && text(at) != text(c.Ours) {
			t.Fatalf("seed %d: the conflict %s has %s, merged is %s", seed, c.Path, text(c.Ours), text(at))
		}
	}
}

// Diff is nothing exactly where two documents are equal, and each row stands where it
// says.
func TestDiffProperties(t *testing.T) {
	for seed := range uint64(3000) {
		w := world{rand.New(rand.NewPCG(seed, 2))}
		before := w.document()
		after := w.edit(before, "n")
		rows := merge.Diff(before, after)
		if (len(rows) == 0) != (text(before) == text(after)) {
			t.Fatalf("seed %d: %d rows between %s and %s", seed, len(rows), text(before), text(after))
		}
		for _, r := range rows {
			switch {
			case r.Order:
			case r.After != nil && text(after.At(r.Path)) != text(r.After):
				t.Fatalf("seed %d: %s is %s, the row says %s", seed, r.Path, text(after.At(r.Path)), text(r.After))
			case r.After == nil && text(before.At(r.Path)) != text(r.Before):
				t.Fatalf("seed %d: %s was %s, the row says %s", seed, r.Path, text(before.At(r.Path)), text(r.Before))
			}
		}
	}
}

func FuzzThree(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":2}`, `{"a":3}`)
	f.Add(`{"e":[{"id":"x"}]}`, `{"e":[{"id":"y"},{"id":"x"}]}`, `{"e":[]}`)
	f.Add(`[1,[2]]`, `{"":[]}`, `null`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var docs []*canon.Node
		for _, s := range []string{a, b, c} {
			form, err := canon.JSON([]byte(s))
			if err != nil {
				t.Skip()
			}
			docs = append(docs, parse(t, string(form)))
		}
		merged, conflicts := merge.Three(docs[0], docs[1], docs[2], merge.Options{Set: sets})
		_, mirror := merge.Three(docs[0], docs[2], docs[1], merge.Options{Set: sets})
		if _, err := canon.JSON(merged.Bytes()); err != nil {
			t.Errorf("merged %s: %v", merged.Bytes(), err)
		}
		if len(conflicts) != len(mirror) {
			t.Errorf("%d conflicts, mirrored %d", len(conflicts), len(mirror))
		}
		if rows := merge.Diff(docs[0], docs[1]); (len(rows) == 0) != canon.Equal(docs[0], docs[1]) {
			t.Errorf("%d rows", len(rows))
		}
	})
}
