package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/seam"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

const corpus = "../../../shared/corpus/cassettes"

// A recording is a file of the corpus behind a seam.
type recording struct {
	name     string
	episodes []cassette.Episode
	seam     *seam.Seam
	err      error
}

// recordings loads every file of the corpus and writes it as a cassette of ours.
// Each episode is synced to the disk, so many files are written at a time.
func recordings(t *testing.T) []*recording {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the corpus is not beside this repository: ", err)
	}
	var list []*recording
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		name, err := filepath.Rel(corpus, path)
		list = append(list, &recording{name: filepath.ToSlash(name)})
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	var group sync.WaitGroup
	turns, dir := make(chan struct{}, 32), t.TempDir()
	for i, r := range list {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if r.episodes, r.err = importer.Load(filepath.Join(corpus, r.name)); r.err == nil {
				r.seam, r.err = replayer(filepath.Join(dir, fmt.Sprintf("c%d.yaml", i)), r.episodes)
			}
		})
	}
	group.Wait()
	return list
}

// speaker is the family that the recorded URL belongs to, and its model.
func speaker(t *testing.T, e cassette.Episode) (family, string) {
	t.Helper()
	u, err := url.Parse(e.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	id := gjson.GetBytes(e.Request.Body, "model").String()
	if _, after, ok := strings.Cut(u.Path, "/models/"); ok {
		id, _, _ = strings.Cut(after, ":")
	} else if _, after, ok := strings.Cut(u.Path, "/model/"); ok {
		id, _, _ = strings.Cut(after, "/")
	}
	switch {
	case strings.HasSuffix(u.Path, "/count_tokens"):
		return "", id
	case u.Host == "api.anthropic.com":
		return familyAnthropic, id
	case strings.HasPrefix(u.Host, "bedrock-runtime."):
		return familyBedrock, id
	case u.Host == "generativelanguage.googleapis.com":
		return familyGoogle, id
	case strings.HasSuffix(u.Host, "aiplatform.googleapis.com"):
		return familyVertex, id
	case u.Host == "openrouter.ai":
		return familyOpenRouter, id
	case u.Host == "ai-gateway.vercel.sh":
		return familyVercel, id
	case u.Host == "api.openai.com" && strings.HasSuffix(u.Path, "/responses"):
		return familyOpenAI, id
	case strings.HasSuffix(u.Host, ".openai.azure.com") && strings.HasSuffix(u.Path, "/responses"):
		return familyAzure, id
	}
	return familyCompat, id // chat, whoever speaks it
}

// A reading is what a response says.
type reading struct {
	Text    string
	Thought bool
	Calls   []string // name and canonical input
	Usage   [3]int64 // all input, output, read from the cache
}

// replayer writes the episodes as a cassette of ours and opens a seam over it.
func replayer(path string, episodes []cassette.Episode) (*seam.Seam, error) {
	w, err := cassette.Create(path, cassette.Header{Format: cassette.Format, KeyVersion: cassette.KeyVersion, Origin: cassette.Imported})
	if err != nil {
		return nil, err
	}
	for _, e := range episodes {
		if e.Key, e.Raw, err = seam.KeyOf(nil, e.Lane, e.Kind, e.Request); err != nil {
			return nil, err
		}
		if err := w.Append(e); err != nil {
			return nil, err
		}
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	return seam.Open(seam.Options{Mode: seam.Replay, Cassette: path})
}

// ask sends the recorded request of e through the seam.
func ask(ctx context.Context, s *seam.Seam, e cassette.Episode) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, e.Request.Method, e.Request.URL, bytes.NewReader(e.Request.Body))
	if err != nil {
		return nil, err
	}
	req.Header = e.Request.Header.Clone()
	return s.Transport().RoundTrip(req)
}

// parse replays e through the seam into the adapter, whatever the adapter asks.
func parse(t *testing.T, s *seam.Seam, e cassette.Episode, f family, id string) (reading, outcome) {
	t.Helper()
	var replayed bytes.Buffer
	cfg := settings(roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := ask(r.Context(), s, e)
		if err == nil {
			resp.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(resp.Body, &replayed), resp.Body}
		}
		return resp, err
	}))
	en := entry{
		provider: string(f), model: id, family: f, baseURL: map[bool]string{true: "http://compat.invalid/v1"}[f == familyCompat],
		info: port.Info{Ref: string(f) + "/" + id, MaxOutput: 4096},
	}
	acc := Access{Key: placeholder}
	lm, err := dial(t.Context(), en, acc, client(cfg.Client, en.dress(acc, cfg.Clock)))
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{info: en.info, family: f, lm: lm, whole: !streamed(e), clock: cfg.Clock}
	o := collect(t.Context(), p, hello())
	if got := replayed.Bytes(); !bytes.HasPrefix(e.Response.Body, got) || len(bytes.TrimSpace(e.Response.Body[len(got):])) > 0 && f != familyGoogle {
		t.Errorf("%s: %d bytes are replayed of %d, or others", e.Request.URL, len(got), len(e.Response.Body))
	}
	r := reading{Text: o.text, Thought: o.thought != ""}
	for _, c := range o.calls {
		r.Calls = append(r.Calls, c.Name+canonical(c.Input))
	}
	if o.reply != nil {
		u := o.reply.Usage
		r.Usage = [3]int64{u.Input + u.CacheRead + u.CacheWrite, u.Output, u.CacheRead}
	}
	return r, o
}

