package script

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Shard is the part I of N of a run; the first part is 1.
type Shard struct{ I, N int }

// maxShards bounds into how many parts a run is cut.
const maxShards = 1000

// ParseShard reads "2/4".
func ParseShard(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	s := Shard{}
	var err1, err2 error
	s.I, err1 = strconv.Atoi(i)
	s.N, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || s.I < 1 || s.I > s.N || s.N > maxShards {
		return Shard{}, fault.New(fault.Invalid, "script.shard", "shard is %q", text).
			WithHint("write I/N, such as 2/4: the second of four parts; N is at most %d", maxShards)
	}
	return s, nil
}

// Of is the shard's part of names. It deals them out in order, so that each name is in
// one part of N, and the parts of a list are as large as one another.
func (s Shard) Of(names []string) []string {
	var part []string
	for i, name := range names {
		if i%s.N == s.I-1 {
			part = append(part, name)
		}
	}
	return part
}

// cassetteLine is a line of a scenario that opens a cassette.
var cassetteLine = regexp.MustCompile(`(?m)^[ \t]*(?:\[[^\]\n]*\][ \t]*)*cassette[ \t]+(?:-[a-z]+[ \t]+)*'?([^ \t\n#']+)`)

// Touched are the names whose scenario, golden files, upstream script or cassettes are
// among the changed files. All paths are below one folder, with slashes; root and
// cassettes are where Options has them.
func Touched(dir, root, cassettes string, names, changed []string) ([]string, error) {
	var touched []string
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(root), filepath.FromSlash(name)+".txtar")
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "script.touched", "read scenario %q", name)
		}
		own := []string{root + "/" + name + ".txtar"}
		for _, m := range cassetteLine.FindAllStringSubmatch(string(txtar.Parse(b).Comment), -1) {
			own = append(own, fmt.Sprintf("%s/%s.yaml", cassettes, m[1]), fmt.Sprintf("%s/%s.upstream.yaml", root, m[1]))
		}
		if slices.ContainsFunc(changed, func(c string) bool {
			return slices.Contains(own, c) || strings.HasPrefix(c, root+"/"+name+".golden/")
		}) {
			touched = append(touched, name)
		}
	}
	return touched, nil
}
