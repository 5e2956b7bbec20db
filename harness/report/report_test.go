package report_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/report"
)

var cases = []report.Case{
	{Name: "content/rename", File: "scenarios/content/rename.txtar", Took: 1500 * time.Millisecond},
	{
		Name: "content/broken", File: "scenarios/content/broken.txtar", Line: 7, Failed: true, Took: time.Millisecond,
		Log: "# why <it> matters\n> stdout \x1b[31m100%\r\nFAIL: /x/scenarios/content/broken.txtar:7: no match for `a]]>b`\n",
	},
	{Name: "mcp/later", File: "scenarios/mcp/later.txtar", Skipped: true, Log: "no such program here\n"},
}

func TestJUnit(t *testing.T) {
	var b strings.Builder
	if err := report.JUnit(&b, cases); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		xml.Header,
		`<testsuite name="content" tests="2" failures="1" errors="0" skipped="0" time="1.501">`,
		`<testcase name="rename" classname="content" file="scenarios/content/rename.txtar" time="1.500"></testcase>`,
		`file="scenarios/content/broken.txtar" line="7" time="0.001">`,
		`<failure message="7: no match for ` + "`a]]&gt;b`" + `"># why &lt;it&gt; matters`,
		`<testsuite name="mcp" tests="1" failures="0" errors="0" skipped="1" time="0.000">`,
		`<skipped message="no such program here"></skipped>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, &b)
		}
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnnotate(t *testing.T) {
	var b strings.Builder
	if err := report.Annotate(&b, cases); err != nil {
		t.Fatal(err)
	}
	want := "::error file=scenarios/content/broken.txtar,line=7,title=scenario content/broken::# why <it> matters%0A> stdout \x1b[31m100%25%0D%0A" +
		"FAIL: /x/scenarios/content/broken.txtar:7: no match for `a]]>b`\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
}

// A long log keeps its end, where it says why.
func TestLongLog(t *testing.T) {
	var junit, notes strings.Builder
	c := []report.Case{{Name: "a/b", Failed: true, Log: strings.Repeat("é", 1<<20) + "\nFAIL: the end"}}
	if err := report.JUnit(&junit, c); err != nil {
		t.Fatal(err)
	}
	if err := report.Annotate(&notes, c); err != nil {
		t.Fatal(err)
	}
	if junit.Len() > 300<<10 || notes.Len() > 5<<10 || !strings.HasSuffix(notes.String(), "the end\n") || strings.ContainsRune(junit.String(), '\uFFFD') {
		t.Errorf("%d and %d bytes", junit.Len(), notes.Len())
	}
}