func streamed(e cassette.Episode) bool {
	return strings.Contains(e.Response.Header.Get("Content-Type"), "stream") ||
		strings.HasPrefix(string(e.Response.Body), "data:") || strings.HasPrefix(string(e.Response.Body), "event:")
}

func canonical(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return s
	}
	out, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(out)
}

// notReplies are the episodes that are no reply of a model, with the reason.
var notReplies = map[string]string{
	"/v1/messages/count_tokens": "counts tokens: the answer is a number, not a reply",
}

// A row counts the replies of one way to speak.
type row struct{ all, text, calls, thought, exact int }

func (w *row) add(r reading, u port.Usage) {
	w.all++
	for n, on := range map[*int]bool{
		&w.text: r.Text != "", &w.calls: len(r.Calls) > 0, &w.thought: r.Thought, &w.exact: u.State == port.Exact,
	} {
		if on {
			*n++
		}
	}
}

// Each file of the corpus loads, replays through the seam, and its replies parse
// into what their bytes say. The log is the table.
func TestCorpus(t *testing.T) {
	table, skipped, sum := map[string]*row{}, map[string]int{}, 0
	list := recordings(t)
	for _, r := range list {
		if r.err != nil {
			t.Errorf("%s does not load: %v", r.name, r.err)
			continue
		}
		for i, e := range r.episodes {
			at := fmt.Sprintf("%s, episode %d", r.name, i)
			f, id := speaker(t, e)
			if f == "" {
				skipped[noReply(t, r.seam, e, at)]++
				continue
			}
			got, o := parse(t, r.seam, e, f, id)
			if !judge(t, at, got, o, expected(e, f.dialect(string(f)+"/"+id))) {
				continue
			}
			key := fmt.Sprintf("%-12s %-9s stream=%-5t", f, f.dialect(string(f)+"/"+id), streamed(e))
			if table[key] == nil {
				table[key] = &row{}
			}
			table[key].add(got, o.reply.Usage)
			sum++
		}
		if err := r.seam.Err(); err != nil || len(r.seam.Unused()) > 0 {
			t.Errorf("%s: %v, unused %v", r.name, err, r.seam.Unused())
		}
	}
	t.Logf("%d files, %d replies: parsed / with text / with calls / with reasoning / with exact usage", len(list), sum)
	for _, key := range slices.Sorted(maps.Keys(table)) {
		w := table[key]
		t.Logf("%s %4d %4d %4d %4d %4d", key, w.all, w.text, w.calls, w.thought, w.exact)
	}
	for path, n := range skipped {
		t.Logf("%d of %s: %s", n, path, notReplies[path])
	}
}

// noReply replays an episode that is no reply, and finds its reason.
func noReply(t *testing.T, s *seam.Seam, e cassette.Episode, at string) string {
	t.Helper()
	if resp, err := ask(t.Context(), s, e); err != nil || resp.StatusCode != e.Response.Status {
		t.Errorf("%s does not replay: %v", at, err)
	}
	u, err := url.Parse(e.Request.URL)
	if err != nil || notReplies[u.Path] == "" {
		t.Fatalf("%s: %q is not in the table of what is no reply", at, e.Request.URL)
	}
	return u.Path
}

// judge compares what the adapter understood with what the bytes say.
func judge(t *testing.T, at string, got reading, o outcome, want reading) bool {
	t.Helper()
	if o.err != nil {
		t.Errorf("%s: %v", at, o.err)
		return false
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", at, got, want)
	}
	if o.reply.Reason == port.Unknown || (o.reply.Reason == port.ToolCalls) != (len(got.Calls) > 0) || o.reply.Usage.State != port.Exact {
		t.Errorf("%s: reason %q, usage %+v", at, o.reply.Reason, o.reply.Usage)
	}
	return true
}
