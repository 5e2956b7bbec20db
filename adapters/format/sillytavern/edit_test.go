package sillytavern_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
)

func TestSeedsAreRead(t *testing.T) {
	for _, seed := range []string{seedWorld, seedChat, seedOld, seedRegex, seedQR1, seedQR2, seedAll, seedParts} {
		im, err := table.Import("x.json", []byte(seed))
		if err != nil {
			t.Errorf("%v: %s", err, seed)
			continue
		}
		for i, p := range im.Pieces {
			canonical(t, p)
			unedited(t, im, i)
		}
	}
}

// another is a value that a field can have instead.
func another(path string, v *canon.Node) *canon.Node {
	words := map[string][]string{
		"position": {"before", "after", "prompt", "depth", "none"}, "role": {"system", "user"}, "logic": {"and_any", "not_all", "not_any"},
		"activation": {"constant", "vector"}, "placement": {"user_input", "ai_output", "reasoning"}, "phases": {"display", "prompt"},
		"substitute": {"raw", "escaped"}, "names": {"completion", "none"}, "runsOn": {"user", "ai", "chat_change"}, "sources": {"scenario", "creator_notes"},
	}
	switch v.Kind() {
	case canon.Bool:
		return canon.NewBool(v.Raw() == "false")
	case canon.Number:
		return canon.NewInt(7)
	case canon.Null:
		return canon.NewInt(7)
	}
	toks := strings.Split(path, "/")
	last := toks[len(toks)-1]
	if _, err := strconv.Atoi(last); err == nil {
		last = toks[len(toks)-2]
	}
	if set := words[last]; set != nil {
		if v.Text() == "before" || v.Text() == "depth" && strings.Contains(path, "/placement/") {
			return canon.NewText("after")
		}
		if i := slices.Index(set, v.Text()); i >= 0 {
			return canon.NewText(set[(i+1)%len(set)])
		}
		return canon.NewText(set[0])
	}
	return canon.NewText(v.Text() + " X")
}

// leaves are the scalars of a tree by pointer.
func leaves(n *canon.Node) map[string]string {
	out := map[string]string{}
	var walk func(n *canon.Node, at string)
	walk = func(n *canon.Node, at string) {
		switch n.Kind() {
		case canon.Object:
			for name, v := range n.Members() {
				walk(v, at+canon.JoinPointer(name))
			}
		case canon.Array:
			for i, v := range n.Items() {
				walk(v, at+"/"+strconv.Itoa(i))
			}
		default:
			out[at] = n.Raw()
		}
	}
	walk(n, "")
	return out
}

// wide are edits that a file says in several places, by file and the field's last name.
var wide = map[string]string{
	"preset-legacy.json": "name role enabled", // the three texts become prompts
	"regex-legacy.json":  "placement phases",  // the old number goes
}

// TestOneEditIsOneChange changes each value of each corpus file by itself.
func TestOneEditIsOneChange(t *testing.T) {
	files, _ := corpus(t)
	edits := 0
	for name, data := range files {
		if slices.Contains(others, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			im, err := table.Import(name, data)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range im.Pieces {
				b := body(t, p)
				for path := range leaves(b) {
					if strings.HasSuffix(path, "/id") || strings.HasPrefix(path, "/regexes") {
						continue
					}
					edits++
					oneEdit(t, name, p, path, im.Pieces)
				}
			}
		})
	}
	if edits < 200 {
		t.Errorf("%d edits", edits)
	}
	t.Logf("%d edits", edits)
}

func oneEdit(t *testing.T, file string, p store.Piece, path string, linked []store.Piece) {
	t.Helper()
	before := write(t, p, linked)
	b := body(t, p)
	must(t, b.Set(path, another(path, b.At(path))))
	raw, err := canon.JSON(b.Bytes())
	must(t, err)
	p.Body = raw
	out := write(t, p, linked)
	was, now := leaves(parse(t, before.Data)), leaves(parse(t, out.Data))
	var changed []string
	for at := range maps.Keys(was) {
		if now[at] != was[at] {
			changed = append(changed, at)
		}
	}
	for at := range maps.Keys(now) {
		if _, ok := was[at]; !ok {
			changed = append(changed, at)
		}
	}
	toks := strings.Split(path, "/")
	isWide := slices.ContainsFunc(strings.Fields(wide[file]), func(w string) bool { return slices.Contains(toks, w) })
	lost := slices.ContainsFunc(out.Losses, func(l content.Loss) bool { return strings.HasPrefix(path, l.Path) })
	if len(changed) > 2 && !isWide {
		t.Errorf("%s: %s is %s, and %d values changed: %q", file, path, b.At(path).Bytes(), len(changed), changed)
	}
	if len(changed) == 0 && !lost {
		t.Errorf("%s: %s is %s, and nothing changed", file, path, b.At(path).Bytes())
	}
	f, err := table.Named(p.Escrow[0].Format, p.Kind)
	must(t, err)
	r, err := f.Read(content.Open("x.json", out.Data))
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Found[0].Body, b.At(path)
	if want.Raw() == "false" && !strings.HasSuffix(path, "enabled") && got.At(path) == nil {
		want = nil // absent is false
	}
	if strings.HasSuffix(path, "/phases/1") {
		return // now it is the first one twice
	}
	if !lost && !canon.Equal(got.At(path), want) && path != "/name" {
		t.Errorf("%s: %s is %s, and reads %s", file, path, b.At(path).Bytes(), got.At(path).Bytes())
	}
}
