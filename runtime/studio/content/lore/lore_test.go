package lore_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ val, old, want, lost string }{
		{`[{"text":"a"},{"text":"b","regex":true,"flags":"i"}]`, ``, `["a","/b/i"]`, ``},
		{`[{"text":""},{"text":"a"}]`, ``, `["a"]`, `/0 dropped`},
		{`[{"text":"a","probability":5}]`, ``, `["a"]`, `/0/probability dropped`},
		{`[{"text":"/a/"}]`, ``, `["/a/"]`, `/0 approximated`},
		{`[{"text":"a","flags":"i"}]`, ``, `["a"]`, `/0 approximated`},
		{`[{"text":"7"}]`, `[ 7 ]`, `[ 7 ]`, ``},
	} {
		old := twin.Parsed(`{}`).Field("none")
		if tt.old != "" {
			old = twin.Parsed(tt.old)
		}
		put, losses := lore.Keys.Lay(twin.Parsed(tt.val), old)
		var lost []string
		for _, l := range losses {
			lost = append(lost, l.Path+" "+string(l.Verdict))
		}
		if got := strings.Join(lost, ", "); string(put.Bytes()) != tt.want || got != tt.lost {
			t.Errorf("%s is written as %s and loses %q, not as %s and %q", tt.val, put.Bytes(), got, tt.want, tt.lost)
		}
	}
}

func TestIDsAreNumbered(t *testing.T) {
	list := twin.Objects([]twin.Field{{Path: "/id", Ptr: "/id", Codec: lore.NumberID}}, "/id", "entry-", `{"id":0}`)
	c := lore.Numbered(list, func(n *canon.Node) int { return lore.After(n, "id") }, "they are numbered")
	put, losses := c.Lay(twin.Parsed(`[{"id":"4"},{"id":"new"},{"id":"odd"}]`), twin.Parsed(`[{"id":4},{"id":"odd"},{"id":7}]`))
	if got := string(put.Bytes()); got != `[{"id":4},{"id":8},{"id":"odd"}]` {
		t.Errorf("the list is %s", got)
	}
	if len(losses) != 1 || losses[0].Path != "/1/id" || losses[0].Reason != "they are numbered; it becomes 8" {
		t.Errorf("the losses are %+v", losses)
	}
}

func TestFoldersThatAreNotThere(t *testing.T) {
	full := twin.Parsed(`{"folders":[{"id":"a"}],"entries":[{"id":"1","folder":"a"},{"id":"2","folder":"b"},{"id":"3"}]}`)
	body := full.Clone()
	problems := lore.LeaveFolders(body, "/entries", "folder")
	if len(problems) != 1 || problems[0] != `/entries/1 is in the folder "b", which is not there` || body.At("/entries/1/folder") != nil || body.At("/entries/0/folder").Text() != "a" {
		t.Errorf("left with %q: %s", problems, body.Bytes())
	}
	lore.RestoreFolders(body, full)
	if body.At("/entries/1/folder").Text() != "b" || body.At("/entries/2/folder") != nil {
		t.Errorf("restored to %s", body.Bytes())
	}
}
