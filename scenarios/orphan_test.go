package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// orphans are the processes that this one started and that are still there, where the
// system tells: each thread has a list of its children.
func orphans() (found []string) {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // none but on Linux
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for pid := range strings.FieldsSeq(string(b)) {
			args, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			found = append(found, fmt.Sprintf("%s: %s", pid, strings.ReplaceAll(string(args), "\x00", " ")))
		}
	}
	return found
}

// alone is the tests' status, and a failure where a process is left when all of them
// have ended.
func alone(status int) int {
	if left := orphans(); status == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: processes are left when all scenarios have ended:\n%s\n", strings.Join(left, "\n"))
		return 1
	}
	return status
}
