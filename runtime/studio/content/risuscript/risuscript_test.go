package risuscript_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/risuscript"
)

func tree(t *testing.T, text string) *canon.Node {
	t.Helper()
	n, err := canon.ParseTree([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReadAndLay(t *testing.T) {
	list := tree(t, `[{"comment":"bold","in":"a","out":"b","type":"editdisplay","ableFlag":false,"x":1.50},`+
		`{"comment":"two","in":"c","out":"d","type":"editinput","ableFlag":true,"flag":"gi<cbs><order 7>"}]`)
	rules, problem := risuscript.Read(list)
	if problem != "" {
		t.Fatal(problem)
	}
	for ptr, want := range map[string]string{
		"/0/name": `"bold"`, "/0/flags": `"g"`, "/0/enabled": `true`, "/1/flags": `"gi"`, "/1/substitute": `"raw"`, "/1/order": `7`,
	} {
		if got := rules.At(ptr); got == nil || string(got.Bytes()) != want {
			t.Errorf("%s is %v, want %s", ptr, got, want)
		}
	}
	if put, losses := risuscript.Lay(rules, list); len(losses) > 0 || string(put.Bytes()) != string(list.Bytes()) {
		t.Errorf("unedited: %v, %s", losses, put.Bytes())
	}
	for ptr, c := range map[string]struct{ to, from, want, lost string }{
		"/1/replace":  {`"e"`, `"out":"d"`, `"out":"e"`, ""},
		"/1/flags":    {`"s"`, `gi<cbs>`, `s<cbs>`, ""},
		"/0/enabled":  {`false`, "", "", "/0/enabled"},
		"/0/minDepth": {`2`, "", "", "/0/minDepth"},
	} {
		edited := rules.Clone()
		if err := edited.Set(ptr, tree(t, c.to)); err != nil {
			t.Fatal(err)
		}
		put, losses := risuscript.Lay(edited, list)
		lost := ""
		for _, l := range losses {
			lost += l.Path
		}
		if want := strings.Replace(string(list.Bytes()), c.from, c.want, 1); lost != c.lost || string(put.Bytes()) != want {
			t.Errorf("%s: lost %q, %s\nwant %q, %s", ptr, lost, put.Bytes(), c.lost, want)
		}
	}
}

func TestNothing(t *testing.T) {
	if rules, problem := risuscript.Read(tree(t, `[]`)); rules != nil || problem != "" {
		t.Errorf("%v, %q", rules, problem)
	}
}
