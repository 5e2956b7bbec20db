// Package author writes scenarios: plain steps become a txtar file, and what belongs to
// it is put beside it, all or nothing and never over what is there.
//
// It belongs to harness, below script, and knows neither agents nor traces: whoever has
// steps hands them in. It runs nothing, and does not record.
package author

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeName   fault.Code = "AUTHOR_NAME"   // no name of a scenario
	CodeStep   fault.Code = "AUTHOR_STEP"   // a step that no line can say
	CodeExists fault.Code = "AUTHOR_EXISTS" // something is there already
)

// A Scenario is one journey, as it will be written.
type Scenario struct {
	Name  string   // area/name
	About []string // what it shows and why, a line each
	Steps []Step
	Files []File
}

// A Step is one line of the script.
type Step struct {
	Says string // a comment of one line above it, with a blank line before that
	Not  bool   // what is expected is turned round
	Word string
	Args []string
}

// A File is laid out before the first step runs.
type File struct {
	Name string // slashes between folders
	Data []byte
}

// CheckName says whether name is area/name.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fault.New(CodeName, "author.name", "%q is no name of a scenario", name).
			WithHint("name it area/name: letters, digits, dots, dashes and underscores")
	}
	return nil
}

func namePattern() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
}

// Text is the txtar file. A text of more than one line becomes a file and a variable:
// the words of a script are lines.
func (s Scenario) Text() ([]byte, error) {
	const op = "author.text"
	if err := CheckName(s.Name); err != nil {
		return nil, err
	}
	if len(s.About) == 0 || strings.TrimSpace(s.About[0]) == "" {
		return nil, fault.New(CodeStep, op, "scenario %q does not say what it shows", s.Name).WithHint("give it a first line")
	}
	w := writer{files: slices.Clone(s.Files)}
	for _, line := range s.About {
		fmt.Fprintf(&w.out, "# %s\n", oneLine(line))
	}
	for i, step := range s.Steps {
		if err := w.step(step); err != nil {
			return nil, fault.Wrap(err, CodeStep, op, "step %d of %q", i+1, s.Name)
		}
	}
	return w.archive(s.Name)
}

type writer struct {
	out   bytes.Buffer
	files []File
	texts int
}

func (w *writer) step(s Step) error {
	if s.Word == "" || strings.ContainsAny(s.Word, " \t\n'#[$") {
		return fmt.Errorf("%q is no word", s.Word)
	}
	if s.Says != "" {
		fmt.Fprintf(&w.out, "\n# %s\n", oneLine(s.Says))
	}
	var line strings.Builder
	if s.Not {
		line.WriteString("! ")
	}
	line.WriteString(s.Word)
	for _, a := range s.Args {
		if strings.ContainsAny(a, "\n\r") {
			a = w.variable(a)
		} else {
			a = quote(a)
		}
		line.WriteString(" " + a)
	}
	fmt.Fprintln(&w.out, line.String())
	return nil
}

// variable puts a text into a file, and the file's text into a variable.
func (w *writer) variable(text string) string {
	w.texts++
	name := fmt.Sprintf("text-%d", w.texts)
	w.files = append(w.files, File{Name: name, Data: []byte(text + "\n")})
	fmt.Fprintf(&w.out, "text TEXT%d %s\n", w.texts, name)
	return fmt.Sprintf("$TEXT%d", w.texts)
}

// quote is an argument as a script reads it back.
func quote(a string) string {
	if a != "" && !strings.ContainsAny(a, " \t'#$\"") {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", "''") + "'"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// archive adds the files. One that holds a line like a file's mark is quoted, and the
// script takes the quotes off first.
func (w *writer) archive(name string) ([]byte, error) {
	const op = "author.text"
	var quoted []string
	seen := map[string]bool{}
	var files []txtar.File
	for _, f := range w.files {
		if f.Name == "" || path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name || strings.HasPrefix(f.Name, "..") || strings.ContainsAny(f.Name, "\n\r\\$'") || seen[f.Name] {
			return nil, fault.New(CodeStep, op, "scenario %q has the file %q, which has no name of its own below its folder", name, f.Name)
		}
		seen[f.Name] = true
		data := f.Data
		if len(data) > 0 && data[len(data)-1] != '\n' {
			return nil, fault.New(CodeStep, op, "file %q of scenario %q does not end with a line end, and txtar has no other files", f.Name, name)
		}
		if txtar.NeedsQuote(data) {
			var err error
			if data, err = txtar.Quote(data); err != nil {
				return nil, fault.Wrap(err, CodeStep, op, "file %q of scenario %q", f.Name, name)
			}
			quoted = append(quoted, f.Name)
		}
		files = append(files, txtar.File{Name: f.Name, Data: data})
	}
	script := w.out.String()
	if len(quoted) > 0 {
		script = unquoted(script, quoted)
	}
	return txtar.Format(&txtar.Archive{Comment: []byte(script), Files: files}), nil
}

// unquoted puts the line that takes quotes off behind the comment at the top.
func unquoted(script string, files []string) string {
	at := 0
	for line := range strings.Lines(script) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		at += len(line)
	}
	return script[:at] + "unquote " + strings.Join(files, " ") + "\n" + script[at:]
}
