package risulore_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risulore"
)

func tree(t *testing.T, text string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const rows = `[{"key":"\uf000folder:f","comment":"Places","content":"","mode":"folder","insertorder":1},7,
	{"key":"pier, dock","comment":"Pier","content":"Old wood.","mode":"normal","insertorder":5,"alwaysActive":false,"secondkey":"","selective":false,"folder":"\uf000folder:f","x":1.50},
	{"key":"/a,b/i","useRegex":true,"content":"c","comment":"","mode":"child","insertorder":1}]`

func TestRead(t *testing.T) {
	body, problems := risulore.Read(tree(t, rows))
	if said := strings.Join(problems, "; "); !strings.Contains(said, "row 1 is no entry") || !strings.Contains(said, "row 3 is only active with its parent") {
		t.Errorf("problems %q", said)
	}
	for ptr, want := range map[string]string{
		"/folders/0/id": `"f"`, "/folders/0/name": `"Places"`, "/entries/0/folder": `"f"`, "/entries/0/id": `"entry-3"`,
		"/entries/0/keys/1/text": `"dock"`, "/entries/1/keys/0/text": `"a,b"`, "/entries/1/keys/0/flags": `"i"`,
	} {
		if got := body.At(ptr); got == nil || string(got.Bytes()) != want {
			t.Errorf("%s is %v, want %s", ptr, got, want)
		}
	}
}

// Over a list that nobody changed the rows stay as they are, and an edit changes its row.
func TestLay(t *testing.T) {
	list := tree(t, rows)
	body, _ := risulore.Read(list)
	if put, losses := risulore.Lay(body, list); len(losses) > 0 || string(put.Bytes()) != string(list.Bytes()) {
		t.Errorf("unedited: %v, %s", losses, put.Bytes())
	}
	for name, c := range map[string]struct{ ptr, to, from, want string }{
		"a text":     {"/entries/0/content", `"New."`, `"Old wood."`, `"New."`},
		"a folder":   {"/folders/0/name", `"Sea"`, `"Places"`, `"Sea"`},
		"out of one": {"/entries/0/folder", "", `,"folder":"\uf000folder:f"`, ""},
	} {
		edited := body.Clone()
		if c.to == "" {
			if _, err := edited.Delete(c.ptr); err != nil {
				t.Fatal(err)
			}
		} else if err := edited.Set(c.ptr, tree(t, c.to)); err != nil {
			t.Fatal(err)
		}
		put, losses := risulore.Lay(edited, list)
		if want := strings.Replace(string(list.Bytes()), c.from, c.want, 1); len(losses) > 0 || string(put.Bytes()) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, losses, put.Bytes(), want)
		}
	}
	lost := tree(t, `{"folders":[{"id":"g","name":"G","order":2}],"entries":[{"id":"e","content":"c","enabled":true,"folder":"none"}]}`)
	_, losses := risulore.Lay(lost, tree(t, `[]`))
	var said []string
	for _, l := range losses {
		said = append(said, l.Path)
	}
	if got := strings.Join(said, " "); got != "/folders/0/order /entries/0/folder" {
		t.Errorf("lost %s", got)
	}
}
