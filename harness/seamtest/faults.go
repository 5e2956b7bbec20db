package seamtest

import (
	"net/http"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam/chaos"
)

// Faults makes calls go wrong, by their number: Faults("2 429 retry-after=1s"). The text
// form is in docs/reference/faults.md. One that does not fire fails the test. The
// cassette stays as it is; time that a fault takes passes on the test's clock.
func Faults(texts ...string) Option {
	return func(s *settings) { s.faults = append(s.faults, texts...) }
}

// lay puts the faults over the door.
func (s *Stage) lay(o *settings) {
	s.tb.Helper()
	var list []chaos.Fault
	for _, text := range o.faults {
		f, err := chaos.Parse(text)
		if err != nil {
			s.tb.Fatalf("%v\n%s", err, fault.HintOf(err))
		}
		list = append(list, f)
	}
	plan, err := chaos.NewPlan(list...)
	if err != nil {
		s.tb.Fatalf("%v\n%s", err, fault.HintOf(err))
	}
	s.faults = plan
	if len(list) > 0 {
		o.seam.Overlay = func(door http.RoundTripper) http.RoundTripper { return plan.Over(door, s.clock) }
	}
}
