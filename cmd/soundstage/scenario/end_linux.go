package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endAll ends the processes that were started for a folder and are still there: an
// agent may leave a server behind for the next start. They are known by the folder's
// name in their command line, which no other process has.
func endAll(folder string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return
	}
	for _, f := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(folder)) {
			_ = syscall.Kill(pid, syscall.SIGTERM) // it may be gone by now
		}
	}
}
