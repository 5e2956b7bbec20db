package proposal_test

import (
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/proposal"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

var kind = &program.Proposal{Name: "loan", Schema: map[string]string{"sum": "number", "to": "string", "tags": "list", "of": "map", "sure": "bool", "days": "int", "any": ""}, Execute: &program.Effect{Invoke: "host.bank"}}

func draft(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const whole = `{"sum":1.5,"to":"Ada","tags":[],"of":{},"sure":true,"days":3,"any":null}`

// What lies in the world is the whole proposal: it is read back as it was.
func TestValue(t *testing.T) {
	p, err := proposal.New(kind, draft(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Refined(kind, draft(t, `{"sum":1,"to":"Bob","tags":[1],"of":{},"sure":false,"days":3,"any":1}`), "for Bob"); err != nil {
		t.Fatal(err)
	}
	p.Job = "j-1"
	p = p.Ended(draft(t, `{"id":7}`), "no money")
	world := value.NewMap(map[string]value.Value{proposal.Key: p.Value()})
	back := proposal.From(world)
	if back.Value().JSON() != p.Value().JSON() || back.Status != proposal.Failed || len(back.History) != 2 || back.History[0].Feedback != "for Bob" {
		t.Errorf("%s\nread back %s", p.Value().JSON(), back.Value().JSON())
	}
	if to, _ := p.Value().Get("to"); to.Str() != "Bob" {
		t.Errorf("a field of the draft is %q", to.Str())
	}
	if none := proposal.From(value.NewMap(nil)); none.Kind != "" || none.Status != "" {
		t.Errorf("where there is none there is %+v", none)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	p, err := proposal.New(kind, draft(t, whole))
	for range proposal.MaxVersions + 10 {
		if err == nil {
			p, err = p.Refined(kind, draft(t, whole), "again")
		}
	}
	if err != nil || len(p.History) != proposal.MaxVersions || p.History[len(p.History)-1].Number != proposal.MaxVersions+11 {
		t.Errorf("%d versions, %v", len(p.History), err)
	}
}

// Each step is refused where a proposal does not stand so.
func TestStatus(t *testing.T) {
	now, err := proposal.New(kind, draft(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range proposal.Statuses() {
		p := now
		p.Status = s
		_, refine := p.Refined(kind, draft(t, whole), "")
		_, begin := p.Begun(kind)
		_, drop := p.Dropped()
		may := map[proposal.Status][3]bool{
			proposal.Drafting: {false, false, true}, proposal.Reviewing: {true, true, true}, proposal.Executing: {}, proposal.ReviewingResult: {false, false, true},
			proposal.Done: {false, false, true}, proposal.Failed: {true, true, true}, proposal.Cancelled: {},
		}[s]
		for i, err := range []error{refine, begin, drop} {
			if (err == nil) != may[i] || err != nil && fault.CodeOf(err) != proposal.CodeStatus {
				t.Errorf("%s, step %d: %v", s, i, err)
			}
		}
	}
}

func TestType(t *testing.T) {
	for word, want := range map[string]string{"string": "string", " Integer ": "int", "float": "number", "array": "list", "object": "map", "boolean": "bool", "heap": "", "": ""} {
		if got := proposal.Type(word); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}
