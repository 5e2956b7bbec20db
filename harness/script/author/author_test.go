package author_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/script/author"
)

// say is a program that prints its arguments, one a line, in quotes.
func say(d script.Doors) int {
	for _, a := range d.Args {
		_, _ = d.Stdout.Write([]byte("<" + a + ">\n"))
	}
	return 0
}

// What is written runs, and every argument comes out as it went in.
func TestTextRuns(t *testing.T) {
	args := []string{"plain", "two words", "it's", "$HOME", "#no", "", "[x]", `"q"`, "line\nline\n", "-- x --\nmark"}
	var want bytes.Buffer
	for _, a := range args {
		want.WriteString("<" + a + ">\n")
	}
	s := author.Scenario{
		Name: "a/one", About: []string{"every argument\ncomes out", "as it went in"},
		Steps: []author.Step{
			{Says: "It is said.", Word: "say", Args: args},
			{Word: "cmp", Args: []string{"stdout", "want"}},
			{Not: true, Word: "stdout", Args: []string{"never"}},
		},
		Files: []author.File{{Name: "want", Data: want.Bytes()}},
	}
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := author.Write([]author.Output{{Path: filepath.Join(root, "a", "one.txtar"), Data: text}}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	res, err := script.Execute(script.Options[int]{Root: root, Cassettes: root, Program: "say", Main: say}, "", &log)
	if err != nil || res.Passed != 1 {
		t.Errorf("%+v, %v\n%s\n%s", res, err, log.Bytes(), text)
	}
}

func TestTextRefuses(t *testing.T) {
	ok := author.Scenario{Name: "a/one", About: []string{"x"}}
	for name, tt := range map[string]struct {
		change func(*author.Scenario)
		code   fault.Code
	}{
		"name":          {func(s *author.Scenario) { s.Name = "../one" }, author.CodeName},
		"no area":       {func(s *author.Scenario) { s.Name = "one" }, author.CodeName},
		"says nothing":  {func(s *author.Scenario) { s.About = nil }, author.CodeStep},
		"no word":       {func(s *author.Scenario) { s.Steps = []author.Step{{Word: "[x] y"}} }, author.CodeStep},
		"file outside":  {func(s *author.Scenario) { s.Files = []author.File{{Name: "../x"}} }, author.CodeStep},
		"file twice":    {func(s *author.Scenario) { s.Files = []author.File{{Name: "x"}, {Name: "x"}} }, author.CodeStep},
		"no line end":   {func(s *author.Scenario) { s.Files = []author.File{{Name: "x", Data: []byte("x")}} }, author.CodeStep},
		"cannot quoted": {func(s *author.Scenario) { s.Files = []author.File{{Name: "x", Data: []byte("-- a --\n\x80\n")}} }, author.CodeStep},
	} {
		s := ok
		tt.change(&s)
		if text, err := s.Text(); fault.CodeOf(err) != tt.code {
			t.Errorf("%s: %v, want %s\n%s", name, err, tt.code, text)
		}
	}
	if _, err := ok.Text(); err != nil {
		t.Error(err)
	}
}

// All or nothing, and never over what is there.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "a", "one"), filepath.Join(dir, "b", "two")
	if err := os.MkdirAll(filepath.Dir(two), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	files := []author.Output{{one, []byte("1")}, {two, []byte("2")}}
	if err := author.Write(files); fault.CodeOf(err) != author.CodeExists || !strings.Contains(err.Error(), "two") {
		t.Errorf("over what is there: %v", err)
	}
	if _, err := os.Stat(one); err == nil {
		t.Error("a part was written")
	}
	// The second cannot be made: its folder is a file.
	files[1].Path = filepath.Join(two, "three")
	if err := author.Write(files); err == nil {
		t.Error("it was written below a file")
	}
	if _, err := os.Stat(one); err == nil {
		t.Error("a part was left")
	}
	if err := author.Write(files[:1]); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "a", "*")); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a b", "-- x --\n")
	f.Fuzz(func(t *testing.T, arg, file string) {
		if !strings.HasSuffix(file, "\n") {
			file += "\n"
		}
		text, err := (author.Scenario{Name: "a/b", About: []string{"x"}, Steps: []author.Step{{Word: "say", Args: []string{arg}}}, Files: []author.File{{Name: "f", Data: []byte(file)}}}).Text()
		if err != nil {
			return
		}
		files := 0
		for _, f := range txtar.Parse(text).Files {
			if f.Name == "f" || f.Name == "text-1" {
				files++
			}
		}
		if want := 1 + strings.Count(string(text), "text TEXT1 "); files < 1 || files > want {
			t.Errorf("%d files in\n%s", files, text)
		}
	})
}
