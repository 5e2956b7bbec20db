// Package report tells CI systems how scenarios ended: as JUnit XML, and as
// annotations of the lines where they failed.
//
// It belongs to harness, beside script, and knows only names, files and logs. It runs
// nothing and decides nothing.
package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Case is one scenario that ended.
type Case struct {
	Name    string // area/name
	File    string // from the root of the repository, with slashes
	Line    int    // where it failed; 0 is not known
	Failed  bool
	Skipped bool
	Log     string
	Took    time.Duration
}

// The bounds of what is told of a log: its end, since there stands why.
const (
	maxLog  = 256 << 10 // bytes, in JUnit
	maxNote = 4 << 10   // bytes, in an annotation
)

type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		File    string   `xml:"file,attr,omitempty"`
		Line    int      `xml:"line,attr,omitempty"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Skipped *skipped `xml:"skipped,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Log     string `xml:",chardata"`
	}
	skipped struct {
		Message string `xml:"message,attr,omitempty"`
	}
)

// JUnit writes the cases as JUnit XML: one suite an area, in the order of the cases.
func JUnit(w io.Writer, cases []Case) error {
	var doc suites
	took := map[string]time.Duration{}
	for _, c := range cases {
		area, name, _ := strings.Cut(c.Name, "/")
		if len(doc.Suites) == 0 || doc.Suites[len(doc.Suites)-1].Name != area {
			doc.Suites = append(doc.Suites, suite{Name: area})
		}
		s := &doc.Suites[len(doc.Suites)-1]
		t := testcase{Name: name, Class: area, File: c.File, Time: seconds(c.Took)}
		switch {
		case c.Failed:
			s.Failures++
			t.Line = c.Line
			t.Failure = &failure{Message: why(c.Log), Log: tail(c.Log, maxLog)}
		case c.Skipped:
			s.Skipped++
			t.Skipped = &skipped{Message: why(c.Log)}
		}
		took[area] += c.Took
		s.Tests++
		s.Time = seconds(took[area])
		s.Cases = append(s.Cases, t)
	}
	b, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "report.junit", "encode %d cases", len(cases))
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

// Annotate writes an error for each case that failed, as GitHub reads them from a
// job's output: ::error file=…,line=…,title=…::text.
func Annotate(w io.Writer, cases []Case) error {
	for _, c := range cases {
		if !c.Failed {
			continue
		}
		if _, err := fmt.Fprintf(w, "::error file=%s,line=%d,title=%s::%s\n",
			property(c.File), max(1, c.Line), property("scenario "+c.Name), data(tail(strings.TrimSpace(c.Log), maxNote))); err != nil {
			return err
		}
	}
	return nil
}

// why is the last line of a log that says something.
func why(log string) string {
	rows := strings.Split(strings.TrimSpace(log), "\n")
	for i := len(rows) - 1; i >= 0; i-- {
		if text, failed := strings.CutPrefix(rows[i], "FAIL: "); failed {
			_, after, ok := strings.Cut(text, ".txtar:")
			if ok {
				return after
			}
			return text
		}
	}
	return rows[len(rows)-1]
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// tail is the end of s, of at most n bytes, beginning with a whole letter.
func tail(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "…" + s
}

// data and property write what stands behind and within an annotation, where line
// ends and separators would end it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
