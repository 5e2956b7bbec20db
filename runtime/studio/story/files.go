package story

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The bounds of what one answer holds.
const (
	maxListed = 2_000
	maxHits   = 200
	maxLine   = 240 // characters of a hit
)

// ReadIn names a file of a story.
type ReadIn struct {
	Path string `json:"path" jsonschema:"the file, seen from the folder: app.yaml, rooms/hall.yaml"`
	Dir  string `json:"dir,omitempty" jsonschema:"the story's folder: below the workspace or the stories folder; the workspace if left out"`
}

// ReadOut is a file of a story.
type ReadOut struct {
	OK      bool   `json:"ok"`
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	Content string `json:"content"`
}

func readTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.read", Title: "Read a file of a story", Inline: result.MaxInlineRead,
		Summary: "Read one file of a story, whole.", Description: "What is too long for one answer comes with a handle for result.query.",
	}), func(ctx context.Context, _ tool.Call, in ReadIn) (rep tool.Reply[ReadOut], err error) {
		err = d.in(ctx, "story.read", in.Dir, func(p Place, dir string) error {
			name, err := file("story.read", dir, in.Path)
			if err != nil {
				return err
			}
			raw, err := p.Disk.Read(ctx, name)
			if err != nil {
				return err
			}
			if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
				return fault.New(fault.Invalid, "story.read", "%q is no text", in.Path)
			}
			rep.Out = ReadOut{OK: true, Path: path.Clean(in.Path), Bytes: len(raw), Content: string(raw)}
			return nil
		})
		return rep, err
	})
}

// ListIn names a folder.
type ListIn struct {
	Dir  string `json:"dir,omitempty" jsonschema:"the folder: below the workspace or the stories folder, @ for all of the latter; the workspace if left out"`
	Glob string `json:"glob,omitempty" jsonschema:"only files of this pattern: *.yaml anywhere, flows/*.yaml in one folder"`
}

// ListOut is the files of a folder.
type ListOut struct {
	OK        bool     `json:"ok"`
	Files     []string `json:"files"`
	Truncated bool     `json:"truncated"`
}

func listTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.list", Title: "List the files of stories", Inline: result.MaxInlineRead,
		Summary: "List the files of a story, or of all stories.", Description: "A folder with an app.yaml is a story. Hidden folders are left out, and more than 2,000 files.",
	}), func(ctx context.Context, _ tool.Call, in ListIn) (rep tool.Reply[ListOut], err error) {
		err = d.in(ctx, "story.list", in.Dir, func(p Place, dir string) error {
			rep.Out = ListOut{OK: true, Files: []string{}}
			return each(ctx, "story.list", p, dir, in.Glob, func(name string) (bool, error) {
				if len(rep.Out.Files) == maxListed {
					rep.Out.Truncated = true
					return false, nil
				}
				rep.Out.Files = append(rep.Out.Files, name)
				return true, nil
			}, &rep.Out.Truncated)
		})
		return rep, err
	})
}

// each gives the files of a folder that fit a pattern, seen from it, as long as more are
// wanted. cut says that there were more than are looked at.
func each(ctx context.Context, op string, p Place, dir, glob string, yield func(name string) (bool, error), cut *bool) error {
	if _, err := path.Match(glob, ""); err != nil {
		return fault.New(CodePattern, op, "glob %q is no pattern", glob).WithHint("use *, ? and [a-z]: rooms/*.yaml")
	}
	names, more, err := p.Disk.List(ctx, dir, 20_000)
	if err != nil {
		return err
	}
	*cut = more
	for _, full := range names {
		name := strings.TrimPrefix(full, strings.TrimSuffix(dir, "/")+"/")
		against := name
		if !strings.Contains(glob, "/") {
			against = path.Base(name)
		}
		if ok, _ := path.Match(glob, against); glob != "" && !ok {
			continue
		}
		if more, err := yield(name); err != nil || !more {
			return err
		}
	}
	return nil
}

// SearchIn asks for text in files.
type SearchIn struct {
	Pattern    string `json:"pattern" jsonschema:"what to look for, taken literally"`
	Dir        string `json:"dir,omitempty" jsonschema:"the folder: below the workspace or the stories folder, @ for all of the latter; the workspace if left out"`
	Glob       string `json:"glob,omitempty" jsonschema:"only in files of this pattern: *.yaml anywhere, flows/*.yaml in one folder"`
	Regex      bool   `json:"regex,omitempty" jsonschema:"pattern is a regular expression (RE2)"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"upper and lower case are alike"`
	Max        int    `json:"max,omitempty" jsonschema:"how many hits at most, 1 to 200; 200 if left out"`
}

// SearchOut is where text was found.
type SearchOut struct {
	OK        bool  `json:"ok"`
	Hits      []Hit `json:"hits"`
	Truncated bool  `json:"truncated"`
}

// A Hit is a line with what was looked for.
type Hit struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func searchTool(d Deps) tool.Tool {
	return tool.New(d.spec(tool.Spec{
		ID: "story.search", Title: "Search the files of stories", Inline: result.MaxInlineRead,
		Summary: "Find text in the files of a story, with file and line.", Description: "",
	}), func(ctx context.Context, _ tool.Call, in SearchIn) (rep tool.Reply[SearchOut], err error) {
		re, limit, err := in.compiled()
		if err != nil {
			return rep, err
		}
		err = d.in(ctx, "story.search", in.Dir, func(p Place, dir string) error {
			rep.Out = SearchOut{OK: true, Hits: []Hit{}}
			return each(ctx, "story.search", p, dir, in.Glob, func(name string) (bool, error) {
				raw, err := p.Disk.Read(ctx, path.Join(dir, name))
				if ctx.Err() != nil {
					return false, ctx.Err()
				}
				if err != nil || bytes.IndexByte(raw, 0) >= 0 {
					return true, nil //nolint:nilerr // what cannot be read has no hit
				}
				for i, line := range strings.Split(string(raw), "\n") {
					if !re.MatchString(line) {
						continue
					}
					if len(rep.Out.Hits) == limit {
						rep.Out.Truncated = true
						return false, nil
					}
					rep.Out.Hits = append(rep.Out.Hits, Hit{File: name, Line: i + 1, Text: clipped(strings.ToValidUTF8(strings.TrimRight(line, "\r"), "\uFFFD"))})
				}
				return true, nil
			}, &rep.Out.Truncated)
		})
		return rep, err
	})
}

func (in SearchIn) compiled() (*regexp.Regexp, int, error) {
	const op = "story.search"
	if in.Max == 0 {
		in.Max = maxHits
	}
	if in.Max < 1 || in.Max > maxHits {
		return nil, 0, fault.New(fault.Invalid, op, "max is %d", in.Max).WithHint("give 1 to %d", maxHits)
	}
	source := in.Pattern
	if source == "" || len(source) > 1_000 {
		return nil, 0, fault.New(CodePattern, op, "pattern has %d bytes", len(source)).WithHint("give 1 to 1000")
	}
	if !in.Regex {
		source = regexp.QuoteMeta(source)
	}
	if in.IgnoreCase {
		source = "(?i)" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, 0, fault.New(CodePattern, op, "pattern %q is no regular expression: %v", in.Pattern, err).WithHint("leave regex out to look for the text itself")
	}
	return re, in.Max, nil
}

func clipped(s string) string {
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine]) + "…"
	}
	return s
}
