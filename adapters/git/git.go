// Package git asks the program git what changed in a repository, and what a file was.
//
// It belongs to adapters, because it starts another program. It only reads: it never
// changes a repository, and it takes no configuration but git's own.
package git

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of this package.
const (
	CodeMissing fault.Code = "GIT_MISSING" // there is no program git, or the folder is in no repository
	CodeFailed  fault.Code = "GIT_FAILED"  // git refused: the ref is unknown, or the repository is damaged
)

// maxOutput bounds what git may say.
const maxOutput = 256 << 20

// A Repository is a folder in a repository. All paths are relative to the folder, with
// slashes; what lies outside of it is not seen.
type Repository struct{ dir string }

// New is the repository that dir lies in.
func New(dir string) *Repository { return &Repository{dir: dir} }

// Changed are the files that are not as they were at ref: changed, new, moved or gone,
// committed or not, also those that git does not know yet.
func (r *Repository) Changed(ctx context.Context, ref string) ([]string, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	// First what fails outside of a repository: diff would compare two folders there.
	others, err := r.run(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
	if err != nil {
		return nil, err
	}
	known, err := r.run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative", ref, "--", ".")
	if err != nil {
		return nil, err
	}
	files := strings.FieldsFunc(string(known)+string(others), func(c rune) bool { return c == 0 })
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Show is a file as it was at ref; a file that was not there is fault.NotFound.
func (r *Repository) Show(ctx context.Context, ref, file string) ([]byte, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	listed, err := r.run(ctx, "ls-tree", "-z", "--name-only", ref, "--", file)
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 {
		return nil, fault.New(fault.NotFound, "git.show", "%q was not there at %q", file, ref)
	}
	return r.run(ctx, "show", ref+":./"+file)
}

// checkRef refuses what git would take for an option, or for another file.
func checkRef(ref string) error {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, ":\x00\n ") {
		return fault.New(fault.Invalid, "git.ref", "ref is %q", ref).WithHint("name a commit, a branch or a tag, such as main or HEAD~1")
	}
	return nil
}

func (r *Repository) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "--literal-pathspecs"}, args...)...)
	cmd.Dir = r.dir
	out, complaint := &bounded{}, &bounded{}
	cmd.Stdout, cmd.Stderr = out, complaint
	err := cmd.Run()
	said := strings.TrimSpace(complaint.String())
	said, _, _ = strings.Cut(strings.TrimPrefix(said, "fatal: "), "\n")
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fault.Wrap(err, CodeMissing, "git.run", "the program git is not here").WithHint("install git, or leave out what asks it")
	case out.full:
		return nil, fault.New(fault.TooLarge, "git.run", "git %s said more than %d bytes", args[0], maxOutput)
	case strings.Contains(said, "not a git repository"):
		return nil, fault.New(CodeMissing, "git.run", "the folder is in no git repository").WithHint("go to a repository, or leave out what asks git")
	}
	return nil, fault.Wrap(err, CodeFailed, "git.run", "git %s: %s", args[0], said).WithHint("check that the ref exists: git log -1 REF")
}

// bounded is a buffer that takes no more than git may say.
type bounded struct {
	bytes.Buffer
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		b.full = true
		return 0, fault.New(fault.TooLarge, "git.run", "more than %d bytes", maxOutput)
	}
	return b.Buffer.Write(p)
}
