package seamtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/seamtest"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// probe is a test that may fail. Fatalf ends it by a panic, as Goexit would end the
// real one.
type probe struct {
	testing.TB
	errs  []string
	ended []func()
}

type fatal struct{}

func (p *probe) Helper()                   {}
func (p *probe) Name() string              { return "TestProbe" }
func (p *probe) Failed() bool              { return len(p.errs) > 0 }
func (p *probe) Cleanup(f func())          { p.ended = append(p.ended, f) }
func (p *probe) Error(args ...any)         { p.errs = append(p.errs, fmt.Sprint(args...)) }
func (p *probe) Errorf(f string, a ...any) { p.errs = append(p.errs, fmt.Sprintf(f, a...)) }
func (p *probe) Fatalf(f string, a ...any) { p.Errorf(f, a...); panic(fatal{}) }

func (p *probe) run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(fatal); !ok {
				panic(r)
			}
		}
		for _, f := range p.ended {
			f()
		}
	}()
	f()
}

func get(t *testing.T, s *seamtest.Stage, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.openai.com/v1/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func TestForTest(t *testing.T) {
	root := t.TempDir()
	t.Setenv(seamtest.EnvCI, "true")
	t.Setenv(seamtest.EnvLive, "")
	answer := upstream.NewTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hi") }))
	options := []seamtest.Option{seamtest.Root(root), seamtest.Upstream(answer, cassette.Scripted)}
	tests := []struct {
		name, record, cassette string
		bodies                 []string
		options                []seamtest.Option
		want                   string // in the failure; "" for none
	}{
		{name: "missing", cassette: "a/b", want: "SOUNDSTAGE_RECORD=a/b go test -run '^TestProbe$' ."},
		{name: "record", record: "a/b", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":2}`}},
		{name: "replay", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":2}`}},
		{name: "unused", cassette: "a/b", bodies: []string{`{"a":1}`}, want: "1 episodes were not asked for: [1]"},
		{name: "unused allowed", cassette: "a/b", options: []seamtest.Option{seamtest.AllowUnused()}},
		{name: "miss", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":3}`}, want: "/a: recorded 2, sent 3"},
		{name: "a fault", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":1}`, `{"a":2}`}, options: []seamtest.Option{seamtest.Faults("1 429 retry-after=1s", "* rechunk seed=1")}},
		{name: "a fault that does not fire", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":2}`}, options: []seamtest.Option{seamtest.Faults("3 500")}, want: `fault "3 500" never fired`},
		{name: "no fault", cassette: "a/b", options: []seamtest.Option{seamtest.Faults("1 200")}, want: `status "200"`},
		{name: "record another", record: "x/y", cassette: "a/b", bodies: []string{`{"a":1}`, `{"a":2}`}},
		{name: "the world in CI", record: "1", cassette: "a/b", options: []seamtest.Option{seamtest.Upstream(&http.Transport{}, cassette.Live)}, want: "CI is set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(seamtest.EnvRecord, tt.record)
			p := &probe{TB: t}
			p.run(func() {
				s := seamtest.ForTest(p, tt.cassette, append(options[:2:2], tt.options...)...)
				for _, b := range tt.bodies {
					get(t, s, b)
				}
			})
			got := strings.Join(p.errs, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("failure %q, want %q", got, tt.want)
			}
		})
	}
}
