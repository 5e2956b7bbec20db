package load_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

const small = "app: { id: small }\nroot: a\nstates: { a: { terminal: true } }\n"

// bomb is a file of a few lines that stands for ten to the power of ten values.
func bomb() string {
	var b strings.Builder
	b.WriteString(small + "world:\n  l0: &l0 { default: x }\n")
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&b, "  l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10), ", "))
	}
	return b.String()
}

// chain is n stories, each of which imports the next, so many times over.
func chain(n, wide int) files {
	f := files{}
	for i := range n {
		name, imports := fmt.Sprintf("/s%d/app.yaml", i), ""
		if i == 0 {
			name = "/s/app.yaml"
		}
		for j := range wide {
			imports += fmt.Sprintf("  n%d: { source: ../s%d }\n", j, i+1)
		}
		f[name] = small + "imports:\n" + imports
	}
	f[fmt.Sprintf("/s%d/app.yaml", n)] = small
	return f
}

func TestHostile(t *testing.T) {
	one := func(text string) files { return files{"/s/app.yaml": text} }
	for name, c := range map[string]struct {
		files files
		want  string
		code  fault.Code
	}{
		"include up":         {one(small + "include: [ ../../etc/*.yaml ]\n"), "leads out of the story's folder", load.CodeEscapes},
		"include absolute":   {one(small + "include: [ /etc/*.yaml ]\n"), "leads out of the story's folder", load.CodeEscapes},
		"page up":            {one(strings.Replace(small, "terminal: true", `view: "{% include '../../secret' %}"`, 1)), "unable to resolve template", ""},
		"page absolute":      {one(strings.Replace(small, "terminal: true", "view: { template_file: /etc/passwd }", 1)), "page", ""},
		"any file":           {one(strings.Replace(small, "terminal: true", `view: "{% ssi '/etc/passwd' %}"`, 1)), "ssi", ""},
		"script up":          {one(strings.Replace(small, "terminal: true", "on_enter: { invoke: host.starlark.run, with: { script: ../x.star } }", 1)), "outside the app root", load.CodeEscapes},
		"library up":         {one(small + "imports: { x: { source: \"@lib/..\" } }\n"), "not of the form @library/name", ""},
		"library deep":       {one(small + "imports: { x: { source: \"@lib/a/b\" } }\n"), "not of the form @library/name", ""},
		"huge":               {one(small + strings.Repeat("# comment\n", source.MaxFile/10+1)), "the bound is, 4194304", source.CodeLarge},
		"latin-1":            {one(small + "world:\n  a: \"f\xfcr\"\n"), "app.yaml:5:8: not UTF-8", ""},
		"utf-16":             {one("\xff\xfea\x00p\x00p\x00"), "app.yaml:1:1: not UTF-8", ""},
		"many values":        {one(small + "world:\n  l: [" + strings.Repeat("1,", 1<<20) + "1]\n"), "parts", source.CodeLarge},
		"aliases":            {one(bomb()), "larger than", source.CodeLarge},
		"alias of itself":    {one(small + "world:\n  a: &a [ *a ]\n"), "stands for nothing, or for itself", source.CodeAlias},
		"alias of nothing":   {one(small + "world:\n  a: *b\n"), "stands for nothing", source.CodeAlias},
		"brackets":           {one(small + "world: { a: " + strings.Repeat("[", 1<<20) + "}\n"), "brackets stand open", source.CodeLarge},
		"braces on lines":    {one(small + "world:\n  a: " + strings.Repeat("{\n  a: ", 1<<18) + "\n"), "brackets stand open", source.CodeLarge},
		"dashes":             {one(small + "hosts:\n  " + strings.Repeat("- ", 1<<20) + "x\n"), "begins more than", source.CodeLarge},
		"tags":               {one(small + "hosts: " + strings.Repeat("!a ", 1<<20) + "x\n"), "begins more than", source.CodeLarge},
		"keys in a row":      {one(small + strings.Repeat("a: ", 1<<20) + "x\n"), "begins more than", source.CodeLarge},
		"deep states":        {one(small + "hosts:\n" + deep(80)), "nested deeper than", source.CodeLarge},
		"deep imports":       {chain(20, 1), "or deeper than", load.CodeImports},
		"wide imports":       {chain(12, 4), "more than", load.CodeImports},
		"imports itself":     {one(small + "imports: { x: { source: ../s } }\n"), "cycle detected", load.CodeCycle},
		"imports each other": {files{"/s/app.yaml": small + "imports: { x: { source: ../t } }\n", "/t/app.yaml": small + "imports: { y: { source: ../s } }\n"}, "cycle detected", load.CodeCycle},
		"two documents":      {one(small + "---\n" + small), "2 YAML documents", ""},
		"no mapping":         {one("- a\n- b\n"), "not a mapping", ""},
		"bytes":              {one("\x00\xff\xfe"), "", ""},
		"nothing":            {one(""), "app.id is required", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, found, err := load.Load(t.Context(), load.Options{Files: c.files, App: "/s", Root: "/lib"})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if strings.Contains(f.String(), c.want) {
					if f.Code != c.code {
						t.Errorf("%s has the code %q, want %q", f, f.Code, c.code)
					}
					return
				}
			}
			t.Errorf("loaded %t, findings %.600v, want %q", s != nil, found, c.want)
		})
	}
}

// deep is a list in a list, so many times.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-\n", strings.Repeat(" ", i+1))
	}
	return b.String()
}

// jail is a door that opens nothing outside of one folder, as links are refused.
type jail struct{ files }

func (j jail) Read(ctx context.Context, name string) ([]byte, error) {
	if !strings.HasPrefix(path.Clean(name), "/s/") {
		return nil, fault.New(load.CodeNoFile, "test", "%q is not granted", name)
	}
	return j.files.Read(ctx, name)
}

func TestDoor(t *testing.T) {
	f := jail{files{
		"/s/app.yaml":   small + "imports: { x: { source: ../../etc } }\nagents: { a: { system_prompt_path: ../../etc/passwd } }\n",
		"/etc/app.yaml": small, "/etc/passwd": "root",
	}}
	_, found, err := load.Load(t.Context(), load.Options{Files: f, App: "/s"})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || !strings.Contains(found[0].Message, "is not granted") || !strings.Contains(found[1].Message, "is not granted") {
		t.Errorf("findings %v", found)
	}
}

func TestNoStory(t *testing.T) {
	_, _, err := load.Load(t.Context(), load.Options{Files: files{}, App: "/s"})
	if code := fault.CodeOf(err); code != load.CodeNoFile {
		t.Errorf("code %q: %v", code, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := load.Load(ctx, load.Options{Files: stopped{}, App: "/s"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled load gives %v", err)
	}
}

// stopped is a door that says why it does not open.
type stopped struct{ files }

func (stopped) Read(ctx context.Context, _ string) ([]byte, error) { return nil, ctx.Err() }
