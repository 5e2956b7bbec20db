package cassette_test

import (
	"flag"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

var opening = flag.String("opening", "", "cassette that this process opens and then tells its size in memory (for the benchmark itself)")

// Opening takes the file's bytes once, and at most a tenth more.
func TestOpenTakesTheFileOnce(t *testing.T) {
	episodes := make([]cassette.Episode, 200)
	for i := range episodes {
		episodes[i] = bigEpisode(i)
	}
	path := record(t, header(), episodes...)
	size := uint64(len(read(t, path)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := open(t, path)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > size+size/10 {
		t.Errorf("opening %d bytes allocated %d", size, got)
	}
	runtime.KeepAlive(c)
}

// TestOpeningProcess is the process that BenchmarkOpenRSS measures.
func TestOpeningProcess(t *testing.T) {
	if *opening == "" {
		t.Skip("is the other process of BenchmarkOpenRSS")
	}
	c := open(t, *opening)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stdout.Write(status); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(c)
}

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// BenchmarkOpenRSS tells the peak memory of a process that opens 5000 episodes,
// all of the process counted.
func BenchmarkOpenRSS(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skipf("memory is only measured on Linux: %v", err)
	}
	path := bigFile(b, 5000)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	var kb int
	for b.Loop() {
		kb = rssOfOpening(b, path)
	}
	b.ReportMetric(float64(kb)/1e3, "rss-MB")
	b.ReportMetric(float64(info.Size())/1e6, "file-MB")
	b.ReportMetric(float64(kb)*1024/float64(info.Size()), "rss/file")
}

func rssOfOpening(b *testing.B, path string) int {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	p, err := os.StartProcess(exe, []string{exe, "-test.run=^TestOpeningProcess$", "-opening=" + path},
		&os.ProcAttr{Files: []*os.File{nil, to, to}})
	to.Close()
	if err != nil {
		b.Fatal(err)
	}
	said, err := io.ReadAll(from)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		b.Fatal(err)
	}
	m := peak.FindSubmatch(said)
	if m == nil {
		b.Fatalf("the opening process said %s", said)
	}
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		b.Fatal(err)
	}
	return kb
}
