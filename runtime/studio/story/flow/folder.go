package flow

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// MaxFolder is how many bytes the files of one flow may have.
const MaxFolder = 16 << 20

// A folder is what the handlers of a flow write. It is in memory, and gone with the flow:
// no test leaves a file.
type folder struct {
	files map[string]string
	size  int
}

// Read implements host.Folder.
func (f *folder) Read(name string) (string, bool) {
	text, ok := f.files[path.Clean(name)]
	return text, ok
}

// Write implements host.Folder.
func (f *folder) Write(name, text string) error {
	name = path.Clean(name)
	size := f.size - len(f.files[name]) + len(text)
	if size > MaxFolder {
		return fault.New(fault.TooLarge, "story.test", "the files of the flow have more than %d bytes with %q", MaxFolder, name)
	}
	if f.files == nil {
		f.files = map[string]string{}
	}
	f.files[name], f.size = text, size
	return nil
}

// Below implements host.Folder.
func (f *folder) Below(dir string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if path.Dir(name) == path.Clean(dir) {
			list = append(list, name)
		}
	}
	return list
}

// check holds a flow to the files that it has to leave. Relative names are seen from the
// fixture. exists reads what was on the disk before.
func (f *folder) check(fixture string, want FileCheck, exists func(name string) (string, bool)) string {
	name := want.Path
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(fixture), name)
	}
	text, ok := f.Read(name)
	if !ok {
		text, ok = f.Read(want.Path)
	}
	if !ok && exists != nil {
		text, ok = exists(name)
	}
	switch {
	case want.Absent && ok:
		return sprintf("expect_files: %q is there, and must not be", want.Path)
	case want.Absent:
		return ""
	case !ok:
		return sprintf("expect_files: there is no %q", want.Path)
	case want.Matches == "":
		return ""
	}
	re, err := regexp.Compile(want.Matches)
	if err != nil {
		return sprintf("expect_files: %q: %s", want.Path, err)
	}
	if !re.MatchString(text) {
		return sprintf("expect_files: %q does not match %q: it begins %q", want.Path, want.Matches, begin(text))
	}
	return ""
}

func begin(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if r := []rune(first); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	if more {
		return first + "…"
	}
	return first
}
