package cli

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

var soak = flag.Int("soak", 600, "how many calls the soak test makes")

// maxGrown is how much more memory the process may have after the calls: the noise of
// a heap that was collected, and not a byte a call.
const maxGrown = 16 << 20

// Calls leave nothing behind: not in memory, and no goroutine.
//
//	go test ./cmd/soundstage/cli -run Soak -soak 10000
func TestSoak(t *testing.T) {
	p := ourServer(t, readHouse(t))
	soakCalls(t, func(n int) { p.calls(n, 8) })
	p.end()
}

// soakCalls compares what the process has before and after many calls.
func soakCalls(t *testing.T, calls func(n int)) {
	t.Helper()
	calls(200) // what is made once, is made
	rss, running := resident(t)
	calls(*soak)
	after, left := resident(t)
	t.Logf("%d calls: %d KB and %d goroutines before, %d KB and %d after", *soak, rss>>10, running, after>>10, left)
	if after-rss > maxGrown {
		t.Errorf("the process grew by %d KB in %d calls", (after-rss)>>10, *soak)
	}
	if left > running+2 {
		t.Errorf("%d goroutines are left of %d calls", left-running, *soak)
	}
}

// resident is what the process has in memory, once what it can do without is given
// back, and how many goroutines run. Without /proc it is the heap.
func resident(t *testing.T) (bytes, goroutines int) {
	t.Helper()
	debug.FreeOSMemory()
	goroutines = runtime.NumGoroutine()
	status, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(status)); err == nil && len(fields) > 1 {
		pages, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		return pages * os.Getpagesize(), goroutines
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse), goroutines
}
