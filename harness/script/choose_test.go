package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
)

// Every name is in one shard, and no shard has two more than another.
func TestShards(t *testing.T) {
	var names []string
	for i := range 23 {
		names = append(names, fmt.Sprintf("a/%02d", i))
	}
	for n := 1; n <= 30; n++ {
		var all []string
		for i := 1; i <= n; i++ {
			s, err := script.ParseShard(fmt.Sprintf("%d/%d", i, n))
			if err != nil {
				t.Fatal(err)
			}
			part := s.Of(names)
			if d := len(part) - len(names)/n; d < 0 || d > 1 {
				t.Errorf("shard %d/%d has %d of %d", i, n, len(part), len(names))
			}
			all = append(all, part...)
		}
		if slices.Sort(all); !slices.Equal(all, names) {
			t.Errorf("%d shards have %v", n, all)
		}
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/1001", "1/2/3"} {
		if _, err := script.ParseShard(bad); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("shard %q: %v", bad, err)
		}
	}
}

func TestTouched(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a/both", "a/own", "a/plain"}
	for name, text := range map[string]string{
		"a/own": "# x\ncassette a/own\n", "a/plain": "# x\n-- f --\ncassette a/own\n",
		"a/both": "# x\n[unix] cassette -replay a/own # one\ncassette b/other\n",
	} {
		file := filepath.Join(dir, "scenarios", filepath.FromSlash(name)+".txtar")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for changed, want := range map[string][]string{
		"README.md":                        nil,
		"scenarios/a/plain.txtar":          {"a/plain"},
		"scenarios/a/own.upstream.yaml":    {"a/both", "a/own"},
		"cassettes/a/own.yaml":             {"a/both", "a/own"},
		"cassettes/b/other.yaml":           {"a/both"},
		"scenarios/a/plain.golden/out.txt": {"a/plain"},
		"elsewhere/scenarios/a/own.txtar":  nil,
	} {
		got, err := script.Touched(dir, "scenarios", "cassettes", names, []string{changed})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s touches %v, %v; want %v", changed, got, err, want)
		}
	}
}
