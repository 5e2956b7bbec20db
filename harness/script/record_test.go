package script_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// A provider that is no script: it answers what it was asked, and counts.
type provider struct{ asked []string }

func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(string(body), `"content":"`)
	text, _, _ = strings.Cut(text, `"`)
	p.asked = append(p.asked, text)
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: req, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf("answer %d to %s", len(p.asked), text))),
	}, nil
}

// recordLive runs all scenarios of root against p and gives what was recorded.
func recordLive(t *testing.T, root string, r script.Recording, p *provider) (res script.Result, log string, done []script.Recorded) {
	t.Helper()
	if r.World == nil {
		r.World = &script.World{}
	}
	r.World.Clock = clock.NewFixed(clock.Epoch)
	r.World.Transport = func() (http.RoundTripper, error) { return p, nil }
	r.Done = func(one script.Recorded) { done = append(done, one) }
	o := options(root)
	o.Record, o.Recording = true, r
	var out bytes.Buffer
	res, err := script.Execute(o, "", &out)
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String(), done
}

// A recording of a real provider is paid for, and so its journal stays where the cassette
// would be until there is one.
func TestRecordTheRealProvider(t *testing.T) {
	const words = "# x\ncassette a/one\nprog ask hi\nprog ask 'and you'\n"
	root := write(t, map[string]string{"scenarios/a/one.txtar": words + "prog fail\n"})
	file, p := filepath.Join(root, "..", "cassettes", "a", "one.yaml"), &provider{}
	res, _, done := recordLive(t, root, script.Recording{}, p)
	left, err := cassette.Resume(file)
	if res.Failed != 1 || len(p.asked) != 2 || len(left) != 2 || err != nil || done[0].Err == nil || done[0].Scripted {
		t.Fatalf("%+v, asked %v, %d in the journal, %v, told %+v", res, p.asked, len(left), err, done)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failed recording left a cassette: %v", err)
	}

	// What is in the journal is not paid for again, but only when that is asked for.
	if err := os.WriteFile(filepath.Join(root, "a", "one.txtar"), []byte(words), 0o644); err != nil {
		t.Fatal(err)
	}
	if res, log, _ := recordLive(t, root, script.Recording{}, p); res.Failed != 1 || !strings.Contains(log, "did not end") {
		t.Errorf("%+v\n%s", res, log)
	}
	res, log, done := recordLive(t, root, script.Recording{Continue: true}, p)
	if res.Passed != 1 || len(p.asked) != 2 || len(done[0].Sent) != 0 {
		t.Errorf("%+v, asked %v, told %+v\n%s", res, p.asked, done, log)
	}
	c, err := cassette.Open(file)
	if err != nil || c.Len() != 2 || c.Header().Origin != cassette.Live {
		t.Fatalf("%v, %+v", err, c.Header())
	}

	// One episode anew, after a dry run that asks nobody.
	dry := script.Recording{Episode: "2", DryRun: true}
	if res, log, done := recordLive(t, root, dry, p); res.Passed != 1 || len(p.asked) != 2 || len(done[0].Sent) != 1 || done[0].Sent[0].Line != 1 {
		t.Errorf("%+v, asked %v, told %+v\n%s", res, p.asked, done, log)
	}
	res, log, done = recordLive(t, root, script.Recording{Episode: "2"}, p)
	if res.Passed != 1 || len(p.asked) != 3 || len(done) != 1 || done[0].Mode != seam.Fill || len(done[0].Sent) != 1 || done[0].File == "" {
		t.Errorf("%+v, asked %v, told %+v\n%s", res, p.asked, done, log)
	}
	execute(t, root, false)

	// In CI nobody is asked, be there a key or not.
	inCI := script.Recording{Fill: true, World: &script.World{CI: true}}
	if res, log, _ := recordLive(t, root, inCI, p); res.Failed != 1 || len(p.asked) != 3 || !strings.Contains(log, "CI is set") {
		t.Errorf("%+v, asked %v\n%s", res, p.asked, log)
	}
}

func TestKeepsMustFail(t *testing.T) {
	root := write(t, map[string]string{"scenarios/a/one.txtar": `# x
keeps new old
keeps new old 2
-- old --
- {a}
-- new --
- {a}
- {b}
`})
	var out bytes.Buffer
	res, err := script.Execute(options(root), "", &out)
	if err != nil || res.Failed != 1 || !strings.Contains(out.String(), `"2" is no episode of old, which has 1`) {
		t.Errorf("%+v, %v\n%s", res, err, out.String())
	}
}
