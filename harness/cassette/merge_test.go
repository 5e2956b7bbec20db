package cassette_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// mergeFile records episodes: "key=answer", the key a letter.
func mergeFile(t *testing.T, h cassette.Header, episodes ...string) *cassette.Cassette {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	h.Format, h.KeyVersion, h.Origin = cassette.Format, cassette.KeyVersion, cassette.Scripted
	w, err := cassette.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range episodes {
		key, answer, _ := strings.Cut(e, "=")
		if err := w.Append(cassette.Episode{
			Kind: "http", Origin: cassette.Scripted, Key: strings.Repeat(fmt.Sprintf("%02x", key[0]), 32),
			Request:  cassette.Request{Method: "POST", URL: "https://example.com/" + key, Body: []byte(`{}`)},
			Response: cassette.Response{Status: 200, Body: []byte(answer)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// said is what a file holds, as mergeFile takes it.
func said(t *testing.T, c *cassette.Cassette) string {
	t.Helper()
	var list []string
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.TrimPrefix(e.Request.URL, "https://example.com/")+"="+string(e.Response.Body))
	}
	return strings.Join(list, " ")
}

// loudly takes answers that differ in case alone for the same.
func loudly(a, b *cassette.Episode) bool { return bytes.EqualFold(a.Response.Body, b.Response.Body) }

func TestMerge(t *testing.T) {
	tests := []struct{ name, base, ours, theirs, want, clash string }{
		{"nothing changed", "a=1 b=2", "a=1 b=2", "a=1 b=2", "a=1 b=2", ""},
		{"both added", "a=1", "a=1 b=2", "a=1 c=3", "a=1 c=3 b=2", ""},
		{"added in the middle", "a=1 z=9", "a=1 b=2 z=9", "a=1 z=9 y=8", "a=1 b=2 z=9 y=8", ""},
		{"both added the same", "a=1", "a=1 b=2", "a=1 b=2", "a=1 b=2", ""},
		{"one recorded anew", "a=1 b=2", "a=1 b=2", "a=1 b=3", "a=1 b=3", ""},
		{"each another one", "a=1 b=2", "a=0 b=2", "a=1 b=3", "a=0 b=3", ""},
		{"both, alike but for looks", "a=x", "a=y", "a=Y", "a=y", ""},
		{"one, only by looks", "a=x b=1", "a=X b=1", "a=x b=2", "a=X b=2", ""},
		{"dropped here", "a=1 b=2", "a=1", "a=1 b=2", "a=1", ""},
		{"dropped there", "a=1 b=2", "a=1 b=2", "b=2", "b=2", ""},
		{"all dropped", "a=1", "", "a=1", "", ""},
		{"the same key twice", "a=1 a=2", "a=1 a=2 a=3", "a=1 a=4", "a=1 a=4 a=3", ""},
		{"no base", "-", "a=1 b=2", "a=1 c=3", "a=1 c=3 b=2", ""},
		{"both recorded anew", "a=1 b=2", "b=2 a=3", "a=4 b=2", "", "[{2 1 POST https://example.com/a}]"},
		{"dropped and recorded anew", "a=1 b=2", "b=2", "a=4 b=2", "", "[{0 1 POST https://example.com/a}]"},
		{"no base, two answers", "-", "a=1", "a=2", "", "[{1 1 POST https://example.com/a}]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var base *cassette.Cassette
			if tt.base != "-" {
				base = mergeFile(t, cassette.Header{}, strings.Fields(tt.base)...)
			}
			ours, theirs := mergeFile(t, cassette.Header{}, strings.Fields(tt.ours)...), mergeFile(t, cassette.Header{}, strings.Fields(tt.theirs)...)
			merged, clashes, err := cassette.Merge(base, ours, theirs, loudly)
			if err != nil {
				t.Fatal(err)
			}
			if len(clashes) > 0 || tt.clash != "" {
				if got := fmt.Sprint(clashes); got != tt.clash || merged != nil {
					t.Errorf("clashes %s, want %s", got, tt.clash)
				}
				return
			}
			path := filepath.Join(t.TempDir(), "merged.yaml")
			if err := os.WriteFile(path, merged, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := cassette.Verify(path); err != nil {
				t.Fatal(err)
			}
			c, err := cassette.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := said(t, c); got != tt.want {
				t.Errorf("merged %q, want %q", got, tt.want)
			}
			known := append(linesOf(t, ours), linesOf(t, theirs)...)
			for _, line := range linesOf(t, c) {
				if strings.HasPrefix(line, "- ") && !slices.Contains(known, line) {
					t.Errorf("a line is new: %s", line)
				}
			}
		})
	}
}

func linesOf(t *testing.T, c *cassette.Cassette) []string {
	t.Helper()
	b, err := os.ReadFile(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// Under other rules a request has another key: there is nothing to merge.
func TestMergeHeaders(t *testing.T) {
	plain, ruled := cassette.Header{}, cassette.Header{Rules: []string{"call-ids/1"}}
	priced, dear := cassette.Header{Prices: []byte(`{"a":1}`)}, cassette.Header{Prices: []byte(`{"a":2}`)}
	for _, row := range []struct {
		name               string
		base, ours, theirs cassette.Header
		want               string
	}{
		{"they changed the rules", plain, plain, ruled, "[{0 0 x-rules}]"},
		{"we changed the rules", plain, ruled, plain, "[{0 0 x-rules}]"},
		{"a price is new", plain, plain, priced, "[]"},
		{"two prices", plain, priced, dear, "[{0 0 x-prices}]"},
	} {
		merged, clashes, err := cassette.Merge(mergeFile(t, row.base, "a=1"), mergeFile(t, row.ours, "a=1"), mergeFile(t, row.theirs, "a=1"), loudly)
		if err != nil || fmt.Sprint(clashes) != row.want || (row.want == "[]") != (merged != nil) {
			t.Errorf("%s: %v, %v", row.name, clashes, err)
		}
		if row.name == "a price is new" && !bytes.Contains(merged, []byte(`{"a":1}`)) {
			t.Errorf("the price is lost: %s", merged)
		}
	}
}

// Bodies that stand apart are not there for a merge: no side of it may have them.
func TestMergeRefusesBodiesThatStandApart(t *testing.T) {
	apart := func() *cassette.Cassette {
		c := mergeFile(t, cassette.Header{}, "a=1", "b=2")
		e, err := c.Episode(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cassette.Rewrite(c, c.Header(), func(i int) (cassette.Change, error) {
			if i == 0 {
				return cassette.Change{}, nil
			}
			return cassette.Change{Episode: &e, Apart: []string{"response"}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		again, err := cassette.Open(c.Path())
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	plain := mergeFile(t, cassette.Header{}, "a=1", "b=2")
	for name, sides := range map[string][3]*cassette.Cassette{
		"base": {apart(), plain, plain}, "ours": {plain, apart(), plain}, "theirs": {nil, plain, apart()},
	} {
		merged, clashes, err := cassette.Merge(sides[0], sides[1], sides[2], loudly)
		if fault.CodeOf(err) != cassette.CodeBlob || !strings.Contains(err.Error(), "episode 2") || merged != nil || clashes != nil {
			t.Errorf("%s: %q, %v, %v", name, merged, clashes, err)
		}
	}
}
